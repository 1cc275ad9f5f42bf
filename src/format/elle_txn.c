/* elle_txn.c - invocations and completions become transactions, processes sessions,
 * and the order of events real time. */
#include "format/elle_read.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- sessions ---- */

static uint32_t new_place(struct ins_elle_reader *r, struct ins_vec_u32 *places,
                          struct ins_elle_pending fresh)
{
    fresh.session = INS_NONE;
    ins_vec_u32_push(places, (uint32_t)r->pending.len);
    ins_vec_elle_pending_push(&r->pending, fresh);
    return (uint32_t)r->pending.len - 1;
}

uint32_t ins_elle_process(struct ins_elle_reader *r, struct ins_lit process)
{
    const bool named = process.kind != INS_LIT_UINT && process.kind != INS_LIT_NEG;
    const uint32_t id = named ? ins_literals_add(&r->named, process)
                              : ins_number_map_add(&r->processes, process.number);
    struct ins_vec_u32 *const places = named ? &r->named_place : &r->place;
    uint32_t place = INS_NONE;
    if (id < places->len)
        place = places->at[id];
    else if (id != INS_NONE)
        place = new_place(r, places,
                          (struct ins_elle_pending){
                              .named = named, .process = named ? id : process.number});
    if (id == INS_NONE || places->failed || r->pending.failed) {
        r->x.st = ins_nomem(r->x.err, "the processes");
        return INS_NONE;
    }
    return place;
}

static uint32_t session_of(struct ins_elle_reader *r, struct ins_elle_pending *p)
{
    if (p->session == INS_NONE)
        p->session = ins_builder_session(
            r->b, p->named ? ins_literals_at(&r->named, (uint32_t)p->process)
                           : ins_lit_i64((int64_t)p->process));
    return p->session;
}

/* A session for an event without process, named after its place. */
static uint32_t lone_session(struct ins_elle_reader *r)
{
    char name[40];
    const int n = snprintf(name, sizeof name, "event %" PRIu64, r->events);
    return ins_builder_session(
        r->b, ins_lit_text(INS_LIT_STRING, name, n > 0 ? (size_t)n : 0));
}

/* ---- real time ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* An invocation: after every :ok that stands before it.  Without a clock, no later than
 * that takes. */
static int64_t adjust_begin(struct ins_elle_reader *r, int64_t time)
{
    if (r->by_clock)
        return time;
    const int64_t end = r->latest_end;
    const int64_t least = end == INS_NO_TIME || end == INT64_MAX ? end : end + 1;
    if (time == INS_NO_TIME)
        time = later(r->latest_begin, least) == INS_NO_TIME ? 0 : r->latest_begin;
    time = later(time, least);
    r->latest_begin = later(r->latest_begin, time);
    return time;
}

/* An :ok: not before any invocation that stands before it.  Before the first invocation
 * an end orders nothing that has a begin. */
static int64_t adjust_end(struct ins_elle_reader *r, int64_t time)
{
    if (r->by_clock || (time == INS_NO_TIME && r->latest_begin == INS_NO_TIME))
        return time;
    time = later(time, r->latest_begin);
    r->latest_end = later(r->latest_end, time);
    return time;
}

/* ---- transactions ---- */

/* Nothing that a client did. */
static bool is_passed_over(const struct ins_elle_reader *r, enum ins_elle_f f,
                           const char *value)
{
    return !value && f > ELLE_F_TXN && (!r->flat || f != ELLE_F_READ);
}

/* A value that is missing may be the result of a read of a register. */
static bool may_be_flat(const struct ins_elle_reader *r, enum ins_elle_f f)
{
    return !r->flat && !r->no_flat && f >= ELLE_F_READ && f < ELLE_F_OTHER;
}

static uint32_t begin(struct ins_elle_reader *r, uint32_t session,
                      const struct ins_lit *index, uint64_t line)
{
    return index ? ins_builder_begin(r->b, session, *index, line)
                 : ins_builder_begin_unnamed(r->b, session, line);
}

static bool refuse_second(struct ins_elle_reader *r, const struct ins_elle_event *e,
                          const struct ins_elle_pending *p)
{
    char what[120];
    (void)snprintf(what, sizeof what,
                   "the completion of what this process invoked on line %" PRIu64
                   " before it invokes again",
                   p->line);
    return ins_elle_refuse(r, e, what);
}

bool ins_elle_invoke(struct ins_elle_reader *r, const struct ins_elle_event *e)
{
    if (!e->has_process) {
        r->lone_invocations++;
        return true;
    }
    struct ins_elle_pending *p = &r->pending.at[e->process];
    if (p->open)
        return refuse_second(r, e, p);
    if (e->value) /* then a transaction comes of it */
        (void)session_of(r, p);
    p->open = true;
    p->f = e->f;
    p->has_index = e->has_index;
    p->index = e->index;
    p->time = adjust_begin(r, e->time);
    p->line = e->line;
    p->value = e->value;
    p->node = e->node;
    return true;
}

/* e completes what its process invoked. */
static void close_invocation(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    struct ins_elle_pending *p = e->has_process ? &r->pending.at[e->process] : NULL;
    e->began = p && p->open ? p->time : INS_NO_TIME;
    if (p && p->open && !e->node)
        e->node = p->node;
    if (p)
        p->open = false;
    else
        r->lone_completions++;
}

static void begin_completed(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    e->txn = begin(
        r, e->has_process ? session_of(r, &r->pending.at[e->process]) : lone_session(r),
        e->has_index ? &e->index : NULL, e->line);
}

static void end_completed(struct ins_elle_reader *r, const struct ins_elle_event *e,
                          int64_t end)
{
    if (e->type != ELLE_OK)
        ins_builder_end(r->b, e->txn,
                        e->type == ELLE_FAIL ? INS_ABORTED : INS_INDETERMINATE);
    if (e->began != INS_NO_TIME || end != INS_NO_TIME)
        ins_builder_times(r->b, e->txn, e->began, end);
    ins_builder_on(r->b, e->txn, e->node);
}

void ins_elle_begin_part(struct ins_elle_reader *r, struct ins_elle_event *e,
                         uint32_t part, int64_t end)
{
    char text[48];
    const struct ins_elle_event whole = *e;
    if (part != INS_NONE && e->has_index) {
        const int n = snprintf(text, sizeof text, "%" PRId64 ".%" PRIu32,
                               (int64_t)e->index.number, part);
        e->index = ins_lit_text(INS_LIT_STRING, text, n > 0 ? (size_t)n : 0);
    }
    begin_completed(r, e);
    e->index = whole.index;
    end_completed(r, e, end);
}

/* The transaction that e completes; `value` is where its operations are. */
static bool add_completed(struct ins_elle_reader *r, struct ins_elle_event *e,
                          const char *value)
{
    const int64_t end = e->type == ELLE_OK ? adjust_end(r, e->time) : e->time;
    if (r->flat)
        return ins_elle_flat_txn(r, e, value, end);
    if (!e->used)
        begin_completed(r, e);
    end_completed(r, e, end);
    /* What an :ok event does not repeat took place, but its reads are not known. */
    return e->used ||
           ins_elle_operations(r, value, e->txn,
                               (e->type == ELLE_OK || e->results) && e->value);
}

bool ins_elle_complete(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    const struct ins_elle_pending *p =
        e->has_process && !e->used ? &r->pending.at[e->process] : NULL;
    const bool open = p && p->open;
    const char *const value = e->value ? e->value : open ? p->value : NULL;
    if (!e->used)
        close_invocation(r, e);
    if (!value && may_be_flat(r, e->f)) {
        r->wants_survey = true;
        return false;
    }
    if (is_passed_over(r, e->f, value)) {
        r->without += 1 + open;
        return true;
    }
    return add_completed(r, e, value);
}

/* An invocation that nothing completed. */
static bool abandon(struct ins_elle_reader *r, uint32_t process)
{
    const struct ins_elle_pending *const p = &r->pending.at[process];
    struct ins_elle_event e = {.type = ELLE_INFO,
                               .f = p->f,
                               .has_process = true,
                               .process = process,
                               .has_index = p->has_index,
                               .index = p->index,
                               .time = INS_NO_TIME,
                               .line = p->line};
    return ins_elle_complete(r, &e);
}

bool ins_elle_abandon_all(struct ins_elle_reader *r)
{
    for (size_t i = 0; i < r->pending.len; i++)
        if (r->pending.at[i].open && !abandon(r, (uint32_t)i))
            return false;
    if (r->lone_invocations > r->lone_completions)
        r->x.st = ins_fail(r->x.err, INS_E_INPUT, r->line,
                           "%" PRIu64 " invocations without process never complete, "
                           "expected a process to tell them apart",
                           r->lone_invocations - r->lone_completions);
    return r->x.st == INS_OK;
}

bool ins_elle_value_now(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    e->used = true;
    close_invocation(r, e);
    begin_completed(r, e);
    if (!ins_elle_operations(r, e->value, e->txn, true))
        return false;
    r->x.p = r->value_end;
    return true;
}

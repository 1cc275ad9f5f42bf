/* plume.c - parsed lines into a history: which lines make a transaction, where it
 * stands in its session, and what the initial values are. */
#include "plume.h"

#include "base/pool.h"
#include "format/plume_parse.h"

#include <inttypes.h>
#include <stdio.h>

/* A transaction as found, in the order of first lines. */
struct found {
    uint32_t run;     /* its first */
    uint32_t session; /* number of its session */
    uint32_t n_ops;
    uint32_t id; /* in the history; 0 for the initial one */
    uint32_t op; /* where its next operation goes */
};
INS_VEC(found, struct found);

struct plume {
    struct ins_plume_lines lines;
    struct ins_number_map session; /* names to numbers, by first appearance */
    struct ins_vec_found found;
    /* Names to places in `found`, made when a name is not above all before it. */
    struct ins_number_map txn;
    struct ins_vec_u32 txn_at; /* by number in `txn` */
    int64_t highest;           /* name so far */
    bool mapped;
    uint32_t init; /* place in `found`, or INS_NONE */
    bool zero;     /* keys start as 0 */
    uint32_t n_sessions;
};

static uint32_t run_end(const struct ins_plume_lines *l, size_t run)
{
    return run + 1 < l->run.len ? l->run.at[run + 1].op : l->n_ops;
}

static int64_t name_of(const struct plume *p, uint32_t at)
{
    return p->lines.run.at[p->found.at[at].run].txn;
}

static uint32_t first_line(const struct plume *p, uint32_t at)
{
    return p->lines.run.at[p->found.at[at].run].op + 1;
}

/* Give the transaction at `at` its place by name. */
static bool map_txn(struct plume *p, uint32_t at)
{
    if (name_of(p, at) == -1)
        return true;
    ins_vec_u32_push(&p->txn_at, at);
    return ins_number_map_add(&p->txn, (uint64_t)name_of(p, at)) != INS_NONE &&
           !p->txn_at.failed;
}

/* The transaction of that name, or INS_NONE.  While names only grow each is new, and no
 * table is needed; every run of id -1 is an aborted transaction of its own. */
static enum ins_status find_txn(struct plume *p, int64_t name, uint32_t *out,
                                struct ins_error *err)
{
    *out = INS_NONE;
    if (name == -1)
        return INS_OK;
    if (name > p->highest || !p->found.len) {
        p->highest = name;
        return INS_OK;
    }
    for (uint32_t i = 0; !p->mapped && i < p->found.len; i++)
        if (!map_txn(p, i))
            return ins_nomem(err, "the transactions");
    p->mapped = true;
    const uint32_t known = ins_number_map_get(&p->txn, (uint64_t)name);
    if (known != INS_NONE)
        *out = p->txn_at.at[known];
    return INS_OK;
}

/* Find the transaction that run r belongs to; make it when it is new. */
static enum ins_status group_run(struct plume *p, uint32_t r, struct ins_error *err)
{
    struct ins_plume_run *run = &p->lines.run.at[r];
    if (run->txn < -1)
        return ins_fail(err, INS_E_INPUT, (uint64_t)run->op + 1,
                        "transaction %" PRId64
                        ", expected -1 for an aborted one or a number from 0 on",
                        run->txn);
    const uint32_t session = ins_number_map_add(&p->session, run->session);
    if (session == INS_NONE)
        return ins_nomem(err, "the sessions");
    const enum ins_status st = find_txn(p, run->txn, &run->found, err);
    if (st != INS_OK)
        return st;
    if (run->found == INS_NONE) {
        run->found = (uint32_t)p->found.len;
        ins_vec_found_push(&p->found, (struct found){.run = r, .session = session});
        if (p->found.failed || (p->mapped && !map_txn(p, run->found)))
            return ins_nomem(err, "the transactions");
    }
    struct found *f = &p->found.at[run->found];
    if (f->session != session)
        return ins_fail(err, INS_E_INPUT, (uint64_t)run->op + 1,
                        "transaction %" PRId64 " is in session %" PRIu64
                        ", expected session %" PRIu64 " as on line %" PRIu32,
                        run->txn, run->session, p->session.number[f->session],
                        first_line(p, run->found));
    f->n_ops += run_end(&p->lines, r) - run->op;
    return INS_OK;
}

static enum ins_status group_runs(struct plume *p, struct ins_error *err)
{
    if (!ins_vec_found_reserve(&p->found, p->lines.run.len))
        return ins_nomem(err, "the transactions");
    enum ins_status st = INS_OK;
    for (uint32_t r = 0; st == INS_OK && r < p->lines.run.len; r++)
        st = group_run(p, r, err);
    return st;
}

/* ---- initial values ---- */

/* Does the transaction only write (and only zeros)? */
static bool only_writes(const struct plume *p, uint32_t at, bool zeros)
{
    const struct ins_plume_lines *l = &p->lines;
    uint32_t seen = 0;
    for (size_t r = p->found.at[at].run; seen < p->found.at[at].n_ops; r++) {
        if (l->run.at[r].found != at)
            continue;
        for (uint32_t op = l->run.at[r].op; op < run_end(l, r); op++, seen++)
            if (!ins_word_writes(l->word[op]) || (zeros && l->value[op]))
                return false;
    }
    return true;
}

static uint32_t *session_sizes(const struct plume *p)
{
    uint32_t *size = INS_NEW0(uint32_t, p->session.len);
    for (size_t i = 0; size && i < p->found.len; i++)
        size[p->found.at[i].session]++;
    return size;
}

/* A transaction that writes only zeros and nothing else: the file's first one, or one
 * that is alone in its session. */
static uint32_t find_zero_load(const struct plume *p, const uint32_t *session_size)
{
    for (uint32_t i = 0; i < p->found.len; i++)
        if ((!i || session_size[p->found.at[i].session] == 1) && name_of(p, i) != -1 &&
            only_writes(p, i, true))
            return i;
    return INS_NONE;
}

/* Every key is written by the first transaction, and a read of 0 has a writer of 0. */
static bool is_full_load(const struct plume *p)
{
    const struct ins_plume_lines *l = &p->lines;
    enum { LOADED = 1, READ_ZERO = 2, WROTE_ZERO = 4 };
    uint8_t *seen = INS_NEW0(uint8_t, l->n_keys);
    if (!seen)
        return false;
    for (size_t r = 0; r < l->run.len; r++) {
        for (uint32_t op = l->run.at[r].op; op < run_end(l, r); op++) {
            const ins_key k = ins_word_key(l->word[op]);
            const bool write = ins_word_writes(l->word[op]);
            if (write && !l->run.at[r].found)
                seen[k] |= LOADED;
            if (!l->value[op])
                seen[k] |= write ? WROTE_ZERO : READ_ZERO;
        }
    }
    bool full = true;
    for (uint32_t k = 0; k < l->n_keys; k++)
        full &= seen[k] & LOADED && (!(seen[k] & READ_ZERO) || seen[k] & WROTE_ZERO);
    ins_free(seen);
    return full;
}

/* Decide what the keys start as; see spec §5 "Initial load". */
static enum ins_status choose_initial(struct plume *p, const char *init,
                                      struct ins_columns *c, struct ins_error *err)
{
    p->init = INS_NONE;
    p->zero = !strcmp(init, "zero") || !strcmp(init, "auto");
    if (!strcmp(init, "none") || !p->found.len)
        return INS_OK;
    uint32_t *size = session_sizes(p);
    if (!size)
        return ins_nomem(err, "the sessions");
    const bool loads =
        name_of(p, 0) != -1 && p->found.at[0].n_ops && only_writes(p, 0, false);
    enum ins_status st = INS_OK;
    if (!strcmp(init, "first")) {
        if (loads)
            p->init = 0;
        else
            st = ins_fail(err, INS_E_INPUT, first_line(p, 0),
                          "the first transaction is not only writes, so it cannot be "
                          "the initial one as --init first asks");
    } else {
        p->init = find_zero_load(p, size);
        if (p->init == INS_NONE && !strcmp(init, "auto") && loads &&
            size[p->found.at[0].session] == 1 && p->found.len > 1 && is_full_load(p)) {
            p->init = 0;
            p->zero = false;
            (void)snprintf(c->note, sizeof c->note,
                           "transaction %" PRId64 " on line %" PRIu32
                           " is taken as the initial load (--init zero: it is not)",
                           name_of(p, 0), first_line(p, 0));
        }
    }
    ins_free(size);
    return st;
}

/* ---- into the history ---- */

/* Number sessions and transactions; the initial one leaves its session, which is
 * dropped when nothing else is in it. */
static void number_all(struct plume *p, struct ins_columns *c, uint32_t *size)
{
    for (uint32_t i = 0; i < p->found.len; i++)
        if (i != p->init)
            size[p->found.at[i].session]++;
    c->session_first[0] = 1;
    for (uint32_t s = 0; s < p->session.len; s++) {
        if (!size[s])
            continue; /* only the initial transaction was in it */
        c->session_name[p->n_sessions] = p->session.number[s];
        c->session_first[p->n_sessions + 1] = c->session_first[p->n_sessions] + size[s];
        size[s] = c->session_first[p->n_sessions++];
    }
    c->n_sessions = p->n_sessions;
    for (uint32_t i = 0; i < p->found.len; i++) {
        struct found *f = &p->found.at[i];
        f->id = i == p->init ? 0 : size[f->session]++;
    }
}

static void fill_txns(struct plume *p, struct ins_columns *c)
{
    c->txn_status[0] = INS_COMMITTED;
    c->txn_name[0] = 0;
    c->txn_line[0] = c->txn_op[0] = c->txn_op[1] = 0;
    bool negative = false;
    for (uint32_t i = 0; i < p->found.len; i++) {
        const struct found *f = &p->found.at[i];
        if (!f->id)
            continue;
        const int64_t name = name_of(p, i);
        c->txn_status[f->id] = name == -1 ? INS_ABORTED : INS_COMMITTED;
        c->txn_name[f->id] = (uint64_t)name;
        c->txn_line[f->id] = first_line(p, i);
        c->txn_op[f->id + 1] = f->n_ops;
        negative |= name < 0;
    }
    c->txn_mode = negative ? INS_WORDS_SIGNED : INS_WORDS_UNSIGNED;
    for (ins_txn t = 1; t <= c->n_txns; t++)
        c->txn_op[t] += c->txn_op[t - 1];
    c->n_ops = c->txn_op[c->n_txns];
    for (uint32_t i = 0; i < p->found.len; i++)
        p->found.at[i].op = c->txn_op[p->found.at[i].id];
}

struct move {
    struct plume *p;
    const uint32_t *target; /* by run: where its first operation goes */
    uint32_t *key;
    uint64_t *value; /* one of the two is moved at a time */
    unsigned parts;
};

static void move_runs(void *context, unsigned part)
{
    const struct move *m = context;
    const struct ins_plume_lines *l = &m->p->lines;
    const size_t n = l->run.len;
    for (size_t r = n * part / m->parts; r < n * (part + 1) / m->parts; r++) {
        if (!m->p->found.at[l->run.at[r].found].id)
            continue;
        const uint32_t from = l->run.at[r].op, len = run_end(l, r) - from;
        if (m->key) {
            memcpy(m->key + m->target[r], l->word + from, len * sizeof *m->key);
            continue;
        }
        memcpy(m->value + m->target[r], l->value + from, len * sizeof *m->value);
    }
}

/* Bring the operations into the order of the history; nothing to do when the file has
 * them that way.  One column after the other, to need less memory. */
static enum ins_status order_ops(struct plume *p, struct ins_columns *c,
                                 unsigned threads, struct ins_error *err)
{
    struct ins_plume_lines *l = &p->lines;
    uint32_t *target = INS_NEW(uint32_t, l->run.len);
    if (!target)
        return ins_nomem(err, "the operations");
    bool moved = p->init != INS_NONE;
    for (size_t r = 0; r < l->run.len; r++) {
        struct found *f = &p->found.at[l->run.at[r].found];
        target[r] = f->op;
        f->op += run_end(l, r) - l->run.at[r].op;
        moved |= target[r] != l->run.at[r].op;
    }
    enum ins_status st = INS_OK;
    struct move m = {.p = p, .target = target, .parts = ins_threads(threads)};
    if (moved) {
        m.key = INS_NEW(uint32_t, c->n_ops);
        if (m.key) {
            ins_parallel(m.parts, move_runs, &m);
            ins_free(l->word);
            l->word = m.key;
            m.key = NULL;
            m.value = INS_NEW(uint64_t, c->n_ops);
        }
        if (m.value) {
            ins_parallel(m.parts, move_runs, &m);
            ins_free(l->value);
            l->value = m.value;
        } else {
            st = ins_nomem(err, "the operations");
        }
    }
    ins_free(target);
    c->op_word = l->word;
    c->op_value = l->value;
    l->word = NULL;
    l->value = NULL;
    return st;
}

static void fill_keys(struct plume *p, struct ins_columns *c)
{
    struct ins_plume_lines *l = &p->lines;
    c->n_keys = l->n_keys;
    c->key_name = l->key_name;
    l->key_name = NULL;
    memset(c->key_flags, p->zero ? INS_KEY_HAS_INIT : 0, l->n_keys);
    if (p->init == INS_NONE)
        return;
    for (size_t r = 0; r < l->run.len; r++) {
        if (l->run.at[r].found != p->init)
            continue;
        for (uint32_t op = l->run.at[r].op; op < run_end(l, r); op++) {
            const ins_key k = ins_word_key(l->word[op]);
            c->key_flags[k] = INS_KEY_HAS_INIT;
            c->key_init[k] = l->value[op];
        }
    }
    (void)snprintf(c->init_name, sizeof c->init_name, "%" PRId64, name_of(p, p->init));
    c->init_line = first_line(p, p->init);
}

static enum ins_status fill(struct plume *p, struct ins_columns *c, unsigned threads,
                            struct ins_error *err)
{
    c->n_txns = (uint32_t)p->found.len + 1 - (p->init != INS_NONE);
    c->session_first = INS_NEW0(uint32_t, (size_t)p->session.len + 1);
    c->session_name = INS_NEW0(uint64_t, p->session.len);
    c->txn_op = INS_NEW(uint32_t, (size_t)c->n_txns + 1);
    c->txn_status = INS_NEW(uint8_t, c->n_txns);
    c->txn_name = INS_NEW(uint64_t, c->n_txns);
    c->txn_line = INS_NEW(uint32_t, c->n_txns);
    c->key_flags = INS_NEW0(uint8_t, p->lines.n_keys);
    c->key_init = INS_NEW0(uint64_t, p->lines.n_keys);
    uint32_t *size = INS_NEW0(uint32_t, p->session.len);
    if (!c->session_first || !c->session_name || !c->txn_op || !c->txn_status ||
        !c->txn_name || !c->txn_line || !c->key_flags || !c->key_init || !size) {
        ins_free(size);
        return ins_nomem(err, "the history");
    }
    number_all(p, c, size);
    ins_free(size);
    fill_txns(p, c);
    fill_keys(p, c);
    return order_ops(p, c, threads, err);
}

static void release(struct plume *p)
{
    ins_plume_lines_release(&p->lines);
    ins_number_map_release(&p->session);
    ins_number_map_release(&p->txn);
    ins_vec_u32_release(&p->txn_at);
    ins_vec_found_release(&p->found);
}

enum ins_status ins_plume_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err)
{
    *out = NULL;
    struct plume p = {0};
    struct ins_columns c = {0};
    enum ins_status st = ins_plume_parse(&p.lines, in, o->threads, o->limit, err);
    if (st == INS_OK)
        st = ins_limit_room(o->limit, sizeof *p.found.at * p.lines.run.len, err);
    if (st == INS_OK)
        st = group_runs(&p, err);
    if (st == INS_OK)
        st = choose_initial(&p, o->init ? o->init : "auto", &c, err);
    /* A column that is moved is there twice; resolving the reads needs as much. */
    if (st == INS_OK)
        st = ins_limit_room(o->limit, sizeof *c.op_value * p.lines.n_ops, err);
    if (st == INS_OK)
        st = fill(&p, &c, o->threads, err);
    release(&p);
    if (st != INS_OK) {
        ins_columns_release(&c);
        return st;
    }
    return ins_history_freeze(&c, o->threads, o->limit, out, err);
}

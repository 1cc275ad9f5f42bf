#include "limit.h"

#include "mem.h"

#include <stdio.h>
#include <time.h>

int64_t ins_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void ins_limit_init(struct ins_limit *l, double seconds, uint64_t memory_bytes)
{
    l->deadline_ns = seconds > 0 ? ins_now_ns() + (int64_t)(seconds * 1e9) : 0;
    l->memory_bytes = memory_bytes;
    l->progress = NULL;
    l->progress_context = NULL;
    atomic_init(&l->stage, "checking");
    atomic_init(&l->step, NULL);
    atomic_init(&l->done, 0);
    atomic_init(&l->total, 0);
    atomic_init(&l->asked_ns, 0);
    atomic_init(&l->hit, 0);
}

void ins_limit_stage(struct ins_limit *l, const char *stage, uint64_t total)
{
    if (l) {
        atomic_store_explicit(&l->stage, stage, memory_order_relaxed);
        atomic_store_explicit(&l->asked_ns, 0, memory_order_relaxed);
    }
    ins_limit_step(l, NULL, total);
}

void ins_limit_step(struct ins_limit *l, const char *step, uint64_t total)
{
    if (!l)
        return;
    atomic_store_explicit(&l->step, step, memory_order_relaxed);
    atomic_store_explicit(&l->done, 0, memory_order_relaxed);
    atomic_store_explicit(&l->total, total, memory_order_relaxed);
}

void ins_limit_at(struct ins_limit *l, uint64_t done)
{
    if (l)
        atomic_store_explicit(&l->done, done, memory_order_relaxed);
}

void ins_limit_add(struct ins_limit *l, uint64_t more)
{
    if (l)
        (void)atomic_fetch_add_explicit(&l->done, more, memory_order_relaxed);
}

/* Report what is being done: when a stage begins, then a few dozen times a second at
 * most.  True: cancel. */
static bool report(struct ins_limit *l)
{
    enum { PAUSE_NS = 20000000 };
    const int64_t now = ins_now_ns();
    if (now - atomic_load_explicit(&l->asked_ns, memory_order_relaxed) < PAUSE_NS)
        return false;
    atomic_store_explicit(&l->asked_ns, now, memory_order_relaxed);
    const char *stage = atomic_load_explicit(&l->stage, memory_order_relaxed);
    const char *step = atomic_load_explicit(&l->step, memory_order_relaxed);
    const uint64_t done = atomic_load_explicit(&l->done, memory_order_relaxed);
    const uint64_t total = atomic_load_explicit(&l->total, memory_order_relaxed);
    char both[96];
    if (step) {
        (void)snprintf(both, sizeof both, "%s: %s", stage, step);
        stage = both;
    }
    return l->progress(l->progress_context, stage, total && done > total ? total : done,
                       total) != 0;
}

static bool mark(struct ins_limit *l, int reason)
{
    int none = 0;
    atomic_compare_exchange_strong(&l->hit, &none, reason);
    return true;
}

bool ins_limit_memory(struct ins_limit *l, uint64_t bytes)
{
    if (!l || !l->memory_bytes)
        return false;
    /* The highest so far is cheap to ask for, and most often far enough away. */
    if (bytes <= l->memory_bytes && ins_rss_bound() <= l->memory_bytes - bytes)
        return false;
    if (bytes > l->memory_bytes || ins_rss_now() > l->memory_bytes - bytes)
        return mark(l, INS_HIT_MEMORY);
    return false;
}

bool ins_limit_hit(struct ins_limit *l)
{
    if (!l)
        return false;
    if (atomic_load_explicit(&l->hit, memory_order_relaxed))
        return true;
    if (l->deadline_ns && ins_now_ns() > l->deadline_ns)
        return mark(l, INS_HIT_TIME);
    if (l->progress && report(l))
        return mark(l, INS_HIT_CANCEL);
    return ins_limit_memory(l, 0);
}

void ins_limit_cancel(struct ins_limit *l)
{
    (void)mark(l, INS_HIT_CANCEL);
}

/* The outer limit is asked by whoever works, and hears how far that is. */
static int ask_outer(void *outer, const char *stage, uint64_t done, uint64_t total)
{
    struct ins_limit *const l = outer;
    (void)stage;
    (void)total;
    if (done > atomic_load_explicit(&l->done, memory_order_relaxed))
        ins_limit_at(l, done);
    return ins_limit_hit(l);
}

void ins_limit_within(struct ins_limit *l, struct ins_limit *outer)
{
    ins_limit_init(l, 0, outer ? outer->memory_bytes : 0);
    l->progress = outer ? ask_outer : NULL;
    l->progress_context = outer;
}

void ins_limit_for(struct ins_limit *l, struct ins_limit *outer, double seconds)
{
    ins_limit_within(l, outer);
    l->deadline_ns = ins_now_ns() + (int64_t)(seconds * 1e9);
}

enum ins_status ins_limit_room(struct ins_limit *l, uint64_t bytes,
                               struct ins_error *err)
{
    if (!ins_limit_hit(l) && !ins_limit_memory(l, bytes))
        return INS_OK;
    return ins_fail(err, INS_E_LIMIT, 0, "%s", ins_limit_reason(l));
}

const char *ins_limit_reason(const struct ins_limit *l)
{
    switch (atomic_load(&l->hit)) {
    case INS_HIT_TIME:
        return "time limit reached";
    case INS_HIT_MEMORY:
        return "memory limit reached";
    case INS_HIT_CANCEL:
        return "cancelled";
    default:
        return "no limit reached";
    }
}

const char *ins_limit_or_memory(const struct ins_limit *l)
{
    return l && atomic_load(&l->hit) ? ins_limit_reason(l) : "out of memory";
}

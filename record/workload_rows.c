/* workload_rows.c - workloads on rows that come and go.
 *
 * A row that is deleted and inserted again and again has many versions that are absent,
 * and a query that misses it may have seen any of them.  So keys are left for fresh
 * ones after some writes, as lists are in workload.c. */
#include "workload.h"

#include <assert.h>

uint32_t ins_rows_none(uint32_t keys)
{
    (void)keys;
    return 0;
}

static struct ins_plan_op *add(struct ins_plan *plan, enum ins_row_form form, int64_t a,
                               int64_t b)
{
    assert(plan->count < INS_PLAN_MAX); /* one for each of at most so many */
    struct ins_plan_op *op = &plan->op[plan->count++];
    *op = (struct ins_plan_op){.kind = INS_ROWS, .form = form, .argument = {a, b}};
    return op;
}

/* How often each of `keys` things was written so far, in blocks of `each`. */
static int64_t block_of(const struct ins_worker *w, unsigned each)
{
    return (int64_t)(atomic_load(&w->work->count->writes) /
                     ((uint64_t)w->work->keys * each));
}

static int64_t between(struct ins_worker *w, unsigned least, unsigned most)
{
    return least + ins_draw_below(&w->draw, most - least + 1);
}

/* ---- rows ---- */

/* Even keys are written many times, odd ones are inserted once. */
static void change_a_row(struct ins_worker *w, struct ins_plan *plan, int64_t base)
{
    int64_t k = 2 * (base + ins_draw_key(&w->draw, w->work->spread));
    const uint32_t what = ins_draw_below(&w->draw, 5);
    if (what == 4)
        k = 2 * ins_worker_row(w, w->made++) + 1;
    /* One change of a row in a transaction: none of them sees another's. */
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->op[i].key == k && !ins_row_is_query(plan->op[i].form))
            return;
    struct ins_plan_op *op;
    if (what == 0)
        op = add(plan, INS_ROW_DELETE, k, 0);
    else if (what == 1)
        op = add(plan, INS_ROW_UPDATE, ins_worker_value(w, k), k);
    else
        op = add(plan, INS_ROW_INSERT, k, ins_worker_value(w, k));
    op->key = k;
}

static void query_rows(struct ins_worker *w, struct ins_plan *plan, int64_t base)
{
    const int64_t from = 2 * (base + ins_draw_key(&w->draw, w->work->spread));
    const int64_t to = from + between(w, 0, 20);
    const int64_t each = w->work->sessions;
    const int64_t now = (int64_t)w->written * each, fresh = (int64_t)w->made * each;
    struct ins_plan_op *op;
    switch (ins_draw_below(&w->draw, 5)) {
    case 0:
        op = add(plan, INS_ROW_FIRST, from, to);
        op->argument[2] = between(w, 1, 4);
        return;
    case 1:
        op = add(plan, INS_ROW_SOME, from, to);
        op->argument[2] = between(w, 2, 4);
        op->argument[3] = between(w, 0, 1);
        return;
    case 2: /* what was written lately, and what is about to be */
        if (w->work->dup > 0)
            (void)add(plan, INS_ROW_EQUAL, between(w, 1, w->work->dup_values), 0);
        else
            (void)add(plan, INS_ROW_VALUES, now - each, now + each);
        return;
    case 3:
        (void)add(plan, INS_ROW_KEYS, 2 * (fresh - each), 2 * (fresh + each));
        return;
    default:
        (void)add(plan, INS_ROW_KEYS, from, to);
    }
}

void ins_plan_rows(struct ins_worker *w, struct ins_plan *plan)
{
    enum { WRITES = 10 }; /* of a key, about */
    const int64_t base = block_of(w, WRITES) * w->work->keys;
    for (unsigned i = 0; i < w->work->ops; i++) {
        if (w->reads_only || ins_draw_chance(&w->draw, w->work->reads))
            query_rows(w, plan, base);
        else
            change_a_row(w, plan, base);
    }
    if (!plan->count)
        query_rows(w, plan, base);
}

/* ---- oncall ---- */

/* A row is somebody on call, its value says in which ward: those of a ward are values
 * in a row.  Whoever sees few joins; whoever joined leaves if somebody else is there.
 * Two who do so at once do not see each other: phantom write skew.  A key is inserted
 * once.  w->cursor is 1 + the ward that was joined last, 0 after leaving it. */
void ins_plan_oncall(struct ins_worker *w, struct ins_plan *plan)
{
    enum { WARD = 10000000, WRITES = 12 };
    const bool joined = w->cursor && ins_draw_chance(&w->draw, 0.7);
    const int64_t ward = joined ? (int64_t)w->cursor - 1
                                : block_of(w, WRITES) * w->work->keys +
                                      ins_draw_key(&w->draw, w->work->spread);
    (void)add(plan, INS_ROW_VALUES, ward * WARD, ward * WARD + WARD - 1);
    if (w->reads_only)
        return;
    struct ins_plan_op *op;
    if (joined) {
        op = add(plan, INS_ROW_DELETE, ins_worker_row(w, w->made - 1), 0);
        op->at_least = 2;
        w->cursor = 0;
    } else {
        const int64_t who = ins_worker_row(w, w->made++);
        op = add(plan, INS_ROW_INSERT, who, 0);
        op->argument[1] = ward * WARD + ins_worker_value(w, who) % WARD;
        op->below = 4;
        w->cursor = (uint64_t)ward + 1;
    }
}

/* ---- booking ---- */

/* A key is an hour of a day in a room.  Who finds some hours free books one of them;
 * two who do so at once overlap. */
void ins_plan_booking(struct ins_worker *w, struct ins_plan *plan)
{
    enum { HOURS = 24, WRITES = 8 };
    const int64_t day = (block_of(w, WRITES) * w->work->keys +
                         ins_draw_key(&w->draw, w->work->spread)) *
                        HOURS;
    const int64_t from = between(w, 0, HOURS - 7), to = from + between(w, 2, 6);
    (void)add(plan, INS_ROW_KEYS, day + from, day + to);
    if (w->reads_only)
        return;
    const int64_t hour = day + between(w, (unsigned)from, (unsigned)to);
    add(plan, INS_ROW_INSERT, hour, ins_worker_value(w, hour))->below = 1;
}

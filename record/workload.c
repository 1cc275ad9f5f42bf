#include "workload.h"

#include "fail.h"

/* YCSB-like: every operation is a read or a write by itself. */
static void plan_general(struct ins_worker *w, struct ins_plan *plan)
{
    for (unsigned i = 0; i < w->work->ops; i++) {
        int64_t key = ins_draw_key(&w->draw, w->work->spread);
        if (ins_draw_chance(&w->draw, w->work->reads))
            ins_plan_read(w, plan, key);
        else
            ins_plan_write(w, plan, key);
    }
}

/* Cobra's BlindW: a transaction only reads or only writes. */
static void plan_blindw(struct ins_worker *w, struct ins_plan *plan)
{
    bool reads = ins_draw_chance(&w->draw, w->work->reads);
    for (unsigned i = 0; i < w->work->ops; i++) {
        int64_t key = ins_draw_key(&w->draw, w->work->spread);
        if (reads)
            ins_plan_read(w, plan, key);
        else
            ins_plan_write(w, plan, key);
    }
}

/* MTC's mini-transactions: one or two keys, at most one write of each, after a read.
 * Below four operations a transaction there is one key. */
static void plan_mini(struct ins_worker *w, struct ins_plan *plan)
{
    int64_t key[2] = {0};
    unsigned keys = w->work->ops < 4 ? 1 : 1 + ins_draw_below(&w->draw, 2);
    for (unsigned i = 0; i < keys; i++)
        key[i] = ins_draw_key(&w->draw, w->work->spread);
    if (keys == 2 && key[0] == key[1])
        keys = 1;
    bool together = ins_draw_chance(&w->draw, 0.5);
    unsigned written = 0; /* bit i: key i */
    for (unsigned i = 0; i < 2; i++)
        written |= (unsigned)!ins_draw_chance(&w->draw, w->work->reads) << i;
    for (unsigned i = 0; i < keys; i++) {
        ins_plan_read(w, plan, key[i]);
        if (!together && (written >> i & 1))
            ins_plan_write(w, plan, key[i]);
    }
    for (unsigned i = 0; together && i < keys; i++)
        if (written >> i & 1)
            ins_plan_write(w, plan, key[i]);
}

/* Lists grow, and every read shows all of one: after about LONGEST appends a key is
 * left for a fresh one.  Each session counts its own appends, so they move on at about
 * the same time and nothing depends on the others. */
static void plan_append(struct ins_worker *w, struct ins_plan *plan)
{
    enum { LONGEST = 100 };
    const struct ins_work *work = w->work;
    uint64_t block = w->written * work->sessions / ((uint64_t)work->keys * LONGEST);
    for (unsigned i = 0; i < work->ops; i++) {
        int64_t key = ins_draw_key(&w->draw, work->spread);
        bool read = ins_draw_chance(&w->draw, work->reads);
        bool last = read && block && ins_draw_chance(&w->draw, 0.1);
        key += (int64_t)(block - last) * work->keys;
        if (read)
            ins_plan_read(w, plan, key);
        else
            ins_plan_write(w, plan, key);
    }
}

/* One key is read and then appended to: two who do so at once lose an update. */
static void plan_rmw(struct ins_worker *w, struct ins_plan *plan)
{
    enum { LONGEST = 100 };
    const struct ins_work *work = w->work;
    uint64_t block =
        atomic_load(&work->count->writes) / ((uint64_t)work->keys * LONGEST);
    int64_t key = ins_draw_key(&w->draw, work->spread) + (int64_t)block * work->keys;
    ins_plan_read(w, plan, key);
    if (!w->reads_only)
        ins_plan_write(w, plan, key);
}

/* Writers append to one key; readers read all keys by one statement.  Two readers that
 * see two appends in opposite orders are a long fork.  Keys are left for fresh ones
 * before their lists are long. */
static void plan_fork(struct ins_worker *w, struct ins_plan *plan)
{
    enum { APPENDS = 25 };
    const struct ins_work *work = w->work;
    uint64_t block =
        atomic_load(&work->count->writes) / ((uint64_t)work->keys * APPENDS);
    int64_t first = (int64_t)block * work->keys;
    if (!w->reads_only) {
        ins_plan_write(w, plan, first + ins_draw_key(&w->draw, work->spread));
        return;
    }
    plan->together = true;
    for (uint32_t i = 0; i < work->keys; i++)
        ins_plan_read(w, plan, first + i);
}

static const struct ins_workload workloads[] = {
    {"general", "reads and writes of --keys keys, --ops a transaction", false, false,
     1000, 0.5, NULL, plan_general},
    {"blindw", "Cobra's BlindW-RW: half read-only, half write-only transactions", false,
     false, 10000, 0.5, NULL, plan_blindw},
    {"blindw-rw", "the same as blindw", false, false, 10000, 0.5, NULL, plan_blindw},
    {"blindw-rh", "BlindW read-heavy: 95 % read-only transactions", false, false, 10000,
     0.95, NULL, plan_blindw},
    {"blindw-wh", "BlindW write-heavy: 70 % write-only transactions", false, false,
     10000, 0.3, NULL, plan_blindw},
    {"mini", "mini-transactions: every write follows a read of its key", false, false,
     1000, 0.5, NULL, plan_mini},
    {"append", "lists: appends and reads of whole lists", true, false, 100, 0.5, NULL,
     plan_append},
    {"rmw", "lists: read a key and append to it", true, false, 10, 0.5, NULL, plan_rmw},
    {"fork",
     "lists: writers of one key, readers of all keys by one statement, fresh keys soon",
     true, true, 8, 0.5, NULL, plan_fork},
    {"tpcc", "TPC-C: five transaction types over one warehouse", false, false, 0, 0.5,
     ins_rows_tpcc, ins_plan_tpcc},
    {"rubis", "RUBiS: an auction site", false, false, 0, 0.5, ins_rows_rubis,
     ins_plan_rubis},
    {"twitter", "a Twitter clone: tweets, followers, timelines", false, false, 0, 0.5,
     ins_rows_twitter, ins_plan_twitter},
    {"rows",
     "rows that come and go: inserts, deletes, updates, queries by key and value",
     false, false, 50, 0.4, ins_rows_none, ins_plan_rows},
    {"oncall", "who is on call in a ward?  then somebody joins or leaves it", false,
     false, 4, 0.5, ins_rows_none, ins_plan_oncall},
    {"booking", "is a room free for some hours?  then it is booked for one of them",
     false, false, 4, 0.5, ins_rows_none, ins_plan_booking},
};

enum { WORKLOADS = sizeof workloads / sizeof workloads[0] };

const char *ins_workload_line(unsigned i, char *buffer, size_t size)
{
    if (i >= WORKLOADS)
        return NULL;
    (void)snprintf(buffer, size, "%-10s %s", workloads[i].name, workloads[i].about);
    return buffer;
}

enum ins_workload_holds ins_workload_holds(const char *name)
{
    for (size_t i = 0; i < WORKLOADS; i++)
        if (!strcmp(workloads[i].name, name))
            return workloads[i].rows == ins_rows_none ? INS_WORKLOAD_ROWS
                   : workloads[i].list                ? INS_WORKLOAD_LISTS
                                                      : INS_WORKLOAD_REGISTERS;
    return INS_WORKLOAD_REGISTERS; /* the recording says that there is none */
}

static const struct ins_workload *find(const char *name, struct insula_error *error)
{
    for (size_t i = 0; i < WORKLOADS; i++)
        if (!strcmp(workloads[i].name, name))
            return &workloads[i];
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < WORKLOADS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i ? ", " : "", workloads[i].name);
    (void)ins_rec_fail(error, INSULA_E_USAGE,
                       "unknown workload '%s': expected one of %s", name, names);
    return NULL;
}

int ins_work_init(struct ins_work *work, const struct ins_record_options *options,
                  struct insula_error *error)
{
    const struct ins_workload *workload =
        find(options->workload ? options->workload : "general", error);
    *work = (struct ins_work){.workload = workload};
    if (!workload)
        return error->status;
    work->sessions = options->sessions;
    work->ops = options->ops ? options->ops : 8;
    if (work->ops > INS_PLAN_MAX)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "at most %d operations a transaction, got %u", INS_PLAN_MAX,
                            work->ops);
    uint32_t keys = workload->default_keys ? workload->default_keys : 10000;
    work->keys = options->keys ? options->keys : keys;
    work->reads = options->reads < 0    ? 0
                  : options->reads == 0 ? workload->default_reads
                                        : options->reads;
    work->abort = options->abort;
    work->dup = options->dup;
    work->dup_values = options->dup_values ? options->dup_values : 100;
    work->list = workload->list;
    work->rows = workload->rows == ins_rows_none;
    work->count = calloc(1, sizeof *work->count);
    if (!work->count)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    work->preload = workload->rows ? workload->rows(work->keys) : work->keys;
    /* An element of a list names its append: no duplicates there. */
    if (work->list)
        work->dup = 0;
    if (workload->split && work->keys > INS_PLAN_MAX)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "at most %d keys that one statement reads, got %u",
                            INS_PLAN_MAX, work->keys);
    work->spread = insula_spread_new(options->dist, work->keys, error);
    return work->spread ? 0 : error->status;
}

void ins_work_release(struct ins_work *work)
{
    insula_spread_free(work->spread);
    free(work->count);
}

void ins_worker_init(struct ins_worker *w, const struct ins_work *work,
                     unsigned session, uint64_t seed)
{
    *w = (struct ins_worker){.work = work, .session = session};
    w->draw = ins_draw_stream(seed, session + 1);
}

void ins_worker_next(struct ins_worker *w, struct ins_plan *plan)
{
    plan->count = 0;
    plan->together = false;
    plan->rollback = ins_draw_chance(&w->draw, w->work->abort);
    w->work->workload->plan(w, plan);
}

void ins_plan_read(struct ins_worker *w, struct ins_plan *plan, int64_t key)
{
    if (plan->count < INS_PLAN_MAX)
        plan->op[plan->count++] = (struct ins_plan_op){
            .kind = w->work->list ? INS_READ_LIST : INS_READ, .key = key};
}

void ins_plan_write(struct ins_worker *w, struct ins_plan *plan, int64_t key)
{
    if (plan->count == INS_PLAN_MAX)
        return;
    if (w->reads_only) {
        ins_plan_read(w, plan, key);
        return;
    }
    const int64_t value = ins_worker_value(w, key);
    plan->op[plan->count++] = (struct ins_plan_op){
        .kind = w->work->list ? INS_APPEND : INS_WRITE, .key = key, .value = value};
}

int64_t ins_worker_value(struct ins_worker *w, int64_t key)
{
    const struct ins_work *work = w->work;
    atomic_fetch_add_explicit(&work->count->writes, 1, memory_order_relaxed);
    int64_t highest = atomic_load_explicit(&work->count->keys, memory_order_relaxed);
    while (highest <= key &&
           !atomic_compare_exchange_weak(&work->count->keys, &highest, key + 1))
        ;
    /* 0 is the initial value; the small set comes first, unique values after it. */
    if (work->dup > 0 && ins_draw_chance(&w->draw, work->dup))
        return 1 + ins_draw_below(&w->draw, work->dup_values);
    return 1 + (work->dup > 0 ? work->dup_values : 0) +
           (int64_t)(w->written++ * work->sessions + w->session);
}

int64_t ins_worker_row(const struct ins_worker *w, uint64_t n)
{
    return w->work->preload + (int64_t)(n * w->work->sessions + w->session);
}

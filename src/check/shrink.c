#include "shrink.h"

#include "check/check.h"
#include "explain/cut.h"
#include "explain/story.h"

struct hunt {
    const struct ins_anomaly *a; /* may be NULL */
    enum ins_level level;
    struct ins_limit *limit;
    struct ins_cut cut;
    struct ins_part best, trial;
    struct ins_error *err;
    enum ins_status st; /* of the first trial that failed for want of memory */
};

/* Statements stay whole.  Is one in of which a row has lost its writer?  Nobody would
 * have written that row, which is no reason that the whole had. */
static bool loses_row(const struct ins_cut *c, const struct ins_part *part)
{
    const struct ins_history *const h = c->h;
    const struct ins_statement *last = NULL;
    bool in = false, lost = false;
    for (uint32_t i = 0; h->statements.n && i < c->op.len; i++) {
        const uint32_t op = c->op.at[i];
        const struct ins_statement *const s = ins_history_statement(h, op);
        if (s != last)
            in = lost = false;
        last = s;
        in |= part->op[i] != 0;
        lost |= !part->op[i] && !ins_is_write(h, op) && !ins_is_missed_row(h, op);
        if (s && in && lost)
            return true;
    }
    return false;
}

/* Does the trial still fail for the same reason?  Unknown counts as no. */
static bool fails(struct hunt *hunt, const struct ins_part *part)
{
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    if (hunt->st || loses_row(&hunt->cut, part))
        return false;
    hunt->st = ins_part_build(part, &hunt->cut, &h, hunt->err);
    if (hunt->st)
        return false;
    struct ins_check_options o = {.levels = INS_LEVEL_BIT(hunt->level),
                                  .threads = 1,
                                  .max_listed = 1,
                                  .limit = hunt->limit};
    if (hunt->a)
        o.levels |= INS_LEVEL_BIT(hunt->a->breaks);
    bool yes = false;
    struct ins_error ignored = {0};
    /* Nor must a read of one version out of a set lose all of them. */
    const bool spoilt =
        hunt->cut.h->statements.n && h->has_misreads && !hunt->cut.h->has_misreads;
    if (h->n_ops && !spoilt && !ins_check(h, &o, &r, &ignored))
        yes = r->level[hunt->level].verdict == INS_FAIL &&
              (!hunt->a || r->count[hunt->a->kind][hunt->a->suffix]);
    ins_result_free(r);
    ins_history_free(h);
    return yes;
}

/* Places are dropped in runs: by transaction, or one by one.  `first` holds where each
 * run starts, and one past the last. */
static bool try_without(struct hunt *hunt, const struct ins_vec_u32 *first, size_t from,
                        size_t to)
{
    bool some = false;
    ins_part_copy(&hunt->trial, &hunt->best, &hunt->cut);
    for (uint32_t i = first->at[from]; i < first->at[to]; i++)
        if (hunt->trial.op[i]) {
            ins_part_drop(&hunt->trial, &hunt->cut, i);
            some = true;
        }
    if (!some)
        return false;
    ins_part_close(&hunt->trial, &hunt->cut);
    if (!hunt->trial.n_ops || !fails(hunt, &hunt->trial))
        return false;
    ins_part_copy(&hunt->best, &hunt->trial, &hunt->cut);
    return true;
}

static bool stop(const struct hunt *hunt)
{
    return hunt->st || ins_limit_hit(hunt->limit);
}

/* The runs that still have something in. */
static bool list_runs(const struct hunt *hunt, bool by_txn, struct ins_vec_u32 *first)
{
    const struct ins_cut *c = &hunt->cut;
    ins_txn last = INS_INIT;
    first->len = 0;
    for (uint32_t i = 0; i < c->op.len; i++) {
        if (!hunt->best.op[i])
            continue;
        if (!by_txn || c->txn.at[i] != last)
            ins_vec_u32_push(first, i);
        last = c->txn.at[i];
    }
    ins_vec_u32_push(first, (uint32_t)c->op.len);
    return !first->failed;
}

/* Drop runs in pieces of half, a quarter, ... down to single ones, `rounds` times over
 * the single ones until nothing changes.  True when something went. */
static bool reduce(struct hunt *hunt, bool by_txn)
{
    struct ins_vec_u32 first = {0};
    bool changed = false;
    bool again = true;
    size_t piece = SIZE_MAX;
    while (again && !stop(hunt) && list_runs(hunt, by_txn, &first)) {
        const size_t n = first.len - 1;
        if (piece > n / 2)
            piece = n / 2 ? n / 2 : 1;
        bool went = false;
        /* From the end: later transactions tend to be needed less. */
        for (size_t to = n; to > 0 && !stop(hunt);) {
            const size_t from = to > piece ? to - piece : 0;
            went |= try_without(hunt, &first, from, to);
            to = from;
        }
        changed |= went;
        again = went || piece > 1;
        if (!went)
            piece = piece > 1 ? piece / 2 : 1;
    }
    if (first.failed)
        hunt->st = ins_nomem(hunt->err, "a counterexample");
    ins_vec_u32_release(&first);
    return changed;
}

static void minimise(struct hunt *hunt)
{
    (void)reduce(hunt, true);
    while (!stop(hunt) && reduce(hunt, false) && reduce(hunt, true))
        continue;
}

static void release(struct hunt *hunt)
{
    ins_part_release(&hunt->best);
    ins_part_release(&hunt->trial);
    ins_cut_release(&hunt->cut);
}

/* Set out from a cut that is already made.  False when it does not fail the same way.
 */
static bool set_out(struct hunt *hunt)
{
    hunt->st = ins_part_init(&hunt->best, &hunt->cut, hunt->err);
    if (!hunt->st)
        hunt->st = ins_part_init(&hunt->trial, &hunt->cut, hunt->err);
    return !hunt->st && fails(hunt, &hunt->best);
}

/* All operations of the transactions of a story. */
static bool whole_txns(const struct ins_story *s, struct ins_vec_u32 *op)
{
    for (uint32_t i = 0; i < s->n_txns; i++)
        for (uint32_t o = s->h->txn_op[s->txn[i]]; o < s->h->txn_op[s->txn[i] + 1]; o++)
            ins_vec_u32_push(op, o);
    return !op->failed;
}

static void push_statement(const struct ins_history *h, uint32_t op,
                           struct ins_vec_u32 *all)
{
    const struct ins_statement *const s = ins_history_statement(h, op);
    const uint32_t n = s ? s->n_ops : 1;
    for (uint32_t i = 0; i < n; i++)
        ins_vec_u32_push(all, (s ? s->op : op) + i);
}

/* Rows of a result must not lose their writers: the operations with the rest of their
 * statements, and whatever writes a key of these.  A statement that writes has one key,
 * so that this is all that it takes. */
static bool whole_statements(const struct ins_history *h, const uint32_t *op,
                             uint32_t n, struct ins_vec_u32 *all)
{
    uint8_t *wanted = INS_NEW0(uint8_t, h->n_keys + (size_t)1);
    if (!wanted)
        return false;
    all->len = 0;
    for (uint32_t i = 0; i < n; i++)
        push_statement(h, op[i], all);
    for (size_t i = 0; i < all->len; i++)
        wanted[ins_op_key(h, all->at[i])] = 1;
    for (uint32_t o = 0; o < h->n_ops; o++)
        if (ins_is_write(h, o) && wanted[ins_op_key(h, o)])
            push_statement(h, o, all);
    ins_free(wanted);
    return !all->failed;
}

/* From little to much: the operations that matter; with all elements of their lists;
 * all operations of their transactions. */
static bool start_small(struct hunt *hunt, const struct ins_history *h)
{
    struct ins_story s;
    hunt->st = ins_story_init(&s, h, hunt->a, hunt->err);
    if (hunt->st)
        return false;
    struct ins_vec_u32 all = {0}, rows = {0};
    bool found = false;
    for (int attempt = 0; attempt < 3 && !found && !hunt->st; attempt++) {
        const uint32_t *op = s.op;
        uint32_t n = s.n_ops;
        if (attempt == 2 && whole_txns(&s, &all)) {
            op = all.at;
            n = (uint32_t)all.len;
        }
        if (h->statements.n && whole_statements(h, op, n, &rows)) {
            op = rows.at;
            n = (uint32_t)rows.len;
        }
        if (!n)
            continue;
        hunt->st = ins_cut_init(&hunt->cut, h, op, n, attempt > 0, hunt->err);
        found = !hunt->st && set_out(hunt);
        if (!found)
            release(hunt);
    }
    ins_vec_u32_release(&all);
    ins_vec_u32_release(&rows);
    ins_story_release(&s);
    return found;
}

enum ins_status ins_shrink(const struct ins_history *h, const struct ins_anomaly *a,
                           enum ins_level level, struct ins_limit *limit,
                           struct ins_history **out, struct ins_error *err)
{
    struct hunt hunt = {.a = a, .level = level, .limit = limit, .err = err};
    *out = NULL;
    bool found = a && start_small(&hunt, h);
    if (!found && !hunt.st) {
        hunt.st = ins_cut_init_all(&hunt.cut, h, err);
        found = !hunt.st && set_out(&hunt);
    }
    if (!found && !hunt.st && hunt.a) {
        /* The whole history without its unknown reads is known to fail; only the name
         * may differ when other levels are asked for.  Any reason will do then. */
        hunt.a = NULL;
        found = fails(&hunt, &hunt.best);
    }
    if (found)
        minimise(&hunt);
    if (!found && !hunt.st)
        hunt.st = ins_fail(err, INS_E_LIMIT, 0, "the failure of %s did not show again",
                           ins_level_table[level].id);
    if (!hunt.st)
        hunt.st = ins_part_build(&hunt.best, &hunt.cut, out, err);
    release(&hunt);
    return hunt.st;
}

static uint32_t txns_named(const struct ins_history *h, const struct ins_anomaly *a)
{
    struct ins_story s;
    if (a->n_branches || ins_story_init(&s, h, a, NULL))
        return UINT32_MAX - 1;
    const uint32_t n = s.n_txns;
    ins_story_release(&s);
    return n;
}

/* The higher, the better to show. */
static int rank_of(const struct ins_anomaly *a, enum ins_level level)
{
    return a->breaks != level ? 0 : a->lost ? 2 : 1;
}

const struct ins_anomaly *ins_shrink_choose(const struct ins_result *r,
                                            const struct ins_history *h,
                                            enum ins_level level)
{
    const struct ins_anomaly *best = NULL;
    uint32_t least = UINT32_MAX;
    int best_rank = 0;
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        if (!(r->level[level].kinds & (UINT64_C(1) << a->kind)))
            continue;
        const int rank = rank_of(a, level);
        const uint32_t n = rank < best_rank ? UINT32_MAX : txns_named(h, a);
        if (n == UINT32_MAX || (rank == best_rank && n >= least))
            continue;
        best = a;
        least = n;
        best_rank = rank;
    }
    return best;
}

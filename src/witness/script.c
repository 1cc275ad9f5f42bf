#include "script.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A place that a value's number goes to. */
struct use {
    uint64_t word;
    ins_key key;
    uint32_t place; /* of all reads, then all writes, then initial values */
};

static int compare_uses(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static bool is_external(uint32_t from)
{
    return from < INS_FROM_SPECIAL || from == INS_FROM_AMBIGUOUS;
}

/* Has the transaction that starts at `first` an entry for a read of k already? */
static bool read_before(const struct ins_script *s, uint32_t first, uint32_t end,
                        ins_key k)
{
    for (uint32_t i = first; i < end; i++)
        if (s->read[i].key == k)
            return true;
    return false;
}

/* From whom one that may count reads may count, too. */
static void mark_sources(struct ins_script *s, ins_txn t)
{
    const struct ins_history *h = s->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        if (!ins_is_write(h, op) && from < INS_FROM_SPECIAL &&
            h->txn_status[from] == INS_INDETERMINATE)
            s->may_count[from] = 1;
    }
}

static void mark_counts(struct ins_script *s)
{
    const struct ins_history *h = s->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        s->counts[t] = ins_counted(h, t);
    for (uint32_t g = 0; g < h->n_groups; g++)
        for (uint64_t i = h->group_off[g]; i < h->group_off[g + 1]; i++)
            s->may_count[h->group_txn[i]] =
                h->txn_status[h->group_txn[i]] == INS_INDETERMINATE;
    for (ins_txn t = 1; h->n_groups && t < h->n_txns; t++)
        if (h->txn_status[t] == INS_INDETERMINATE)
            mark_sources(s, t);
}

/* One that may count and has a faulty read, or two that disagree, cannot. */
static bool could_count(const struct ins_script *s, ins_txn t)
{
    const struct ins_history *h = s->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (ins_is_write(h, op))
            continue;
        if (h->op_from[op] >= INS_FROM_THIN_AIR)
            return false;
        for (uint32_t o = h->txn_op[t]; !s->repeats && o < op; o++)
            if (is_external(h->op_from[op]) && ins_reads_key(h, o, ins_op_key(h, op)) &&
                is_external(h->op_from[o]) && h->op_value[o] != h->op_value[op])
                return false;
    }
    return true;
}

static void add_use(struct use *use, size_t *n, ins_key k, uint64_t word, size_t place)
{
    use[(*n)++] = (struct use){.word = word, .key = k, .place = (uint32_t)place};
}

/* Entries by transaction; their values go to `use`. */
static size_t fill_entries(struct ins_script *s, struct use *use)
{
    const struct ins_history *h = s->h;
    size_t n = 0;
    uint32_t n_reads = 0, n_writes = 0;
    for (ins_txn t = 0; t < h->n_txns; t++) {
        s->read_off[t] = n_reads;
        s->write_off[t] = n_writes;
        if (s->may_count[t] && !could_count(s, t))
            s->may_count[t] = 0;
        if (!s->counts[t] && !s->may_count[t])
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const ins_key k = ins_op_key(h, op);
            if (ins_is_write(h, op) && h->op_from[op] == INS_WRITE_FINAL) {
                add_use(use, &n, k, h->op_value[op], h->n_ops + n_writes);
                s->write[n_writes++].key = k;
            } else if (ins_has_result(h, op) && is_external(h->op_from[op]) &&
                       (s->repeats || !read_before(s, s->read_off[t], n_reads, k))) {
                add_use(use, &n, k, h->op_value[op], n_reads);
                s->read_op[n_reads] = op;
                s->read[n_reads++].key = k;
            }
        }
    }
    s->read_off[h->n_txns] = n_reads;
    s->write_off[h->n_txns] = n_writes;
    for (ins_key k = 0; k < h->n_keys; k++)
        if (h->key_flags[k] & INS_KEY_HAS_INIT)
            add_use(use, &n, k, h->key_init[k], 2 * (size_t)h->n_ops + k);
    return n;
}

/* Sort by key into `by`, and the uses of each key by value; false at a limit. */
static bool sort_uses(const struct use *use, size_t n, struct use *by, size_t *end,
                      uint32_t n_keys, struct ins_limit *limit)
{
    for (size_t i = 0; i < n; i++)
        end[use[i].key]++;
    for (size_t k = 0, sum = 0; k < n_keys; k++) {
        const size_t first = sum;
        sum += end[k];
        end[k] = first;
    }
    for (size_t i = 0; i < n; i++)
        by[end[use[i].key]++] = use[i];
    for (size_t k = 0, first = 0; k < n_keys; first = end[k++]) {
        if (!(k & 255) && ins_limit_hit(limit))
            return false;
        if (end[k] - first > 1)
            qsort(&by[first], end[k] - first, sizeof *by, compare_uses);
    }
    return true;
}

static void number_values(struct ins_script *s, const struct use *use, size_t n)
{
    const uint32_t n_ops = s->h->n_ops;
    uint32_t value = 0; /* what no read returned: keys without a first value */
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_uses(&use[i - 1], &use[i]) != 0)
            value++;
        const uint32_t place = use[i].place;
        if (place < n_ops)
            s->read[place].value = value;
        else if (place < 2 * n_ops)
            s->write[place - n_ops].value = value;
        else
            s->initial[place - 2 * n_ops] = value;
    }
    s->n_values = value + 1;
}

bool ins_script_init(struct ins_script *s, const struct ins_history *h, bool repeats,
                     struct ins_limit *limit)
{
    const uint64_t entries = (uint64_t)h->n_ops + h->n_keys;
    *s = (struct ins_script){.h = h, .repeats = repeats};
    if (h->n_ops > UINT32_MAX / 2 - h->n_keys || ins_limit_hit(limit) ||
        ins_limit_memory(limit, entries * (2 * sizeof(struct use) + 28)))
        return false;
    s->read_off = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    s->write_off = INS_NEW(uint32_t, (size_t)h->n_txns + 1);
    s->read = INS_NEW(struct ins_access, h->n_ops);
    s->write = INS_NEW(struct ins_access, h->n_ops);
    s->read_op = INS_NEW(uint32_t, h->n_ops);
    s->initial = INS_NEW0(uint32_t, h->n_keys);
    s->counts = INS_NEW0(uint8_t, h->n_txns);
    s->may_count = INS_NEW0(uint8_t, h->n_txns);
    struct use *use = INS_NEW(struct use, entries), *by = INS_NEW(struct use, entries);
    size_t *end = INS_NEW0(size_t, h->n_keys);
    bool ok = s->read_off && s->write_off && s->read && s->write && s->read_op &&
              s->initial && s->counts && s->may_count && use && by && end;
    if (ok) {
        mark_counts(s);
        const size_t n = fill_entries(s, use);
        ok = !ins_limit_hit(limit) && sort_uses(use, n, by, end, h->n_keys, limit);
        if (ok)
            number_values(s, by, n);
    }
    ins_free(use);
    ins_free(by);
    ins_free(end);
    return ok;
}

void ins_script_release(struct ins_script *s)
{
    ins_free(s->read_off);
    ins_free(s->write_off);
    ins_free(s->read);
    ins_free(s->write);
    ins_free(s->read_op);
    ins_free(s->initial);
    ins_free(s->counts);
    ins_free(s->may_count);
    memset(s, 0, sizeof *s);
}

/* ---- running a sequence ---- */

struct run {
    const struct ins_script *s;
    struct ins_steps how;
    uint32_t *current; /* by key: value */
    ins_txn *last;     /* by session: the latest that is through */
    ins_txn *active;   /* by key: who will write it and has begun, or INS_INIT */
    uint8_t *begun;    /* by transaction: 1 has begun, 2 is through */
};

static bool begin(const struct run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    const uint32_t session = s->h->txn_session[t];
    if (q->begun[t] || q->last[session] > t)
        return false;
    q->begun[t] = 1;
    q->last[session] = t;
    for (uint32_t i = s->read_off[t]; i < s->read_off[t + 1]; i++)
        if (q->current[s->read[i].key] != s->read[i].value)
            return false;
    for (uint32_t i = s->write_off[t]; q->how.exclusive && i < s->write_off[t + 1];
         i++) {
        if (q->active[s->write[i].key] != INS_INIT)
            return false;
        q->active[s->write[i].key] = t;
    }
    return true;
}

static bool commit(const struct run *q, ins_txn t)
{
    const struct ins_script *s = q->s;
    /* nobody of its session began meanwhile */
    if (q->begun[t] != 1 || q->last[s->h->txn_session[t]] != t)
        return false;
    q->begun[t] = 2;
    for (uint32_t i = s->write_off[t]; i < s->write_off[t + 1]; i++) {
        q->current[s->write[i].key] = s->write[i].value;
        q->active[s->write[i].key] = INS_INIT;
    }
    return true;
}

/* Has everybody begun after those who had ended?  Backwards: the earliest end among
 * those that come later must not be before the begin of one that comes earlier. */
static bool times_hold(const struct run *q, const uint32_t *step, size_t n)
{
    const struct ins_history *h = q->s->h;
    int64_t earliest = INT64_MAX;
    for (size_t i = n; q->how.real_time && i-- > 0;) {
        const ins_txn t = step[i] >> 1;
        const bool is_begin = !q->how.split || !(step[i] & 1);
        const bool is_commit = !q->how.split || (step[i] & 1);
        if (is_begin && h->txn_begin[t] != INS_NO_TIME && earliest < h->txn_begin[t])
            return false;
        if (is_commit && h->txn_status[t] == INS_COMMITTED &&
            h->txn_end[t] != INS_NO_TIME && h->txn_end[t] < earliest)
            earliest = h->txn_end[t];
    }
    return true;
}

static bool steps_hold(const struct run *q, const uint32_t *step, size_t n)
{
    const struct ins_history *h = q->s->h;
    for (size_t i = 0; i < n; i++) {
        const ins_txn t = step[i] >> 1;
        if (t == INS_INIT || t >= h->n_txns || !(q->s->counts[t] || q->s->may_count[t]))
            return false;
        if ((!q->how.split || !(step[i] & 1)) && !begin(q, t))
            return false;
        if ((!q->how.split || (step[i] & 1)) && !commit(q, t))
            return false;
    }
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (q->begun[t] == 1 || (q->s->counts[t] && q->begun[t] != 2))
            return false;
    return true;
}

bool ins_script_runs(const struct ins_script *s, struct ins_steps how,
                     const uint32_t *step, size_t n)
{
    const struct ins_history *h = s->h;
    struct run q = {.s = s, .how = how};
    q.current = INS_NEW(uint32_t, h->n_keys);
    q.last = INS_NEW0(ins_txn, h->n_sessions);
    q.active = INS_NEW0(ins_txn, h->n_keys);
    q.begun = INS_NEW0(uint8_t, h->n_txns);
    bool ok = q.current && q.last && q.active && q.begun;
    if (ok) {
        memcpy(q.current, s->initial, h->n_keys * sizeof *q.current);
        ok = steps_hold(&q, step, n) && times_hold(&q, step, n);
    }
    ins_free(q.current);
    ins_free(q.last);
    ins_free(q.active);
    ins_free(q.begun);
    return ok;
}

static int compare_timed(const void *a, const void *b)
{
    const struct ins_timed *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->t < y->t ? -1 : x->t > y->t;
}

void ins_timed_sort(struct ins_timed *by, size_t n)
{
    if (n)
        qsort(by, n, sizeof *by, compare_timed);
}

bool ins_script_split(const struct ins_vec_u32 *serial, struct ins_vec_u32 *step)
{
    step->len = 0;
    for (size_t i = 0; i < serial->len; i++) {
        ins_vec_u32_push(step, serial->at[i]);
        ins_vec_u32_push(step, serial->at[i] | 1);
    }
    return !serial->failed && !step->failed;
}

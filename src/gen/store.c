/* store.c - what each level lets its clients see.
 *
 * For every store there is an order of its transactions (or of their begins and
 * commits) that shows its histories to satisfy its level; the argument stands above it.
 * They hold for transactions that took effect; aborted ones, and indeterminate ones
 * without effect, leave no trace that anybody could read.  An indeterminate one that
 * took effect and was not read is left out by the checkers, which removes constraints
 * and adds none.  Duplicate values only add choices for what a read may have read.
 *
 * A list is read as a prefix of the one sequence of its appends; `position` keeps where
 * an append stands there. */
#include "sim.h"

#include "base/mem.h"

#include <string.h>

static bool is_write(const struct ins_sim *s, uint32_t op)
{
    return ins_word_writes(s->h->op_word[op]);
}

/* What a read of k by the client returns beyond its own writes. */
typedef uint32_t view(struct ins_sim *s, const struct ins_sim_client *c, ins_key k);

/* Run one statement.  A list read is kept as the length of the prefix and, in the upper
 * half, how many own appends follow it; gen.c makes the lists of that. */
static inline void run_op(struct ins_sim *s, const struct ins_sim_client *c,
                          struct ins_own *own, uint32_t op, view *visible)
{
    struct ins_columns *h = s->h;
    const ins_key k = ins_word_key(h->op_word[op]);
    struct ins_own_slot *slot = ins_own_at(own, k);
    const bool mine = slot->epoch == own->epoch;
    if (is_write(s, op)) {
        const struct ins_own_slot now = {.key = k,
                                         .epoch = own->epoch,
                                         .first = mine ? slot->first : op,
                                         .last = op,
                                         .count = mine ? slot->count + 1 : 1};
        *slot = now;
    } else if (s->o->list) {
        const uint64_t after = mine ? slot->count : 0;
        h->op_value[op] = visible(s, c, k) | after << 32;
    } else {
        h->op_value[op] = mine ? h->op_value[slot->last] : visible(s, c, k);
    }
}

static inline void run_all(struct ins_sim *s, const struct ins_sim_client *c,
                           view *visible)
{
    struct ins_own *own = ins_own_of(s, c);
    ins_own_clear(own);
    const uint32_t end = s->h->txn_op[c->txn + 1];
    for (uint32_t op = s->h->txn_op[c->txn]; op < end; op++)
        run_op(s, c, own, op, visible);
}

/* ---- one copy of the data: sser, rc, si, pc ---- */

static uint32_t newest(struct ins_sim *s, const struct ins_sim_client *c, ins_key k)
{
    (void)c;
    return s->version[k];
}

/* Apply the client's writes to the one copy. */
static void apply(struct ins_sim *s, const struct ins_sim_client *c)
{
    const struct ins_columns *h = s->h;
    s->commits++;
    for (uint32_t op = h->txn_op[c->txn]; op < h->txn_op[c->txn + 1]; op++) {
        if (!is_write(s, op))
            continue;
        const ins_key k = ins_word_key(h->op_word[op]);
        if (s->o->list)
            s->position[op] = s->version[k]++;
        else
            s->version[k] = (uint32_t)h->op_value[op];
        if (s->stamp)
            s->stamp[k] = s->commits;
    }
}

static bool init_copy(struct ins_sim *s)
{
    s->version = INS_NEW0(uint32_t, s->o->keys);
    return s->version != NULL;
}

static bool init_stamped(struct ins_sim *s)
{
    s->stamp = INS_NEW0(uint32_t, s->o->keys);
    return s->stamp && init_copy(s);
}

/* sser.  A transaction runs as a whole at one instant between its begin and its end.
 * The order of these instants is a serial execution; it extends session order, because
 * a session's transactions follow one another, and real time, because one that ended
 * before another began has its instant before. */
static void commit_serial(struct ins_sim *s, struct ins_sim_client *c)
{
    run_all(s, c, newest);
    if (c->effect)
        apply(s, c);
}

/* rc.  Each statement sees what is committed at its time.  Take the order of commits
 * for co: it extends session order and reads-from.  If r reads from t2 and a later r'
 * reads k from t1, then t2 had committed before r', and t1 is the last to have
 * committed k by then; so if t2 writes k, t2 is not after t1. */
static void begin_statements(struct ins_sim *s, struct ins_sim_client *c)
{
    ins_own_clear(ins_own_of(s, c));
    c->op = s->h->txn_op[c->txn];
}

static void run_statement(struct ins_sim *s, struct ins_sim_client *c)
{
    run_op(s, c, ins_own_of(s, c), c->op, newest);
    c->op++;
}

static void commit_statements(struct ins_sim *s, struct ins_sim_client *c)
{
    if (c->effect)
        apply(s, c);
}

/* pc.  The snapshot is everything committed at begin, so all reads can be made there
 * and then.  Order begins and commits by time, and versions by commits: session order
 * and reads-from lead from a commit to a later begin, write-write from a commit to a
 * later commit, and a transaction whose write a snapshot lacks commits after that
 * begin. */
static void begin_snapshot(struct ins_sim *s, struct ins_sim_client *c)
{
    c->snapshot = s->commits;
    run_all(s, c, newest);
}

static void commit_snapshot(struct ins_sim *s, struct ins_sim_client *c)
{
    if (c->effect)
        apply(s, c);
}

/* si.  The same, and the first committer wins: a transaction commits only when nobody
 * has committed a key of its writes since its snapshot, so write-write too leads from a
 * commit to a later begin.  One that lost takes a new snapshot at its commit, which
 * is after its begin like any other, and then cannot lose. */
static void commit_first(struct ins_sim *s, struct ins_sim_client *c)
{
    const struct ins_columns *h = s->h;
    if (!c->effect)
        return;
    for (uint32_t op = h->txn_op[c->txn]; op < h->txn_op[c->txn + 1]; op++)
        if (is_write(s, op) && s->stamp[ins_word_key(h->op_word[op])] > c->snapshot) {
            begin_snapshot(s, c);
            break;
        }
    apply(s, c);
}

/* ---- ser ----
 *
 * Multiversion timestamp ordering (Bernstein and Goodman 1983) with the two newest
 * versions of each key.  A transaction runs as a whole at one instant, but with a
 * timestamp that may lie in the past, though not before its session's previous one.
 * A read takes the version that is newest at the timestamp; a write must go on
 * top, and the version it replaces must not have been read by a later timestamp.  When
 * that cannot be had, the transaction takes the present as its timestamp, which always
 * works.
 *
 * The order by timestamp, equal ones by execution, is serial: a read at ts sees the
 * version with the greatest timestamp up to ts, and no version can come in between
 * afterwards, since writes go on top and not below a reader.  It extends session order.
 * It contradicts real time whenever a stale transaction misses the write of one that
 * had ended before it began. */

static bool init_timestamps(struct ins_sim *s)
{
    s->ts_key = INS_NEW0(struct ins_ts_key, s->o->keys);
    return s->ts_key != NULL;
}

static uint32_t at_timestamp(struct ins_sim *s, const struct ins_sim_client *c,
                             ins_key k)
{
    const struct ins_ts_key *key = &s->ts_key[k];
    return key->written <= c->snapshot ? key->version : key->before;
}

/* May the client's transaction run at its timestamp? */
static bool timestamp_works(const struct ins_sim *s, const struct ins_sim_client *c)
{
    const uint32_t ts = c->snapshot;
    for (uint32_t op = s->h->txn_op[c->txn]; op < s->h->txn_op[c->txn + 1]; op++) {
        const struct ins_ts_key *key = &s->ts_key[ins_word_key(s->h->op_word[op])];
        if (is_write(s, op) ? key->written > ts || key->read > ts
                            : key->written > ts && key->written_before > ts)
            return false;
    }
    return true;
}

static void write_at(struct ins_sim *s, const struct ins_own_slot *slot, uint32_t op,
                     uint32_t ts)
{
    struct ins_ts_key *key = &s->ts_key[ins_word_key(s->h->op_word[op])];
    if (slot->first == op) {
        key->before = key->version;
        key->written_before = key->written;
        key->written = key->read = ts;
    }
    if (s->o->list)
        s->position[op] = key->version++;
    else
        key->version = (uint32_t)s->h->op_value[op];
}

static void commit_timestamp(struct ins_sim *s, struct ins_sim_client *c)
{
    const uint32_t now = ++s->commits;
    /* Half of them are stale, by up to twice the transactions that run at once. */
    const uint32_t draw = ins_rng_below(&s->rng, 4 * s->n_clients + 8);
    const uint32_t back = draw < 2 * s->n_clients + 4 && draw < now ? draw : 0;
    c->snapshot = now - back < c->last_ts ? c->last_ts : now - back;
    if (!timestamp_works(s, c))
        c->snapshot = now;
    run_all(s, c, at_timestamp);
    if (!c->effect)
        return;
    const uint32_t ts = c->last_ts = c->snapshot;
    struct ins_own *own = ins_own_of(s, c);
    for (uint32_t op = s->h->txn_op[c->txn]; op < s->h->txn_op[c->txn + 1]; op++) {
        const ins_key k = ins_word_key(s->h->op_word[op]);
        struct ins_ts_key *key = &s->ts_key[k];
        if (is_write(s, op))
            write_at(s, ins_own_at(own, k), op, ts);
        else if (key->written <= ts && key->read < ts)
            key->read = ts;
    }
}

/* ---- replicas: cc, ra ----
 *
 * A session talks to one replica.  A transaction runs there as a whole, at once, on
 * what the replica has applied; others hear of it later.  A replica shows of each key
 * the version that was committed last among those applied. */

static bool init_replicas(struct ins_sim *s)
{
    s->n_replicas = s->n_clients < INS_MAX_REPLICAS ? s->n_clients : INS_MAX_REPLICAS;
    s->commit_number = INS_NEW0(uint32_t, s->h->n_txns);
    for (uint32_t r = 0; r < s->n_replicas; r++) {
        s->replica[r].version = INS_NEW0(uint32_t, s->o->keys);
        s->replica[r].seq = INS_NEW0(uint32_t, s->o->keys);
        if (!s->replica[r].version || !s->replica[r].seq)
            return false;
    }
    if (s->o->list) {
        s->version = INS_NEW0(uint32_t, s->o->keys); /* how long the lists are */
        s->last_writer = INS_NEW0(ins_txn, s->o->keys);
        s->applied = INS_NEW0(uint8_t, s->h->n_txns);
        s->previous = INS_NEW(ins_txn, s->h->n_ops);
        if (!s->version || !s->last_writer || !s->applied || !s->previous)
            return false;
    }
    return s->commit_number != NULL;
}

static uint32_t replica_of(const struct ins_sim *s, const struct ins_sim_client *c)
{
    return (uint32_t)(c - s->client) % s->n_replicas;
}

static uint32_t at_replica(struct ins_sim *s, const struct ins_sim_client *c, ins_key k)
{
    return s->replica[replica_of(s, c)].version[k];
}

/* Apply a transaction to replica r, once. */
static void apply_at(struct ins_sim *s, uint32_t r, ins_txn t)
{
    struct ins_replica *p = &s->replica[r];
    const struct ins_columns *h = s->h;
    const uint32_t seq = s->commit_number[t];
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!is_write(s, op))
            continue;
        const ins_key k = ins_word_key(h->op_word[op]);
        if (s->o->list) {
            if (p->version[k] <= s->position[op])
                p->version[k] = s->position[op] + 1;
        } else if (p->seq[k] <= seq) {
            p->seq[k] = seq;
            p->version[k] = (uint32_t)h->op_value[op];
        }
    }
    if (s->applied)
        s->applied[t] |= (uint8_t)(1u << r);
}

/* Give the appends of transaction t their places, and note who wrote last. */
static void place_writes(struct ins_sim *s, ins_txn t)
{
    const struct ins_columns *h = s->h;
    for (uint32_t op = h->txn_op[t]; s->last_writer && op < h->txn_op[t + 1]; op++) {
        if (!is_write(s, op))
            continue;
        const ins_key k = ins_word_key(h->op_word[op]);
        if (s->o->list) {
            s->position[op] = s->version[k]++;
            s->previous[op] = s->last_writer[k];
        }
        s->last_writer[k] = t;
    }
}

/* Commit c's transaction at replica r, where it has run. */
static void commit_at(struct ins_sim *s, uint32_t r, const struct ins_sim_client *c)
{
    s->commit_number[c->txn] = ++s->commits;
    place_writes(s, c->txn);
    apply_at(s, r, c->txn);
}

static bool is_applied(const struct ins_sim *s, uint32_t r, ins_txn t)
{
    return t == INS_INIT || (s->applied[t] >> r & 1);
}

/* cc.  Now and then a replica takes over all that another one has applied.  What a
 * replica has applied is therefore closed under causality: session order stays at a
 * replica, and what a transaction read from had been applied where it ran.  Take the
 * order of commits for co: if t3 reads k from t1 and t2, which writes k, is in t3's
 * causal past, then t2 was applied where t3 ran and t1 was preferred to it, so t2 is
 * before t1.
 *
 * Lists: before it appends, a replica takes over what the last appender saw.  All
 * appenders of a key are then causally ordered, so what a replica has applied of a list
 * is a prefix. */

static void take_over(struct ins_sim *s, uint32_t to, uint32_t from)
{
    struct ins_replica *p = &s->replica[to];
    const struct ins_replica *q = &s->replica[from];
    for (uint32_t origin = 0; origin < s->n_replicas; origin++) {
        const struct ins_vec_u32 *log = &s->replica[origin].log;
        const uint32_t known = origin == from ? (uint32_t)log->len : q->seen[origin];
        if (origin == to)
            continue;
        while (p->seen[origin] < known)
            apply_at(s, to, log->at[p->seen[origin]++]);
    }
}

static uint32_t origin_of(const struct ins_sim *s, ins_txn t)
{
    uint32_t lo = 0, hi = s->h->n_sessions - 1; /* the last one that begins by t */
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo + 1) / 2;
        if (s->h->session_first[mid] <= t)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo % s->n_replicas;
}

static void commit_causal(struct ins_sim *s, struct ins_sim_client *c)
{
    const struct ins_columns *h = s->h;
    const uint32_t r = replica_of(s, c);
    if (s->n_replicas > 1 && !ins_rng_below(&s->rng, 4))
        take_over(s, r,
                  (r + 1 + ins_rng_below(&s->rng, s->n_replicas - 1)) % s->n_replicas);
    for (uint32_t op = h->txn_op[c->txn]; s->last_writer && op < h->txn_op[c->txn + 1];
         op++) {
        const ins_txn last = s->last_writer[ins_word_key(h->op_word[op])];
        if (is_write(s, op) && !is_applied(s, r, last))
            take_over(s, r, origin_of(s, last));
    }
    run_all(s, c, at_replica);
    if (c->effect) {
        commit_at(s, r, c);
        ins_vec_u32_push(&s->replica[r].log, c->txn);
    }
}

/* psi.  As cc, and before it writes any key a replica takes over what the last writer
 * of the key saw: no two writers of a key miss each other.  Take the order of commits
 * for the version orders.  Whoever is before t3 by session order, reads-from or
 * write-write, in any number of steps, was applied where t3 ran, and committed before
 * it: so there is no cycle.  If t3 reads k from t1, then t1 is the last writer of k
 * that was applied there; a later one was not, so no path leads from it to t3 that an
 * anti-dependency could close.  Replicas that write different keys still show them in
 * different orders: a long fork. */
static bool init_parallel(struct ins_sim *s)
{
    if (!init_replicas(s))
        return false;
    if (!s->last_writer)
        s->last_writer = INS_NEW0(ins_txn, s->o->keys);
    if (!s->applied)
        s->applied = INS_NEW0(uint8_t, s->h->n_txns);
    return s->last_writer && s->applied;
}

/* ra.  Transactions reach the other replicas one by one, whole, in any order.  Take the
 * order of commits for co: if t3 reads k from t1 and t2, which writes k, is before
 * t3 in its session or is read by t3, then t2 was applied where t3 ran, and t1 was
 * preferred to it.  Causes may be missing, so cc seldom holds.
 *
 * Lists: a transaction is applied after those that its appends follow, so that what is
 * applied of a list is a prefix. */

static void apply_with_lists(struct ins_sim *s, uint32_t r, ins_txn t)
{
    const struct ins_columns *h = s->h;
    ins_vec_u32_push(&s->stack, t);
    while (s->stack.len && !s->stack.failed) {
        const ins_txn top = s->stack.at[s->stack.len - 1];
        const size_t before = s->stack.len;
        for (uint32_t op = h->txn_op[top]; op < h->txn_op[top + 1]; op++)
            if (!is_applied(s, r, top) && is_write(s, op) && s->previous[op] != top &&
                !is_applied(s, r, s->previous[op]))
                ins_vec_u32_push(&s->stack, s->previous[op]);
        if (s->stack.len > before)
            continue;
        if (!is_applied(s, r, top))
            apply_at(s, r, top);
        s->stack.len--;
    }
}

static void deliver_some(struct ins_sim *s, uint32_t r)
{
    struct ins_vec_u32 *pending = &s->replica[r].pending;
    const uint32_t keep = ins_rng_below(&s->rng, 4 * s->n_clients + 1);
    while (pending->len > keep) {
        const uint32_t i = ins_rng_below(&s->rng, (uint32_t)pending->len);
        const ins_txn t = pending->at[i];
        pending->at[i] = pending->at[--pending->len];
        if (s->o->list)
            apply_with_lists(s, r, t);
        else
            apply_at(s, r, t);
    }
}

static void commit_atomic(struct ins_sim *s, struct ins_sim_client *c)
{
    const struct ins_columns *h = s->h;
    const uint32_t r = replica_of(s, c);
    deliver_some(s, r);
    for (uint32_t op = h->txn_op[c->txn]; s->o->list && op < h->txn_op[c->txn + 1];
         op++) {
        const ins_txn last = s->last_writer[ins_word_key(h->op_word[op])];
        if (is_write(s, op) && !is_applied(s, r, last))
            apply_with_lists(s, r, last);
    }
    run_all(s, c, at_replica);
    if (!c->effect)
        return;
    commit_at(s, r, c);
    for (uint32_t q = 0; q < s->n_replicas; q++)
        if (q != r)
            ins_vec_u32_push(&s->replica[q].pending, c->txn);
}

/* ---- the table ---- */

const struct ins_store ins_store_table[] = {
    {.level = "rc",
     .init = init_copy,
     .begin = begin_statements,
     .statement = run_statement,
     .commit = commit_statements,
     .appends_interleave = true},
    {.level = "ra", .init = init_replicas, .commit = commit_atomic},
    {.level = "cc", .init = init_replicas, .commit = commit_causal},
    {.level = "psi", .init = init_parallel, .commit = commit_causal},
    {.level = "pc",
     .init = init_stamped,
     .begin = begin_snapshot,
     .commit = commit_snapshot,
     .appends_interleave = true},
    {.level = "si",
     .init = init_stamped,
     .begin = begin_snapshot,
     .commit = commit_first},
    {.level = "ser", .init = init_timestamps, .commit = commit_timestamp},
    {.level = "sser", .init = init_copy, .commit = commit_serial},
};

const struct ins_store *ins_store_find(const char *level)
{
    for (size_t i = 0; i < sizeof ins_store_table / sizeof *ins_store_table; i++)
        if (!strcmp(ins_store_table[i].level, level))
            return &ins_store_table[i];
    return NULL;
}

void ins_store_list(char *text, size_t size)
{
    const size_t n = sizeof ins_store_table / sizeof *ins_store_table;
    size_t len = 0;
    for (size_t i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s",
                                i == 0      ? ""
                                : i + 1 < n ? ", "
                                            : " or ",
                                ins_store_table[i].level);
}

void ins_own_clear(struct ins_own *own)
{
    if (++own->epoch)
        return;
    memset(own->slot, 0, (own->mask + (size_t)1) * sizeof *own->slot);
    own->epoch = 1;
}

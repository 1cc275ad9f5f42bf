#include "gen.h"

#include "base/mem.h"
#include "gen/dress.h"
#include "gen/inject.h"
#include "gen/sim.h"

#include <inttypes.h>
#include <string.h>

enum phase { IDLE, RUNNING, COMMITTED };

enum { NS_PER_TICK = 1000 };

/* ---- room ---- */

static enum ins_status check_options(const struct ins_gen_options *o,
                                     const struct ins_plant *p, struct ins_error *err)
{
    if (!ins_store_find(o->level)) {
        char known[128];
        ins_store_list(known, sizeof known);
        return ins_fail(err, INS_E_USAGE, 0, "cannot simulate level '%s', expected %s",
                        o->level, known);
    }
    if (o->abort + o->info > 1)
        return ins_fail(err, INS_E_USAGE, 0,
                        "aborted and indeterminate transactions are more than all");
    if (o->list && o->dup > 0)
        return ins_fail(err, INS_E_USAGE, 0,
                        "elements of lists are unique, duplicates are for registers");
    if (o->rows && (o->list || !o->range))
        return ins_fail(err, INS_E_USAGE, 0,
                        "rows are registers, and a query asks for some of them");
    if (!o->sessions || !o->txns || !o->ops || !o->keys || !o->dup_values)
        return ins_fail(err, INS_E_USAGE, 0,
                        "a history needs sessions, transactions, operations and keys");
    if (o->txns > UINT32_MAX / (o->ops + (o->rows ? o->range : 0)) - p->ops - 64 ||
        (uint64_t)o->keys + p->keys > INS_MOST_KEYS)
        return ins_fail(err, INS_E_USAGE, 0,
                        "%" PRIu64 " transactions of %" PRIu32 " operations on %" PRIu32
                        " keys are more than a history can hold",
                        o->txns, o->ops, o->keys);
    return INS_OK;
}

/* All arrays but those of lists, with room for the plant. */
static bool allocate(struct ins_columns *h, const struct ins_gen_options *o,
                     const struct ins_plant *p, uint32_t sessions)
{
    const size_t txns = (size_t)o->txns + p->txns + 1;
    const size_t ops = (size_t)o->txns * (o->ops + (o->rows ? o->range : 0)) + p->ops;
    const size_t keys = (size_t)o->keys + p->keys;
    h->session_first = INS_NEW(uint32_t, (size_t)sessions + p->sessions + 1);
    h->session_name = INS_NEW(uint64_t, (size_t)sessions + p->sessions);
    h->txn_op = INS_NEW(uint32_t, txns + 1);
    h->txn_status = INS_NEW0(uint8_t, txns);
    h->op_word = INS_NEW(uint32_t, ops);
    h->op_value = INS_NEW(uint64_t, ops);
    h->key_name = INS_NEW(uint64_t, keys);
    h->key_flags = INS_NEW(uint8_t, keys);
    h->key_init = INS_NEW0(uint64_t, keys);
    if (!o->no_times) {
        h->txn_begin = INS_NEW(int64_t, txns);
        h->txn_end = INS_NEW(int64_t, txns);
        if (!h->txn_begin || !h->txn_end)
            return false;
        h->txn_begin[0] = h->txn_end[0] = INS_NO_TIME;
    }
    return h->session_first && h->session_name && h->txn_op && h->txn_status &&
           h->op_word && h->op_value && h->key_name && h->key_flags && h->key_init;
}

/* Every session has its share of the transactions, and every transaction its place. */
static void lay_out(struct ins_columns *h, const struct ins_gen_options *o,
                    uint32_t sessions)
{
    h->n_sessions = sessions;
    h->n_txns = (uint32_t)o->txns + 1;
    struct ins_rng rng = {o->seed ^ 0x726f7773};
    h->n_keys = o->keys;
    h->txn_op[0] = 0;
    ins_txn t = 1;
    for (uint32_t s = 0; s < sessions; s++) {
        h->session_first[s] = t;
        h->session_name[s] = s;
        const uint64_t share = o->txns / sessions + (s < o->txns % sessions);
        for (uint64_t i = 0; i < share; i++, t++) {
            h->txn_op[t] = h->n_ops;
            h->n_ops += ins_dress_ops(o, &rng);
        }
    }
    h->session_first[sessions] = t;
    h->txn_op[t] = h->n_ops;
    for (ins_key k = 0; k < o->keys; k++) {
        h->key_name[k] = k;
        h->key_flags[k] = INS_KEY_HAS_INIT | (o->list ? INS_KEY_LIST : 0);
    }
    (void)snprintf(h->format, sizeof h->format, "generated");
    (void)snprintf(h->init_name, sizeof h->init_name, "init");
}

static bool init_own(struct ins_sim *s)
{
    s->n_own = s->store->statement ? s->n_clients : 1;
    s->own = INS_NEW0(struct ins_own, s->n_own);
    uint32_t size = 8;
    while (size < 2 * (s->o->ops + (s->o->rows ? s->o->range : 0)))
        size *= 2;
    for (uint32_t i = 0; s->own && i < s->n_own; i++) {
        s->own[i].mask = size - 1;
        s->own[i].slot = INS_NEW0(struct ins_own_slot, size);
        if (!s->own[i].slot)
            return false;
    }
    return s->own != NULL;
}

static enum ins_status init_sim(struct ins_sim *s, struct ins_error *err)
{
    const struct ins_gen_options *o = s->o;
    s->store = ins_store_find(o->level);
    s->n_clients = s->h->n_sessions;
    s->rng.state = o->seed;
    s->first_unique = o->dup > 0 ? o->dup_values + 1 : 1;
    /* Of u units that are updates with share q, the share of writes is q / (1 + q). */
    s->update_share = o->reads > 0.5 ? (1 - o->reads) / o->reads : 1;
    enum ins_status st = ins_dist_init(&s->keys, o->dist, o->keys, err);
    if (st == INS_OK && o->dup > 0)
        st = ins_dist_init(&s->values, "zipf:0.5", o->dup_values, err);
    if (st != INS_OK)
        return st;
    s->client = INS_NEW0(struct ins_sim_client, s->n_clients);
    s->counter = INS_NEW0(uint32_t, o->keys);
    if (o->list)
        s->position = INS_NEW(uint32_t, s->h->n_ops);
    if (!s->client || !s->counter || (o->list && !s->position) || !init_own(s) ||
        !s->store->init(s))
        return ins_nomem(err, "the simulated store");
    for (uint32_t i = 0; i < s->n_clients; i++) {
        s->client[i].txn = s->h->session_first[i];
        s->client[i].end = s->h->session_first[i + 1];
    }
    if (o->list)
        memset(s->position, 0xff, s->h->n_ops * sizeof *s->position);
    return INS_OK;
}

static void release_sim(struct ins_sim *s)
{
    ins_dist_release(&s->keys);
    ins_dist_release(&s->values);
    ins_free(s->client);
    for (uint32_t i = 0; s->own && i < s->n_own; i++)
        ins_free(s->own[i].slot);
    ins_free(s->own);
    ins_free(s->counter);
    ins_free(s->version);
    ins_free(s->stamp);
    ins_free(s->ts_key);
    for (uint32_t r = 0; r < INS_MAX_REPLICAS; r++) {
        ins_free(s->replica[r].version);
        ins_free(s->replica[r].seq);
        ins_vec_u32_release(&s->replica[r].log);
        ins_vec_u32_release(&s->replica[r].pending);
    }
    ins_free(s->commit_number);
    ins_free(s->position);
    ins_free(s->last_writer);
    ins_free(s->previous);
    ins_free(s->applied);
    ins_vec_u32_release(&s->stack);
}

/* ---- programs ---- */

static void put_read(struct ins_sim *s, uint32_t op, ins_key k)
{
    s->h->op_word[op] = ins_op_word(INS_OP_READ, k);
}

static void put_write(struct ins_sim *s, uint32_t op, ins_key k)
{
    s->h->op_word[op] = ins_op_word(INS_OP_WRITE, k);
    if (s->o->rows && !ins_rng_below(&s->rng, 4))
        s->h->op_value[op] = 0; /* the row goes */
    else if (s->o->dup > 0 && ins_rng_unit(&s->rng) < s->o->dup)
        s->h->op_value[op] = 1 + ins_dist_next(&s->values, &s->rng);
    else
        s->h->op_value[op] = s->first_unique + s->counter[k]++;
}

/* Has the transaction that starts at `first` appended to k before `op`? */
static bool appended_before(const struct ins_sim *s, uint32_t first, uint32_t op,
                            ins_key k)
{
    for (uint32_t i = first; i < op; i++)
        if (ins_word_is_write_of(s->h->op_word[i], k))
            return true;
    return false;
}

/* A key that the transaction may read now.  Where it must not read its own appends, a
 * few more are tried; *own is set when all of them were appended to. */
static ins_key key_to_read(struct ins_sim *s, uint32_t first, uint32_t op, bool *own)
{
    ins_key k = ins_dist_next(&s->keys, &s->rng);
    *own = false;
    if (!s->o->list || !s->store->appends_interleave)
        return k;
    for (int i = 0; (*own = appended_before(s, first, op, k)) && i < 8; i++)
        k = ins_dist_next(&s->keys, &s->rng);
    return k;
}

/* Choose what transaction t does; what its reads return is up to the store. */
static void write_program(struct ins_sim *s, ins_txn t)
{
    const struct ins_gen_options *o = s->o;
    const uint32_t begin = s->h->txn_op[t], end = s->h->txn_op[t + 1];
    const uint32_t scan = ins_dress_scan(s->h, o, t), first = begin + scan;
    const ins_key from = scan ? ins_rng_below(&s->rng, o->keys - scan + 1) : 0;
    for (uint32_t i = 0; i < scan; i++)
        put_read(s, begin + i, from + i);
    bool own;
    for (uint32_t op = first; op < end; op++) {
        if (o->mini || o->rows) {
            const ins_key k = key_to_read(s, first, op, &own);
            const bool update = op + 1 < end && ins_rng_unit(&s->rng) < s->update_share;
            if (own) {
                /* It was read before the append, so this one follows a read too. */
                put_write(s, op, k);
                continue;
            }
            put_read(s, op, k);
            if (update)
                put_write(s, ++op, k);
        } else if (ins_rng_unit(&s->rng) < o->reads) {
            const ins_key k = key_to_read(s, first, op, &own);
            if (own)
                put_write(s, op, k);
            else
                put_read(s, op, k);
        } else {
            put_write(s, op, ins_dist_next(&s->keys, &s->rng));
        }
    }
}

/* ---- time ---- */

static int64_t next_time(struct ins_sim *s)
{
    s->tick++;
    return (int64_t)s->tick * NS_PER_TICK + ins_rng_below(&s->rng, NS_PER_TICK);
}

static void begin_txn(struct ins_sim *s, struct ins_sim_client *c)
{
    const struct ins_gen_options *o = s->o;
    const double fate = ins_rng_unit(&s->rng);
    enum ins_txn_status status = INS_COMMITTED;
    if (fate < o->abort)
        status = INS_ABORTED;
    else if (fate < o->abort + o->info)
        status = INS_INDETERMINATE;
    s->h->txn_status[c->txn] = (uint8_t)status;
    c->effect = status == INS_COMMITTED ||
                (status == INS_INDETERMINATE && ins_rng_below(&s->rng, 2));
    write_program(s, c->txn);
    if (s->h->txn_begin)
        s->h->txn_begin[c->txn] = next_time(s);
    if (s->store->begin)
        s->store->begin(s, c);
    c->phase = RUNNING;
}

static void end(struct ins_sim *s, struct ins_sim_client *c)
{
    if (s->h->txn_begin) {
        const int64_t now = next_time(s);
        const bool known = s->h->txn_status[c->txn] != INS_INDETERMINATE;
        s->h->txn_end[c->txn] = known ? now : INS_NO_TIME;
    }
    c->phase = IDLE;
    c->txn++;
}

/* Let one client make one step. */
static void step(struct ins_sim *s, struct ins_sim_client *c)
{
    switch ((enum phase)c->phase) {
    case IDLE:
        begin_txn(s, c);
        return;
    case RUNNING:
        if (s->store->statement && c->op < s->h->txn_op[c->txn + 1]) {
            s->store->statement(s, c);
            return;
        }
        s->store->commit(s, c);
        c->phase = COMMITTED;
        return;
    case COMMITTED:
        end(s, c);
        return;
    }
}

/* Sessions take turns at random until all are done. */
static enum ins_status run(struct ins_sim *s, struct ins_error *err)
{
    uint32_t *active = INS_NEW(uint32_t, s->n_clients);
    if (!active)
        return ins_nomem(err, "the sessions");
    uint32_t n = s->n_clients;
    for (uint32_t i = 0; i < n; i++)
        active[i] = i;
    while (n) {
        const uint32_t i = ins_rng_below(&s->rng, n);
        struct ins_sim_client *c = &s->client[active[i]];
        step(s, c);
        if (c->txn == c->end)
            active[i] = active[--n];
    }
    ins_free(active);
    bool failed = s->stack.failed != 0;
    for (uint32_t r = 0; r < s->n_replicas; r++)
        failed |= s->replica[r].log.failed || s->replica[r].pending.failed;
    return failed ? ins_nomem(err, "the replicas") : INS_OK;
}

/* ---- lists ---- */

/* Where the appends of each key begin in list_elem, once they are there in order. */
static uint64_t *place_appends(const struct ins_sim *s)
{
    const struct ins_columns *h = s->h;
    uint64_t *off = INS_NEW0(uint64_t, (size_t)h->n_keys + 1);
    for (uint32_t op = 0; off && op < h->n_ops; op++)
        if (s->position[op] != INS_NONE)
            off[ins_word_key(h->op_word[op]) + 1]++;
    for (ins_key k = 0; off && k < h->n_keys; k++)
        off[k + 1] += off[k];
    return off;
}

static void write_appends(const struct ins_sim *s, const uint64_t *off)
{
    struct ins_columns *h = s->h;
    for (uint32_t op = 0; op < h->n_ops; op++)
        if (s->position[op] != INS_NONE)
            h->list_elem[off[ins_word_key(h->op_word[op])] + s->position[op]] =
                h->op_value[op];
    h->n_elems = off[h->n_keys];
}

static uint64_t list_length(uint64_t packed)
{
    return (uint32_t)packed + (packed >> 32);
}

/* What a read of transaction t at `op` showed: a prefix of the appends to its key, or a
 * list of its own when appends of its own end it. */
static void write_list(struct ins_columns *h, const uint64_t *off, ins_txn t,
                       uint32_t op)
{
    const ins_key k = ins_word_key(h->op_word[op]);
    const uint64_t packed = h->op_value[op];
    const uint32_t prefix = (uint32_t)packed;
    uint32_t own = (uint32_t)(packed >> 32);
    h->op_value[op] = ins_list_word(own ? h->n_elems : off[k], list_length(packed));
    if (!own)
        return;
    memcpy(h->list_elem + h->n_elems, h->list_elem + off[k],
           prefix * sizeof *h->list_elem);
    h->n_elems += prefix;
    for (uint32_t i = h->txn_op[t]; own; i++)
        if (ins_word_is_write_of(h->op_word[i], k)) {
            h->list_elem[h->n_elems++] = h->op_value[i];
            own--;
        }
}

static enum ins_status make_lists(struct ins_sim *s, const struct ins_plant *p,
                                  struct ins_error *err)
{
    struct ins_columns *h = s->h;
    uint64_t apart = 0;
    for (uint32_t op = 0; op < h->n_ops; op++) {
        if (ins_word_writes(h->op_word[op]))
            continue;
        const uint64_t n = list_length(h->op_value[op]);
        if (n > INS_LONGEST_LIST)
            return ins_fail(err, INS_E_USAGE, 0,
                            "a list of %" PRIu64 " elements is too long, use more keys",
                            n);
        apart += h->op_value[op] >> 32 ? n : 0;
    }
    uint64_t *off = place_appends(s);
    h->list_elem = off ? INS_NEW(uint64_t, off[h->n_keys] + apart + p->elements) : NULL;
    const bool room = h->list_elem != NULL;
    if (room)
        write_appends(s, off);
    for (ins_txn t = 1; room && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (!ins_word_writes(h->op_word[op]))
                write_list(h, off, t, op);
    ins_free(off);
    return room ? INS_OK : ins_nomem(err, "the lists that were read");
}

/* ---- all of it ---- */

/* Registers that start as 0 start as nil instead; nobody has written a 0.  Where nil is
 * the initial value it also stands for a result that never came, which is what a client
 * has of a transaction whose end it did not see. */
static void start_as_nil(struct ins_columns *h)
{
    h->value_mode = INS_WORDS_NIL;
    for (ins_key k = 0; k < h->n_keys; k++)
        h->key_init[k] = INS_WORD_NIL;
    for (ins_txn t = 1; t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (h->op_value[op])
                continue;
            if (h->txn_status[t] == INS_INDETERMINATE)
                h->op_word[op] =
                    ins_op_word(INS_OP_READ_UNKNOWN, ins_word_key(h->op_word[op]));
            else
                h->op_value[op] = INS_WORD_NIL;
        }
}

static enum ins_status simulate(struct ins_columns *h, const struct ins_gen_options *o,
                                const struct ins_plant *p, struct ins_error *err)
{
    struct ins_sim s = {.o = o, .h = h};
    enum ins_status st = init_sim(&s, err);
    if (st == INS_OK)
        st = run(&s, err);
    if (st == INS_OK && o->list)
        st = make_lists(&s, p, err);
    if (st == INS_OK && o->rows)
        st = ins_dress(h, o, p->statements, err);
    if (st == INS_OK)
        ins_plant_add(p, h, (int64_t)(s.tick + 2) * NS_PER_TICK, NS_PER_TICK);
    if (st == INS_OK && o->nil && !o->list && !o->rows)
        start_as_nil(h);
    release_sim(&s);
    return st;
}

enum ins_status ins_generate(const struct ins_gen_options *o, struct ins_history **out,
                             struct ins_error *err)
{
    *out = NULL;
    struct ins_plant p;
    enum ins_status st = ins_plant_find(&p, o->inject, o, err);
    if (st == INS_OK)
        st = check_options(o, &p, err);
    if (st != INS_OK)
        return st;
    struct ins_columns h = {0};
    const uint32_t sessions = o->sessions < o->txns ? o->sessions : (uint32_t)o->txns;
    if (!allocate(&h, o, &p, sessions)) {
        st = ins_nomem(err, "the history");
    } else {
        lay_out(&h, o, sessions);
        st = simulate(&h, o, &p, err);
    }
    if (st != INS_OK) {
        ins_columns_release(&h);
        return st;
    }
    return ins_history_freeze(&h, o->threads, NULL, out, err);
}

#include "engine.h"

#include <assert.h>

/* ---- optional transactions ---- */

/* Reads of own writes may be wrong where the level says so. */
static bool bad_read(const struct ins_engine *e, uint32_t from)
{
    return from >= INS_FROM_THIN_AIR &&
           (e->model.own_reads ||
            (from != INS_FROM_NOT_OWN && from != INS_FROM_NOT_LAST));
}

static bool is_external(const struct ins_history *h, uint32_t op)
{
    const uint32_t from = h->op_from[op];
    return !ins_is_write(h, op) &&
           (from < INS_FROM_SPECIAL || from == INS_FROM_AMBIGUOUS);
}

/* Does an external read of the same transaction before op disagree with it?  Reads
 * among several versions are judged where the first read of their key is. */
static bool disagrees(const struct ins_history *h, ins_txn t, uint32_t op)
{
    uint32_t n;
    const ins_txn *joint = ins_history_joint(h, op, &n);
    if (joint && !(n > 1 || (n == 1 && joint[0] != t)))
        return true;
    for (uint32_t o = h->txn_op[t]; o < op; o++)
        if (ins_op_key(h, o) == ins_op_key(h, op) && is_external(h, o) &&
            ins_op_kind(h, o) == INS_OP_READ && ins_op_kind(h, op) == INS_OP_READ &&
            !ins_history_same_result(h, o, op))
            return true;
    return false;
}

static bool could_commit(const struct ins_engine *e, ins_txn t)
{
    const struct ins_history *h = e->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        if (!ins_is_write(h, op) && bad_read(e, h->op_from[op]))
            return false;
        if (e->model.repeatable && is_external(h, op) && disagrees(h, t, op))
            return false;
    }
    return true;
}

static void consider(struct ins_engine *e, ins_txn t, struct ins_vec_u32 *waiting)
{
    if (t == INS_INIT || ins_counted(e->h, t) || e->optional[t])
        return;
    if (e->h->txn_status[t] != INS_INDETERMINATE || !could_commit(e, t))
        return;
    e->optional[t] = 1;
    e->has_optional = true;
    ins_vec_u32_push(waiting, t);
}

static bool reads_from_nobody(const struct ins_engine *e, ins_txn t)
{
    const struct ins_history *h = e->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        if (!ins_is_write(h, op) && from < INS_FROM_SPECIAL && from != INS_INIT &&
            !ins_counted(h, from) && !e->optional[from])
            return true;
    }
    return false;
}

/* Lists of these keys may show appends of uncounted transactions: `seen` marks keys
 * that t has read, those of open lists when `open`.  True when one is new. */
static bool mark_shown_keys(const struct ins_history *h, ins_txn t, bool open,
                            uint8_t *seen)
{
    bool more = false;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint32_t from = h->op_from[op];
        const ins_key k = ins_op_key(h, op);
        if (ins_is_write(h, op) || !ins_is_list_key(h, k) || ins_from_nobody(from) ||
            seen[k] ||
            (open && from != INS_FROM_AMBIGUOUS && from != INS_FROM_OWN_OPEN))
            continue;
        seen[k] = 1;
        more = true;
    }
    return more;
}

static bool appends_to(const struct ins_history *h, ins_txn t, const uint8_t *keys)
{
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        if (ins_is_write(h, op) && keys[ins_op_key(h, op)])
            return true;
    return false;
}

/* What the transactions from waiting[*done] on have read from, and who appended to the
 * lists that they have read. */
static void consider_sources(struct ins_engine *e, struct ins_vec_u32 *waiting,
                             size_t *done, uint8_t *seen)
{
    const struct ins_history *h = e->h;
    bool more = *done == 0 && h->has_open_lists;
    for (; *done < waiting->len; ++*done) {
        const ins_txn t = waiting->at[*done];
        more |= seen && mark_shown_keys(h, t, false, seen);
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (!ins_is_write(h, op) && h->op_from[op] < INS_FROM_SPECIAL)
                consider(e, h->op_from[op], waiting);
    }
    for (ins_txn t = 1; seen && more && t < h->n_txns; t++)
        if (h->txn_status[t] == INS_INDETERMINATE && appends_to(h, t, seen))
            consider(e, t, waiting);
}

/* An uncounted transaction is optional when a counted or optional one may have read
 * from it, or may have seen it in a list. */
static void find_optional(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    struct ins_vec_u32 waiting = {0};
    size_t done = 0;
    uint8_t *seen = h->has_lists ? INS_NEW0(uint8_t, h->n_keys) : NULL;
    e->failed |= h->has_lists && !seen;
    for (uint32_t g = 0; g < h->n_groups; g++)
        for (uint64_t i = h->group_off[g]; i < h->group_off[g + 1]; i++)
            consider(e, h->group_txn[i], &waiting);
    for (ins_txn t = 1; seen && h->has_open_lists && t < h->n_txns; t++)
        if (ins_counted(h, t))
            (void)mark_shown_keys(h, t, true, seen);
    do
        consider_sources(e, &waiting, &done, seen);
    while (done < waiting.len);
    ins_free(seen);
    /* What reads from a transaction that cannot have committed cannot have either. */
    for (bool again = true; again;) {
        again = false;
        /* Backwards: who was read from mostly stands behind its reader. */
        for (size_t i = waiting.len; i-- > 0 && !ins_engine_stop(e, i);)
            if (e->optional[waiting.at[i]] && reads_from_nobody(e, waiting.at[i])) {
                e->optional[waiting.at[i]] = 0;
                again = true;
            }
    }
    e->failed |= waiting.failed != 0;
    ins_vec_u32_release(&waiting);
}

/* The order of a list is for places.c to find where some list is open, and where it
 * depends on transactions that may not count. */
static bool fill_placed(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    e->key_placed = INS_NEW0(uint8_t, h->n_keys);
    if (!e->key_placed || !h->has_lists || (!h->has_open_lists && !e->has_optional))
        return e->key_placed != NULL;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_engine_present(e, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            const uint32_t from = h->op_from[op];
            const ins_key k = ins_op_key(h, op);
            if (ins_is_list_key(h, k) &&
                (e->optional[t] ||
                 (!ins_is_write(h, op) &&
                  (from == INS_FROM_AMBIGUOUS || from == INS_FROM_OWN_OPEN))))
                e->key_placed[k] = e->has_placed = true;
        }
    }
    return true;
}

/* ---- versions ---- */

static bool final_write(const struct ins_history *h, uint32_t op)
{
    return ins_is_write(h, op) && h->op_from[op] == INS_WRITE_FINAL;
}

static bool fill_versions(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    e->key_ver = INS_NEW0(uint32_t, h->n_keys + 2);
    e->write_off = INS_NEW0(uint32_t, h->n_txns + 2);
    if (!e->key_ver || !e->write_off)
        return false;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (ins_engine_stop(e, t))
            return false;
        if (!ins_engine_present(e, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (final_write(h, op)) {
                e->key_ver[ins_op_key(h, op) + 2]++;
                e->write_off[t + 2]++;
            }
    }
    for (uint32_t k = 0; k < h->n_keys; k++)
        e->key_ver[k + 2] += e->key_ver[k + 1];
    for (ins_txn t = 0; t < h->n_txns; t++)
        e->write_off[t + 2] += e->write_off[t + 1];
    e->n_vers = e->key_ver[h->n_keys + 1];
    e->ver_txn = INS_NEW(uint32_t, e->n_vers);
    e->ver_key = INS_NEW(uint32_t, e->n_vers);
    e->write_ver = INS_NEW(uint32_t, e->n_vers);
    if (!e->ver_txn || !e->ver_key || !e->write_ver)
        return false;
    /* Transactions come in ascending order, so each key's writers do too. */
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (ins_engine_stop(e, t))
            return false;
        if (!ins_engine_present(e, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (final_write(h, op)) {
                const ins_key k = ins_op_key(h, op);
                const uint32_t v = e->key_ver[k + 1]++;
                e->ver_txn[v] = t;
                e->ver_key[v] = k;
                e->write_ver[e->write_off[t + 1]++] = v;
            }
    }
    return true;
}

static bool fill_groups(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    e->group_off = INS_NEW(uint32_t, h->n_keys + 1);
    e->group_ver = INS_NEW(uint32_t, (size_t)e->n_vers + 1);
    e->group_chain = INS_NEW(uint32_t, e->n_vers);
    if (!e->group_off || !e->group_ver || !e->group_chain)
        return false;
    uint32_t g = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        if (ins_engine_stop(e, k))
            return false;
        e->group_off[k] = g;
        uint32_t last = INS_NONE;
        for (uint32_t v = e->key_ver[k]; v < e->key_ver[k + 1]; v++) {
            const uint32_t s = h->txn_session[e->ver_txn[v]];
            if (s == last && e->by_session)
                continue;
            last = s;
            e->group_ver[g] = v;
            e->group_chain[g++] = s;
        }
    }
    e->group_off[h->n_keys] = g;
    e->group_ver[g] = e->n_vers;
    e->n_groups = g;
    return true;
}

uint32_t ins_engine_version(const struct ins_engine *e, ins_key k, ins_txn t)
{
    if (t == INS_INIT)
        return e->n_vers + k;
    uint32_t lo = e->key_ver[k], hi = e->key_ver[k + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (e->ver_txn[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < e->key_ver[k + 1] && e->ver_txn[lo] == t ? lo : INS_NONE;
}

/* ---- reads ---- */

/* Whom `op`, the first read of its key in t, may be from when all of them there are
 * from one and the same: as op_from says it.  One that is not known to count is for
 * saturation to settle. */
static uint32_t joint_source(const struct ins_history *h, ins_txn t, uint32_t op)
{
    uint32_t n, others = 0;
    const ins_txn *joint = ins_history_joint(h, op, &n);
    uint32_t one = INS_FROM_AMBIGUOUS;
    for (uint32_t i = 0; joint && i < n; i++)
        if (joint[i] != t) {
            one = joint[i];
            others++;
        }
    if (!others)
        return h->op_from[op];
    return others == 1 && ins_counted(h, one) ? one : INS_FROM_AMBIGUOUS;
}

/* The external reads of t, each key once (from ra on they agree).  `seen` holds t for
 * the keys that were met. */
static void reads_of(struct ins_engine *e, ins_txn t, uint32_t *seen)
{
    const struct ins_history *h = e->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        uint32_t from = h->op_from[op];
        if (ins_is_write(h, op))
            continue;
        if (from >= INS_FROM_SPECIAL && from != INS_FROM_AMBIGUOUS)
            continue;
        const ins_key k = ins_op_key(h, op);
        if (seen[k] == t && e->model.repeatable)
            continue;
        seen[k] = t;
        if (h->n_joint && e->model.repeatable)
            from = joint_source(h, t, op);
        const uint32_t r = e->n_reads++;
        e->read_op[r] = op;
        e->read_txn[r] = t;
        e->read_from[r] = from;
        e->read_ver[r] = INS_NONE;
        e->read_next[r] = INS_NONE;
        e->read_link[r] = INS_NONE;
        if (from == INS_FROM_AMBIGUOUS)
            e->n_open_read++;
    }
}

static bool fill_reads(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    uint32_t room = 0;
    for (uint32_t op = 0; op < h->n_ops; op++)
        room += !ins_is_write(h, op);
    uint32_t *seen = INS_NEW0(uint32_t, h->n_keys);
    e->read_off = INS_NEW(uint32_t, h->n_txns + 1);
    e->read_op = INS_NEW(uint32_t, room);
    e->read_txn = INS_NEW(uint32_t, room);
    e->read_from = INS_NEW(uint32_t, room);
    e->read_ver = INS_NEW(uint32_t, room);
    e->read_next = INS_NEW(uint32_t, room);
    e->read_link = INS_NEW(uint32_t, room);
    e->ver_reader = INS_NEW(uint32_t, (size_t)e->n_vers + h->n_keys);
    const bool ok = seen && e->read_off && e->read_op && e->read_txn && e->read_from &&
                    e->read_ver && e->read_next && e->read_link && e->ver_reader;
    if (ok) {
        e->read_off[0] = 0;
        for (ins_txn t = 0; t < h->n_txns && !ins_engine_stop(e, t); t++) {
            e->read_off[t] = e->n_reads;
            if (ins_engine_present(e, t))
                reads_of(e, t, seen);
        }
        e->read_off[h->n_txns] = e->n_reads;
        for (uint32_t v = 0; v < e->n_vers + h->n_keys; v++)
            e->ver_reader[v] = INS_NONE;
    }
    ins_free(seen);
    return ok && !e->failed;
}

static void attach_reader(struct ins_engine *e, uint32_t read, uint32_t ver)
{
    e->read_ver[read] = ver;
    e->read_next[read] = e->ver_reader[ver];
    e->ver_reader[ver] = read;
}

static void add_definite(struct ins_engine *e, ins_txn t, uint32_t link)
{
    e->optional[t] = 0;
    e->definite_since[t] = link;
    ins_vec_u32_push(&e->definite, t);
}

/* A transaction that counts has read from transactions that count. */
static void make_definite(struct ins_engine *e, ins_txn t, uint32_t link)
{
    add_definite(e, t, link);
    while (e->definite.len) {
        const ins_txn next = e->definite.at[--e->definite.len];
        for (uint32_t r = e->read_off[next]; r < e->read_off[next + 1]; r++)
            if (e->read_from[r] < INS_FROM_SPECIAL && e->optional[e->read_from[r]])
                add_definite(e, e->read_from[r], link);
    }
    e->failed |= e->definite.failed != 0;
}

bool ins_engine_settle(struct ins_engine *e, uint32_t read, uint32_t ver)
{
    const uint32_t link = (uint32_t)e->link.len;
    const ins_txn w = ins_ver_txn(e, ver);
    attach_reader(e, read, ver);
    e->read_link[read] = link;
    if (w == INS_INIT) {
        ins_engine_link(e, 0, 0, INS_LINK_FROM | read);
        return false;
    }
    ins_engine_link(e, ins_commit_node(e, w), ins_begin_node(e, e->read_txn[read]),
                    INS_LINK_FROM | read);
    const bool more = e->optional[w];
    if (more)
        make_definite(e, w, link);
    return more;
}

const ins_txn *ins_engine_candidates(const struct ins_engine *e, uint32_t read,
                                     uint32_t *count)
{
    const uint32_t op = e->read_op[read];
    const ins_txn *joint =
        e->model.repeatable ? ins_history_joint(e->h, op, count) : NULL;
    return joint ? joint : ins_history_candidates(e->h, op, count);
}

/* The versions that open read number i may be from: not its own, and present. */
static bool candidates_of(struct ins_engine *e, uint32_t read, struct ins_vec_u32 *out)
{
    uint32_t count;
    const ins_txn *cand = ins_engine_candidates(e, read, &count);
    const ins_key k = ins_op_key(e->h, e->read_op[read]);
    for (uint32_t i = 0; i < count; i++) {
        if (cand[i] == e->read_txn[read] ||
            (cand[i] != INS_INIT && !ins_engine_present(e, cand[i])))
            continue;
        const uint32_t v = ins_engine_version(e, k, cand[i]);
        if (v != INS_NONE)
            ins_vec_u32_push(out, v);
    }
    return !out->failed;
}

static bool resolve_reads(struct ins_engine *e)
{
    struct ins_vec_u32 cand = {0};
    uint32_t n = 0;
    e->open_read = INS_NEW(uint32_t, e->n_open_read);
    e->open_off = INS_NEW(uint32_t, (size_t)e->n_open_read + 1);
    e->open_live = INS_NEW(uint32_t, e->n_open_read);
    if (!e->open_read || !e->open_off || !e->open_live)
        return false;
    e->open_off[0] = 0;
    for (uint32_t r = e->n_reads; r-- > 0 && !ins_engine_stop(e, r);) {
        if (e->read_from[r] != INS_FROM_AMBIGUOUS) {
            const ins_key k = ins_op_key(e->h, e->read_op[r]);
            const uint32_t v = ins_engine_version(e, k, e->read_from[r]);
            assert(v != INS_NONE);
            attach_reader(e, r, v);
            continue;
        }
        e->open_read[n] = r;
        if (!candidates_of(e, r, &cand))
            break;
        e->open_live[n] = (uint32_t)cand.len - e->open_off[n];
        e->open_off[++n] = (uint32_t)cand.len;
    }
    e->n_open = n;
    e->open_cand = cand.at;
    return !cand.failed && !e->failed;
}

/* ---- real time ---- */

struct event {
    int64_t time;
    uint32_t txn;
    uint32_t end; /* 1: an end; begins come first at equal times */
};

/* The byte of an event that a pass sorts by: first the ends after the begins, then the
 * time since the earliest event from its lowest byte on. */
static unsigned digit(const struct event *v, int64_t least, unsigned pass)
{
    const uint64_t since = (uint64_t)v->time - (uint64_t)least;
    return pass ? (unsigned)(since >> 8 * (pass - 1) & 255) : v->end;
}

/* Sort by time, begins first at equal times.  `a` or `b`, whichever holds the result.
 */
static struct event *sort_events(struct ins_engine *e, struct event *a, struct event *b,
                                 size_t n)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = a[i].time < least ? a[i].time : least;
        most = a[i].time > most ? a[i].time : most;
    }
    const uint64_t range = n ? (uint64_t)most - (uint64_t)least : 0;
    for (unsigned pass = 0; pass < 9; pass++) {
        if (pass > 1 && !(range >> 8 * (pass - 1)))
            break;
        size_t at[257] = {0};
        for (size_t i = 0; i < n; i++)
            at[digit(&a[i], least, pass) + 1]++;
        for (unsigned d = 0; d < 256; d++)
            at[d + 1] += at[d];
        for (size_t i = 0; i < n && !ins_engine_stop(e, i); i++)
            b[at[digit(&a[i], least, pass)]++] = a[i];
        struct event *const swap = a;
        a = b;
        b = swap;
    }
    return a;
}

static size_t collect_events(const struct ins_engine *e, struct event *ev)
{
    const struct ins_history *h = e->h;
    size_t n = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_engine_present(e, t))
            continue;
        if (h->txn_begin[t] != INS_NO_TIME)
            ev[n++] = (struct event){h->txn_begin[t], t, 0};
        if (ins_has_end(h, t))
            ev[n++] = (struct event){h->txn_end[t], t, 1};
    }
    return n;
}

/* A time node stands before every begin that follows an end. */
static bool fill_times(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    const size_t room = 2 * (size_t)h->n_txns;
    struct event *space = INS_NEW(struct event, room),
                 *spare = INS_NEW(struct event, room);
    e->time_before = INS_NEW(uint32_t, h->n_txns);
    e->time_off = INS_NEW0(uint32_t, (size_t)h->n_txns + 1);
    e->time_txn = INS_NEW(uint32_t, h->n_txns);
    const bool ok = space && spare && e->time_before && e->time_off && e->time_txn;
    if (ok) {
        for (ins_txn t = 0; t < h->n_txns; t++)
            e->time_before[t] = INS_NONE;
        const size_t n = collect_events(e, space);
        const struct event *ev = sort_events(e, space, spare, n);
        uint32_t ended = 0;
        for (size_t i = 0; i < n && !ins_engine_stop(e, i); i++) {
            if (ev[i].end) {
                e->time_txn[ended++] = ev[i].txn;
                continue;
            }
            if (ended > e->time_off[e->n_times])
                e->time_off[++e->n_times] = ended;
            if (e->n_times)
                e->time_before[ev[i].txn] = e->n_times - 1;
        }
    }
    ins_free(space);
    ins_free(spare);
    return ok && !e->failed;
}

/* ---- the graph ---- */

static uint32_t session_before(const struct ins_engine *e, ins_txn t)
{
    const struct ins_history *h = e->h;
    return e->model.sessions && t > h->session_first[h->txn_session[t]] ? t - 1
                                                                        : INS_NONE;
}

static uint32_t next_link(const struct ins_engine *e, struct ins_preds *p)
{
    if (p->phase == 3) {
        p->phase = 4;
        p->i = e->link_head[p->node];
    }
    if (p->i == INS_NONE) {
        p->link = INS_NONE;
        return INS_NONE;
    }
    const struct ins_link *l = &e->link.at[p->i];
    p->link = p->i;
    p->i = l->next;
    return l->from;
}

static uint32_t next_of_time(const struct ins_engine *e, struct ins_preds *p)
{
    const uint32_t i = p->node - e->n_txn_nodes;
    if (p->phase == 0) {
        p->phase = 1;
        p->i = e->time_off[i];
        if (i > 0)
            return p->node - 1;
    }
    return p->i < e->time_off[i + 1] ? ins_commit_node(e, e->time_txn[p->i++])
                                     : INS_NONE;
}

uint32_t ins_preds_next(const struct ins_engine *e, struct ins_preds *p)
{
    if (p->node >= e->n_txn_nodes)
        return next_of_time(e, p);
    const ins_txn t = ins_node_txn(e, p->node);
    if (t == INS_INIT)
        return INS_NONE;
    if (p->phase >= 3)
        return next_link(e, p);
    if (e->split && (p->node & 1)) {
        p->phase = 3;
        return p->node - 1;
    }
    if (p->phase == 0) {
        p->phase = 1;
        p->i = e->read_off[t];
        const uint32_t before = session_before(e, t);
        if (before != INS_NONE)
            return ins_commit_node(e, before);
    }
    if (p->phase == 1) {
        if (!e->optional[t])
            while (p->i < e->read_off[t + 1]) {
                const uint32_t from = e->read_from[p->i++];
                if (from != INS_INIT && from != INS_FROM_AMBIGUOUS)
                    return ins_commit_node(e, from);
            }
        p->phase = 2;
    }
    if (p->phase == 2) {
        p->phase = 3;
        if (e->time_before && e->time_before[t] != INS_NONE && !e->optional[t])
            return e->n_txn_nodes + e->time_before[t];
    }
    return next_link(e, p);
}

void ins_engine_link(struct ins_engine *e, uint32_t from, uint32_t to, uint32_t why)
{
    const struct ins_link l = {from, to, e->link_head[to], why};
    const size_t id = e->link.len;
    ins_vec_link_push(&e->link, l);
    if (e->link.failed)
        e->failed = true;
    else
        e->link_head[to] = (uint32_t)id;
}

static bool fill_graph(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    e->n_txn_nodes = h->n_txns << e->split;
    if (e->model.real_time && !fill_times(e))
        return false;
    e->n_nodes = e->n_txn_nodes + e->n_times;
    e->link_head = INS_NEW(uint32_t, e->n_nodes);
    e->order = INS_NEW(uint32_t, e->n_nodes);
    e->pos = INS_NEW(uint32_t, e->n_nodes);
    e->key_done = INS_NEW0(uint8_t, h->n_keys);
    e->source = ins_one_rw(e) ? INS_NEW(uint32_t, e->n_reads) : NULL;
    if (!e->link_head || !e->order || !e->pos || !e->key_done ||
        (ins_one_rw(e) && !e->source))
        return false;
    for (uint32_t v = 0; v < e->n_nodes; v++) {
        e->link_head[v] = INS_NONE;
        e->order[v] = v;
        e->pos[v] = v;
    }
    return true;
}

/* What the arrays of an engine take, next to its links. */
static uint64_t bytes_needed(const struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    return 24 * (uint64_t)h->n_ops + (14 + (UINT64_C(12) << e->split)) * h->n_txns +
           16 * (uint64_t)h->n_keys;
}

bool ins_engine_fits(uint64_t n_ops, uint64_t n_keys, uint64_t n_txns, bool split)
{
    /* Reads and versions are no more than operations, initial versions than keys, time
     * nodes than transactions. */
    return n_ops + n_keys < ~INS_LINK_KIND && (n_txns << split) + n_txns < INS_NONE;
}

/* Sessions are the chains, unless there are so many that clocks would not fit: these
 * have an entry for each, and the strong levels need three a node. */
static bool sessions_are_chains(const struct ins_engine *e)
{
    enum { MANY_SESSIONS = 1024, CLOCKS = 3 };
    const uint64_t most = (UINT64_C(1536) << 20) / (CLOCKS * sizeof *e->clock);
    const uint64_t nodes = (uint64_t)e->h->n_txns << e->split;
    return e->model.sessions &&
           (!e->model.versions || e->h->n_sessions <= MANY_SESSIONS ||
            nodes * e->h->n_sessions <= most);
}

enum ins_status ins_engine_init(struct ins_engine *e, const struct ins_history *h,
                                enum ins_level level, struct ins_limit *limit,
                                struct ins_error *err)
{
    *e = (struct ins_engine){.h = h, .level = level, .limit = limit};
    e->model = ins_model_of(level);
    e->split = e->model.split;
    e->by_session = sessions_are_chains(e);
    e->n_chains = e->by_session ? h->n_sessions : 0;
    if (!ins_engine_fits(h->n_ops, h->n_keys, h->n_txns, e->model.split))
        return ins_fail(err, INS_E_LIMIT, 0, "%s", INS_TOO_LARGE);
    if (ins_limit_room(limit, bytes_needed(e), err) != INS_OK)
        return INS_E_LIMIT;
    e->optional = INS_NEW0(uint8_t, h->n_txns);
    e->chosen = INS_NEW0(uint8_t, h->n_txns);
    e->definite_since = INS_NEW(uint32_t, h->n_txns);
    if (e->optional && e->chosen && e->definite_since) {
        for (ins_txn t = 0; t < h->n_txns; t++)
            e->definite_since[t] = INS_NONE;
        find_optional(e);
        if (!e->failed && fill_placed(e) && fill_versions(e) && fill_groups(e) &&
            fill_reads(e) && resolve_reads(e) && fill_graph(e))
            return INS_OK;
    }
    ins_engine_release(e);
    const enum ins_status st = ins_limit_room(limit, 0, err);
    return st == INS_OK ? ins_nomem(err, "the dependency graph") : st;
}

/* open_read is descending. */
uint32_t ins_open_number(const struct ins_engine *e, uint32_t read)
{
    uint32_t lo = 0, hi = e->n_open_read;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (e->open_read[mid] > read)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void ins_engine_release(struct ins_engine *e)
{
    void *all[] = {e->read_off,  e->read_op,    e->read_txn,       e->read_from,
                   e->read_ver,  e->read_next,  e->open_read,      e->open_off,
                   e->open_live, e->open_cand,  e->key_ver,        e->ver_txn,
                   e->ver_key,   e->ver_reader, e->write_off,      e->write_ver,
                   e->group_off, e->group_ver,  e->group_chain,    e->optional,
                   e->key_done,  e->time_off,   e->time_txn,       e->time_before,
                   e->read_link, e->chosen,     e->definite_since, e->link_head,
                   e->order,     e->pos,        e->clock,          e->key_placed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    void *chains[] = {e->chain, e->place, e->chain_len, e->group_item, e->source};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        ins_free(chains[i]);
    ins_vec_link_release(&e->link);
    ins_vec_u32_release(&e->definite);
    memset(e, 0, sizeof *e);
}

#include "engine.h"

/* ---- reads that are resolved ---- */

static void attach_reader(struct ins_engine *e, uint32_t read, uint32_t ver)
{
    e->read_ver[read] = ver;
    if (ins_is_loose(e, read))
        return;
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

bool ins_engine_resolve(struct ins_engine *e, uint32_t read, uint32_t ver)
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
    return ins_shared_candidates(e->shared, read, count);
}

uint32_t ins_engine_version(const struct ins_engine *e, ins_key k, ins_txn t)
{
    return ins_shared_version(e->shared, k, t);
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

/* What the arrays of an engine take, next to its links and what is shared. */
static uint64_t bytes_needed(const struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    return 8 * (uint64_t)h->n_ops + (6 + (UINT64_C(12) << e->split)) * h->n_txns +
           5 * (uint64_t)h->n_keys;
}

bool ins_engine_fits(uint64_t n_ops, uint64_t n_keys, uint64_t n_txns, bool split)
{
    /* Reads and versions are no more than operations, initial versions than keys, time
     * nodes than transactions. */
    return n_ops + n_keys < ~INS_LINK_KIND && (n_txns << split) + n_txns < INS_NONE;
}

/* Sessions are the chains, unless there are many: clocks have an entry for each, and
 * the strong levels need three clocks a node.  Then chains of what is known are fewer
 * and longer where sessions are short, and where they are long there must be room. */
static bool sessions_are_chains(const struct ins_engine *e)
{
    enum { MANY_SESSIONS = 1024, LONG = 32, CLOCKS = 3 };
    const uint64_t most = (UINT64_C(1536) << 20) / (CLOCKS * sizeof *e->clock);
    const uint64_t nodes = (uint64_t)e->h->n_txns << e->split, n = e->h->n_sessions;
    return e->model.sessions && (!e->model.versions || n <= MANY_SESSIONS ||
                                 (n * LONG <= e->h->n_txns && nodes * n <= most));
}

/* Point to what is shared. */
static void use_shared(struct ins_engine *e, const struct ins_shared *x)
{
    e->shared = x;
    e->n_reads = x->n_reads;
    e->read_off = x->read_off;
    e->read_op = x->read_op;
    e->read_txn = x->read_txn;
    e->read_from = x->read_from;
    e->n_open = e->n_open_read = x->n_open_read;
    e->open_read = x->open_read;
    e->open_off = x->open_off;
    e->n_vers = x->n_vers;
    e->key_ver = x->key_ver;
    e->ver_txn = x->ver_txn;
    e->ver_key = x->ver_key;
    e->write_off = x->write_off;
    e->write_ver = x->write_ver;
    e->group_off = x->group_off;
    e->group_ver = x->group_ver;
    e->group_chain = x->group_chain;
    e->n_groups = x->n_groups;
    e->key_placed = x->key_placed;
    e->has_placed = x->has_placed;
    e->has_optional = x->has_optional;
}

static uint32_t *copy(const uint32_t *from, size_t n)
{
    uint32_t *to = INS_NEW(uint32_t, n);
    if (to && n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

/* A group for each writer, until chains are found. */
static bool ungroup(struct ins_engine *e)
{
    struct ins_own_groups *const own = &e->own_groups;
    own->off = copy(e->key_ver, (size_t)e->h->n_keys + 1);
    own->ver = INS_NEW(uint32_t, (size_t)e->n_vers + 1);
    own->chain = INS_NEW(uint32_t, e->n_vers);
    if (!own->off || !own->ver || !own->chain)
        return false;
    for (uint32_t v = 0; v < e->n_vers; v++) {
        own->ver[v] = v;
        own->chain[v] = e->h->txn_session[e->ver_txn[v]];
    }
    own->ver[e->n_vers] = e->n_vers;
    e->group_off = own->off;
    e->group_ver = own->ver;
    e->group_chain = own->chain;
    e->n_groups = e->n_vers;
    return true;
}

/* What a level may find out about reads and transactions starts as the shared part has
 * it. */
static bool fill_own(struct ins_engine *e)
{
    const struct ins_history *h = e->h;
    const struct ins_shared *x = e->shared;
    const size_t vers = (size_t)e->n_vers + h->n_keys;
    e->optional = INS_NEW(uint8_t, h->n_txns);
    e->chosen = INS_NEW0(uint8_t, h->n_txns);
    e->definite_since = INS_NEW(uint32_t, h->n_txns);
    /* Only reads that are open get another version. */
    const bool open = e->n_open_read != 0;
    e->read_ver = open ? copy(x->read_ver, e->n_reads) : x->read_ver;
    e->read_next = open ? copy(x->read_next, e->n_reads) : x->read_next;
    e->read_link = open ? INS_NEW(uint32_t, e->n_reads) : NULL;
    e->ver_reader = open ? copy(x->ver_reader, vers) : x->ver_reader;
    e->open_live = copy(x->open_live, e->n_open_read);
    e->open_cand = copy(x->open_cand, x->open_off[e->n_open_read]);
    if (!e->optional || !e->chosen || !e->definite_since || !e->read_ver ||
        !e->read_next || (open && !e->read_link) || !e->ver_reader || !e->open_live ||
        !e->open_cand || (!e->by_session && !ungroup(e)))
        return false;
    memcpy(e->optional, x->optional, h->n_txns * sizeof *e->optional);
    memset(e->definite_since, 0xff, h->n_txns * sizeof *e->definite_since);
    if (open)
        memset(e->read_link, 0xff, e->n_reads * sizeof *e->read_link);
    return !ins_limit_hit(e->limit);
}

enum ins_status ins_engine_init(struct ins_engine *e, struct ins_shared_set *shared,
                                const struct ins_history *h, enum ins_level level,
                                struct ins_limit *limit, struct ins_error *err)
{
    *e = (struct ins_engine){
        .h = h, .level = level, .limit = limit, .threads = shared->threads};
    e->model = ins_model_of(level);
    e->split = e->model.split;
    e->by_session = sessions_are_chains(e);
    e->n_chains = e->by_session ? h->n_sessions : 0;
    if (!ins_engine_fits(h->n_ops, h->n_keys, h->n_txns, e->model.split))
        return ins_fail(err, INS_E_LIMIT, 0, "%s", INS_TOO_LARGE);
    const struct ins_shared *x = ins_shared_get(shared, h, &e->model, limit, err);
    if (!x) {
        const enum ins_status st = ins_limit_room(limit, 0, err);
        return st == INS_OK ? INS_E_NOMEM : st;
    }
    use_shared(e, x);
    if (ins_limit_room(limit, bytes_needed(e), err) != INS_OK)
        return INS_E_LIMIT;
    if (fill_own(e) && fill_graph(e))
        return INS_OK;
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
    if (!e->n_open_read) /* then they are the shared ones */
        e->read_ver = e->read_next = e->ver_reader = NULL;
    void *all[] = {
        e->read_ver,        e->read_next,  e->read_link,      e->open_live,
        e->open_cand,       e->ver_reader, e->optional,       e->chosen,
        e->key_done,        e->time_off,   e->time_txn,       e->time_before,
        e->link_head,       e->order,      e->definite_since, e->pos,
        e->clock,           e->chain,      e->place,          e->chain_len,
        e->group_item,      e->source,     e->own_groups.off, e->own_groups.ver,
        e->own_groups.chain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_link_release(&e->link);
    ins_vec_u32_release(&e->definite);
    memset(e, 0, sizeof *e);
}

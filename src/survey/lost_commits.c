/* lost_commits.c - most commits are ruled out at a glance: somebody who began later
 * read what they wrote, or nobody looked.  The rest is compared read by read. */
#include "lost_commits.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_BEFORE_MISS = 8, /* reads looked at, by key, until the first miss */
    MOST_STEPS = 20000000,
    AHEAD = 8 /* of what is fetched from memory before it is looked at */
};

/* What a version says about the commit of w. */
enum sight {
    SEES,   /* it is w's or builds on it */
    OLDER,  /* w's comes after it */
    BRANCH, /* its root read something older and wrote over it */
    BLIND   /* its root wrote without reading */
};

/* Of a version, what of the tree is below it. */
struct standing {
    uint32_t enter, leave; /* places in a walk of the tree */
    int64_t seen;          /* last end of who read it or what builds on it */
    int64_t began;         /* and their last begin */
    ins_txn seer;          /* and who ended last */
};

struct hunt {
    const struct ins_survey_facts *f;
    struct ins_limit *limit;
    const uint8_t
        *wanted; /* keys that a suspect wrote; of the others nothing is known */
    struct standing *version;
    /* Reads of key k by who has a begin, in the order of those: from by_key_off[k] to
     * by_key_end[k]. */
    uint32_t *by_key_off, *by_key_end, *by_key;
    /* for the commit that is looked at */
    uint32_t *stamp, *root, turn; /* by version */
    uint8_t *sight;
    uint32_t *counted; /* by transaction: the turn in which its miss was counted */
    int64_t after;     /* its end, and that of the last who saw it */
    bool here;         /* somebody missed it on the node where it ran */
    uint64_t steps;
    struct ins_vec_lost *lost;
};

static bool is_below(const struct hunt *s, uint32_t version, uint32_t top)
{
    return s->version[top].enter <= s->version[version].enter &&
           s->version[version].enter < s->version[top].leave;
}

/* When `version` was there for all who begin later; INT64_MAX when nobody knows. */
static int64_t written_by(const struct ins_survey_facts *f, uint32_t version)
{
    const ins_txn t = ins_survey_writer(f, version);
    if (t == INS_INIT)
        return INT64_MIN;
    return ins_has_end(f->h, t) ? f->h->txn_end[t] : INT64_MAX;
}

/* ---- is there anything to look for? ---- */

/* Who reads what those that had ended before its begin cannot have left as the newest.
 * Most histories have no such read, and then no commit is lost; else only those may be
 * that such a read has missed.  Of registers a walk through time tells, of lists their
 * order. */
struct sweep {
    const struct ins_survey_facts *f;
    uint32_t *first,
        *next;        /* who has ended when the i-th begins: the first, the next */
    uint32_t *newest; /* by key: last begin of those that have ended and wrote it */
    uint8_t *covered; /* by version: who wrote something below it has ended */
    /* Registers: by key, the version whose writer ended last, of those that were
     * written blindly and of the others; and by version the one before. */
    uint32_t *blind, *built, *before;
    /* Lists: by place in a chain, the least first_after of who appended there or
     * further on. */
    uint32_t *least;
    uint8_t *suspect; /* by transaction */
    uint32_t *missed; /* by transaction: `begun` of the last who may have missed it */
    uint64_t steps;
};

/* Did a end before b began? */
static bool is_before(const struct ins_survey_facts *f, ins_txn a, ins_txn b)
{
    return f->first_after[a] < f->begun[b];
}

static bool sweep_init(struct sweep *s)
{
    const struct ins_survey_facts *f = s->f;
    s->first = INS_NEW(uint32_t, f->n_timed);
    s->next = INS_NEW(uint32_t, f->h->n_txns);
    s->newest = INS_NEW0(uint32_t, f->h->n_keys);
    s->covered = INS_NEW0(uint8_t, f->n_versions);
    s->blind = INS_NEW(uint32_t, f->h->n_keys);
    s->built = INS_NEW(uint32_t, f->h->n_keys);
    s->before = INS_NEW(uint32_t, f->n_written);
    s->least = INS_NEW(uint32_t, f->h->has_lists ? f->n_written : 0);
    s->missed = INS_NEW0(uint32_t, f->h->n_txns);
    if (!s->missed || !s->least || !s->first || !s->next || !s->newest || !s->covered ||
        !s->blind || !s->built || !s->before)
        return false;
    memset(s->blind, 0xff, f->h->n_keys * sizeof *s->blind);
    memset(s->built, 0xff, f->h->n_keys * sizeof *s->built);
    memset(s->first, 0xff, f->n_timed * sizeof *s->first);
    for (ins_txn t = f->h->n_txns; t-- > 1;)
        if (f->first_after[t] < f->n_timed) {
            s->next[t] = s->first[f->first_after[t]];
            s->first[f->first_after[t]] = t;
        }
    return true;
}

static void sweep_end(struct sweep *s, ins_txn w)
{
    const struct ins_survey_facts *f = s->f;
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
        const uint32_t v = f->write[i].version;
        const ins_key k = f->write[i].key;
        if (ins_is_list_key(f->h, k))
            continue;
        /* Of one without a begin only the initial version is surely older. */
        const uint32_t begun = f->begun[w] ? f->begun[w] : 1;
        s->newest[k] = s->newest[k] < begun ? begun : s->newest[k];
        uint32_t *last = f->parent[v] < f->n_written ? &s->built[k] : &s->blind[k];
        s->before[v] = *last;
        *last = v;
        for (uint32_t u = f->parent[v]; !s->covered[u]; u = f->parent[u]) {
            s->covered[u] = 1;
            if (u >= f->n_written)
                break;
        }
    }
}

static bool is_stale(const struct sweep *s, uint32_t version, ins_key k)
{
    const struct ins_survey_facts *f = s->f;
    return !ins_is_list_key(f->h, k) &&
           (s->covered[version] ||
            (version < f->n_written &&
             f->first_after[f->h->key_writer[version]] < s->newest[k]));
}

/* Has anybody read what w wrote, began after its end and had not ended when t began?
 * Then t is none of those that can have missed it. */
static bool is_seen_until(const struct ins_survey_facts *f, ins_txn w, ins_txn t)
{
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
        const uint32_t v = f->write[i].version;
        for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++) {
            const ins_txn x = f->reader[r].txn;
            if (is_before(f, w, x) && !is_before(f, x, t))
                return true;
        }
    }
    return false;
}

/* A read of t that is stale may have missed a version of w. */
static void suspect(struct sweep *s, ins_txn t, ins_txn w)
{
    s->steps++;
    if (!is_before(s->f, w, t))
        return;
    if (s->missed[w] < s->f->begun[t])
        s->missed[w] = s->f->begun[t];
    if (!s->suspect[w] && !is_seen_until(s->f, w, t))
        s->suspect[w] = 1;
}

/* Who read version v of a list missed all from place `at` on of its chain. */
static void suspect_behind(struct sweep *s, uint32_t v, uint32_t at, uint32_t end)
{
    const struct ins_survey_facts *f = s->f;
    for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++) {
        const ins_txn t = f->reader[r].txn;
        for (uint32_t i = at; i < end && s->least[i] < f->begun[t]; i++)
            suspect(s, t, f->chain[i].txn);
    }
}

static void sweep_list(struct sweep *s, ins_key k)
{
    const struct ins_survey_facts *f = s->f;
    const uint32_t first = (uint32_t)f->h->key_writer_off[k];
    const uint32_t end = (uint32_t)f->h->key_writer_off[k + 1];
    uint32_t least = UINT32_MAX;
    for (uint32_t at = end; at-- > first;) {
        const uint32_t after = f->first_after[f->chain[at].txn];
        suspect_behind(s, f->chain[at].what, at + 1, end);
        s->least[at] = least = after < least ? after : least;
    }
    suspect_behind(s, f->n_written + k, first, end);
}

/* All that the read of a register may have missed: what was written blindly after the
 * writer of what it read had ended, and what was not, which may build on it. */
static void suspect_all(struct sweep *s, ins_txn t, uint32_t version)
{
    const struct ins_survey_facts *f = s->f;
    const struct ins_history *h = f->h;
    const ins_key k = f->version_key[version];
    const uint32_t ended =
        version < f->n_written ? f->first_after[h->key_writer[version]] : 0;
    for (uint32_t v = s->built[k]; v != INS_NONE; v = s->before[v])
        suspect(s, t, h->key_writer[v]);
    for (uint32_t v = s->blind[k]; v != INS_NONE; v = s->before[v]) {
        const ins_txn w = h->key_writer[v];
        if (version < f->n_written && f->first_after[w] <= ended)
            break; /* those before it had ended by then, too */
        if (version >= f->n_written || ended < f->begun[w])
            suspect(s, t, w);
        s->steps++;
    }
}

/* Did somebody who began after w's end see what w appended, and end only when the last
 * who may have missed it had begun?  Then it is not lost.  The last versions of a list
 * are those that are read last. */
static bool is_seen_last(const struct sweep *s, ins_txn w)
{
    enum { MOST = 64 }; /* reads, by key */
    const struct ins_survey_facts *f = s->f;
    bool seen = false;
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
        const ins_key k = f->write[i].key;
        if (!ins_is_list_key(f->h, k))
            continue;
        const uint32_t place = f->chain_at[f->write[i].version];
        if (place >= f->chain_end[k])
            return false; /* no order is known of it and others like it */
        uint32_t n = 0;
        for (uint32_t at = f->chain_end[k]; !seen && n < MOST && at-- > place;) {
            const uint32_t v = f->chain[at].what;
            for (uint32_t r = f->reader_off[v]; r < f->reader_off[v + 1]; r++, n++) {
                const ins_txn x = f->reader[r].txn;
                seen |= is_before(f, w, x) && f->first_after[x] >= s->missed[w];
            }
        }
    }
    return seen;
}

/* Strike out who is none after all; false when nobody is left. */
static bool keep_suspects(struct sweep *s)
{
    bool any = false;
    for (ins_txn w = 1; w < s->f->h->n_txns; w++) {
        if (s->suspect[w] && s->f->h->has_lists && is_seen_last(s, w))
            s->suspect[w] = 0;
        any |= s->suspect[w];
    }
    return any;
}

/* What is looked up of a version. */
static void fetch_version(const struct sweep *s, uint32_t v, bool written)
{
    const struct ins_survey_facts *f = s->f;
    if (written) {
        __builtin_prefetch(&f->parent[v]);
        __builtin_prefetch(&s->before[v], 1);
    } else {
        __builtin_prefetch(&s->covered[v]);
        __builtin_prefetch(&f->h->key_writer[v < f->n_written ? v : 0]);
    }
}

/* Who begins and who ends soon is not near in memory, nor is what they read and wrote.
 */
static void fetch_ahead(const struct sweep *s, uint32_t i)
{
    enum { NEAR = 4, FAR = 8 };
    const struct ins_survey_facts *f = s->f;
    if (i + FAR >= f->n_timed)
        return;
    const ins_txn far = f->by_begin[i + FAR], near = f->by_begin[i + NEAR];
    const ins_txn far_end = s->first[i + FAR], near_end = s->first[i + NEAR];
    __builtin_prefetch(&f->read_version[f->read_off[far]]);
    __builtin_prefetch(&f->read_op[f->read_off[far]]);
    __builtin_prefetch(&f->h->op_word[f->h->txn_op[far]]);
    for (uint32_t r = f->read_off[near]; r < f->read_off[near + 1]; r++)
        fetch_version(s, f->read_version[r], false);
    if (far_end != INS_NONE)
        __builtin_prefetch(&f->write[f->write_off[far_end]]);
    if (near_end == INS_NONE)
        return;
    for (uint32_t w = f->write_off[near_end]; w < f->write_off[near_end + 1]; w++)
        fetch_version(s, f->write[w].version, true);
}

static void sweep_all(struct sweep *s, uint64_t most)
{
    const struct ins_survey_facts *f = s->f;
    for (ins_key k = 0; k < f->h->n_keys && s->steps < most; k++)
        if (ins_is_list_key(f->h, k))
            sweep_list(s, k);
    for (uint32_t i = 0; f->h->has_registers && i < f->n_timed && s->steps < most;
         i++) {
        fetch_ahead(s, i);
        const ins_txn t = f->by_begin[i];
        for (uint32_t w = s->first[i]; w != INS_NONE; w = s->next[w])
            sweep_end(s, w);
        for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
            if (is_stale(s, f->read_version[r], ins_op_key(f->h, f->read_op[r])))
                suspect_all(s, t, f->read_version[r]);
    }
}

/* Who may be lost: by transaction, for the caller to free; NULL: nobody.  Everybody
 * when it would take too long to tell.  False when there is no memory. */
static bool find_suspects(const struct ins_survey_facts *f, uint8_t **suspects)
{
    struct sweep s = {.f = f, .suspect = INS_NEW0(uint8_t, f->h->n_txns)};
    const bool ok = s.suspect && sweep_init(&s);
    const uint64_t most = 4 * ((uint64_t)f->n_reads + f->n_versions) + 100000;
    if (ok)
        sweep_all(&s, most);
    if (ok && s.steps >= most)
        memset(s.suspect, 1, f->h->n_txns);
    else if (!ok || !keep_suspects(&s)) {
        ins_free(s.suspect);
        s.suspect = NULL;
    }
    void *all[] = {s.first, s.next,   s.newest, s.covered, s.blind,
                   s.built, s.before, s.least,  s.missed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    *suspects = s.suspect;
    return ok;
}

/* ---- the tree ---- */

/* Done with v, on which that of `up` builds. */
static void pass_up(struct standing *up, const struct standing *v)
{
    if (up->seen < v->seen) {
        up->seen = v->seen;
        up->seer = v->seer;
    }
    up->began = up->began < v->began ? v->began : up->began;
}

/* Number the versions of key k, from n on, so that what builds on one stands right
 * behind it. */
static void walk_tree(struct hunt *s, ins_key k, uint32_t n, uint32_t *stack)
{
    const struct ins_survey_facts *f = s->f;
    uint32_t depth = 0;
    stack[depth++] = f->n_written + k;
    s->version[f->n_written + k].enter = n++;
    while (depth) {
        const uint32_t v = stack[depth - 1];
        struct standing *const at = &s->version[v];
        if (at->leave == f->child_off[v + 1]) {
            at->leave = n;
            if (--depth)
                pass_up(&s->version[stack[depth - 1]], at);
            continue;
        }
        const uint32_t child = f->child[at->leave++].what;
        s->version[child].enter = n++;
        stack[depth++] = child;
    }
}

/* Nobody has read it; `leave` is its next child until it is left. */
static void unseen(struct hunt *s, uint32_t v)
{
    s->version[v] = (struct standing){
        .leave = s->f->child_off[v], .seen = INT64_MIN, .began = INT64_MIN};
}

static void see(struct standing *v, const struct ins_history *h, ins_txn t)
{
    const int64_t end = ins_has_end(h, t) ? h->txn_end[t] : INT64_MAX;
    if (v->seen < end) {
        v->seen = end;
        v->seer = t;
    }
    v->began = h->txn_begin[t]; /* they ascend */
}

/* Only who has a begin can have begun later. */
static void sort_reads(struct hunt *s)
{
    const struct ins_survey_facts *f = s->f;
    const struct ins_history *h = f->h;
    uint32_t n = 0;
    for (ins_key k = 0; k < h->n_keys; k++) {
        const uint64_t first = h->key_writer_off[k], end = h->key_writer_off[k + 1];
        const uint32_t start = f->n_written + k;
        s->by_key_off[k] = s->by_key_end[k] = n;
        if (s->wanted[k])
            n += f->reader_off[end] - f->reader_off[first] + f->reader_off[start + 1] -
                 f->reader_off[start];
    }
    for (uint32_t i = 0; i < f->n_timed; i++) {
        const ins_txn t = f->by_begin[i];
        if (i + AHEAD < f->n_timed) {
            const ins_txn later = f->by_begin[i + AHEAD];
            __builtin_prefetch(&f->read_op[f->read_off[later]]);
            __builtin_prefetch(&h->op_word[h->txn_op[later]]);
        }
        for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++) {
            const ins_key k = ins_op_key(h, f->read_op[r]);
            if (s->wanted[k])
                s->by_key[s->by_key_end[k]++] = r;
        }
    }
}

/* What became of the versions of key k. */
static void look_at_key(struct hunt *s, ins_key k)
{
    const struct ins_survey_facts *f = s->f;
    const uint32_t first = (uint32_t)f->h->key_writer_off[k];
    for (uint32_t v = first; v < f->h->key_writer_off[k + 1]; v++)
        unseen(s, v);
    unseen(s, f->n_written + k);
    for (uint32_t i = s->by_key_off[k]; i < s->by_key_end[k]; i++) {
        const uint32_t r = s->by_key[i];
        if (i + AHEAD < s->by_key_end[k]) {
            __builtin_prefetch(&f->read_version[s->by_key[i + AHEAD]]);
            __builtin_prefetch(&f->read_txn[s->by_key[i + AHEAD]]);
        }
        see(&s->version[f->read_version[r]], f->h, f->read_txn[r]);
    }
    walk_tree(s, k, first + k, s->root);
}

static bool hunt_init(struct hunt *s)
{
    const struct ins_survey_facts *f = s->f;
    const uint32_t n = f->n_versions;
    if (ins_limit_memory(s->limit, 41 * (uint64_t)n + 4 * (uint64_t)f->n_reads))
        return false;
    s->version = INS_NEW(struct standing, n);
    s->by_key_off = INS_NEW(uint32_t, f->h->n_keys);
    s->by_key_end = INS_NEW(uint32_t, f->h->n_keys);
    s->by_key = INS_NEW(uint32_t, f->n_reads);
    s->stamp = INS_NEW0(uint32_t, n);
    s->root = INS_NEW(uint32_t, n);
    s->sight = INS_NEW(uint8_t, n);
    s->counted = INS_NEW0(uint32_t, f->h->n_txns);
    if (!s->version || !s->by_key_off || !s->by_key_end || !s->by_key || !s->stamp ||
        !s->root || !s->sight || !s->counted)
        return false;
    sort_reads(s);
    for (ins_key k = 0; k < f->h->n_keys; k++)
        if (s->wanted[k])
            look_at_key(s, k);
    return true;
}

static void hunt_release(struct hunt *s)
{
    void *all[] = {s->version, s->by_key_off, s->by_key_end, s->by_key,
                   s->stamp,   s->root,       s->sight,      s->counted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
}

/* By place in by_key: the begin of who read that. */
static int64_t begin_at(const struct hunt *s, uint32_t at)
{
    return s->f->h->txn_begin[s->f->read_txn[s->by_key[at]]];
}

/* ---- one commit ---- */

bool ins_survey_is_older(const struct ins_survey_facts *f, uint32_t version,
                         uint32_t than)
{
    return version >= f->n_written ||
           ins_ended_before(f->h, ins_survey_writer(f, version),
                            ins_survey_writer(f, than));
}

/* What `version`, of the same key as version v of the commit, says about it; for BRANCH
 * and BLIND the version at the root is left in *root.  What was found out on the way is
 * kept for the rest of this turn. */
static enum sight sight_of(struct hunt *s, uint32_t version, uint32_t v, uint32_t *root)
{
    const struct ins_survey_facts *f = s->f;
    if (is_below(s, version, v))
        return SEES;
    if (ins_is_list_key(f->h, f->version_key[v])) /* a list shows all there is */
        return OLDER;
    enum sight sight = BLIND;
    uint32_t y = version;
    *root = INS_NONE;
    for (;; y = f->parent[y]) {
        s->steps++;
        if (is_below(s, v, y) || ins_survey_is_older(f, y, v)) {
            sight = y == version ? OLDER : BRANCH;
            break;
        }
        if (s->stamp[y] == s->turn) {
            sight = (enum sight)s->sight[y];
            *root = s->root[y];
            break;
        }
        *root = y;
        if (!f->reads_parent[y])
            break;
    }
    for (uint32_t x = version; x != y; x = f->parent[x]) {
        s->stamp[x] = s->turn;
        s->sight[x] = (uint8_t)sight;
        s->root[x] = *root;
    }
    return sight;
}

/* The first read of key k by who began later, a place in by_key. */
static uint32_t first_later(const struct hunt *s, ins_key k)
{
    uint32_t lo = s->by_key_off[k], hi = s->by_key_end[k];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (begin_at(s, mid) <= s->after)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Is it possible that one of these reads, places in by_key, is of a version older than
 * v?  Above a version that was written without reading stands the initial one alone, so
 * that times tell; this rules out nearly all commits. */
static bool may_be_older(const struct hunt *s, ins_txn w, uint32_t v, uint32_t first,
                         uint32_t end)
{
    const struct ins_survey_facts *f = s->f;
    const int64_t begin = f->h->txn_begin[w];
    if (f->parent[v] < f->n_written || ins_is_list_key(f->h, f->version_key[v]) ||
        begin == INS_NO_TIME)
        return true;
    for (uint32_t i = first; i < end; i++)
        if (written_by(f, f->read_version[s->by_key[i]]) < begin)
            return true;
    return false;
}

/* The first who missed v, a place in by_key; INS_NONE when somebody saw it or nobody
 * missed it. */
static uint32_t first_miss(struct hunt *s, ins_txn w, uint32_t v)
{
    const struct ins_survey_facts *f = s->f;
    const ins_key k = f->version_key[v];
    const uint32_t first = first_later(s, k), all = s->by_key_end[k];
    const uint32_t end =
        all - first < MOST_BEFORE_MISS ? all : first + MOST_BEFORE_MISS;
    if (!may_be_older(s, w, v, first, end))
        return INS_NONE;
    for (uint32_t i = first; i < end; i++) {
        if (f->read_txn[s->by_key[i]] == w)
            continue;
        uint32_t root;
        const enum sight sight = sight_of(s, f->read_version[s->by_key[i]], v, &root);
        if (sight == SEES)
            return INS_NONE;
        if (sight == OLDER)
            return i;
    }
    return INS_NONE;
}

/* Where nodes are not known all is one. */
static bool same_node(const struct ins_history *h, ins_txn t, ins_txn u)
{
    return !h->txn_node || !h->txn_node[t] || !h->txn_node[u] ||
           h->txn_node[t] == h->txn_node[u];
}

/* Did somebody begin on w's node after its end? */
static bool node_lives(struct hunt *s, ins_txn w)
{
    const struct ins_survey_facts *f = s->f;
    for (uint32_t i = f->n_timed; i-- > 0;) {
        const ins_txn t = f->by_begin[i];
        s->steps++;
        if (f->h->txn_begin[t] <= s->after)
            return false;
        if (same_node(f->h, t, w))
            return true;
    }
    return false;
}

/* Can nobody who began later have seen v?  What was written over it counts
 * only when that began after `missed` had ended, or its writer missed v itself. */
static bool is_unseen(struct hunt *s, ins_txn w, uint32_t v, ins_txn missed,
                      uint32_t *misses)
{
    const struct ins_survey_facts *f = s->f;
    const struct ins_history *h = f->h;
    const ins_key k = f->version_key[v];
    for (uint32_t i = first_later(s, k); i < s->by_key_end[k]; i++) {
        const uint32_t read = s->by_key[i];
        uint32_t top;
        const enum sight sight = sight_of(s, f->read_version[read], v, &top);
        if (sight == SEES)
            return false;
        if (sight == OLDER) {
            s->here |= same_node(h, f->read_txn[read], w);
            *misses += s->counted[s->f->read_txn[read]] != s->turn;
            s->counted[s->f->read_txn[read]] = s->turn;
            continue;
        }
        const ins_txn root = ins_survey_writer(f, top);
        const bool missed_too = sight == BRANCH && root != INS_INIT &&
                                h->txn_begin[root] != INS_NO_TIME &&
                                h->txn_begin[root] > s->after;
        if (!missed_too && !ins_ended_before(h, missed, root))
            return false;
    }
    return true;
}

/* Is w worth a closer look: did anybody read a key of it after it was last seen? */
static bool is_suspect(struct hunt *s, ins_txn w, struct ins_lost_commit *l)
{
    const struct ins_survey_facts *f = s->f;
    *l = (struct ins_lost_commit){.txn = w};
    if (!ins_has_end(f->h, w))
        return false;
    s->after = f->h->txn_end[w];
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
        const struct standing *const v = &s->version[f->write[i].version];
        if (v->began > f->h->txn_end[w] && v->seen > s->after) {
            s->after = v->seen;
            l->seer = v->seer;
        }
    }
    l->after = s->after;
    bool looked = false;
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1] && !looked; i++) {
        const ins_key k = f->write[i].key;
        const uint32_t n = s->by_key_end[k];
        looked = n > s->by_key_off[k] && begin_at(s, n - 1) > s->after;
    }
    return looked;
}

/* Is it lost, from l->after on?  Then who missed it first is known. */
static bool is_lost(struct hunt *s, struct ins_lost_commit *l)
{
    const struct ins_survey_facts *f = s->f;
    const ins_txn w = l->txn;
    uint32_t miss = INS_NONE;
    s->after = l->after;
    s->here = false;
    s->turn++;
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
        const uint32_t m = first_miss(s, w, f->write[i].version);
        if (m != INS_NONE && (miss == INS_NONE || begin_at(s, m) < begin_at(s, miss))) {
            miss = m;
            l->version = f->write[i].version;
        }
    }
    if (miss == INS_NONE)
        return false;
    l->read = s->by_key[miss];
    l->reader = f->read_txn[l->read];
    l->misses = 0;
    for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++)
        if (!is_unseen(s, w, f->write[i].version, l->reader, &l->misses))
            return false;
    if (!s->here && node_lives(s, w))
        return false;                            /* other nodes may just be late */
    return l->seer == INS_INIT || l->misses > 1; /* else it may be one read */
}

static void look_at(struct hunt *s, ins_txn w)
{
    struct ins_lost_commit l;
    if (is_suspect(s, w, &l) && is_lost(s, &l))
        ins_vec_lost_push(s->lost, l);
}

/* ---- reads that are no facts ---- */

/* Can read op have seen a write of w?  What it shows is compared, and nothing is
 * inferred. */
static bool may_show(struct hunt *s, uint32_t op, ins_txn w)
{
    const struct ins_history *h = s->f->h;
    const ins_key k = ins_op_key(h, op);
    const bool list = ins_is_list_key(h, k);
    const ins_txn from = h->op_from[op];
    if (from < INS_FROM_SPECIAL && !list) { /* it repeats a fact */
        const uint32_t version = ins_survey_version(s->f, from, k);
        const uint32_t v = ins_survey_version(s->f, w, k);
        return from == w ||
               (version != INS_NONE && v != INS_NONE && is_below(s, version, v));
    }
    if (from == INS_FROM_AMBIGUOUS) {
        uint32_t n = 0;
        const ins_txn *one = ins_history_candidates(h, op, &n);
        for (uint32_t i = 0; i < n; i++)
            if (one[i] == w)
                return true;
    }
    if (!list && ins_op_kind(h, op) != INS_OP_READ)
        return false;
    const struct ins_shown shown =
        list ? ins_history_shown(h, op) : (struct ins_shown){&h->op_value[op], 1};
    for (uint32_t write = h->txn_op[w]; write < h->txn_op[w + 1]; write++)
        for (uint64_t i = 0; ins_writes_key(h, write, k) && i < shown.len; i++) {
            s->steps++;
            if (shown.at[i] == h->op_value[write])
                return true;
        }
    return false;
}

/* Commits by key that was written: those from first[k] on, each with its next. */
struct writes {
    uint32_t *first;
    struct ins_vec_u32 commit, next;
};

static bool index_writes(const struct hunt *s, struct writes *x)
{
    const struct ins_survey_facts *f = s->f;
    x->first = INS_NEW(uint32_t, f->h->n_keys);
    if (!x->first)
        return false;
    memset(x->first, 0xff, f->h->n_keys * sizeof *x->first);
    for (uint32_t c = 0; c < s->lost->len; c++) {
        const ins_txn w = s->lost->at[c].txn;
        for (uint32_t i = f->write_off[w]; i < f->write_off[w + 1]; i++) {
            uint32_t *first = &x->first[f->write[i].key];
            ins_vec_u32_push(&x->commit, c);
            ins_vec_u32_push(&x->next, *first);
            *first = (uint32_t)x->next.len - 1;
        }
    }
    return !x->commit.failed && !x->next.failed;
}

static bool is_fact(const struct ins_survey_facts *f, ins_txn t, uint32_t op)
{
    for (uint32_t r = f->read_off[t]; r < f->read_off[t + 1]; r++)
        if (f->read_op[r] == op)
            return true;
    return false;
}

static bool reads_facts_only(const struct ins_survey_facts *f, ins_txn t)
{
    const struct ins_history *h = f->h;
    uint32_t reads = h->txn_op[t + 1] - h->txn_op[t];
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
        reads -= ins_is_write(h, op);
    return reads == f->read_off[t + 1] - f->read_off[t];
}

/* t, which began after the commit had ended, may have seen it: then it can be lost only
 * from when t had ended, and who missed it is asked again. */
static void note_seer(struct ins_lost_commit *l, const struct ins_history *h, ins_txn t)
{
    if (h->has_duplicates || !ins_has_end(h, t)) {
        l->txn = INS_INIT; /* perhaps it did not, perhaps it went on */
    } else {
        l->after = h->txn_end[t];
        l->seer = t;
        l->misses = 0;
    }
}

/* Does `t` matter, if it may have seen the commit? */
static bool is_later(const struct ins_lost_commit *l, const struct ins_history *h,
                     ins_txn t)
{
    if (l->txn == INS_INIT)
        return false;
    if (h->has_duplicates)
        return l->after < h->txn_begin[t];
    return h->txn_end[l->txn] < h->txn_begin[t] &&
           (!ins_has_end(h, t) || l->after < h->txn_end[t]);
}

/* Look for commits that operation op of t may have seen, if it is a read that is no
 * fact. */
static void compare_read(struct hunt *s, const struct writes *x, ins_txn t, uint32_t op)
{
    const struct ins_history *h = s->f->h;
    if (ins_is_write(h, op) || !ins_has_result(h, op) || is_fact(s->f, t, op))
        return;
    for (uint32_t i = x->first[ins_op_key(h, op)]; i != INS_NONE; i = x->next.at[i]) {
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): i is in the vector
        struct ins_lost_commit *l = &s->lost->at[x->commit.at[i]];
        s->steps++;
        if (is_later(l, h, t) && may_show(s, op, l->txn))
            note_seer(l, h, t);
    }
}

/* Reads of transactions that do not count, faulty ones, those that repeat, lists at
 * odds with a longer one: whoever may have seen a commit keeps it from being lost until
 * then. */
static bool compare_others(struct hunt *s)
{
    const struct ins_survey_facts *f = s->f;
    const struct ins_history *h = f->h;
    struct writes x = {0};
    bool ok = index_writes(s, &x);
    for (ins_txn t = 1; ok && t < h->n_txns; t++) {
        ok = s->steps < MOST_STEPS && ((t & 1023) || !ins_limit_hit(s->limit));
        if (h->txn_begin[t] == INS_NO_TIME || reads_facts_only(f, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++)
            if (x.first[ins_op_key(h, op)] != INS_NONE)
                compare_read(s, &x, t, op);
    }
    ins_free(x.first);
    ins_vec_u32_release(&x.commit);
    ins_vec_u32_release(&x.next);
    size_t n = 0;
    for (size_t i = 0; ok && i < s->lost->len; i++) {
        struct ins_lost_commit *l = &s->lost->at[i];
        if (l->txn != INS_INIT && (l->misses || is_lost(s, l)))
            s->lost->at[n++] = *l;
    }
    s->lost->len = n;
    return ok;
}

/* The keys that suspects wrote; NULL when there is no memory. */
static uint8_t *keys_of(const struct ins_survey_facts *f, const uint8_t *suspects)
{
    uint8_t *keys = INS_NEW0(uint8_t, f->h->n_keys);
    for (ins_txn t = 1; keys && t < f->h->n_txns; t++)
        for (uint32_t i = f->write_off[t]; suspects[t] && i < f->write_off[t + 1]; i++)
            keys[f->write[i].key] = 1;
    return keys;
}

bool ins_survey_lost(const struct ins_survey_facts *f, struct ins_limit *limit,
                     struct ins_vec_lost *lost)
{
    struct hunt s = {.f = f, .limit = limit, .lost = lost};
    uint8_t *suspects = NULL;
    if (!f->n_timed)
        return true;
    if (!find_suspects(f, &suspects))
        return false;
    if (!suspects)
        return true;
    uint8_t *wanted = keys_of(f, suspects);
    s.wanted = wanted;
    bool ok = wanted && hunt_init(&s);
    for (ins_txn w = 1; ok && w < f->h->n_txns && s.steps < MOST_STEPS; w++) {
        if (!(w & 1023) && ins_limit_hit(limit))
            ok = false;
        else if (suspects[w])
            look_at(&s, w);
    }
    s.steps = 0;
    ok = ok && !lost->failed && (!lost->len || compare_others(&s));
    if (!ok)
        lost->len = 0;
    hunt_release(&s);
    ins_free(suspects);
    ins_free(wanted);
    return ok;
}

#include "sieve.h"

#include "base/mem.h"

/* Sorts of cycles: without RW; where no two RW meet; where each RW follows a WR. */
enum sort { NO_RW, APART, FORKED, N_SORTS };

static const uint32_t kinds_of[N_SORTS] = {
    [NO_RW] = 1u << INS_G0 | 1u << INS_G1C,
    [APART] = 1u << INS_G_SINGLE | 1u << INS_G_NONADJACENT,
    [FORKED] = 1u << INS_LONG_FORK,
};

enum { NOWHERE = 2 };

/* One stands on copy 1 of a node in APART: when one came by an RW; in FORKED: when the
 * last edge of data was a WR.  The copy that an edge leads to. */
static unsigned copy_behind(enum sort sort, unsigned copy, enum ins_arc_type type)
{
    if (type == INS_ARC_LOST)
        return NOWHERE;
    if (sort == NO_RW)
        return type == INS_ARC_RW ? NOWHERE : 0;
    if (type == INS_ARC_WW_READ || (sort == FORKED && type == INS_ARC_WW))
        return NOWHERE;
    if (sort == APART)
        return type != INS_ARC_RW ? 0 : copy ? NOWHERE : 1;
    if (type == INS_ARC_RW)
        return copy ? 0 : NOWHERE;
    return type == INS_ARC_WR ? 1 : copy;
}

/* Tarjan's algorithm on the copies, without writing their graph down.  A state is
 * 2 * node + copy. */
enum { UNSEEN = 0, N_TYPES = INS_ARC_MOVE_RT + 1 };
#define DONE UINT32_MAX
#define GOOD (UINT32_MAX - 1) /* and its component has what a cycle needs */

struct frame {
    uint32_t state, next; /* its next link */
    uint32_t index;
};
INS_VEC(frame, struct frame);

struct ins_sieve {
    const struct ins_links *g;
    struct ins_limit *limit;
    uint32_t *low; /* by state; all UNSEEN between two sievings */
    struct ins_vec_u32 stack;
    struct ins_vec_frame path;
    /* for the one that is under way */
    const uint32_t *may;
    uint32_t live, visited;
    uint8_t next[2][N_TYPES]; /* by copy and type of edge: the copy behind it */
    unsigned has[N_TYPES], has_always; /* of what a cycle needs */
};

enum { HAS_RW = 1, HAS_NEEDED = 2, HAS_ALL = 3 };

struct ins_sieve *ins_sieve_new(const struct ins_links *g, struct ins_limit *limit)
{
    struct ins_sieve *s = INS_NEW0(struct ins_sieve, 1);
    uint32_t *low = INS_NEW0(uint32_t, 2 * (size_t)g->n_nodes);
    if (!s || !low) {
        ins_free(s);
        ins_free(low);
        return NULL;
    }
    s->g = g;
    s->limit = limit;
    s->low = low;
    return s;
}

void ins_sieve_free(struct ins_sieve *s)
{
    if (!s)
        return;
    ins_free(s->low);
    ins_vec_u32_release(&s->stack);
    ins_vec_frame_release(&s->path);
    ins_free(s);
}

static void prepare(struct ins_sieve *s, enum sort sort, enum ins_suffix suffix)
{
    const unsigned needed = ins_suffix_needs[suffix];
    s->visited = 0;
    s->has_always = (sort == NO_RW ? HAS_RW : 0u) | (needed ? 0u : HAS_NEEDED);
    for (int type = 0; type < N_TYPES; type++) {
        for (unsigned copy = 0; copy < 2; copy++)
            s->next[copy][type] =
                ins_suffix_arcs[suffix] & INS_ARC(type)
                    ? (uint8_t)copy_behind(sort, copy, (enum ins_arc_type)type)
                    : NOWHERE;
        s->has[type] = (type == INS_ARC_RW ? HAS_RW : 0u) |
                       (needed & INS_ARC(type) ? HAS_NEEDED : 0u);
    }
}

/* The state behind link e, or INS_NONE. */
static inline uint32_t behind(const struct ins_sieve *s, unsigned copy, uint32_t e)
{
    const uint32_t word = s->g->link[e], to = ins_link_to(word);
    const unsigned next = s->next[copy][ins_link_type(word)];
    return next != NOWHERE && s->may[to] & s->live ? 2 * to + next : INS_NONE;
}

/* The links of a state, but from `skip` on those up to `resume`. */
struct span {
    uint32_t skip, resume, end;
};

/* From many a state no way leads by RW, which are most links. */
static inline struct span links_of(const struct ins_sieve *s, uint32_t state)
{
    enum { BEHIND = 2 }; /* SO and RT come last */
    const uint32_t node = state / 2, end = s->g->off[node + 1];
    if (!ins_node_is_txn(node) || s->next[state % 2][INS_ARC_RW] != NOWHERE)
        return (struct span){UINT32_MAX, end, end};
    const uint32_t rw = s->g->rw[node / INS_NODES];
    return (struct span){rw, end - rw > BEHIND ? end - BEHIND : rw, end};
}

/* All from place `first` of the stack on are one component, and were visited from
 * `index` on: does it have what a cycle needs? */
static bool is_good(const struct ins_sieve *s, size_t first, uint32_t index)
{
    unsigned has = s->has_always;
    for (size_t i = first; i < s->stack.len && has != HAS_ALL; i++) {
        const uint32_t state = s->stack.at[i];
        const struct span l = links_of(s, state);
        for (uint32_t e = s->g->off[state / 2]; e < l.end && has != HAS_ALL; e++) {
            e = e == l.skip ? l.resume : e;
            const unsigned more = s->has[ins_link_type(s->g->link[e])] & ~has;
            const uint32_t to = more ? behind(s, state % 2, e) : INS_NONE;
            if (to != INS_NONE && s->low[to] >= index && s->low[to] < GOOD)
                has |= more;
        }
    }
    return has == HAS_ALL;
}

/* All from `state` up to the top of the stack are one component. */
static void close_component(struct ins_sieve *s, uint32_t state, uint32_t index)
{
    size_t first = s->stack.len - 1;
    while (s->stack.at[first] != state)
        first--;
    const uint32_t end =
        s->stack.len - first > 1 && is_good(s, first, index) ? GOOD : DONE;
    for (size_t i = first; i < s->stack.len; i++)
        s->low[s->stack.at[i]] = end;
    s->stack.len = first;
}

static void enter(struct ins_sieve *s, uint32_t state)
{
    s->low[state] = ++s->visited;
    ins_vec_u32_push(&s->stack, state);
    ins_vec_frame_push(&s->path,
                       (struct frame){state, s->g->off[state / 2], s->visited});
}

static void walk_from(struct ins_sieve *s, uint32_t root)
{
    enter(s, root);
    while (s->path.len && !s->path.failed && !s->stack.failed) {
        struct frame *at = &s->path.at[s->path.len - 1];
        const uint32_t state = at->state;
        const struct span l = links_of(s, state);
        uint32_t low = s->low[state], e = at->next, next = INS_NONE;
        for (; e < l.end && next == INS_NONE; e++) {
            e = e == l.skip ? l.resume : e;
            const uint32_t to = behind(s, state % 2, e);
            if (to == INS_NONE)
                continue;
            if (s->low[to] == UNSEEN)
                next = to;
            else if (s->low[to] < low)
                low = s->low[to];
        }
        s->low[state] = low;
        at->next = e;
        if (next != INS_NONE) {
            enter(s, next);
            continue;
        }
        s->path.len--;
        if (low == at->index)
            close_component(s, state, low);
        else if (low < s->low[s->path.at[s->path.len - 1].state])
            s->low[s->path.at[s->path.len - 1].state] = low;
    }
}

/* Write down who is on a good component, and forget the rest. */
static bool conclude(struct ins_sieve *s, const struct ins_sieve_part *p,
                     uint32_t kinds, uint32_t *may)
{
    uint32_t any = 0;
    for (uint32_t i = p->in->first[p->c]; i < p->in->first[p->c + 1]; i++)
        for (uint32_t k = 0; k < INS_NODES; k++) {
            const uint32_t node = p->in->member[i] + k;
            uint32_t *const low = &s->low[2 * (size_t)node];
            const uint32_t good = low[0] == GOOD || low[1] == GOOD ? kinds : 0;
            may[node] = (may[node] & ~kinds) | good;
            any |= good;
            low[0] = low[1] = UNSEEN;
        }
    return any != 0;
}

static enum sort sort_of(enum ins_kind kind)
{
    int sort = 0;
    while (sort < N_SORTS && !(kinds_of[sort] >> kind & 1))
        sort++;
    return (enum sort)sort;
}

uint32_t ins_sieve_kinds(enum ins_kind kind)
{
    const enum sort sort = sort_of(kind);
    return sort < N_SORTS ? kinds_of[sort] : 1u << kind;
}

/* Where each RW follows a WR no two RW meet. */
uint32_t ins_sieve_wider(enum ins_kind kind)
{
    return sort_of(kind) == FORKED ? kinds_of[APART] : 0;
}

/* Each cycle with an RW goes through a first copy, and without one there are no others.
 */
bool ins_sieve(struct ins_sieve *s, const struct ins_sieve_part *p, enum ins_kind kind,
               uint32_t live, uint32_t *may, bool *any)
{
    const enum sort sort = sort_of(kind);
    *any = sort == N_SORTS;
    if (*any)
        return true; /* nothing is known of it */
    prepare(s, sort, p->suffix);
    s->may = may;
    s->live = live;
    const bool ok = !ins_limit_hit(s->limit);
    for (uint32_t i = p->in->first[p->c + 1]; ok && i-- > p->in->first[p->c];)
        for (uint32_t k = 0; k < INS_NODES; k++) {
            const uint32_t node = p->in->member[i] + k;
            if (may[node] & live && s->low[2 * (size_t)node] == UNSEEN)
                walk_from(s, 2 * node);
        }
    *any = conclude(s, p, kinds_of[sort], may);
    s->path.len = s->stack.len = 0;
    return ok && !s->stack.failed && !s->path.failed;
}

/* exclude.c - why an open read is not from a candidate. */
#include "exclude.h"

#include "prove/justify.h"

/* Join the walk b, which starts where a ends and was appended just after it. */
static void join(struct ins_argument *p, struct ins_walk *a, struct ins_walk b)
{
    const uint32_t at = a->node + a->n_nodes;
    /* drop the doubled node: the last of a */
    for (uint32_t i = at; i < b.node + b.n_nodes; i++) {
        p->node.at[i - 1] = p->node.at[i];
        p->link.at[i - 1] = p->link.at[i];
    }
    p->node.len--;
    p->link.len--;
    a->n_nodes += b.n_nodes - 1;
}

/* Candidate v is before u, and u before the reader. */
static bool overwritten_by(const struct ins_engine *e, struct ins_argument *p,
                           struct ins_exclusion *x, uint32_t u, uint32_t max_link)
{
    const uint32_t begin = ins_begin_node(e, e->read_txn[x->read]);
    const uint32_t mid = ins_commit_node(e, e->ver_txn[u]);
    const uint32_t second[2] = {mid, begin};
    if (!ins_reaches(e, mid, begin))
        return false;
    if (x->candidate >= e->n_vers)
        return ins_walk_find(e, p, second, max_link, &x->walk);
    const uint32_t from = ins_commit_node(e, e->ver_txn[x->candidate]);
    const uint32_t first[2] = {from, mid};
    struct ins_walk rest;
    if (!ins_reaches(e, from, mid))
        return false;
    if (!ins_walk_find(e, p, first, max_link, &x->walk) ||
        !ins_walk_find(e, p, second, max_link, &rest))
        return false;
    join(p, &x->walk, rest);
    return true;
}

static bool exclude(const struct ins_engine *e, struct ins_argument *p,
                    struct ins_exclusion *x, uint32_t max_link)
{
    const uint32_t begin = ins_begin_node(e, e->read_txn[x->read]);
    const size_t len = p->node.len;
    if (x->candidate < e->n_vers) {
        const uint32_t ends[2] = {begin, ins_commit_node(e, e->ver_txn[x->candidate])};
        if (ins_reaches(e, ends[0], ends[1]) &&
            ins_walk_find(e, p, ends, max_link, &x->walk))
            return true;
    }
    const ins_key k = ins_ver_key(e, x->candidate);
    if (ins_is_loose(e, x->read))
        return false;
    for (uint32_t u = e->key_ver[k]; u < e->key_ver[k + 1]; u++) {
        const ins_txn t = e->ver_txn[u];
        const uint32_t since = e->definite_since[t];
        if (u == x->candidate || e->optional[t] || t == e->read_txn[x->read] ||
            (since != INS_NONE && since >= max_link))
            continue;
        p->node.len = p->link.len = len;
        x->via = u;
        if (overwritten_by(e, p, x, u, max_link))
            return true;
    }
    return false;
}

void ins_exclude(const struct ins_engine *e, struct ins_argument *p, uint32_t i,
                 uint32_t but, uint32_t max_link)
{
    const uint32_t first = e->open_off[i];
    /* of a resolved read all but one are dead; of the others those behind the live ones
     */
    const bool resolved = e->read_ver[e->open_read[i]] != INS_NONE;
    for (uint32_t c = resolved ? first : first + e->open_live[i];
         c < e->open_off[i + 1]; c++) {
        struct ins_exclusion x = {
            .read = e->open_read[i], .candidate = e->open_cand[c], .via = INS_NONE};
        if (x.candidate == but)
            continue;
        if (!exclude(e, p, &x, max_link))
            p->failed = true;
        ins_vec_exclusion_push(&p->exclusion, x);
        p->failed |= p->exclusion.failed != 0;
    }
}

#include "retell.h"

/* The levels that permit a cycle of this shape, whatever its versions: real time is
 * known to some only, anti-dependencies in a row are no cycle between begins and
 * commits, nor is one right after a write-write edge that ends at a commit, and two of
 * them are one too many for psi. */
static ins_levels permitting(const struct ins_edge *cycle, uint32_t n)
{
    bool time = false, in_row = false, after_ww = false;
    uint32_t n_rw = 0;
    for (uint32_t i = 0; i < n; i++) {
        const enum ins_edge_type t = cycle[i].type, next = cycle[(i + 1) % n].type;
        time |= t == INS_RT;
        n_rw += t == INS_RW;
        in_row |= t == INS_RW && next == INS_RW;
        after_ww |= t == INS_WW && next == INS_RW;
    }
    const ins_levels decided = ins_levels_decided();
    ins_levels set = 0;
    INS_EACH_LEVEL(l, decided) {
        const struct ins_model m = ins_model_of(l);
        if (!m.versions || (time && !m.real_time) || (in_row && m.split) ||
            (after_ww && m.split && !m.apart) ||
            (n_rw > 1 && m.forbids == INS_FORBIDS_ONE_RW))
            set |= INS_LEVEL_BIT(l);
    }
    return set;
}

static bool can_turn(const struct ins_edge *d)
{
    return d->type == INS_WW && d->rule == INS_WHY_OVERWRITE && d->n_path &&
           d->from != INS_INIT && d->to != INS_INIT && d->reader != d->from;
}

/* The anti-dependency that closes the way of edge d: its reader missed what d's first
 * writer wrote. */
static struct ins_edge missed(const struct ins_edge *d)
{
    struct ins_edge rw = *d;
    rw.type = INS_RW;
    rw.rule = INS_WHY_ANTI;
    rw.from = d->reader;
    rw.to = d->from;
    rw.other = d->to;
    rw.from_op = d->reader_op;
    rw.to_op = d->from_op;
    rw.reader = INS_NONE;
    rw.reader_op = rw.other_op = INS_NONE;
    return rw;
}

/* Who permits what turning edge d of the cycle gives; the copy is in *out. */
static ins_levels turned_permits(const struct ins_vec_edge *edge,
                                 const struct ins_edge *d, struct ins_vec_edge *out)
{
    out->len = 0;
    for (uint32_t i = 0; i < d->n_path; i++)
        ins_vec_edge_push(out, edge->at[d->path + i]);
    ins_vec_edge_push(out, missed(d));
    return out->failed ? 0 : permitting(out->at, (uint32_t)out->len);
}

/* Put in front: the way, the anti-dependency, the order that it rests on, and the rest
 * of the old cycle, which gives that order.  What was there moves back. */
static uint32_t turn(struct ins_vec_edge *edge, uint32_t n_cycle, uint32_t at)
{
    const struct ins_edge d = edge->at[at];
    const uint32_t n_way = d.n_path, n_rest = n_cycle - 1;
    const uint32_t front = n_way + 2 + n_rest;
    struct ins_vec_edge out = {0};
    for (uint32_t i = 0; i < n_way; i++)
        ins_vec_edge_push(&out, edge->at[d.path + i]);
    struct ins_edge rw = missed(&d), ww = d;
    ww.rule = INS_WHY_REACHES;
    ww.from = d.to;
    ww.to = d.from;
    ww.from_op = d.to_op;
    ww.to_op = d.from_op;
    ww.reader = INS_NONE;
    ww.reader_op = INS_NONE;
    ins_vec_edge_push(&out, rw);
    ins_vec_edge_push(&out, ww);
    for (uint32_t i = 1; i <= n_rest; i++)
        ins_vec_edge_push(&out, edge->at[(at + i) % n_cycle]);
    for (size_t i = 0; i < edge->len; i++)
        ins_vec_edge_push(&out, edge->at[i]);
    if (out.failed) {
        ins_vec_edge_release(&out);
        return n_cycle;
    }
    for (size_t i = 0; i < out.len; i++)
        if (out.at[i].n_path)
            out.at[i].path += front;
    out.at[n_way].path = n_way + 1;
    out.at[n_way].n_path = 1;
    out.at[n_way + 1].path = n_way + 2;
    out.at[n_way + 1].n_path = n_rest;
    ins_vec_edge_release(edge);
    *edge = out;
    return n_way + 1;
}

/* A cycle without an RW is written with one, where an inferred order hides it: two
 * writers of which the one missed the other, or an edge that can be turned.  So at psi,
 * and where all edges are WW: no dirty write follows from what readers saw. */
static uint32_t show_missed(struct ins_vec_edge *edge, uint32_t n_cycle)
{
    uint32_t turnable = INS_NONE;
    for (uint32_t i = 0; i < n_cycle; i++)
        if (edge->at[i].type == INS_RW)
            return n_cycle;
    for (uint32_t i = 0; i < n_cycle; i++) {
        const struct ins_edge *d = &edge->at[i];
        if (d->rule == INS_WHY_REACHES && d->n_path == 1 &&
            edge->at[d->path].type == INS_RW) {
            edge->at[i] = edge->at[d->path];
            return n_cycle;
        }
        turnable = turnable == INS_NONE && can_turn(d) ? i : turnable;
    }
    return turnable == INS_NONE ? n_cycle : turn(edge, n_cycle, turnable);
}

uint32_t ins_retell(struct ins_vec_edge *edge, uint32_t n_cycle, enum ins_level level)
{
    enum { TURNS = 8, MOST_EDGES = 4096 };
    struct ins_vec_edge scratch = {0};
    for (int turns = 0; turns < TURNS && edge->len < MOST_EDGES; turns++) {
        ins_levels most = permitting(edge->at, n_cycle);
        uint32_t at = INS_NONE;
        for (uint32_t i = 0; i < n_cycle; i++) {
            if (!can_turn(&edge->at[i]))
                continue;
            const ins_levels now = turned_permits(edge, &edge->at[i], &scratch);
            if (now != most && (now & most) == most && !ins_levels_has(now, level)) {
                most = now;
                at = i;
            }
        }
        if (at == INS_NONE)
            break;
        n_cycle = turn(edge, n_cycle, at);
    }
    ins_vec_edge_release(&scratch);
    bool writes = true;
    for (uint32_t i = 0; i < n_cycle; i++)
        writes &= edge->at[i].type == INS_WW;
    return writes || ins_model_of(level).forbids == INS_FORBIDS_ONE_RW
               ? show_missed(edge, n_cycle)
               : n_cycle;
}

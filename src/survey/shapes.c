#include "shapes.h"

#define DATA_ARCS                                                             \
    (INS_ARC(INS_ARC_LOST) | INS_ARC(INS_ARC_WW) | INS_ARC(INS_ARC_WW_READ) | \
     INS_ARC(INS_ARC_WR) | INS_ARC(INS_ARC_RW))
#define SESSION_ARCS (INS_ARC(INS_ARC_SO) | INS_ARC(INS_ARC_MOVE_SO))
#define TIME_ARCS (INS_ARC(INS_ARC_RT) | INS_ARC(INS_ARC_MOVE_RT))

const unsigned ins_suffix_arcs[INS_N_ORDERS] = {
    [INS_PLAIN] = DATA_ARCS,
    [INS_PROCESS] = DATA_ARCS | SESSION_ARCS,
    [INS_REALTIME] = DATA_ARCS | SESSION_ARCS | TIME_ARCS,
};

const unsigned ins_suffix_needs[INS_N_ORDERS] = {
    [INS_PROCESS] = INS_ARC(INS_ARC_SO),
    [INS_REALTIME] = INS_ARC(INS_ARC_RT),
};

/* A WW by a writer that read the earlier version is a WR, too, which says more: only G0
 * takes it. */
const struct ins_pattern ins_patterns[INS_N_KINDS] = {
    [INS_G0] = {.without = INS_ARC(INS_ARC_WR) | INS_ARC(INS_ARC_RW),
                .new_ww = true,
                .matters = INS_MET_NEW_WW,
                .edges = 3},
    [INS_G1C] = {.without = INS_ARC(INS_ARC_RW) | INS_ARC(INS_ARC_WW_READ),
                 .wants = {INS_MET_WR},
                 .new_ww = true,
                 .matters = INS_MET_WR | INS_MET_NEW_WW,
                 .edges = 3},
    [INS_G_SINGLE] = {.without = INS_ARC(INS_ARC_WW_READ),
                      .never = INS_MET_MORE_RW,
                      .wants = {INS_MET_ONE_RW},
                      .new_ww = true,
                      .matters = INS_MET_ONE_RW | INS_MET_MORE_RW | INS_MET_NEW_WW,
                      .edges = 3},
    /* RW that meet are odd, too. */
    [INS_LONG_FORK] = {.without = INS_ARC(INS_ARC_WW) | INS_ARC(INS_ARC_WW_READ),
                       .never = INS_MET_MEETING | INS_MET_ODD,
                       .wants = {INS_MET_MORE_RW},
                       .matters = INS_MET_ONE_RW | INS_MET_MORE_RW | INS_MET_ODD |
                                  INS_MET_LAST_WR | INS_MET_DATA | INS_MET_OPEN_RW,
                       .edges = 4},
    [INS_G_NONADJACENT] = {.without = INS_ARC(INS_ARC_WW_READ),
                           .never = INS_MET_MEETING,
                           .wants = {INS_MET_MORE_RW, INS_MET_NEW_WW | INS_MET_ODD},
                           .matters = INS_MET_FIRST_RW | INS_MET_LAST_RW |
                                      INS_MET_ONE_RW | INS_MET_MORE_RW |
                                      INS_MET_MEETING | INS_MET_NEW_WW | INS_MET_ODD |
                                      INS_MET_LAST_WR | INS_MET_DATA | INS_MET_OPEN_RW,
                           .edges = 4},
    [INS_G2_ITEM] = {.without = INS_ARC(INS_ARC_WW_READ),
                     .wants = {INS_MET_MORE_RW, INS_MET_MEETING},
                     .matters = INS_MET_FIRST_RW | INS_MET_LAST_RW | INS_MET_ONE_RW |
                                INS_MET_MORE_RW | INS_MET_MEETING,
                     .edges = 3},
};

unsigned ins_shape_arcs(struct ins_shape s)
{
    return ins_suffix_arcs[s.suffix] &
           ~(ins_patterns[s.kind].without | INS_ARC(INS_ARC_LOST));
}

bool ins_shape_has_rw(struct ins_shape s)
{
    return !(ins_patterns[s.kind].without & INS_ARC(INS_ARC_RW));
}

/* Where one of the two is SO or RT, there is one other: no two RW, and no WR or RW
 * beside a new WW, if there has to be one. */
bool ins_shape_is_pair(struct ins_shape s)
{
    if (ins_patterns[s.kind].edges > 3)
        return false;
    return s.suffix == INS_PLAIN || s.kind == INS_G0 ||
           ((s.suffix == INS_REALTIME || s.weak) && s.kind != INS_G2_ITEM);
}

size_t ins_shape_edges(struct ins_shape s)
{
    return ins_patterns[s.kind].edges +
           (s.kind == INS_LONG_FORK && s.suffix != INS_PLAIN);
}

/* Back at the start, the last edge comes before the first. */
static unsigned close_circle(unsigned met)
{
    if (met & INS_MET_FIRST_RW && met & INS_MET_LAST_RW)
        met |= INS_MET_MEETING;
    if (met & INS_MET_OPEN_RW && !(met & INS_MET_LAST_WR))
        met |= INS_MET_ODD;
    return met;
}

bool ins_shape_is_new(struct ins_shape s)
{
    return ins_patterns[s.kind].new_ww && s.suffix != INS_REALTIME && !s.weak;
}

bool ins_shape_closes(struct ins_shape s, unsigned met)
{
    const struct ins_pattern *p = &ins_patterns[s.kind];
    met = close_circle(met);
    if ((s.suffix != INS_PLAIN && !(met & INS_MET_NEEDED)) || met & p->never ||
        (ins_shape_is_new(s) && !(met & INS_MET_NEW_WW)))
        return false;
    for (size_t i = 0; i < sizeof p->wants / sizeof *p->wants; i++)
        if (p->wants[i] && !(met & p->wants[i]))
            return false;
    return true;
}

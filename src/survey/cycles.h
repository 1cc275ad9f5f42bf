/* cycles.h - the cycles that the facts of a history close, by component and kind. */
#ifndef INS_CYCLES_H
#define INS_CYCLES_H

#include "explain/result.h"
#include "survey/certain.h"

/* One edge of a cycle. */
struct ins_survey_arc {
    ins_txn from, to;
    enum ins_edge_type type;
    uint32_t what; /* WR, RW: number of the read; WW: the later version, or INS_NONE for
                      appends that alternate */
    uint32_t version; /* RW: the version that was written */
};
INS_VEC(arc, struct ins_survey_arc);

struct ins_survey_graph;

/* The graph of all facts; NULL when memory or the limit ends it, or it would be much
 * larger than the history. */
struct ins_survey_graph *ins_survey_graph_new(const struct ins_survey_facts *f,
                                              struct ins_limit *limit);
void ins_survey_graph_free(struct ins_survey_graph *g);

/* Components of the graph with the edges that `suffix` allows: WW, WR and RW, with
 * INS_PROCESS also SO, with INS_REALTIME also RT.  False at a limit. */
bool ins_survey_graph_components(struct ins_survey_graph *g, enum ins_suffix suffix);
uint32_t
ins_survey_graph_n_components(const struct ins_survey_graph *g); /* with a cycle */
/* The component of t, INS_NONE when there is no cycle around it. */
uint32_t ins_survey_graph_component(const struct ins_survey_graph *g, ins_txn t);

/* A short cycle of this kind in component c that needs an edge of the suffix's sort.
 * `weak`: also one that a weak level might tell, by a name of its own.
 *   G0         WW
 *   G1c        WR, and a WW or RT, unless `weak`
 *   G-single   one RW, and the same
 *   LongFork   each RW follows a WR, and no two RW meet
 *   G-nonadjacent  more than one RW, no two of which meet
 *   G2-item    two RW meet, other than those of a lost update
 * A WW counts for this only when its later writer did not read the earlier version.
 * False when none was found with a bounded amount of work. */
bool ins_survey_graph_cycle(struct ins_survey_graph *g, uint32_t c, enum ins_kind kind,
                            bool weak, struct ins_vec_arc *cycle);
/* Did memory end a search? */
bool ins_survey_graph_failed(const struct ins_survey_graph *g);

#endif

/* argument.h - why a level does not hold.
 *
 * Whatever found the contradiction, a cycle of the engine's graph, a read that nobody
 * can have written for, or a search without a solution, there is one kind of argument
 * for it: inferred links, each with the path that forces it, down to session order,
 * reads and real time.  explain/ names it, certificate/ writes it down. */
#ifndef INS_ARGUMENT_H
#define INS_ARGUMENT_H

#include "engine/engine.h"

struct ins_problem;
struct ins_refutation;

/* A walk over nodes; link[i] is the link from node[i] to node[i + 1], INS_NONE for
 * session order, a read, real time or begin before commit.  Neighbours in one session
 * are joined and time nodes left out. */
struct ins_walk {
    uint32_t node, n_nodes; /* range of ins_argument.node; links beside it */
};

/* Why an open read cannot be from one of its candidates: the walk leads from the
 * reader's begin to the candidate's commit; or, with a writer `via` of the same key,
 * from the candidate's commit (from via's, for the initial version) over that of via to
 * the reader's begin. */
struct ins_exclusion {
    uint32_t read, candidate, via; /* versions; via INS_NONE in the first case */
    struct ins_walk walk;
};
INS_VEC(exclusion, struct ins_exclusion);

/* A link and what forces it: a walk, or the exclusion of all other candidates. */
struct ins_argument_step {
    uint32_t link;
    struct ins_walk walk; /* empty where the rule needs none */
    uint32_t exclusion, n_exclusions;
};
INS_VEC(step, struct ins_argument_step);

enum ins_argument_kind {
    INS_BY_CYCLE, /* `cycle` is there */
    INS_BY_READ,  /* all candidates of `read` are excluded */
    INS_BY_SEARCH /* every choice closes a cycle: see refute.h */
};

struct ins_argument {
    enum ins_argument_kind kind;
    struct ins_vec_u32 node, link; /* of all walks */
    struct ins_walk cycle;         /* ends in the node that it starts with */
    uint32_t read;
    struct ins_refutation *refutation; /* of INS_BY_SEARCH, else NULL */
    struct ins_vec_step step;          /* ascending by link */
    struct ins_vec_exclusion exclusion;
    bool failed;
};

/* Argue that this cycle, as ins_topo gives it, must be there. */
void ins_argue_cycle(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                     struct ins_argument *p);
/* Argue that an open read has no candidate left (ins_engine.contradiction). */
void ins_argue_read(const struct ins_engine *e, struct ins_argument *p);
/* Argue that the problem, to which this may add, has no solution.  It must live as long
 * as the argument. */
void ins_argue_search(struct ins_engine *e, struct ins_problem *problem,
                      struct ins_argument *p);
/* All three set p->failed when there is no memory, or a limit was hit; the caller
 * releases *p, which was zeroed before, either way. */
void ins_argument_release(struct ins_argument *p);

/* The step of a link, or NULL. */
const struct ins_argument_step *ins_argument_find(const struct ins_argument *p,
                                                  uint32_t link);
/* The list read that shows the order of an INS_LINK_LIST, INS_NONE without one. */
uint32_t ins_list_reader(const struct ins_engine *e, const struct ins_link *l);

#endif

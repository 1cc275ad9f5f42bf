/* story.h - an anomaly as something to report: who took part, in which order, what
 * they did that matters, and why each edge holds, in plain words.
 *
 * Every writer tells the same story; they differ only in how it looks. */
#ifndef INS_STORY_H
#define INS_STORY_H

#include "base/buf.h"
#include "explain/result.h"

struct ins_story {
    const struct ins_history *h; /* borrowed */
    const struct ins_anomaly *a; /* borrowed */
    ins_txn *txn; /* all that take part or that a reason names, lane by lane; lanes in
                     the order in which they begin, each in session order */
    uint32_t n_txns;
    uint32_t *rank; /* of txn[i]: its column when drawn in causal or real-time order */
    uint32_t n_ranks;
    bool *on_cycle; /* of txn[i]: an end of an edge of the cycle */
    uint32_t *op;   /* the operations that matter, ascending */
    uint32_t n_ops;
    struct ins_arena arena;
};

enum ins_status ins_story_init(struct ins_story *s, const struct ins_history *h,
                               const struct ins_anomaly *a, struct ins_error *err);
void ins_story_release(struct ins_story *s);

/* The operations that matter of t, as a slice of s->op. */
const uint32_t *ins_story_ops(const struct ins_story *s, ins_txn t, uint32_t *count);

/* "so", "wr", "ww", "rw", "rt", "co" */
const char *ins_edge_id(enum ins_edge_type type);
/* "session order", "reads from", ... */
const char *ins_edge_words(enum ins_edge_type type);
/* Does the edge follow from others rather than stand in the history itself? */
bool ins_edge_inferred(const struct ins_edge *e);

/* Does the edge say that *reader missed a write of *writer?  RW says it outright; CO
 * does in the patterns that are about one reader, who had to see `from` and read from
 * the older `to`. */
bool ins_edge_misses(const struct ins_anomaly *a, const struct ins_edge *e,
                     ins_txn *writer, ins_txn *reader);

/* What happened, in a sentence or two with a full stop. */
/* "session 3 on standby": the lane of transaction number i of the story. */
void ins_say_lane(struct ins_buf *b, const struct ins_story *s, uint32_t i);
void ins_say_headline(struct ins_buf *b, const struct ins_story *s);
/* Two readers that disagree about the order of two writes of a key: each came after the
 * write that it did not read. */
struct ins_dispute {
    ins_txn reader[2], writer[2]; /* reader i read from writer i */
    ins_key key;
};
/* Does a cycle rest on such a pair?  The version order that its missed write needs
 * follows from what somebody else read, then, and no session guarantee is broken. */
bool ins_dispute_of(const struct ins_anomaly *a, struct ins_dispute *d);

/* The session guarantee that an anomaly breaks, when it is one of the four. */
enum ins_guarantee {
    INS_NO_GUARANTEE,
    INS_READ_YOUR_WRITES,
    INS_MONOTONIC_READS,
    INS_MONOTONIC_WRITES,
    INS_WRITES_FOLLOW_READS
};
enum ins_guarantee ins_guarantee_of(const struct ins_anomaly *a);
const char *ins_guarantee_name(enum ins_guarantee g); /* "read your writes" */
const char *ins_guarantee_meaning(enum ins_guarantee g);

/* Why an edge holds, without a full stop. */
void ins_say_why(struct ins_buf *b, const struct ins_history *h,
                 const struct ins_edge *e);
/* What an edge of the rule INS_WHY_ASSUMED supposes. */
void ins_say_supposed(struct ins_buf *b, const struct ins_history *h,
                      const struct ins_edge *e);
/* What the other order of the two versions would have meant, without a full stop.
 * False, and nothing said, when there was no other order to consider. */
bool ins_say_excluded(struct ins_buf *b, const struct ins_history *h,
                      const struct ins_edge *e);

/* The listed anomalies in the order to show them: one of every kind first, weakest
 * level first, then the second of every kind, and so on.  Allocates *order, which the
 * caller frees with ins_free. */
enum ins_status ins_story_order(const struct ins_result *r, uint32_t **order,
                                struct ins_error *err);

#endif

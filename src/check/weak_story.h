/* weak_story.h - put together one anomaly of a weak level: its cycle edge by edge, and
 * what each inferred edge rests on. */
#ifndef INS_WEAK_STORY_H
#define INS_WEAK_STORY_H

#include "check/weak.h"

/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `at` is there when `cap` is */
INS_VEC(story_edge, struct ins_edge);

struct ins_weak_story {
    struct ins_weak *w;
    struct ins_vec_story_edge cycle, support;
    bool failed;
};

enum ins_status ins_weak_story_begin(struct ins_weak_story *s, struct ins_weak *w,
                                     struct ins_error *err);
/* Edges of the cycle, in order.  Session edges that follow each other become one. */
void ins_weak_story_session(struct ins_weak_story *s, ins_txn from, ins_txn to);
void ins_weak_story_initial(struct ins_weak_story *s, ins_txn to);
void ins_weak_story_read(struct ins_weak_story *s, uint32_t op);
/* `axiom` is the one that infers it. */
void ins_weak_story_inferred(struct ins_weak_story *s, const struct ins_inferred *i,
                             enum ins_forbids axiom);
/* Add the anomaly to the result and release the story. */
enum ins_status ins_weak_story_end(struct ins_weak_story *s, enum ins_kind kind,
                                   enum ins_suffix suffix, enum ins_level breaks,
                                   struct ins_error *err);

#endif

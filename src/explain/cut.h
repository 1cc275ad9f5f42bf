/* cut.h - a part of a history that fails no level which the whole satisfies.
 *
 * A part is a set of operations.  What is dropped is always a whole version: when a
 * write goes, so do all writes of that value to that key and all reads that returned
 * it.  Otherwise a read would lose its writer, or one of its possible writers, and the
 * part could fail where the whole does not.  A list read goes with its last element;
 * other elements are taken out of the list, which leaves the order of the rest. */
#ifndef INS_CUT_H
#define INS_CUT_H

#include "base/vec.h"
#include "history/history.h"

/* The operations to choose from. */
struct ins_cut {
    const struct ins_history *h; /* borrowed */
    struct ins_vec_u32 op;       /* ascending */
    struct ins_vec_u32
        version;            /* of each: what it writes or reads; of a list, the last */
    struct ins_vec_u32 txn; /* of each */
    struct ins_number_map number; /* versions by a hash of key and value */
    struct ins_vec_u8 wanted;     /* by key: some operation of the start uses it */
};

/* What of it is in. */
struct ins_part {
    uint8_t *op;      /* by place in ins_cut.op */
    uint8_t *version; /* by version */
    uint32_t n_ops;   /* that are in */
};

/* Start from these operations, and the writes of what they read.  With `lists`, also
 * all elements of the lists that they read; without, elements nobody here appends are
 * taken out of the lists.  The caller releases *c. */
enum ins_status ins_cut_init(struct ins_cut *c, const struct ins_history *h,
                             const uint32_t *op, uint32_t n, bool lists,
                             struct ins_error *err);
/* Start from everything. */
enum ins_status ins_cut_init_all(struct ins_cut *c, const struct ins_history *h,
                                 struct ins_error *err);
void ins_cut_release(struct ins_cut *c);

/* A part with everything in. */
enum ins_status ins_part_init(struct ins_part *p, const struct ins_cut *c,
                              struct ins_error *err);
void ins_part_release(struct ins_part *p);
void ins_part_copy(struct ins_part *to, const struct ins_part *from,
                   const struct ins_cut *c);

/* Drop the operation at this place, with its version when it is a write.  Call
 * ins_part_close when all that is to go has been dropped. */
void ins_part_drop(struct ins_part *p, const struct ins_cut *c, uint32_t place);
void ins_part_close(struct ins_part *p, const struct ins_cut *c);

/* The part as a history of its own, with the names, lines and times of the whole.
 * Transactions without operations are left out.  The caller owns *out. */
enum ins_status ins_part_build(const struct ins_part *p, const struct ins_cut *c,
                               struct ins_history **out, struct ins_error *err);

#endif

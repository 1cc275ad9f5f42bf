/* loss.h - what a history holds that a format may not, and a way to write it anyway. */
#ifndef INS_LOSS_H
#define INS_LOSS_H

#include "base/map.h"
#include "format/format.h"

/* The INS_HOLDS_* that writing h needs, INS_HOLDS_INIT left out: what initial values a
 * format has by itself is its own affair. */
unsigned ins_loss_needs(const struct ins_history *h);

/* How many keys have which initial value. */
struct ins_loss_init {
    uint32_t registers; /* register keys */
    uint32_t none;      /* of these, without initial value */
    uint32_t zero;      /* of these, starting as 0 */
    uint32_t nil;       /* of these, starting as nil */
    uint32_t unsigned_; /* of these, starting as any unsigned integer, 0 included */
};
struct ins_loss_init ins_loss_init(const struct ins_history *h);

/* INS_OK when every register starts as 0 (or `nil`), else INS_E_LOSSY. */
enum ins_status ins_loss_check_init(const struct ins_history *h, bool nil,
                                    struct ins_error *err);

/* Keys and values as unsigned integers, for formats that have nothing else.
 *
 * Where all of them are, they stay what they are.  Else keys become their ids, a key's
 * initial value becomes 0 and all other values become 1, 2, ... by first appearance:
 * equal stays equal and different stays different.  A list read becomes a read of its
 * last element, or of the initial value when it is empty. */
struct ins_numbering {
    const struct ins_history *h;
    bool keys, values; /* renumbered */
    bool failed;
    struct ins_number_map map;
};

/* `keep_values`: values are fit as they are if they are unsigned integers; without it
 * they are renumbered even so, because the initial values are not.  `keep_nil`: so is
 * nil, which the caller looks after. */
void ins_numbering_init(struct ins_numbering *n, const struct ins_history *h,
                        bool keep_values, bool keep_nil);
uint64_t ins_numbering_key(const struct ins_numbering *n, ins_key k);
uint64_t ins_numbering_value(struct ins_numbering *n, ins_key k, uint64_t word);
/* The value of operation op, which is not an unknown read. */
uint64_t ins_numbering_op(struct ins_numbering *n, uint32_t op);
void ins_numbering_release(struct ins_numbering *n);

/* Can the names of transactions be their ids: numbers that are allowed, each used once?
 * *failed: there was no memory to find out. */
bool ins_txn_names_fit(const struct ins_history *h, bool (*allowed)(uint64_t),
                       bool *failed);

#endif

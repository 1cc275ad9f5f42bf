/* lost.h - what journals that are missing or cut short must have held.
 *
 * A value that was read and that no journal has written was written by a transaction
 * whose record is lost.  It gets an indeterminate transaction of its own, in a session
 * of its own: whatever the lost one did besides, nothing is concluded from it.  That
 * one transaction becomes several only takes away what could be concluded. */
#ifndef RECORD_LOST_H
#define RECORD_LOST_H

#include "insula.h"

#include <stdbool.h>
#include <stddef.h>

struct ins_seen {
    int64_t key, value;
    bool list;
};

struct ins_seen_all {
    struct ins_seen *at;
    size_t len, cap;
    bool failed;
};

struct ins_lost {
    struct ins_seen_all read, written;
};

void ins_lost_read(struct ins_lost *l, int64_t key, int64_t value, bool list);
void ins_lost_written(struct ins_lost *l, int64_t key, int64_t value);
/* Add the lost writes, in sessions named from next_id on; 0 is there from the beginning
 * in registers.  How many, or -1 when out of memory. */
long ins_lost_add(struct ins_lost *l, struct insula_builder *b, unsigned next_id);
void ins_lost_release(struct ins_lost *l);

#endif

/* make_history.h - small random histories of every shape, for round trips. */
#ifndef INS_MAKE_HISTORY_H
#define INS_MAKE_HISTORY_H

#include "base/rng.h"
#include "history/history.h"

/* What a history may contain; the rest is kept plain. */
enum {
    MAKE_ABORTED = 1,
    MAKE_INDETERMINATE = 2,
    MAKE_TIMES = 4,
    MAKE_LISTS = 8,
    MAKE_UNKNOWN = 16,
    MAKE_WORDS = 32, /* strings, keywords and negative numbers */
    MAKE_NIL = 64,   /* nil as an initial value that is read */
    MAKE_LOAD = 128, /* initial values that are numbers other than 0 */
    MAKE_MIXED_INIT = 256,
    MAKE_NAMES = 512,  /* names for sessions and transactions */
    MAKE_BIG = 1024,   /* numbers of up to 64 bits */
    MAKE_EMPTY = 2048, /* empty transactions and sessions */
    MAKE_NO_INIT = 4096,
    MAKE_REGISTERS_TOO = 8192, /* beside lists */
    MAKE_ALL = 16383 & ~MAKE_NO_INIT,
    MAKE_IN_ORDER = 16384, /* with times: as an order of events can tell them */
    MAKE_FORMS = 32768,    /* with words: other forms of EDN */
    MAKE_ROWS = 65536,     /* statements on rows among the operations */
    MAKE_EVENT_ROWS =
        131072,           /* with rows: only statements that events have words for */
    MAKE_UNUSED = 262144, /* keys that only initial values name */
    MAKE_MANY_ABORTED = 524288 /* with aborted: nearly all of them */
};

/* Literal number i of its kind: equal for equal i, different for different i. */
struct ins_lit make_literal(uint32_t i, unsigned shape);

/* A statement of txn, of keys 0 .. keys - 1 and values that are the same for all. */
struct ins_builder;
void make_statement(struct ins_builder *b, struct ins_rng *rng, uint32_t txn,
                    uint32_t keys, unsigned shape);

/* Never NULL: a failure ends the program. */
struct ins_history *make_history(struct ins_rng *rng, unsigned shape);

#endif

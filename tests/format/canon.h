/* canon.h - a history as text that two equal histories share.
 *
 * Sessions come in the order of their text, so numbering and order of sessions do not
 * matter.  Flags leave out what a format does not hold. */
#ifndef INS_CANON_H
#define INS_CANON_H

#include "base/buf.h"
#include "history/history.h"

enum {
    CANON_NAMES = 1,   /* of sessions and transactions */
    CANON_EMPTY = 2,   /* sessions and transactions without operations */
    CANON_ABORTED = 4, /* aborted transactions whole; else only what they write */
    CANON_ABORTED_READS = 8,
    CANON_TIMES = 16,
    CANON_ALL_INIT = 32, /* initial values of all keys; else of those read from */
    CANON_NODES = 64,
    CANON_KEYS = 128,       /* where queries ask about them, unused keys, too */
    CANON_STATEMENTS = 256, /* all of them; else queries and inserts */
};

/* The caller frees the text with ins_free; NULL when out of memory. */
char *canon(const struct ins_history *h, unsigned flags);

/* What round trips through this format keep, and what `canon` is to be given. */
unsigned canon_flags(const char *format);

#endif

/* texts.h - what every level and every anomaly means, written once: for reports, for
 * `insula explain`, and for docs/levels.md. */
#ifndef INS_TEXTS_H
#define INS_TEXTS_H

#include "base/buf.h"
#include "explain/result.h"

/* One transaction of an example.  Transactions are called t1, t2, ... in the order of
 * the table; every register starts as 0 and every list empty. */
struct ins_example_txn {
    uint8_t session; /* counts from 1 */
    uint8_t column;  /* drawn left to right; with times, this is the time */
    char status;     /* 'c' or 'a' */
    const char *ops; /* "r(x)=0 w(x)=1 append(l)=1 r(l)=[1,2]", one blank between */
};

struct ins_example {
    const struct ins_example_txn *txn;
    uint32_t n_txns;
    bool timed;          /* the columns are real time */
    const char *comment; /* what to see in it */
};

struct ins_level_text {
    const char *definition;
    const char *meaning;   /* for a user of a database */
    const char *databases; /* who gives it */
    const char *references;
    enum ins_kind forbids; /* an example that it is the first to forbid */
    int permits;           /* one that it permits, -1 for none */
    const struct ins_level_text
        *strong; /* of its strong variant, if that has its own */
};

struct ins_kind_text {
    const char *title;   /* "fractured read" */
    const char *meaning; /* a sentence or two for reports */
    const char *definition;
    const char *databases; /* which databases' levels permit it */
    const char *references;
    struct ins_example example;
};

/* The text of a level's base level, or its own where it has one. */
const struct ins_level_text *ins_level_text(enum ins_level level);
/* What the variant changes about that; NULL when there is nothing to add. */
const char *ins_variant_text(enum ins_level level);
extern const struct ins_kind_text ins_kind_texts[INS_N_KINDS];
/* What the suffix of a strong anomaly's name adds; NULL for INS_PLAIN. */
extern const char *const ins_suffix_texts[INS_N_SUFFIXES];
/* What a lost commit is, and what the counts of a report count. */
extern const char ins_lost_text[], ins_count_text[];
/* Write skew through rows that queries missed. */
extern const struct ins_example ins_phantom_example;
/* Strict serializability's example: a stale read. */
extern const struct ins_example ins_stale_example;

/* Does `level` forbid anomalies of this kind? */
bool ins_level_forbids(enum ins_level level, enum ins_kind kind,
                       enum ins_suffix suffix);

/* The same for an anomaly that was found: the levels that imply the one it breaks. */
bool ins_level_forbids_this(enum ins_level level, const struct ins_anomaly *a);

/* "read skew, against real time" */
void ins_say_title(struct ins_buf *b, enum ins_kind kind, enum ins_suffix suffix);
/* The same for an anomaly that was found; what it shows of its own comes first:
 * "lost commit (read skew, against real time)". */
void ins_say_heading(struct ins_buf *b, const struct ins_anomaly *a);

/* Look up an anomaly by name, letter case and '-', '_' and ' ' aside, with or without
 * suffix.  False when there is none. */
bool ins_kind_find(const char *name, enum ins_kind *kind, enum ins_suffix *suffix);

/* Draw an example, every line after `indent` blanks. */
void ins_example_draw(struct ins_buf *b, const struct ins_example *e, unsigned indent);

/* Explain `name` as text; false when there is no such name. */
bool ins_explain_text(struct ins_buf *b, const char *name, unsigned width, bool color);
/* All of it as Markdown. */
void ins_explain_markdown(struct ins_buf *b);

#endif

/* format.h - the formats that histories are kept in: one table, one way in, one way
 * out.
 *
 * A format exists by its row in format.c.  Reading either gives a whole history or
 * fails with the place of the fault; writing either leaves a whole file or nothing. */
#ifndef INS_FORMAT_H
#define INS_FORMAT_H

#include "base/buf.h"
#include "base/file.h"
#include "base/limit.h"
#include "history/history.h"

/* A zeroed struct means: detect, guess, all processors, no limit. */
struct ins_read_options {
    const char *format; /* id, or NULL to detect */
    const char *init;   /* "auto" (NULL), "zero", "first" or "none" */
    const char *order;  /* "events" (NULL) or "times": what real time is in edn, json */
    unsigned threads;   /* 0: as many as there are processors */
    struct ins_limit *limit;
};

/* What a format can hold.  What is left out here is not a loss: names, source lines,
 * and of aborted transactions all but their writes decide no verdict. */
enum {
    INS_HOLDS_ABORTED = 1 << 0,
    INS_HOLDS_INDETERMINATE = 1 << 1,
    INS_HOLDS_TIMES = 1 << 2,
    INS_HOLDS_LISTS = 1 << 3,
    INS_HOLDS_UNKNOWN = 1 << 4,  /* reads without a result */
    INS_HOLDS_WORDS = 1 << 5,    /* keys and values beyond unsigned integers */
    INS_HOLDS_KEYWORDS = 1 << 6, /* and other forms that JSON has not */
    INS_HOLDS_INIT = 1 << 7,     /* any initial values, declared key by key */
    INS_HOLDS_NIL = 1 << 8,      /* nil as a value */
    INS_HOLDS_ROWS = 1 << 9,     /* statements: inserts, deletes, queries, ... */
    INS_HOLDS_ALL = (1 << 10) - 1
};

struct ins_format {
    const char *id;
    const char *description;
    unsigned holds;        /* INS_HOLDS_* */
    bool directory;        /* a history is a directory of files */
    bool guesses_init;     /* ins_read_options.init applies */
    bool text;             /* may begin with a byte order mark */
    const char *file_name; /* the file to read where a directory is given, or NULL */
    /* Read a whole stream; a directory format reads one of its files. */
    enum ins_status (*read)(const struct ins_input *in,
                            const struct ins_read_options *o, struct ins_history **out,
                            struct ins_error *err);
    /* Only with `directory`. */
    enum ins_status (*read_directory)(const char *path,
                                      const struct ins_read_options *o,
                                      struct ins_history **out, struct ins_error *err);
    /* INS_E_LOSSY with what would be lost beyond what `holds` tells; may be NULL. */
    enum ins_status (*can_express)(const struct ins_history *h, struct ins_error *err);
    /* Write what the format can hold of h. */
    enum ins_status (*write)(const struct ins_history *h, struct ins_buf *out,
                             struct ins_error *err);
    enum ins_status (*write_directory)(const struct ins_history *h, const char *path,
                                       struct ins_error *err);
};

/* Format number i, NULL past the last. */
const struct ins_format *ins_format_at(unsigned i);
/* By id; NULL and INS_E_USAGE in err when there is none. */
const struct ins_format *ins_format_find(const char *id, struct ins_error *err);

/* Load the history at path, "-" being standard input.  The caller owns *out. */
enum ins_status ins_format_load(const char *path, const struct ins_read_options *o,
                                struct ins_history **out, struct ins_error *err);
/* The same for bytes in memory, which are not unpacked. */
enum ins_status ins_format_read(const struct ins_format *f, const struct ins_input *in,
                                const struct ins_read_options *o,
                                struct ins_history **out, struct ins_error *err);

/* INS_OK when the format holds all of h, else INS_E_LOSSY and what would be lost. */
enum ins_status ins_format_can_express(const struct ins_format *f,
                                       const struct ins_history *h,
                                       struct ins_error *err);

/* Save to path, "-" being standard output; a name that ends in .gz or .zst is packed.
 * Refuses what the format cannot express unless `lossy`.  The file appears under its
 * name when it is complete. */
enum ins_status ins_format_save(const struct ins_history *h, const char *format,
                                const char *path, bool lossy, struct ins_error *err);

/* INS_E_INPUT when the text of a form among the literals is not one form of EDN in the
 * spelling that readers give it: it would be another literal, or none, when it is read
 * back.  INS_E_NOMEM is possible. */
enum ins_status ins_format_check_forms(const struct ins_literals *t);

#endif

/* outfile.h - a file that appears under its name only when it is whole.
 *
 * It is written without a name (or beside its place, where the file system has no such
 * files) and renamed at the end, so whatever fails on the way leaves what was there
 * before.  A link is followed; a pipe or a device is written in place. */
#ifndef INS_OUTFILE_H
#define INS_OUTFILE_H

#include "error.h"

#include <stdbool.h>
#include <stdio.h>

enum { INS_PATH_SIZE = 4096 };

struct ins_outfile {
    int fd;
    bool special; /* written in place */
    bool named;   /* `beside` is a file */
    char path[INS_PATH_SIZE];
    char beside[INS_PATH_SIZE];
};

/* To be ended by exactly one of the two below.  `fd` is for writing and stays open:
 * streams are made of duplicates. */
enum ins_status ins_outfile_open(struct ins_outfile *o, const char *path,
                                 struct ins_error *err);
/* A stream into it, for the caller to close; NULL when there is none to be had. */
FILE *ins_outfile_stream(const struct ins_outfile *o);
/* All is written: give it its name. */
enum ins_status ins_outfile_commit(struct ins_outfile *o, struct ins_error *err);
/* Nothing is to stay. */
void ins_outfile_abandon(struct ins_outfile *o);

#endif

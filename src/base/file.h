/* file.h - a whole input in memory: mapped when it is a plain file, read when it
 * is a pipe, unpacked when it is .gz or .zst (known by its first bytes). */
#ifndef INS_FILE_H
#define INS_FILE_H

#include "limit.h"

#include <stdbool.h>

struct ins_input {
    const char *data; /* size bytes, not terminated */
    size_t size;
    void *mapped; /* mmap base or NULL */
    size_t mapped_size;
    int fd;      /* of what is mapped */
    char *owned; /* heap copy or NULL */
};

/* Open `path`, "-" meaning standard input.  `limit` may be NULL.  The caller releases
 * *in. */
enum ins_status ins_input_open(struct ins_input *in, const char *path,
                               struct ins_limit *limit, struct ins_error *err);
/* Was all of it there to the end?  Of a mapped file that was cut short meanwhile the
 * last page reads as zeros, and those behind it raise SIGBUS. */
enum ins_status ins_input_whole(const struct ins_input *in, struct ins_error *err);
void ins_input_release(struct ins_input *in);

#endif

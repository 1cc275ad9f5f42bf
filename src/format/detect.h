/* detect.h - tell a format from what a file holds. */
#ifndef INS_DETECT_H
#define INS_DETECT_H

#include "format/format.h"

/* The id of the format that the first bytes look like, or NULL. */
const char *ins_detect_bytes(const char *data, size_t size);

/* The id of the format whose directory this looks like, or NULL. */
const char *ins_detect_directory(const char *path);

#endif

/* detect.h - tell a format from what a file holds. */
#ifndef INS_DETECT_H
#define INS_DETECT_H

#include "format/format.h"

/* The id of the format that the first bytes look like, or NULL. */
const char *ins_detect_bytes(const char *data, size_t size);

/* What kind of archive of files this is, or NULL. */
const char *ins_detect_archive(const char *data, size_t size);

#endif

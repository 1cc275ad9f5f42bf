/* find.h - the history in a directory. */
#ifndef INS_FIND_H
#define INS_FIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The file with the history in directory `path`, or *cobra: the directory is a history
 * itself. */
enum ins_status ins_find_history(const char *path, char *file, size_t size, bool *cobra,
                                 struct ins_error *err);

#endif

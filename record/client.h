/* client.h - the client library of a database, loaded when that database is used.
 *
 * Linked in, the three clients and the thirty libraries that they need cost every
 * command five milliseconds and six megabytes, also those that know nothing of
 * databases.  So a driver takes the types from the client's header, and the functions
 * at run time:
 *
 *     #define CALLS(X) X(mydb_open) X(mydb_close)
 *     struct lib {
 *         CALLS(INS_CLIENT_POINTER)
 *     };
 *     static const char *const calls[] = {CALLS(INS_CLIENT_NAME)};
 *
 * The struct belongs to the driver's target: it is filled by prepare and read-only
 * afterwards. */
#ifndef INS_CLIENT_H
#define INS_CLIENT_H

#include "insula.h"

#include <stddef.h>

#define INS_CLIENT_POINTER(name) __typeof__(name) *name;
#define INS_CLIENT_NAME(name) #name,

struct ins_client {
    const char *file;    /* "libmydb.so.2": the name that the header's version has */
    const char *package; /* what to install when it is missing */
    const char *const *calls;
    size_t count;
};

/* Load the library and put the address of each call into lib, a struct of just that
 * many pointers to functions.  The library stays: clients clean up when the process
 * ends. */
int ins_client_load(const struct ins_client *client, void *lib,
                    struct insula_error *error);

#endif

/* url.h - scheme:[//[user[:password]@]host[:port]/[database]][?name=value&...], or
 * scheme:path for a file.  What stands behind exec: and odbc: is taken as
 * it is. */
#ifndef INS_RECORD_URL_H
#define INS_RECORD_URL_H

#include "insula.h"

#include <stdbool.h>

#define INS_URL_PARAMETERS 32

struct ins_url {
    char *text;  /* as given */
    char *store; /* the pieces below point into it */
    const char *scheme;
    const char *user, *password, *host, *port, *database; /* NULL when absent */
    const char *path;                                     /* without "//" */
    struct {
        const char *name, *value;
    } parameter[INS_URL_PARAMETERS];
    unsigned parameters;
};

int ins_url_parse(struct ins_url *url, const char *text, struct insula_error *error);
void ins_url_release(struct ins_url *url);
/* The value of a parameter, or NULL. */
const char *ins_url_get(const struct ins_url *url, const char *name);
/* Whether its path is a text that only the driver understands. */
bool ins_url_opaque(const struct ins_url *url);
/* Whether it names a server, rather than asking for a throw-away one. */
bool ins_url_has_server(const struct ins_url *url);

#endif

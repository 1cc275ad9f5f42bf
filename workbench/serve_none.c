#include "serve.h"

#include <stdio.h>
#include <string.h>

/* A build without libmicrohttpd. */

bool ins_serve_is_local(const char *host)
{
    return !strcmp(host, "localhost") || !strcmp(host, "::1") ||
           !strncmp(host, "127.", 4);
}

bool ins_serve(const struct ins_serve_options *options, bool (*stop)(void),
               void (*ready)(const char *address, const char *token), char why[256])
{
    (void)options, (void)stop, (void)ready;
    (void)snprintf(why, 256,
                   "this build has no server: libmicrohttpd-dev was not there when it "
                   "was built");
    return false;
}

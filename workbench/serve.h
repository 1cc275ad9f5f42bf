/* serve.h - the workbench as a web server: the runs of a store, reports, uploads that
 * are checked, tests and hunts to start, follow and stop.  docs/workbench.md describes
 * what it answers.
 *
 * It listens on one address, by default of this machine only.  A request counts only
 * when its Host is that address (or a token is asked for), and one that changes
 * something only from a page of its own origin.  Files are opened below the store's
 * directory, without following links. */
#ifndef INS_SERVE_H
#define INS_SERVE_H

#include <stdbool.h>
#include <stddef.h>

struct ins_serve_options {
    const char *store;
    const char *host;              /* "127.0.0.1" */
    unsigned port;                 /* 0: any that is free */
    const char *token;             /* asked for when it is set */
    size_t upload_limit;           /* bytes */
    unsigned jobs;                 /* at once */
    unsigned timeout_s, memory_mb; /* of the check of an upload */
    const char *version;
};

/* Serve until `stop` says true.  `ready` is called once with the address.  False and
 * *why when it could not begin. */
bool ins_serve(const struct ins_serve_options *options, bool (*stop)(void),
               void (*ready)(const char *address, const char *token), char why[256]);

/* Is it an address of this machine that no other can reach? */
bool ins_serve_is_local(const char *host);

#endif

/* guard.h - which requests a server answers.
 *
 * - Host must be the server's own address: a name that somebody else's DNS points here
 *   is refused.  With a token any Host may be used, as the token is not known there.
 * - With a token: it must be in the address, in a cookie, or as a bearer.
 * - A request from a page of another origin is refused, whatever it asks; one that
 *   changes something must besides have the header X-Insula, which no form can send. */
#ifndef INS_GUARD_H
#define INS_GUARD_H

#include <stdbool.h>

struct ins_guard {
    char host[3][160]; /* values of Host that are its own */
    const char *token; /* or NULL */
};

void ins_guard_init(struct ins_guard *g, const char *host, unsigned port,
                    const char *token);

/* 0 when the request may be made, else the status to answer with, and *why.  `header`
 * looks a header up.  `reads`: the method changes nothing.  `given`: the token in the
 * address, or NULL. */
unsigned ins_guard_check(const struct ins_guard *g,
                         const char *(*header)(void *context, const char *name),
                         void *context, bool reads, const char *given, char why[256]);

#endif

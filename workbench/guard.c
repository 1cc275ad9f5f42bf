#include "guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void ins_guard_init(struct ins_guard *g, const char *host, unsigned port,
                    const char *token)
{
    *g = (struct ins_guard){.token = token};
    (void)snprintf(g->host[0], sizeof g->host[0],
                   strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
    (void)snprintf(g->host[1], sizeof g->host[1], "localhost:%u", port);
    if (port == 80)
        (void)snprintf(g->host[2], sizeof g->host[2], "%s", host);
}

/* In a time that does not tell how much of it is right. */
static bool same_token(const char *a, const char *b, size_t n)
{
    unsigned char differs = strlen(a) != n;
    for (size_t i = 0; i < n && a[i]; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return !differs;
}

static bool has_token(const struct ins_guard *g, const char *bearer, const char *cookie,
                      const char *given)
{
    if (given && same_token(g->token, given, strlen(given)))
        return true;
    if (bearer && !strncasecmp(bearer, "Bearer ", 7) &&
        same_token(g->token, bearer + 7, strlen(bearer + 7)))
        return true;
    for (const char *c = cookie; c && *c; c += strspn(c, "; ")) {
        const size_t n = strcspn(c, "; ");
        if (n > 7 && !strncmp(c, "insula=", 7) && same_token(g->token, c + 7, n - 7))
            return true;
        c += n;
    }
    return false;
}

static unsigned refuse(char why[256], unsigned status, const char *text)
{
    (void)snprintf(why, 256, "%s", text);
    return status;
}

unsigned ins_guard_check(const struct ins_guard *g,
                         const char *(*header)(void *context, const char *name),
                         void *context, bool reads, const char *given, char why[256])
{
    const char *host = header(context, "Host");
    bool own = false;
    for (int i = 0; host && i < 3; i++)
        own |= *g->host[i] && !strcasecmp(host, g->host[i]);
    if (!host || (!own && !g->token))
        return refuse(why, 403, "the Host of the request is not this server");
    if (g->token && !has_token(g, header(context, "Authorization"),
                               header(context, "Cookie"), given))
        return refuse(why, 401,
                      "a token is asked for: open the address that insula serve "
                      "printed, or send Authorization: Bearer TOKEN");
    const char *origin = header(context, "Origin");
    if (origin &&
        (strncmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0))
        return refuse(why, 403, "the request is from a page of another origin");
    const char *site = header(context, "Sec-Fetch-Site");
    const char *mode = header(context, "Sec-Fetch-Mode");
    const bool navigates = reads && mode && !strcmp(mode, "navigate");
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 &&
        !navigates)
        return refuse(why, 403, "the request is from a page of another origin");
    if (!reads && !header(context, "X-Insula"))
        return refuse(why, 403,
                      "requests that change something need the header X-Insula: 1");
    return 0;
}

#include "url.h"

#include "fail.h"

#include <ctype.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Resolve %XX in place. */
static const char *decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '%' && hex(from[1]) >= 0 && hex(from[2]) >= 0) {
            *to++ = (char)(hex(from[1]) * 16 + hex(from[2]));
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    return text;
}

static const char *piece(char *text)
{
    return text && *text ? decode(text) : NULL;
}

/* Cut at the first of `mark`, or return NULL. */
static char *cut(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at)
        *at++ = 0;
    return at;
}

static void parse_authority(struct ins_url *url, char *text)
{
    url->database = piece(cut(text, '/'));
    char *at = strrchr(text, '@');
    char *host = text;
    if (at) {
        *at = 0;
        host = at + 1;
        url->password = piece(cut(text, ':'));
        url->user = piece(text);
    }
    if (*host == '[' && strchr(host, ']')) {
        char *rest = cut(++host, ']');
        url->port = piece(*rest == ':' ? rest + 1 : NULL);
    } else {
        url->port = piece(cut(host, ':'));
    }
    url->host = piece(host);
}

int ins_url_parse(struct ins_url *url, const char *text, struct insula_error *error)
{
    *url = (struct ins_url){.text = strdup(text), .store = strdup(text)};
    if (!url->text || !url->store)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory for a URL");
    char *rest = cut(url->store, ':');
    url->scheme = url->store;
    if (!rest)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected a database URL such as sqlite: or "
                            "postgres://user@host/database, got '%s'",
                            text);
    if (ins_url_opaque(url)) {
        url->path = *rest ? rest : NULL;
        return 0;
    }
    char *query = cut(rest, '?');
    while (query && *query) {
        char *next = cut(query, '&');
        char *value = cut(query, '=');
        if (!value || url->parameters == INS_URL_PARAMETERS)
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "expected at most %d name=value after the '?' in '%s'",
                                INS_URL_PARAMETERS, text);
        url->parameter[url->parameters].name = decode(query);
        url->parameter[url->parameters++].value = decode(value);
        query = next;
    }
    if (!strncmp(rest, "//", 2))
        parse_authority(url, rest + 2);
    else
        url->path = piece(rest);
    return 0;
}

void ins_url_release(struct ins_url *url)
{
    free(url->text);
    free(url->store);
    *url = (struct ins_url){0};
}

const char *ins_url_get(const struct ins_url *url, const char *name)
{
    for (unsigned i = 0; i < url->parameters; i++)
        if (!strcmp(url->parameter[i].name, name))
            return url->parameter[i].value;
    return NULL;
}

bool ins_url_opaque(const struct ins_url *url)
{
    return !strcmp(url->scheme, "exec") || !strcmp(url->scheme, "odbc");
}

bool ins_url_has_server(const struct ins_url *url)
{
    return (ins_url_opaque(url) && url->path) || url->host ||
           ins_url_get(url, "host") || ins_url_get(url, "socket");
}

#include "origin.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

static const char HIDDEN[] = "***";

/* Put HIDDEN for the n bytes at `at` of *text, which is made anew. */
static bool hide(char **text, size_t at, size_t n)
{
    const size_t len = strlen(*text);
    char *fresh = malloc(len + sizeof HIDDEN);
    if (!fresh)
        return false;
    memcpy(fresh, *text, at);
    memcpy(fresh + at, HIDDEN, sizeof HIDDEN - 1);
    memcpy(fresh + at + sizeof HIDDEN - 1, *text + at + n, len - at - n + 1);
    free(*text);
    *text = fresh;
    return true;
}

/* USER:PASSWORD@ behind "//", and password=... behind '?' or '&'. */
char *origin_without_password(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    char *host = strstr(copy, "://");
    if (host) {
        host += 3;
        const size_t end = strcspn(host, "/?");
        char *at = memrchr(host, '@', end);
        char *colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
        if (colon && !hide(&copy, (size_t)(colon + 1 - copy), (size_t)(at - colon - 1)))
            goto failed;
    }
    static const char *const names[] = {
        "?password=", "&password=", "?passwd=", "&passwd="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *at = strcasestr(copy, names[i]);
        if (!at)
            continue;
        at += strlen(names[i]);
        if (!hide(&copy, (size_t)(at - copy), strcspn(at, "&")))
            goto failed;
    }
    return copy;
failed:
    free(copy);
    return NULL;
}

/* The values of an option that may be given several times, with blanks. */
static char *joined(const struct options *o, int id)
{
    char *all = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&all, &size);
    for (unsigned i = 0; out && i < o->given[id]; i++) {
        char *safe = origin_without_password(o->list[id][i]);
        (void)fprintf(out, "%s%s", i ? " " : "", safe ? safe : HIDDEN);
        free(safe);
    }
    if (out)
        (void)fclose(out);
    return all;
}

static bool is_of_recording(const struct option_row *row)
{
    return (row->commands & ON_test) && (row->commands & ON_record) &&
           (row->commands & ON_ALL) != ON_ALL;
}

bool origin_init(struct origin *g, const struct options *o)
{
    *g = (struct origin){0};
    g->command = calloc((size_t)o->n_words + 1, sizeof *g->command);
    g->option = calloc(N_OPTIONS, sizeof *g->option);
    if (!g->command || !g->option)
        return false;
    for (int i = 0; i < o->n_words; i++) {
        /* Where the program lies says nothing about the run. */
        g->command[i] = i ? origin_without_password(o->word[i]) : strdup("insula");
        if (!g->command[g->n_command++])
            return false;
    }
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option_row *row = &option_table[i];
        const bool many = row->kind == MANY && o->given[i];
        const char *text = row->kind == FLAG ? "yes" : o->text[i];
        if (!is_of_recording(row) || !text || (row->kind == FLAG && !o->given[i]))
            continue;
        char *value = many ? joined(o, i) : origin_without_password(text);
        if (!value)
            return false;
        g->option[g->n_options++] = (struct insula_setting){row->name, value};
    }
    return true;
}

void origin_release(struct origin *g)
{
    for (size_t i = 0; i < g->n_command; i++)
        free(g->command[i]);
    for (size_t i = 0; i < g->n_options; i++)
        free((char *)(uintptr_t)g->option[i].value);
    free(g->command);
    free(g->option);
    *g = (struct origin){0};
}

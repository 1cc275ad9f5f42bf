/* What a program of somebody else's does, in C and in C++: load, check, walk.  Compiled
 * against an installed copy by scripts/check-install.  Usage: use HISTORY */
#include <insula.h>

#include <stdio.h>
#include <string.h>

static int watch(void *context, const char *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    ++*(int *)context;
    return 0;
}

int main(int argc, char **argv)
{
    struct insula_error err;
    struct insula_check_options options;
    int calls = 0;
    memset(&err, 0, sizeof err);
    memset(&options, 0, sizeof options);
    options.progress = watch;
    options.progress_context = &calls;
    if (argc != 2 || strcmp(insula_version(), INSULA_VERSION) != 0)
        return 3;
    struct insula_history *h = insula_load(argv[1], NULL, &err);
    struct insula_result *r = h ? insula_check(h, &options, &err) : NULL;
    struct insula_walk *w = r ? insula_walk_new(h, r, &err) : NULL;
    if (!w) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    const int status = insula_result_status(r);
    insula_result_free(r);
    insula_history_free(h);
    const struct insula_verdict *v;
    for (size_t i = 0; (v = insula_walk_verdict(w, i)); i++)
        printf("%s %s\n", insula_verdict_level(v), insula_verdict_verdict(v));
    const struct insula_finding *f;
    const struct insula_edge *e;
    for (size_t i = 0; (f = insula_walk_finding(w, i)); i++) {
        printf("%s: %s\n", insula_finding_name(f), insula_finding_headline(f));
        for (size_t k = 0; (e = insula_finding_edge(f, k)); k++)
            printf("  %s -%s-> %s: %s\n", insula_edge_from(e), insula_edge_type(e),
                   insula_edge_to(e), insula_edge_why(e));
    }
    insula_walk_free(w);
    return status;
}

#include "load.h"
#include "options.h"

int cmd_stats(const struct options *o)
{
    int status = EXIT_PASS;
    for (int i = 0; i < o->n_args; i++) {
        struct insula_history *h = load_history(o->arg[i], o);
        if (!h) {
            status = EXIT_USAGE;
            continue;
        }
        struct insula_error err = {0};
        if (i && !opt_given(o, OPT_json))
            (void)putchar('\n');
        if (insula_stats(h, o->arg[i], opt_given(o, OPT_json), stdout, &err))
            status = complain("%s", err.message);
        insula_history_free(h);
    }
    return status;
}

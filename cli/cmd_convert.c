#include "load.h"
#include "options.h"
#include "output.h"

int cmd_convert(const struct options *o)
{
    if (!output_possible(o->arg[1]) || !output_apart(o->arg[0], o->arg[1]))
        return EXIT_USAGE;
    struct insula_history *h = load_history(o->arg[0], o);
    if (!h)
        return EXIT_USAGE;
    const int status = output_history(h, o->arg[1], o);
    insula_history_free(h);
    return status;
}

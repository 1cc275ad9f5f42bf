#include "insula.h"
#include "options.h"
#include "suggest.h"
#include "term.h"

int cmd_explain(const struct options *o)
{
    const struct insula_report_options how = {.color = term_color(o, stdout),
                                              .width = term_width(stdout)};
    struct insula_error err = {0};
    const char *word = o->n_args ? o->arg[0] : NULL;
    if (!insula_explain(word, &how, stdout, &err))
        return EXIT_PASS;
    struct suggestion s;
    suggest_start(&s, word);
    const char *name;
    for (unsigned i = 0; insula_level(i, &name); i++) {
        suggest_candidate(&s, insula_level(i, NULL));
        suggest_candidate(&s, name);
    }
    for (unsigned i = 0; (name = insula_anomaly(i)); i++)
        suggest_candidate(&s, name);
    if (s.best && s.distance)
        return complain("%s, did you mean '%s'?", err.message, s.best);
    return complain("%s", err.message);
}

#include "load.h"
#include "options.h"

int cmd_verify(const struct options *o)
{
    struct insula_history *h = load_history(o->arg[0], o);
    if (!h)
        return EXIT_USAGE;
    struct insula_error err = {0};
    const struct insula_verify_options verify = {.claims = o->text[OPT_claims]};
    const int failed = insula_verify(h, o->arg[1], &verify, stdout, &err);
    insula_history_free(h);
    if (!failed)
        return EXIT_PASS;
    (void)complain("%s", err.message);
    /* A certificate that was read and does not prove its claim is a finding. */
    return failed == INSULA_E_INPUT ? EXIT_FAIL : EXIT_USAGE;
}

#include "interrupt.h"
#include "load.h"
#include "options.h"
#include "term.h"

int cmd_verify(const struct options *o)
{
    const double start = seconds_now();
    struct insula_history *h = load_history(o->arg[0], o);
    if (!h)
        return EXIT_USAGE;
    struct insula_error err = {0};
    struct progress progress;
    progress_start(&progress, o);
    struct insula_verify_options verify = {.claims = o->text[OPT_claims],
                                           .memory_limit = memory_limit(o),
                                           .progress = progress_report,
                                           .progress_context = &progress};
    if (opt_given(o, OPT_timeout)) {
        const double left = o->number[OPT_timeout] - (seconds_now() - start);
        verify.timeout_s = left > 1e-6 ? left : 1e-6; /* 0 would be no limit */
    }
    interrupt_hold();
    const int failed = insula_verify(h, o->arg[1], &verify, stdout, &err);
    interrupt_release();
    progress_finish(&progress);
    insula_history_free(h);
    if (!failed)
        return EXIT_PASS;
    (void)complain("%s", err.message);
    /* A certificate that was read and does not prove its claim is a finding; a limit
     * leaves it open. */
    return failed == INSULA_E_INPUT                               ? EXIT_FAIL
           : failed == INSULA_E_LIMIT || failed == INSULA_E_NOMEM ? EXIT_UNKNOWN
                                                                  : EXIT_USAGE;
}

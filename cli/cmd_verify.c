#include "interrupt.h"
#include "load.h"
#include "options.h"
#include "term.h"

/* What a failure means: a certificate that was read and does not prove its claim is a
 * finding, a limit leaves it open. */
static int tell(const struct insula_error *err, int finding)
{
    (void)complain("%s", err->message);
    if (err->status == INSULA_E_LIMIT || err->status == INSULA_E_NOMEM)
        return EXIT_UNKNOWN;
    return err->status == INSULA_E_INPUT ? finding : EXIT_USAGE;
}

int cmd_verify(const struct options *o)
{
    const double start = seconds_now();
    const struct insula_load_options load =
        load_options(o, (unsigned)o->number[OPT_threads]);
    struct insula_error err = {0};
    struct insula_history *h = insula_load(o->arg[0], &load, &err);
    if (!h)
        return tell(&err, EXIT_USAGE);
    load_tell_note(h, o->arg[0], o);
    struct progress progress;
    progress_start(&progress, o);
    struct insula_verify_options verify = {.claims = o->text[OPT_claims],
                                           .proof_format = o->text[OPT_proof_format],
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
    return failed ? tell(&err, EXIT_FAIL) : EXIT_PASS;
}

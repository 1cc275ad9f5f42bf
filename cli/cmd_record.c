/* cmd_record.c - record a history and write it.  While the run lasts, its journals are
 * in HISTORY.run; they go when the history is written. */
#include "interrupt.h"
#include "output.h"
#include "recording.h"

static int recover(const struct options *o, const char *path)
{
    struct insula_error error = {0};
    struct insula_history *h = ins_record_history(o->text[OPT_recover], &error);
    if (!h)
        return complain("%s", error.message);
    const int status = output_history(h, path, o);
    insula_history_free(h);
    return status;
}

int cmd_record(const struct options *o)
{
    const char *path = o->text[OPT_output];
    if (!path)
        return complain("missing -o HISTORY, - for standard output");
    if (!outputs_possible(o))
        return EXIT_USAGE;
    if (opt_given(o, OPT_recover))
        return recover(o, path);
    char dir[4096];
    (void)snprintf(dir, sizeof dir, "%s.run", strcmp(path, "-") != 0 ? path : "insula");
    struct ins_record_outcome outcome;
    struct insula_history *h;
    int status = recording_run(o, dir, &outcome, &h);
    if (!h)
        return status;
    const int written = output_history(h, path, o);
    insula_history_free(h);
    if (written == EXIT_PASS)
        recording_drop(dir);
    else
        (void)complain("what was recorded is in %s, see --recover", dir);
    if (interrupt_seen())
        return EXIT_INTERRUPTED;
    return status ? status : written;
}

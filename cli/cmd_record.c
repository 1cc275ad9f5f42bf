/* cmd_record.c - record a history and write it.  While the run lasts, its journals are
 * in HISTORY.run; they go when the history is written. */
#include "interrupt.h"
#include "output.h"
#include "recording.h"

/* What the workload does beside reads and writes of registers. */
static void sample_workload(struct insula_builder *b, unsigned txn,
                            const char *workload)
{
    const struct insula_literal key = insula_int(1);
    const struct insula_condition from = {
        .kind = INSULA_RANGE, .ends = INSULA_FROM, .a = key};
    switch (ins_workload_holds(workload)) {
    case INS_WORKLOAD_REGISTERS:
        return;
    case INS_WORKLOAD_LISTS:
        insula_append(b, txn, key, key);
        return;
    case INS_WORKLOAD_ROWS:
        insula_delete(b, txn, key, 0);
        insula_query(b, txn, &from, NULL, 0);
        insula_query_end(b, txn, 1);
        return;
    }
}

/* Something of everything that a recording may hold: times, outcomes, first values. */
static struct insula_history *sample(const struct options *o)
{
    static const struct insula_literal key = {.kind = INSULA_UINT};
    struct insula_error error = {0};
    struct insula_builder *b = insula_builder_new();
    if (!b)
        return NULL;
    const bool nil = output_wants_nil(o);
    const struct insula_literal first = nil ? insula_nil() : insula_int(0);
    insula_initial(b, first);
    const unsigned session = insula_builder_session(b, insula_int(0));
    const unsigned commit = insula_begin(b, session);
    insula_read(b, commit, key, first);
    insula_write(b, commit, key, insula_int(1));
    sample_workload(b, commit, o->text[OPT_workload]);
    insula_times(b, commit, 1, 2);
    const unsigned unknown = insula_begin(b, session);
    insula_write(b, unknown, key, insula_int(2));
    insula_times(b, unknown, 3, INSULA_NO_TIME);
    insula_unknown(b, unknown);
    return insula_builder_finish(b, &error);
}

/* Before anything is recorded: can it be written in the end? */
static bool writable(const struct options *o, const char *path)
{
    struct insula_history *h = sample(o);
    const bool holds = !h || output_holds(h, path, o);
    insula_history_free(h);
    return holds;
}

/* What of a run is lost, and what was made of it. */
static void tell_damage(const struct ins_record_damage *d)
{
    if (d->first[0])
        (void)complain(
            "%s (journals missing: %u, empty: %u, cut: %u): their sessions are "
            "indeterminate from there on",
            d->first, d->missing, d->empty, d->cut);
    if (d->lost_writes)
        (void)complain(
            "%lu values were read that no journal has written: they are taken "
            "as written by transactions that are lost",
            d->lost_writes);
}

static int recover(const struct options *o, const char *path)
{
    struct insula_error error = {0};
    struct ins_record_damage damage;
    struct insula_history *h =
        ins_record_history(o->text[OPT_recover], output_wants_nil(o), &damage, &error);
    if (!h)
        return complain("%s", error.message);
    tell_damage(&damage);
    const int status = output_history(h, path, o);
    insula_history_free(h);
    return status;
}

int cmd_record(const struct options *o)
{
    const char *path = o->text[OPT_output];
    if (!path)
        return complain("missing -o HISTORY, - for standard output");
    if (!outputs_possible(o) || !writable(o, path))
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

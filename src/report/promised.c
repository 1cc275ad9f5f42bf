#include "promised.h"

#include "explain/say.h"
#include "explain/texts.h"

/* ---- the verdict ---- */

static enum ins_level level_of(const char *id)
{
    return id && *id ? ins_level_find(id, strlen(id)) : INS_N_LEVELS;
}

enum ins_promise ins_promise_of(const struct ins_result *r, const char *id)
{
    const enum ins_level level = level_of(id);
    if (level == INS_N_LEVELS)
        return INS_PROMISE_NONE;
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (r->level[l].verdict == INS_FAIL &&
            ins_level_implies(level, (enum ins_level)l))
            return INS_PROMISE_BROKEN;
    for (int l = 0; l < INS_N_LEVELS; l++)
        if (r->level[l].verdict == INS_PASS &&
            ins_level_implies((enum ins_level)l, level))
            return INS_PROMISE_KEPT;
    return INS_PROMISE_OPEN;
}

const char *ins_promise_word(enum ins_promise p)
{
    return p == INS_PROMISE_BROKEN ? "broken"
           : p == INS_PROMISE_OPEN ? "undecided"
                                   : "kept";
}

bool ins_level_beyond(const struct insula_run *run, enum ins_level level)
{
    const enum ins_level promised = run ? level_of(run->promise) : INS_N_LEVELS;
    return run && (promised == INS_N_LEVELS || !ins_level_implies(promised, level));
}

bool ins_anomaly_beyond(const struct insula_run *run, const struct ins_anomaly *a)
{
    const enum ins_level promised = run ? level_of(run->promise) : INS_N_LEVELS;
    /* What a part was chosen for is its subject, promised or not. */
    return run && !run->part &&
           (promised == INS_N_LEVELS ||
            (!ins_level_forbids_this(promised, a) &&
             !ins_level_forbids(promised, a->kind, a->suffix)));
}

/* ---- in words ---- */

static void say_open(struct ins_buf *b, const struct ins_result *r,
                     enum ins_level level)
{
    ins_buf_fmt(b, "; %s ", ins_level_table[level].id);
    if (r->level[level].verdict == INS_NOT_ASKED)
        ins_buf_text(b, "was not asked for");
    else
        ins_buf_fmt(b, "is unknown: %s",
                    r->level[level].why ? r->level[level].why : "not decided");
}

/* No level forbids it by itself, and it matters more than most that do. */
static void say_lost(struct ins_buf *b, uint64_t commits, const char *forgets)
{
    if (!commits)
        return;
    ins_buf_char(b, ' ');
    ins_say_count(b, commits);
    ins_buf_text(b, commits == 1 ? " commit was" : " commits were");
    ins_buf_text(b, " acknowledged and then lost");
    if (forgets && *forgets)
        ins_buf_fmt(b, " (%s)", forgets);
    ins_buf_char(b, '.');
}

void ins_say_promise(struct ins_buf *b, const struct ins_report_item *item)
{
    static const char *const lead[] = {
        [INS_PROMISE_NONE] = "Nothing promised",
        [INS_PROMISE_KEPT] = "Promise kept",
        [INS_PROMISE_BROKEN] = "Promise BROKEN",
        [INS_PROMISE_OPEN] = "Promise undecided",
    };
    const struct insula_run *run = item->run;
    const enum ins_level level = level_of(run->promise);
    const enum ins_promise p = ins_promise_of(item->result, run->promise);
    ins_buf_fmt(b, "%s: asked for %s, %s promises ", lead[p], run->isolation,
                run->database);
    if (level == INS_N_LEVELS)
        ins_buf_text(b, "nothing that is checked here");
    else
        ins_buf_fmt(b, "%s (%s)", ins_level_table[level].name,
                    ins_level_table[level].id);
    if (strcmp(run->promise_alone, run->promise) != 0)
        ins_buf_fmt(b, " (each node alone %s)",
                    run->promise_alone[0] ? run->promise_alone : "nothing");
    if (p == INS_PROMISE_BROKEN)
        ins_buf_text(b, ", which does not hold");
    if (p == INS_PROMISE_OPEN)
        say_open(b, item->result, level);
    ins_buf_char(b, '.');
    say_lost(b, item->result->lost_commits, run->forgets);
}

void ins_say_setup(struct ins_buf *b, const struct insula_run *run)
{
    ins_buf_fmt(b, "%s, workload %s, seed ", run->server_isolation, run->workload);
    ins_buf_u64(b, run->seed);
    for (size_t i = 0; i < run->n_settings; i++)
        ins_buf_fmt(b, ", %s=%s", run->settings[i].name, run->settings[i].value);
    if (run->faults) {
        ins_buf_text(b, ", ");
        ins_say_count(b, run->faults);
        ins_buf_text(b, run->faults == 1 ? " fault" : " faults");
    }
    if (run->errors) {
        ins_buf_text(b, ", ");
        ins_say_count(b, run->errors);
        ins_buf_text(b, " unexpected error");
        ins_buf_text(b, run->errors == 1 ? "" : "s");
    }
    if (run->stopped)
        ins_buf_text(b, ", stopped by the user");
}

/* ---- power ---- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* "7 %", "0.3 %", "0 %" */
static void say_percent(struct ins_buf *b, uint64_t part, uint64_t whole)
{
    const double x = percent(part, whole);
    ins_buf_fmt(b, x > 0 && x < 1 ? "%.1f %%" : "%.0f %%", x);
}

void ins_say_power(struct ins_buf *b, const struct ins_power *p,
                   const struct insula_run *run)
{
    if (run->part) {
        ins_buf_text(b, "Of what was recorded this is the part that shows it.");
        return;
    }
    ins_say_count(b, p->committed);
    ins_buf_text(b, " of ");
    ins_say_count(b, p->transactions);
    ins_buf_text(b, " transactions committed, ");
    say_percent(b, p->aborted, p->transactions);
    ins_buf_text(b, " aborted; ");
    if (!p->timed) {
        ins_buf_text(b, "without times nothing is known of who ran beside whom.");
        return;
    }
    ins_buf_fmt(b, "%.1f open at a time; of those committed ", p->open);
    say_percent(b, p->overlapped, p->committed);
    ins_buf_text(b, " ran beside another session's, ");
    say_percent(b, p->conflicted, p->committed);
    ins_buf_text(b, " beside one that conflicts.");
}

enum {
    FEW_COMMITTED = 100,
    FEW_CONFLICTS = 20,
    MANY_ABORTED = 90, /* percent */
    FEW_OVERLAPPED = 5,
    FEW_CONFLICTED = 1
};

bool ins_say_weakness(struct ins_buf *b, const struct ins_power *p,
                      const struct insula_run *run, enum ins_promise found)
{
    static const char lead[] = "This run could hardly have found anything: ";
    const char *between = lead;
    if (found == INS_PROMISE_BROKEN || run->part)
        return false;
    if (p->committed < FEW_COMMITTED) {
        ins_buf_fmt(b, "%sonly ", between);
        ins_say_count(b, p->committed);
        ins_buf_fmt(b, " transaction%s committed", p->committed == 1 ? "" : "s");
        between = ", ";
    }
    if (percent(p->aborted, p->transactions) >= MANY_ABORTED) {
        ins_buf_text(b, between);
        say_percent(b, p->aborted, p->transactions);
        ins_buf_text(b, " of all were aborted");
        between = ", ";
    }
    if (p->timed && p->committed &&
        percent(p->overlapped, p->committed) < FEW_OVERLAPPED) {
        ins_buf_fmt(b, "%sonly ", between);
        say_percent(b, p->overlapped, p->committed);
        ins_buf_text(b, " ran beside another session's");
        between = ", ";
    } else if (p->timed && p->committed &&
               (p->conflicted < FEW_CONFLICTS ||
                percent(p->conflicted, p->committed) < FEW_CONFLICTED)) {
        ins_buf_fmt(b, "%sonly ", between);
        ins_say_count(b, p->conflicted);
        ins_buf_text(b, " met one that conflicts");
        between = ", ";
    }
    if (between == lead)
        return false;
    ins_buf_text(b, ". More sessions, fewer keys or a longer run would.");
    return true;
}

/* hunt_trial.c - one trial: record, check, and name what is wrong by the smallest
 * counterexample. */
#include "hunt.h"

#include "interrupt.h"
#include "recording.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* What ends a run at once where real time is not promised; psi fails only where si
 * does. */
static const char timeless[] = "ci,rc,ra,cc,pc,si,ser";

void hunt_drop(const char *dir)
{
    recording_drop(dir);
}

/* On one server real time is not promised. */
static bool counts_real_time(const struct hunt *h)
{
    return h->dbs > 1 || strstr(h->db[0], "galera") || strstr(h->db[0], "standbys=");
}

static struct ins_record_options options_of(const struct hunt *h,
                                            const struct hunt_trial *t, const char *dir)
{
    return (struct ins_record_options){
        .db = h->db,
        .dbs = h->dbs,
        .workload = t->workload,
        .isolation = t->isolation,
        .sessions = t->sessions,
        .keys = t->keys,
        .ops = t->ops,
        .time_limit_s = t->seconds,
        .nemesis = t->nemesis,
        .nemesis_s = t->seconds / 3,
        .route = t->route,
        .setting = &t->setting,
        .settings = t->setting ? 1 : 0,
        .final_read = t->final_read,
        .fault_command = h->o->list[OPT_fault_command],
        .fault_commands = h->o->given[OPT_fault_command],
        .heal_command = h->o->list[OPT_heal_command],
        .heal_commands = h->o->given[OPT_heal_command],
        .seed = t->seed,
        .online = opt_given(h->o, OPT_online),
        .online_levels = counts_real_time(h) ? "all" : timeless,
        .table = h->o->text[OPT_table],
        .dir = dir,
        .stop = interrupt_seen,
    };
}

void hunt_command(const struct hunt *h, const struct hunt_trial *t, FILE *out)
{
    (void)fputs("insula test", out);
    for (unsigned i = 0; i < h->dbs; i++)
        (void)fprintf(out, " --db '%s'", h->db[i]);
    (void)fprintf(out, " --isolation %s --workload %s --sessions %u", t->isolation,
                  t->workload, t->sessions);
    if (t->keys)
        (void)fprintf(out, " --keys %u", t->keys);
    if (t->ops)
        (void)fprintf(out, " --ops %u", t->ops);
    (void)fprintf(out, " --time-limit %g --seed %llu", t->seconds,
                  (unsigned long long)t->seed);
    if (t->setting)
        (void)fprintf(out, " --session-setting %s", t->setting);
    if (t->nemesis)
        (void)fprintf(out, " --nemesis %s --nemesis-interval %g", t->nemesis,
                      t->seconds / 3);
    if (t->final_read)
        (void)fputs(" --final-read", out);
    (void)fputc('\n', out);
}

/* The default levels and what was promised, which may be none of them. */
static struct insula_result *check(const struct insula_history *history,
                                   const char *promised, struct insula_error *error)
{
    char levels[64];
    (void)snprintf(levels, sizeof levels, "all%s%s", *promised ? "," : "", promised);
    const struct insula_check_options how = {.levels = levels, .timeout_s = 30};
    return insula_check(history, &how, error);
}

/* The weakest level that failed and counts.  A lost commit comes before all else. */
static const char *failed_level(const struct hunt *h,
                                const struct insula_result *result)
{
    if (insula_result_lost_commits(result))
        return "sser";
    const char *id;
    for (unsigned i = 0; (id = insula_level(i, NULL)); i++) {
        const char *verdict = insula_result_verdict(result, id);
        if (verdict && !strcmp(verdict, "fail") &&
            (counts_real_time(h) || strcmp(id, "sser") != 0))
            return id;
    }
    return NULL;
}

/* ---- the cause ---- */

/* The text after `"name": "` from `at` on, up to the quote. */
static const char *field(const char *at, const char *name, char *value, size_t size)
{
    char pattern[64];
    (void)snprintf(pattern, sizeof pattern, "\"%s\": \"", name);
    const char *found = at ? strstr(at, pattern) : NULL;
    value[0] = 0;
    if (!found)
        return NULL;
    found += strlen(pattern);
    (void)snprintf(value, size, "%.*s", (int)strcspn(found, "\""), found);
    return found;
}

/* The kinds of edges in the cycle, each once: "rw wr".  The edges stand a line each,
 * and begin with that. */
static void shape_of(const char *json, char *shape, size_t size)
{
    char type[16];
    size_t used = 0;
    shape[0] = 0;
    const char *at = strstr(json, "\"edges\": [\n");
    at = at ? strchr(at, '\n') + 1 : "";
    while (at && *at && at[strspn(at, " ")] == '{' && used + 8 < size) {
        if (field(at, "type", type, sizeof type) && !strstr(shape, type))
            used += (size_t)snprintf(shape + used, size - used, "%s%s", used ? " " : "",
                                     type);
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
}

/* The roles of the nodes: "primary, standby"; of equal ones whether it takes several.
 */
static void nodes_of(const char *json, char *nodes, size_t size)
{
    char name[64], first[64] = "", seen[256] = "";
    size_t used = 0;
    nodes[0] = 0;
    const char *end = strstr(json, "\"edges\"");
    const char *at = strstr(json, "\"transactions\": [");
    while ((at = field(at, "node", name, sizeof name)) && (!end || at < end)) {
        char mark[80];
        (void)snprintf(mark, sizeof mark, "<%s>", name);
        if (strstr(seen, mark) || used + 80 > sizeof seen)
            continue;
        used += (size_t)snprintf(seen + used, sizeof seen - used, "%s", mark);
        if (!first[0])
            (void)snprintf(first, sizeof first, "%s", name);
        else
            (void)snprintf(nodes, size, "several nodes");
    }
    if (first[0] && !nodes[0])
        (void)snprintf(nodes, size, "%s", first[0] == 'n' ? "one node" : first);
    if (strstr(seen, "<primary>") && strstr(seen, "<standby"))
        (void)snprintf(nodes, size, "primary and standby");
}

static char *json_of(const char *path, const struct insula_history *history,
                     const struct insula_result *result)
{
    char *text = NULL;
    size_t size = 0;
    struct insula_error error = {0};
    FILE *out = open_memstream(&text, &size);
    const struct insula_report_item item = {
        .path = path, .history = history, .result = result};
    const struct insula_report_options how = {.width = 80};
    if (!out)
        return NULL;
    (void)insula_report("json", &item, 1, &how, out, &error);
    (void)fclose(out);
    return text;
}

/* What only real time forbids has many shapes and one cause: something is seen late,
 * or not at all. */
static void join_kinds(char *kind, size_t size, char *shape, bool lost)
{
    const char *suffix = strstr(kind, "-realtime");
    if (!lost && (!suffix || suffix[strlen("-realtime")]))
        return;
    (void)snprintf(kind, size, lost ? "lost-commit" : "stale-read");
    shape[0] = 0;
}

static void name_cause(const struct hunt_trial *t, const char *small, bool lost,
                       struct hunt_seen *seen)
{
    struct insula_error error = {0};
    struct insula_history *history = insula_load(small, NULL, &error);
    struct insula_result *result = history ? check(history, "", &error) : NULL;
    char *json = result ? json_of(small, history, result) : NULL;
    char shape[128] = "", nodes[64] = "";
    const char *at = json ? strstr(json, "\"anomalies\": [\n") : NULL;
    if (at) {
        (void)field(at, "name", seen->kind, sizeof seen->kind);
        shape_of(at, shape, sizeof shape);
        nodes_of(at, nodes, sizeof nodes);
        join_kinds(seen->kind, sizeof seen->kind, shape, lost);
    }
    (void)snprintf(seen->cause, sizeof seen->cause, "%s, %s%s%s%s%s",
                   *seen->kind ? seen->kind : seen->level, t->isolation,
                   *shape ? ", cycle of " : "", shape, *nodes ? ", on " : "", nodes);
    free(json);
    insula_result_free(result);
    insula_history_free(history);
}

/* ---- the trial ---- */

/* Conflicts, open outcomes, a commit that took long, reads of old versions and what a
 * stronger level forbids: there something is near. */
static double score_of(const struct ins_record_outcome *outcome,
                       const struct insula_result *result)
{
    const struct ins_record_progress *p = &outcome->total;
    const double done = (double)(p->committed + p->aborted + p->unknown);
    double score = done > 0 ? (double)p->aborted / done : 0;
    score = score > 0.5 ? 0.5 : score;
    score += p->unknown ? 0.1 : 0;
    score += p->longest_s * done > 20 * p->busy_s ? 0.1 : 0;
    const char *strict = insula_result_verdict(result, "sser");
    score += strict && !strcmp(strict, "fail") ? 0.1 : 0;
    for (unsigned i = 0; insula_result_found(result, i) && i < 4; i++)
        score += 0.1;
    return score > 1 ? 1 : score;
}

static void judge(const struct hunt *h, const struct hunt_trial *t, const char *dir,
                  struct insula_history *history, struct hunt_seen *seen)
{
    char path[4200];
    const char *promised = seen->outcome.promised;
    struct insula_result *result = check(history, promised, &seen->error);
    if (!result)
        return;
    seen->ran = true;
    seen->score = score_of(&seen->outcome, result);
    const bool lost = insula_result_lost_commits(result) > 0;
    const char *level = failed_level(h, result);
    if (level) {
        seen->failed = true;
        (void)snprintf(seen->level, sizeof seen->level, "%s", level);
        (void)snprintf(path, sizeof path, "%s/small.insula", dir);
        if (!insula_counterexample(history, result, level, NULL, path, &seen->error))
            name_cause(t, path, lost, seen);
        else
            (void)snprintf(seen->cause, sizeof seen->cause, "%s fails, %s", level,
                           t->isolation);
        /* Lost commits break levels, too: what allows the one allows the other. */
        seen->broken = lost
                           ? !*seen->outcome.forgets
                           : !strcmp(insula_result_promise(result, promised), "broken");
    }
    insula_result_free(result);
}

void hunt_try(const struct hunt *h, const struct hunt_trial *t, const char *dir,
              struct hunt_seen *seen)
{
    *seen = (struct hunt_seen){0};
    hunt_drop(dir);
    if (mkdir(dir, 0755)) {
        seen->error.status = INSULA_E_IO;
        (void)snprintf(seen->error.message, sizeof seen->error.message,
                       "cannot make the directory '%s': %s", dir,
                       strerrordesc_np(errno));
        return;
    }
    const struct ins_record_options options = options_of(h, t, dir);
    if (ins_record_run(&options, &seen->outcome, &seen->error) &&
        !seen->outcome.total.committed)
        return;
    struct insula_error error = {0};
    struct insula_history *history = ins_record_history(dir, false, NULL, &error);
    if (!history) {
        seen->error = seen->error.status ? seen->error : error;
        return;
    }
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/history.insulab", dir);
    if (!insula_save(history, "insulab", path, NULL, &error))
        recording_drop_journal(dir);
    judge(h, t, dir, history, seen);
    insula_history_free(history);
}

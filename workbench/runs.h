/* runs.h - the runs of a store: directories that `insula test` made, each with a
 * result.json when it came that far.
 *
 * What a list of runs needs stands in result.json before the anomalies, and no more of
 * the file is read, so that ten thousand runs are listed at once and no second copy of
 * anything is kept. */
#ifndef INS_RUNS_H
#define INS_RUNS_H

#include "json.h"

#include <sys/stat.h>
#include <time.h>

struct ins_run_row {
    char name[128]; /* of its directory */
    /* "checked", "unchecked": recorded, but no verdict; "unfinished" */
    const char *state;
    char started[24]; /* "2026-11-16T15:19:15Z" */
    time_t when;
    char label[128]; /* of a file that was checked: its name; else "" */
    char database[64], isolation[32], workload[32], nemesis[64];
    char promise[16], verdict[12]; /* level, "" for none; kept, broken, undecided */
    char strongest[64];            /* "psi, pc" */
    char anomalies[128];           /* "LostUpdate 3, G-single 1" */
    char seed[24];
    uint64_t transactions, found;
    double duration_s, rate, p50_s, p99_s;
    char *json; /* all of it and more, as docs/workbench.md has it; or NULL */
};

struct ins_runs {
    struct ins_run_row *run; /* the latest first */
    size_t n;
};

/* What to list; zero means everything. */
struct ins_runs_filter {
    const char *db;      /* part of the database's name or of the run's, any case */
    const char *verdict; /* kept, broken, undecided, unfinished */
    time_t since;
};

/* Read a store; one that does not exist is empty.  `json`: fill that too.  False
 * without memory, or when the directory cannot be read; errno says why. */
bool ins_runs_read(struct ins_runs *s, const char *dir,
                   const struct ins_runs_filter *filter, bool json);
void ins_runs_release(struct ins_runs *s);

/* "2026-11-01", "2026-11-01T12:00:00Z", "3d", "12h", "90m": when that is. */
bool ins_runs_since(const char *text, time_t now, time_t *since);

/* Is this the name of a run, and of nothing outside of the store?  A run's directory
 * has such a name: letters, digits, '-', '_' and '.', no '.' in front. */
bool ins_runs_is_name(const char *name);

/* Open RUN/FILE or FILE of the store `dir` for reading: plain names, no links, a
 * regular file.  -1 when there is none. */
int ins_runs_open(int dir, const char *name, struct stat *sb);

/* The histories in a store that may be growing, FILE and RUN/FILE, as JSON: their
 * names, bytes and when they were written last, the latest first. */
bool ins_runs_files(const char *dir, FILE *out);

/* The head of a run's result.json, without the anomalies.  *text is what the tree is
 * of, for the caller to free.  False when there is none, or it is damaged. */
bool ins_runs_head(const char *dir, const char *run, struct ins_json *j, char **text);

/* The runs as a table for people, or as one JSON document. */
void ins_runs_table(const struct ins_runs *s, FILE *out, unsigned width, bool color);
void ins_runs_json(const struct ins_runs *s, FILE *out);

/* runs_compare.c: runs side by side, as text or JSON: what differs of how they were
 * made, then rates, latencies, verdicts and anomalies.  False, and *missing is its
 * name, when there is no such run. */
bool ins_runs_compare(const char *dir, char *const *run, size_t n, bool json, FILE *out,
                      const char **missing);

/* runs_page.c: write DIR/index.html.  False, and errno, when it could not be written.
 */
bool ins_runs_page(const char *dir);
/* The page around its data; one that is served can do more. */
void ins_runs_frame(FILE *out, const char *data, bool served);

/* Remove a directory with all that is in it, following no link. */
void ins_runs_remove(const char *path);

#endif

/* options.h - the command line, read against the tables commands.def and options.def.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum command_id {
#define COMMAND(name, arguments, least, most, summary, examples) COMMAND_##name,
#include "commands.def"
#undef COMMAND
    N_COMMANDS
};

enum {
#define COMMAND(name, arguments, least, most, summary, examples) \
    ON_##name = 1 << COMMAND_##name,
#include "commands.def"
#undef COMMAND
    ON_ALL = (1 << N_COMMANDS) - 1
};

enum option_kind {
    FLAG,
    TEXT,
    OUTPUT,
    WHOLE,
    REAL,
    SIZE,
    CHOICE,
    LEVEL,
    LEVELS,
    FORMAT,
    MANY /* TEXT that may be given several times, see `list` */
};

enum option_id {
#define OPTION(id, name, letter, kind, argument, standard, range, commands, help) \
    OPT_##id,
#include "options.def"
#undef OPTION
    N_OPTIONS
};

enum { MOST_TIMES = 16 };

/* A command line that was read.  Its strings belong to argv. */
struct options {
    enum command_id command;
    const char *text[N_OPTIONS]; /* as given, else the default, else NULL */
    char levels[512];            /* of LEVELS, which add up when they are repeated */
    double number[N_OPTIONS];    /* of WHOLE, REAL and SIZE */
    unsigned given[N_OPTIONS];   /* how often it was given */
    const char *list[N_OPTIONS][MOST_TIMES]; /* of MANY: all, in order */
    char **arg;
    int n_args;
    const char *const *word; /* the command line as it was given */
    int n_words;
};

typedef int command_function(const struct options *o);

#define COMMAND(name, arguments, least, most, summary, examples) \
    command_function cmd_##name;
#include "commands.def"
#undef COMMAND

enum { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_UNKNOWN = 2, EXIT_USAGE = 3 };

/* Read argv.  Returns true when *o is to be run; else *status is the exit status, and
 * help or a complaint has been printed. */
bool options_read(struct options *o, int argc, char **argv, int *status);
int options_run(const struct options *o);

static inline bool opt_given(const struct options *o, enum option_id id)
{
    return o->given[id] != 0;
}

/* The seed that is asked for, else one by chance, which is printed unless --quiet. */
uint64_t opt_seed(const struct options *o);

/* Print "insula: ..." and a newline on standard error; returns EXIT_USAGE. */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif

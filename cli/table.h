/* table.h - the rows of commands.def and options.def as data. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "options.h"

struct command_row {
    const char *name, *arguments;
    int least, most;
    const char *summary, *examples;
    command_function *run;
};

struct option_row {
    const char *name;
    char letter;
    enum option_kind kind;
    const char *argument, *standard, *range;
    unsigned commands;
    const char *help;
};

extern const struct command_row command_table[N_COMMANDS];
extern const struct option_row option_table[N_OPTIONS];

#endif

#include "help.h"

#include "recording.h"
#include "table.h"

static void put(FILE *out, const char *text)
{
    (void)fputs(text, out);
}

static void put_examples(FILE *out, const char *examples)
{
    for (const char *line = examples; *line;) {
        const size_t n = strcspn(line, "\n");
        (void)fprintf(out, "  %.*s\n", (int)n, line);
        line += n + 1;
    }
}

void help_overview(FILE *out)
{
    put(out, "Examples:\n"
             "  insula check history.edn      # which levels does it satisfy?\n"
             "  insula explain LongFork       # what does that mean?\n"
             "  insula gen --level si -o h.txt && insula check h.txt\n\n"
             "Usage: insula COMMAND [OPTION]... [ARGUMENT]...\n\n"
             "insula finds out which isolation level a recorded history of database\n"
             "transactions really satisfies.\n\nCommands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        (void)fprintf(out, "  %-10s %s\n", command_table[i].name,
                      command_table[i].summary);
    put(out,
        "\n  --version  print the version\n"
        "  --help     show this help; 'insula COMMAND --help' shows a command's\n\n"
        "Exit status: 0 every level asked for passed, 1 some level failed, 2 none\n"
        "failed and some is unknown, 3 nothing could be checked.\n");
}

/* "  -l, --level LEVELS", and the help in its column or on the next line. */
static void put_option(FILE *out, const struct option_row *row)
{
    char left[64];
    const int n =
        snprintf(left, sizeof left, "%c%c%c --%s%s%s", row->letter ? '-' : ' ',
                 row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
                 row->argument ? " " : "", row->argument ? row->argument : "");
    (void)fprintf(out, "  %s", left);
    if (n > 24)
        (void)fprintf(out, "\n  %-24s", "");
    else
        (void)fprintf(out, "%*s", 24 - n, "");
    (void)fprintf(out, "  %s", row->help);
    if (row->kind == CHOICE)
        (void)fprintf(out, ": %s", row->range);
    if (row->standard)
        (void)fprintf(out, " [%s]", row->standard);
    (void)fputc('\n', out);
}

void help_command(enum command_id command, FILE *out)
{
    const struct command_row *c = &command_table[command];
    put(out, "Examples:\n");
    put_examples(out, c->examples);
    (void)fprintf(out, "\nUsage: insula %s [OPTION]...%s%s\n\n", c->name,
                  *c->arguments ? " " : "", c->arguments);
    (void)fprintf(out, "%s: %s.\n\nOptions:\n", c->name, c->summary);
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].commands & 1u << command)
            put_option(out, &option_table[i]);
    if (command == COMMAND_record || command == COMMAND_test)
        recording_help(out);
}

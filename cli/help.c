#include "help.h"

#include "recording.h"
#include "table.h"
#include "term.h"

static void put(FILE *out, const char *text)
{
    (void)fputs(text, out);
}

/* Text that starts in column `at`, broken at blanks; further lines are indented. */
static void put_wrapped(FILE *out, const char *text, unsigned at, unsigned indent)
{
    const unsigned width = term_width(out);
    while (*text) {
        const size_t n = strcspn(text, " ");
        if (at > indent && at + 1 + n > width) {
            (void)fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            (void)fputc(' ', out);
            at++;
        }
        (void)fprintf(out, "%.*s", (int)n, text);
        at += (unsigned)n;
        text += n + (text[n] == ' ');
    }
    (void)fputc('\n', out);
}

static void put_examples(FILE *out, const char *examples)
{
    for (const char *line = examples; *line;) {
        const size_t n = strcspn(line, "\n");
        (void)fprintf(out, "  %.*s\n", (int)n, line);
        line += n + 1;
    }
}

/* A word and what it means. */
static void put_row(FILE *out, const char *word, const char *meaning)
{
    (void)fprintf(out, "  %-10s ", word);
    put_wrapped(out, meaning, 13, 13);
}

void help_overview(FILE *out)
{
    put(out, "Examples:\n"
             "  insula check history.edn      # which levels does it satisfy?\n"
             "  insula explain LongFork       # what does that mean?\n"
             "  insula gen --level si -o h.txt && insula check h.txt\n\n"
             "Usage: insula COMMAND [OPTION]... [ARGUMENT]...\n\n");
    put_wrapped(out,
                "insula finds out which isolation level a recorded history of database "
                "transactions really satisfies.",
                0, 0);
    put(out, "\nCommands:\n");
    for (int i = 0; i < N_COMMANDS; i++)
        put_row(out, command_table[i].name, command_table[i].summary);
    put(out, "\n");
    put_row(out, "--version", "print the version");
    put_row(out, "--help", "show this help; 'insula COMMAND --help' shows a command's");
    put(out, "\n");
    put_wrapped(
        out,
        "Exit status: 0 every level asked for passed, 1 some level failed, 2 none "
        "failed and some is unknown, 3 nothing could be checked.",
        0, 0);
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
    (void)fputs("  ", out);
    char text[512];
    const bool choice = row->kind == CHOICE;
    size_t used =
        (size_t)snprintf(text, sizeof text, "%s%s", row->help, choice ? ": " : "");
    for (const char *c = choice ? row->range : ""; *c && used + 3 < sizeof text; c++) {
        if (*c == '|')
            text[used++] = ',';
        text[used++] = (char)(*c == '|' ? ' ' : *c);
    }
    (void)snprintf(text + used, sizeof text - used, "%s%s%s", row->standard ? " [" : "",
                   row->standard ? row->standard : "", row->standard ? "]" : "");
    put_wrapped(out, text, 28, 28);
}

void help_command(enum command_id command, FILE *out)
{
    const struct command_row *c = &command_table[command];
    put(out, "Examples:\n");
    put_examples(out, c->examples);
    (void)fprintf(out, "\nUsage: insula %s [OPTION]...%s%s\n\n", c->name,
                  *c->arguments ? " " : "", c->arguments);
    char summary[256];
    (void)snprintf(summary, sizeof summary, "%s: %s.", c->name, c->summary);
    put_wrapped(out, summary, 0, 0);
    put(out, "\nOptions:\n");
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].commands & 1u << command)
            put_option(out, &option_table[i]);
    if (command == COMMAND_record || command == COMMAND_test || command == COMMAND_hunt)
        recording_help(out, put_wrapped);
}

/* --help of every command shows the rows of options.def, all of them and no others. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *arguments, *summary;
} commands[] = {
#define COMMAND(name, arguments, least, most, summary, examples) \
    {#name, arguments, summary},
#include "commands.def"
#undef COMMAND
};

static const struct {
    const char *name;
    char letter;
    const char *argument, *standard, *help;
    unsigned commands;
} rows[] = {
#define OPTION(id, name, letter, kind, argument, standard, range, commands, help) \
    {name, letter, argument, standard, help, commands},
#include "options.def"
#undef OPTION
};

static int n_tests, n_failed;

static void ok(bool passed, const char *command, const char *what)
{
    n_tests++;
    n_failed += !passed;
    (void)printf("%s %d - %s: %s\n", passed ? "ok" : "not ok", n_tests, command, what);
}

/* The text that `insula COMMAND --help` prints; static storage. */
static const char *help_of(const char *command)
{
    static char text[1 << 16];
    char line[4096];
    (void)snprintf(line, sizeof line, "COLUMNS=1000 '%s' %s --help", getenv("INSULA"),
                   command);
    FILE *f = popen(line, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (!f || pclose(f))
        text[0] = '\0';
    return text;
}

/* Lines that start an option, between "Options:" and the next blank line. */
static unsigned count_options(const char *help)
{
    const char *at = strstr(help, "\nOptions:\n");
    unsigned n = 0;
    if (!at)
        return 0;
    for (at += strlen("\nOptions:\n"); *at && *at != '\n'; at = strchr(at, '\n') + 1)
        n += !strncmp(at, "  -", 3) || !strncmp(at, "      --", 8);
    return n;
}

static void a_command(unsigned c)
{
    const char *name = commands[c].name;
    const char *help = help_of(name);
    unsigned expected = 0;
    ok(!strncmp(help, "Examples:\n  insula ", 19), name, "examples come first");
    ok(strstr(help, commands[c].summary) != NULL, name, "the summary is there");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(rows[i].commands & 1u << c))
            continue;
        expected++;
        char left[128];
        (void)snprintf(left, sizeof left, "--%s%s%s", rows[i].name,
                       rows[i].argument ? " " : "",
                       rows[i].argument ? rows[i].argument : "");
        ok(strstr(help, left) && strstr(help, rows[i].help), name, left);
        if (rows[i].letter) {
            (void)snprintf(left, sizeof left, "  -%c, --%s", rows[i].letter,
                           rows[i].name);
            ok(strstr(help, left) != NULL, name, left);
        }
    }
    ok(count_options(help) == expected, name, "as many options as rows");
}

int main(void)
{
    for (unsigned c = 0; c < N_COMMANDS; c++)
        a_command(c);
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}

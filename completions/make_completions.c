/* make_completions bash|zsh|fish: print a shell's completions, from the tables of the
 * command line, of the levels, the anomalies, the formats, and the recorder. */
#include "../cli/options.h"

#include "insula.h"
#include "record.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name, *arguments, *summary;
};

struct option {
    const char *name;
    char letter;
    enum option_kind kind;
    const char *argument, *range;
    unsigned commands;
    const char *help;
};

static const struct command commands[] = {
#define COMMAND(name, arguments, least, most, summary, examples) \
    {#name, arguments, summary},
#include "../cli/commands.def"
#undef COMMAND
};

static const struct option options[] = {
#define OPTION(id, name, letter, kind, argument, standard, range, commands, help) \
    {name, letter, kind, argument, range, commands, help},
#include "../cli/options.def"
#undef OPTION
};

static bool has(const struct option *o, int command)
{
    return (o->commands >> command & 1) != 0;
}

/* Text with the characters of `special` after a backslash. */
static void put_escaped(const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            (void)putchar('\\');
        (void)putchar(*text);
    }
}

static void put_levels(void)
{
    for (unsigned i = 0; insula_level(i, NULL); i++)
        (void)printf("%s%s", i ? " " : "", insula_level(i, NULL));
}

/* Word number i for options whose words are in tables elsewhere; NULL past the last, or
 * when the option is none of them. */
static const char *table_word(const struct option *o, unsigned i)
{
    static char line[512];
    if (!strcmp(o->name, "inject"))
        return insula_injectable(i);
    if (!strcmp(o->name, "nemesis"))
        return ins_nemesis_name(i);
    if (!strcmp(o->name, "workload") && ins_workload_line(i, line, sizeof line)) {
        line[strcspn(line, " ")] = '\0';
        return line;
    }
    if (!strcmp(o->name, "db") && ins_driver_line(i, line, sizeof line)) {
        line[strcspn(line, ":") + 1] = '\0';
        return line;
    }
    return NULL;
}

/* The words an option's argument is one of; false when it is free. */
static bool put_words(const struct option *o)
{
    if (o->kind == LEVEL || o->kind == LEVELS) {
        put_levels();
        (void)fputs(o->kind == LEVELS ? " all" : "", stdout);
    } else if (o->kind == FORMAT) {
        for (unsigned i = 0; insula_format(i, NULL); i++)
            (void)printf("%s%s", i ? " " : "", insula_format(i, NULL));
    } else if (o->kind == CHOICE) {
        for (const char *c = o->range; *c; c++)
            (void)putchar(*c == '|' ? ' ' : *c);
    } else if (table_word(o, 0)) {
        const char *word;
        for (unsigned i = 0; (word = table_word(o, i)); i++)
            (void)printf("%s%s", i ? " " : "", word);
    } else {
        return false;
    }
    return true;
}

static bool has_words(const struct option *o)
{
    return o->kind == LEVEL || o->kind == LEVELS || o->kind == FORMAT ||
           o->kind == CHOICE || table_word(o, 0) != NULL;
}

static bool takes_file(const struct option *o)
{
    return o->kind == OUTPUT || (o->argument && !strcmp(o->argument, "DIR"));
}

static void put_explained(void)
{
    put_levels();
    for (unsigned i = 0; insula_anomaly(i); i++)
        (void)printf(" %s", insula_anomaly(i));
}

/* ---- bash ---- */

static void bash_values(int c)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct option *o = &options[i];
        if (!has(o, c) || !o->argument)
            continue;
        (void)printf("    '%s --%s'", commands[c].name, o->name);
        if (o->letter)
            (void)printf(" | '%s -%c'", commands[c].name, o->letter);
        if (has_words(o)) {
            (void)fputs(") words='", stdout);
            (void)put_words(o);
            (void)puts("' ;;");
        } else {
            (void)puts(takes_file(o) ? ") files=yes ;;" : ") return ;;");
        }
    }
}

static void bash(void)
{
    (void)puts("# bash completion for insula\n_insula()\n{\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}\n"
               "    local before=${COMP_WORDS[COMP_CWORD-1]} words='' files=''\n"
               "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" = 1 ]; then");
    (void)fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (int c = 0; c < N_COMMANDS; c++)
        (void)printf("%s ", commands[c].name);
    (void)puts("--help --version' -- \"$cur\"))\n        return\n    fi\n"
               "    case \"$command $before\" in");
    for (int c = 0; c < N_COMMANDS; c++)
        bash_values(c);
    (void)puts("    *)\n        case \"$command\" in");
    for (int c = 0; c < N_COMMANDS; c++) {
        (void)printf("        %s) words='", commands[c].name);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (has(&options[i], c))
                (void)printf("--%s ", options[i].name);
        (void)puts("' ;;");
    }
    (void)fputs(
        "        esac\n        if [ \"$command\" = explain ]; then words=\"$words",
        stdout);
    (void)putchar(' ');
    put_explained();
    (void)puts(
        "\"; else files=yes; fi ;;\n    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "    if [ \"$files\" ]; then\n"
        "        case \"$cur\" in -*) ;; *) COMPREPLY+=($(compgen -f -- \"$cur\")) ;; "
        "esac\n    fi\n}\ncomplete -o filenames -F _insula insula");
}

/* ---- zsh ---- */

static void zsh_option(const struct option *o)
{
    if (o->letter)
        (void)printf("      '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name,
                     o->letter, o->argument ? "+" : "", o->name,
                     o->argument ? "=" : "");
    else
        (void)printf("      '--%s%s[", o->name, o->argument ? "=" : "");
    /* Brackets end the description, quotes the word. */
    for (const char *h = o->help; *h; h++)
        if (*h == '\'')
            (void)fputs("'\\''", stdout);
        else if (*h == '[' || *h == ']' || *h == ':')
            (void)printf("\\%c", *h);
        else
            (void)putchar(*h);
    (void)putchar(']');
    if (o->argument) {
        (void)printf(":%s:", o->argument);
        if (has_words(o)) {
            (void)putchar('(');
            (void)put_words(o);
            (void)putchar(')');
        } else if (takes_file(o)) {
            (void)fputs("_files", stdout);
        }
    }
    (void)puts("' \\");
}

static void zsh(void)
{
    (void)puts("#compdef insula\n# zsh completion for insula\n_insula() {\n"
               "  local -a commands\n  commands=(");
    for (int c = 0; c < N_COMMANDS; c++) {
        (void)printf("    '%s:", commands[c].name);
        put_escaped(commands[c].summary, ":");
        (void)puts("'");
    }
    (void)puts(
        "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n"
        "    _arguments '--help[show help]' '--version[print the version]'\n"
        "    return\n  fi\n  shift words\n  (( CURRENT-- ))\n  case $words[1] in");
    for (int c = 0; c < N_COMMANDS; c++) {
        (void)printf("  %s)\n    _arguments -s \\\n", commands[c].name);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (has(&options[i], c))
                zsh_option(&options[i]);
        if (!strcmp(commands[c].name, "explain")) {
            (void)fputs("      '1:level or anomaly:(", stdout);
            put_explained();
            (void)puts(")' ;;");
        } else {
            (void)puts(*commands[c].arguments ? "      '*:file:_files' ;;"
                                              : "      && : ;;");
        }
    }
    (void)puts("  esac\n}\n_insula \"$@\"");
}

/* ---- fish ---- */

static void fish_quoted(const char *text)
{
    (void)putchar('\'');
    put_escaped(text, "'\\");
    (void)putchar('\'');
}

static void fish(void)
{
    (void)puts(
        "# fish completion for insula\ncomplete -c insula -n __fish_use_subcommand "
        "-l help -d 'show help'\ncomplete -c insula -n __fish_use_subcommand -l "
        "version -d 'print the version'");
    for (int c = 0; c < N_COMMANDS; c++) {
        (void)printf("complete -c insula -n __fish_use_subcommand -f -a %s -d ",
                     commands[c].name);
        fish_quoted(commands[c].summary);
        (void)putchar('\n');
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            const struct option *o = &options[i];
            if (!has(o, c))
                continue;
            (void)printf("complete -c insula -n '__fish_seen_subcommand_from %s' -l %s",
                         commands[c].name, o->name);
            if (o->letter)
                (void)printf(" -s %c", o->letter);
            if (has_words(o)) {
                (void)fputs(" -x -a '", stdout);
                (void)put_words(o);
                (void)putchar('\'');
            } else if (o->argument) {
                (void)fputs(takes_file(o) ? " -r -F" : " -x", stdout);
            }
            (void)fputs(" -d ", stdout);
            fish_quoted(o->help);
            (void)putchar('\n');
        }
    }
    (void)fputs("complete -c insula -n '__fish_seen_subcommand_from explain' -f -a '",
                stdout);
    put_explained();
    (void)puts("'");
}

int main(int argc, char **argv)
{
    const char *shell = argc == 2 ? argv[1] : "";
    if (!strcmp(shell, "bash"))
        bash();
    else if (!strcmp(shell, "zsh"))
        zsh();
    else if (!strcmp(shell, "fish"))
        fish();
    else
        return 3;
    return ferror(stdout) ? 3 : 0;
}

#include "options.h"

#include "help.h"
#include "insula.h"
#include "suggest.h"
#include "table.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <sys/random.h>

const struct command_row command_table[N_COMMANDS] = {
#define COMMAND(name, arguments, least, most, summary, examples) \
    {#name, arguments, least, most, summary, examples, cmd_##name},
#include "commands.def"
#undef COMMAND
};

const struct option_row option_table[N_OPTIONS] = {
#define OPTION(id, name, letter, kind, argument, standard, range, commands, help) \
    {name, letter, kind, argument, standard, range, commands, help},
#include "options.def"
#undef OPTION
};

int complain(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)fputs("insula: ", stderr);
    (void)vfprintf(stderr, fmt, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return EXIT_USAGE;
}

/* Refuse `word`, which should have been a `what`. */
static bool unknown(const char *what, const char *word, const struct suggestion *s)
{
    if (s->best)
        (void)complain("unknown %s '%s', did you mean '%s'?", what, word, s->best);
    else
        (void)complain("unknown %s '%s'", what, word);
    return false;
}

/* ---- numbers ---- */

/* A number with an optional K, M, G or T when sizes are read; NULL end on failure. */
static double number_at(const char *text, enum option_kind kind, const char **end)
{
    char *stop;
    errno = 0;
    const double x = strtod(text, &stop);
    *end = stop == text || errno || !isfinite(x) ? NULL : stop;
    if (!*end || kind != SIZE || !*stop)
        return x;
    static const char units[] = "KMGT";
    const char *unit = strchr(units, toupper((unsigned char)*stop));
    if (!unit)
        return x;
    stop++;
    if (*stop == 'i' || *stop == 'I')
        stop++;
    if (*stop == 'b' || *stop == 'B')
        stop++;
    *end = stop;
    return x * (double)(1ull << 10 * (unit - units + 1));
}

static bool in_range(double x, const char *range, enum option_kind kind)
{
    const char *end;
    if (x < number_at(range, kind, &end))
        return false;
    /* Not from `end`: of "1..9" the first dot is read as part of the number. */
    const char *most = strstr(range, "..") + 2;
    return !*most || x <= number_at(most, kind, &end);
}

/* From 2^53 on every double is whole. */
static bool is_whole(double x)
{
    return fabs(x) >= 0x1p53 || x == (double)(int64_t)x;
}

static bool read_number(const struct option_row *row, const char *text, double *out)
{
    const char *end;
    const double x = number_at(text, row->kind, &end);
    const char *what = row->kind == WHOLE  ? "a whole number"
                       : row->kind == SIZE ? "a size such as 500M or 4G"
                                           : "a number";
    if (!end || *end || isspace((unsigned char)*text) ||
        (row->kind == WHOLE && !is_whole(x))) {
        (void)complain("--%s takes %s, not '%s'", row->name, what, text);
        return false;
    }
    if (row->range && !in_range(x, row->range, row->kind)) {
        (void)complain("--%s %s is out of range, expected %s", row->name, text,
                       row->range);
        return false;
    }
    *out = x;
    return true;
}

/* ---- names ---- */

static bool is_choice(const char *choices, const char *text, struct suggestion *s,
                      char *copy)
{
    /* `copy` keeps the words apart, so that one of them can be suggested. */
    char *word = copy;
    for (const char *c = choices;; c++) {
        *copy++ = (char)(*c == '|' ? '\0' : *c);
        if (*c && *c != '|')
            continue;
        if (!strcmp(word, text))
            return true;
        suggest_candidate(s, word);
        if (!*c)
            return false;
        word = copy;
    }
}

static bool check_choice(const struct option_row *row, const char *text)
{
    char copy[256];
    struct suggestion s;
    suggest_start(&s, text);
    if (is_choice(row->range, text, &s, copy))
        return true;
    if (s.best)
        (void)complain("--%s takes %s, not '%s', did you mean '%s'?", row->name,
                       row->range, text, s.best);
    else
        (void)complain("--%s takes %s, not '%s'", row->name, row->range, text);
    return false;
}

static bool check_level(const char *word)
{
    struct suggestion s;
    suggest_start(&s, word);
    if (insula_level_id(word))
        return true;
    const char *name;
    for (unsigned i = 0; insula_level(i, &name); i++) {
        suggest_candidate(&s, insula_level(i, NULL));
        suggest_candidate(&s, name);
    }
    return unknown("level", word, &s);
}

static bool check_levels(const char *text)
{
    char word[64];
    do {
        const size_t n = strcspn(text, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (strcmp(word, "all") != 0 && !check_level(word))
            return false;
        text += n;
    } while (*text++);
    return true;
}

/* A second -l adds to the first. */
static bool add_levels(struct options *o, const char *text)
{
    const size_t used = strlen(o->levels);
    const int n = snprintf(o->levels + used, sizeof o->levels - used, "%s%s",
                           used ? "," : "", text);
    if (n < 0 || (size_t)n >= sizeof o->levels - used)
        return complain("too many levels"), false;
    return true;
}

static bool check_format(const char *word)
{
    char known[256] = "";
    size_t used = 0;
    const char *id;
    struct suggestion s;
    suggest_start(&s, word);
    for (unsigned i = 0; (id = insula_format(i, NULL)); i++) {
        if (!strcmp(id, word))
            return true;
        suggest_candidate(&s, id);
        const int n =
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", id);
        used += n > 0 && (size_t)n < sizeof known - used ? (size_t)n : 0;
    }
    if (s.best)
        (void)complain("unknown format '%s', did you mean '%s'? (%s)", word, s.best,
                       known);
    else
        (void)complain("unknown format '%s', expected one of %s", word, known);
    return false;
}

static bool take_value(struct options *o, enum option_id id, const char *text)
{
    const struct option_row *row = &option_table[id];
    o->text[id] = text;
    switch (row->kind) {
    case FLAG:
    case TEXT:
    case OUTPUT:
        return true;
    case MANY:
        if (o->given[id] > MOST_TIMES)
            return complain("--%s at most %d times", row->name, MOST_TIMES), false;
        o->list[id][o->given[id] - 1] = text;
        return true;
    case WHOLE:
    case REAL:
    case SIZE:
        return read_number(row, text, &o->number[id]);
    case CHOICE:
        return check_choice(row, text);
    case LEVEL:
        return check_level(text);
    case LEVELS:
        o->text[id] = o->levels;
        return check_levels(text) && add_levels(o, text);
    case FORMAT:
        return check_format(text);
    }
    return false;
}

/* ---- the line ---- */

/* What getopt_long wants, made from the rows of one command. */
struct getopt_tables {
    struct option longs[N_OPTIONS + 1];
    char shorts[2 * N_OPTIONS + 3];
};

static void make_tables(struct getopt_tables *g, enum command_id command)
{
    memset(g, 0, sizeof *g);
    size_t n = 0, s = 0;
    g->shorts[s++] = ':';
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option_row *row = &option_table[i];
        if (!(row->commands & 1u << command))
            continue;
        const int has = row->kind == FLAG ? no_argument : required_argument;
        g->longs[n++] = (struct option){row->name, has, NULL, 256 + i};
        if (row->letter) {
            g->shorts[s++] = row->letter;
            if (has == required_argument)
                g->shorts[s++] = ':';
        }
    }
}

static int by_letter(int letter, enum command_id command)
{
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].letter == letter &&
            (option_table[i].commands & 1u << command))
            return i;
    return N_OPTIONS;
}

static bool is_prefix(const char *prefix, const char *word)
{
    while (*prefix && *prefix == *word) {
        prefix++;
        word++;
    }
    return !*prefix;
}

/* getopt met something it does not know, or that lacks its argument. */
static bool refuse(const struct options *o, int got, int optopt_now, const char *word)
{
    const char *command = command_table[o->command].name;
    if (got == ':')
        return complain("%s needs an argument, see 'insula %s --help'", word, command),
               false;
    if (optopt_now >= 256)
        return complain("--%s takes no argument", option_table[optopt_now - 256].name),
               false;
    if (optopt_now)
        return complain("unknown option '-%c', see 'insula %s --help'", optopt_now,
                        command),
               false;
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    struct suggestion s;
    suggest_start(&s, name + 2);
    unsigned matches = 0;
    for (int i = 0; i < N_OPTIONS; i++)
        if (option_table[i].commands & 1u << o->command) {
            suggest_candidate(&s, option_table[i].name);
            matches += is_prefix(name + 2, option_table[i].name);
        }
    if (matches > 1)
        (void)complain("option '%s' could be several, see 'insula %s --help'", name,
                       command);
    else if (s.best)
        (void)complain("unknown option '%s', did you mean '--%s'?", name, s.best);
    else
        (void)complain("unknown option '%s', see 'insula %s --help'", name, command);
    return false;
}

static bool read_options(struct options *o, int argc, char **argv)
{
    struct getopt_tables g;
    make_tables(&g, o->command);
    opterr = 0;
    optind = 1;
    for (;;) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread is started */
        const int got = getopt_long(argc, argv, g.shorts, g.longs, NULL);
        if (got < 0)
            break;
        if (got == '?' || got == ':')
            return refuse(o, got, optopt, argv[optind - 1]);
        const int id = got >= 256 ? got - 256 : by_letter(got, o->command);
        o->given[id]++;
        if (!take_value(o, (enum option_id)id, optarg))
            return false;
    }
    o->arg = argv + optind;
    o->n_args = argc - optind;
    return true;
}

static void set_defaults(struct options *o)
{
    for (int i = 0; i < N_OPTIONS; i++) {
        const struct option_row *row = &option_table[i];
        if (o->given[i] || !row->standard)
            continue;
        o->text[i] = row->standard;
        if (row->kind == WHOLE || row->kind == REAL || row->kind == SIZE) {
            const char *end;
            o->number[i] = number_at(row->standard, row->kind, &end);
        }
    }
}

static bool check_count(const struct options *o)
{
    const struct command_row *c = &command_table[o->command];
    if (o->n_args < c->least) {
        (void)complain("missing argument, expected: insula %s %s", c->name,
                       c->arguments);
        return false;
    }
    if (c->most >= 0 && o->n_args > c->most) {
        (void)complain("unexpected argument '%s', expected: insula %s%s%s",
                       o->arg[c->most], c->name, *c->arguments ? " " : "",
                       c->arguments);
        return false;
    }
    return true;
}

static bool find_command(struct options *o, const char *word)
{
    struct suggestion s;
    suggest_start(&s, word);
    for (int i = 0; i < N_COMMANDS; i++) {
        o->command = (enum command_id)i;
        if (!strcmp(command_table[i].name, word))
            return true;
        suggest_candidate(&s, command_table[i].name);
    }
    if (!s.best) {
        (void)complain("unknown command '%s', see 'insula --help'", word);
        return false;
    }
    return unknown("command", word, &s);
}

bool options_read(struct options *o, int argc, char **argv, int *status)
{
    memset(o, 0, sizeof *o);
    *status = EXIT_USAGE;
    if (argc < 2) {
        help_overview(stderr);
        return false;
    }
    const char *first = argv[1];
    if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
        (void)printf("insula %s\n", INSULA_VERSION);
        *status = EXIT_PASS;
        return false;
    }
    const bool help = !strcmp(first, "help");
    if (!strcmp(first, "--help") || !strcmp(first, "-h") || (help && argc == 2)) {
        help_overview(stdout);
        *status = EXIT_PASS;
        return false;
    }
    if (help)
        first = argv[2];
    if (*first == '-') {
        (void)complain("expected a command before '%s', see 'insula --help'", first);
        return false;
    }
    if (!find_command(o, first) || (!help && !read_options(o, argc - 1, argv + 1)))
        return false;
    if (help || opt_given(o, OPT_help)) {
        help_command(o->command, stdout);
        *status = EXIT_PASS;
        return false;
    }
    set_defaults(o);
    return check_count(o);
}

int options_run(const struct options *o)
{
    return command_table[o->command].run(o);
}

uint64_t opt_seed(const struct options *o)
{
    if (opt_given(o, OPT_seed))
        return (uint64_t)o->number[OPT_seed];
    uint32_t seed = 1;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = 1;
    if (!opt_given(o, OPT_quiet))
        (void)fprintf(stderr, "insula: seed %" PRIu32 "\n", seed);
    return seed;
}

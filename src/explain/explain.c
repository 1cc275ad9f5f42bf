#include "texts.h"

#include "explain/story.h"
#include "explain/wrap.h"

/* The same content twice: for a terminal, and as docs/levels.md. */

struct pen {
    struct ins_buf *b;
    unsigned width;
    bool color;
};

static void heading(const struct pen *p, const char *name, const char *title)
{
    ins_buf_fmt(p->b, "%s%s%s: %s\n", p->color ? "\033[1m" : "", name,
                p->color ? "\033[0m" : "", title);
}

static void paragraph(const struct pen *p, const char *label, const char *text)
{
    ins_buf_char(p->b, '\n');
    if (label)
        ins_buf_fmt(p->b, "%s%s%s\n", p->color ? "\033[1m" : "", label,
                    p->color ? "\033[0m" : "");
    const unsigned indent = label ? 2 : 0;
    ins_blanks(p->b, indent);
    ins_wrap(p->b, text, strlen(text), indent, indent, p->width);
    ins_buf_char(p->b, '\n');
}

static void say_levels_against(struct ins_buf *b, enum ins_kind kind,
                               enum ins_suffix suffix, bool forbidden)
{
    bool first = true;
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all) {
        if (ins_level_forbids(l, kind, suffix) != forbidden)
            continue;
        ins_buf_fmt(b, "%s%s", first ? "" : ", ", ins_level_table[l].id);
        first = false;
    }
    if (first)
        ins_buf_text(b, "none");
}

static void against(const struct pen *p, enum ins_kind kind, enum ins_suffix suffix)
{
    struct ins_buf line = {0};
    say_levels_against(&line, kind, suffix, true);
    ins_buf_text(&line, "; permitted by: ");
    say_levels_against(&line, kind, suffix, false);
    ins_buf_char(&line, 0);
    if (!line.failed)
        paragraph(p, "Forbidden by", line.at);
    ins_buf_end(p->b, &line);
}

static void example(const struct pen *p, const char *label, const struct ins_example *e)
{
    if (!e->n_txns)
        return;
    paragraph(p, label, e->comment);
    ins_buf_char(p->b, '\n');
    ins_example_draw(p->b, e, 4);
}

static const struct ins_example *example_of(enum ins_kind kind, enum ins_suffix suffix)
{
    if (suffix == INS_PREDICATE && kind == INS_G2_ITEM)
        return &ins_phantom_example;
    return suffix == INS_REALTIME ? &ins_stale_example : &ins_kind_texts[kind].example;
}

static void explain_kind(const struct pen *p, enum ins_kind kind,
                         enum ins_suffix suffix)
{
    const struct ins_kind_text *t = &ins_kind_texts[kind];
    char name[64];
    ins_anomaly_name(kind, suffix, name, sizeof name);
    struct ins_buf title = {0};
    ins_say_title(&title, kind, suffix);
    ins_buf_char(&title, 0);
    heading(p, name, title.failed ? t->title : title.at);
    ins_buf_end(p->b, &title);
    paragraph(p, NULL, t->meaning);
    paragraph(p, "Definition", t->definition);
    if (ins_suffix_texts[suffix])
        paragraph(p, NULL, ins_suffix_texts[suffix]);
    if (kind == INS_G_SINGLE && suffix == INS_REALTIME)
        paragraph(p, NULL, ins_lost_text);
    example(p, "Example", example_of(kind, suffix));
    against(p, kind, suffix);
    if (ins_suffix_order(suffix) != INS_REALTIME)
        paragraph(p, "Databases that permit it", t->databases);
    paragraph(p, "References", t->references);
}

static const struct ins_example *level_forbids(enum ins_level level)
{
    return ins_model_of(level).real_time
               ? &ins_stale_example
               : &ins_kind_texts[ins_level_text(level)->forbids].example;
}

/* What a level permits; where that is all but real time, a stale read. */
static const struct ins_example *level_permits(enum ins_level level)
{
    const int permits = ins_level_text(level)->permits;
    if (permits < 0)
        return ins_model_of(level).real_time ? NULL : &ins_stale_example;
    return &ins_kind_texts[permits].example;
}

static void say_example_name(struct ins_buf *b, const char *label,
                             const struct ins_example *e)
{
    ins_buf_text(b, label);
    for (int k = 0; k < INS_N_KINDS; k++)
        if (e == &ins_kind_texts[k].example)
            ins_buf_fmt(b, " (%s)", ins_kind_table[k].name);
    if (e == &ins_stale_example)
        ins_buf_text(b, " (G-single-realtime)");
}

static void level_example(const struct pen *p, const char *label,
                          const struct ins_example *e)
{
    struct ins_buf line = {0};
    say_example_name(&line, label, e);
    ins_buf_char(&line, 0);
    if (!line.failed)
        example(p, line.at, e);
    ins_buf_end(p->b, &line);
}

/* "psi, pc": what follows from the level at once, of what can be checked. */
static void say_implied(struct ins_buf *b, enum ins_level level)
{
    const ins_levels below = ins_level_below(level) & ~INS_LEVEL_BIT(level);
    const ins_levels next = ins_levels_maximal(below & ins_levels_decided());
    INS_EACH_LEVEL(l, next)
        ins_buf_fmt(b, "%s%s", ins_level_table[l].id, next >> l >> 1 ? ", " : "");
    if (!next)
        ins_buf_text(b, "none");
}

/* "tcc, causal"; nothing without. */
static void say_aliases(struct ins_buf *b, enum ins_level level)
{
    const struct ins_level_info *info = &ins_level_table[level];
    const char *words = ins_base_table[info->base].aliases[info->variant];
    while (words && *words) {
        const size_t n = strcspn(words, " ");
        ins_buf_bytes(b, words, n);
        words += n + (words[n] == ' ');
        ins_buf_text(b, *words ? ", " : "");
    }
}

static void said(const struct pen *p, const char *label, enum ins_level level,
                 void (*say)(struct ins_buf *b, enum ins_level level))
{
    struct ins_buf text = {0};
    say(&text, level);
    const bool some = text.len > 0;
    ins_buf_char(&text, 0);
    if (some && !text.failed)
        paragraph(p, label, text.at);
    ins_buf_end(p->b, &text);
}

static void explain_level(const struct pen *p, enum ins_level level)
{
    const struct ins_level_text *t = ins_level_text(level);
    heading(p, ins_level_table[level].id, ins_level_table[level].name);
    paragraph(p, NULL, t->meaning);
    if (ins_variant_text(level))
        paragraph(p, NULL, ins_variant_text(level));
    paragraph(p, "Definition", t->definition);
    said(p, "Implies", level, say_implied);
    said(p, "Other names", level, say_aliases);
    level_example(p, "It forbids", level_forbids(level));
    if (level_permits(level))
        level_example(p, "It permits", level_permits(level));
    paragraph(p, "Databases", t->databases);
    paragraph(p, "References", t->references);
}

/* Every level that can be checked, a line each. */
static void explain_levels(const struct pen *p)
{
    const ins_levels all = ins_levels_decided();
    const ins_levels standard = ins_levels_default();
    heading(p, "levels", "weak ones first; * is checked unless levels are named");
    ins_buf_char(p->b, '\n');
    INS_EACH_LEVEL(l, all) {
        ins_buf_fmt(p->b, "%c %-10s ", ins_levels_has(standard, l) ? '*' : ' ',
                    ins_level_table[l].id);
        struct ins_buf text = {0};
        ins_buf_fmt(&text, "%s; implies ", ins_level_table[l].name);
        say_implied(&text, l);
        const size_t len = text.len;
        ins_buf_text(&text, "; also called ");
        const size_t named = text.len;
        say_aliases(&text, l);
        ins_wrap(p->b, text.at, text.len > named ? text.len : len, 13, 13, p->width);
        ins_buf_end(p->b, &text);
        ins_buf_char(p->b, '\n');
    }
}

/* Every anomaly, one a line. */
static void explain_kinds(const struct pen *p)
{
    enum { TITLE_AT = 24 };
    heading(p, "anomalies", "what reports name, and `insula explain NAME` tells");
    ins_buf_char(p->b, '\n');
    for (int k = 0; k < INS_N_KINDS; k++) {
        const char *const name = ins_kind_table[k].name;
        const char *const title = ins_kind_texts[k].title;
        const unsigned len = (unsigned)strlen(name);
        ins_blanks(p->b, 2);
        ins_buf_text(p->b, name);
        ins_blanks(p->b, len + 2 < TITLE_AT ? TITLE_AT - len - 2 : 2);
        ins_wrap(p->b, title, strlen(title), TITLE_AT, TITLE_AT, p->width);
        ins_buf_char(p->b, '\n');
    }
}

bool ins_explain_text(struct ins_buf *b, const char *name, unsigned width, bool color)
{
    const struct pen p = {b, width < 40 ? 40 : width > 88 ? 88 : width, color};
    if (!name) {
        explain_levels(&p);
        ins_buf_char(b, '\n');
        explain_kinds(&p);
        return true;
    }
    const enum ins_level level = ins_level_find(name, strlen(name));
    enum ins_kind kind = INS_N_KINDS;
    enum ins_suffix suffix = INS_PLAIN;
    if (!strcmp(name, "levels"))
        explain_levels(&p);
    else if (level != INS_N_LEVELS)
        explain_level(&p, level);
    else if (ins_kind_find(name, &kind, &suffix))
        explain_kind(&p, kind, suffix);
    else
        return false;
    return true;
}

/* ---- Markdown ---- */

static void md_example(struct ins_buf *b, const char *label,
                       const struct ins_example *e)
{
    if (!e || !e->n_txns)
        return;
    say_example_name(b, label, e);
    ins_buf_fmt(b, ": %s\n\n```\n", e->comment);
    ins_example_draw(b, e, 0);
    ins_buf_text(b, "```\n\n");
}

static void md_level(struct ins_buf *b, enum ins_level level)
{
    const struct ins_level_text *t = ins_level_text(level);
    ins_buf_fmt(b, "### `%s`: %s\n\n", ins_level_table[level].id,
                ins_level_table[level].name);
    ins_buf_fmt(b, "%s\n\n**Definition.** %s\n\n", t->meaning, t->definition);
    ins_buf_text(b, "**Implies** ");
    say_implied(b, level);
    struct ins_buf names = {0};
    say_aliases(&names, level);
    if (names.len)
        ins_buf_fmt(b, ". **Other names:** %.*s", (int)names.len, names.at);
    ins_buf_end(b, &names);
    ins_buf_text(b, ".\n\n");
    md_example(b, "It forbids", level_forbids(level));
    md_example(b, "It permits", level_permits(level));
    ins_buf_fmt(b, "**Databases.** %s\n\n**References.** %s.\n\n", t->databases,
                t->references);
}

/* The variants that have no text of their own, each with what it changes. */
static void md_variants(struct ins_buf *b)
{
    for (int v = 0; v < INS_N_VARIANTS; v++) {
        const ins_levels all =
            ins_levels_of(UINT32_MAX, 1u << v) & ins_levels_decided();
        ins_levels described = 0;
        INS_EACH_LEVEL(l, all)
            described |= ins_variant_text(l) ? INS_LEVEL_BIT(l) : 0;
        if (!described)
            continue;
        ins_buf_text(b, v == INS_FREE_SESSIONS ? "### Without sessions: "
                                               : "### With real time: ");
        INS_EACH_LEVEL(l, described)
            ins_buf_fmt(b, "`%s`%s", ins_level_table[l].id,
                        described >> l >> 1 ? ", " : "");
        const enum ins_level first = ins_levels_from(described, (enum ins_level)0);
        ins_buf_fmt(b, "\n\n%s\n\n", ins_variant_text(first));
        INS_EACH_LEVEL(l, described) {
            struct ins_buf names = {0};
            say_aliases(&names, l);
            if (names.len)
                ins_buf_fmt(b, "- `%s` is also called %.*s.\n", ins_level_table[l].id,
                            (int)names.len, names.at);
            ins_buf_end(b, &names);
        }
        ins_buf_char(b, '\n');
    }
}

static void md_kind(struct ins_buf *b, enum ins_kind kind)
{
    const struct ins_kind_text *t = &ins_kind_texts[kind];
    ins_buf_fmt(b, "### %s", ins_kind_table[kind].name);
    if (ins_kind_table[kind].letter)
        ins_buf_fmt(b, " (%c)", ins_kind_table[kind].letter);
    ins_buf_fmt(b, ": %s\n\n%s\n\n**Definition.** %s\n\n", t->title, t->meaning,
                t->definition);
    if (t->example.n_txns) {
        ins_buf_fmt(b, "**Example:** %s\n\n```\n", t->example.comment);
        ins_example_draw(b, &t->example, 0);
        ins_buf_text(b, "```\n\n");
    }
    ins_buf_text(b, "**Forbidden by** ");
    say_levels_against(b, kind, INS_PLAIN, true);
    ins_buf_text(b, "; **permitted by** ");
    say_levels_against(b, kind, INS_PLAIN, false);
    ins_buf_fmt(b, ". **Databases that permit it:** %s\n\n**References.** %s.\n\n",
                t->databases, t->references);
}

static void md_table(struct ins_buf *b)
{
    const ins_levels all = ins_levels_default();
    ins_buf_text(b, "| anomaly |");
    INS_EACH_LEVEL(l, all)
        ins_buf_fmt(b, " %s |", ins_level_table[l].id);
    ins_buf_text(b, "\n|---|");
    INS_EACH_LEVEL(l, all)
        ins_buf_text(b, "---|");
    for (int k = 0; k < INS_N_KINDS; k++) {
        ins_buf_fmt(b, "\n| %s |", ins_kind_table[k].name);
        INS_EACH_LEVEL(l, all) {
            const bool no = ins_level_forbids(l, (enum ins_kind)k, INS_PLAIN);
            ins_buf_text(b, no ? " forbids |" : " |");
        }
    }
    ins_buf_text(b, "\n\n");
}

void ins_explain_markdown(struct ins_buf *b)
{
    ins_buf_text(
        b,
        "# Levels and anomalies\n\n"
        "This page is made from the texts of `insula explain`; edit those, then run\n"
        "`make update-docs`.\n\n"
        "Histories are drawn with one line a client and time from left to right. "
        "Every register\nstarts as 0 and every list empty.\n\n## Levels\n\n");
    /* rr is a default where there are queries */
    const ins_levels all = ins_levels_default() | INS_LEVEL_BIT(INS_RR);
    INS_EACH_LEVEL(l, all)
        md_level(b, l);
    md_variants(b);
    ins_buf_text(b, "## Anomalies\n\n");
    md_table(b);
    for (int k = 0; k < INS_N_KINDS; k++)
        md_kind(b, (enum ins_kind)k);
    ins_buf_text(b, "### Suffixes\n\n");
    for (int s = 0; s < INS_N_SUFFIXES; s++)
        if (ins_suffix_texts[s])
            ins_buf_fmt(b, "- %s\n", ins_suffix_texts[s]);
    ins_buf_text(b, "\n### Lost commits and session guarantees\n\n");
    ins_buf_fmt(b, "%s\n\n", ins_lost_text);
    ins_buf_text(b, "Where a session guarantee is what broke, the story says so.\n\n");
    for (int g = INS_READ_YOUR_WRITES; g <= INS_WRITES_FOLLOW_READS; g++)
        ins_buf_fmt(b, "- %s: %s.\n", ins_guarantee_name((enum ins_guarantee)g),
                    ins_guarantee_meaning((enum ins_guarantee)g));
    ins_buf_fmt(b, "\n### What is counted\n\n%s\n", ins_count_text);
}

#include "texts.h"

#include "explain/story.h"

#include "explain/wrap.h"

#include <ctype.h>

/* ---- looking up ---- */

bool ins_level_forbids(enum ins_level level, enum ins_kind kind, enum ins_suffix suffix)
{
    return (ins_level_below(level) & ins_kind_breaks(kind, suffix)) != 0;
}

/* psi and pc imply neither the other, and what breaks one may break both: a cycle of at
 * most one RW, each edge of which is certain without any level, breaks psi, and pc too
 * unless that RW follows a WW that is no WR. */
static uint32_t broken_beside(const struct ins_anomaly *a)
{
    bool after_ww = false;
    uint32_t rw = 0;
    for (uint32_t i = 0; i < a->n_edges; i++)
        if (a->edge[i].rule > INS_WHY_ANTI)
            return 0;
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        const struct ins_edge *const before = &a->edge[i ? i - 1 : a->n_cycle - 1];
        rw += a->edge[i].type == INS_RW;
        after_ww |= a->edge[i].type == INS_RW && before->type == INS_WW &&
                    before->rule != INS_WHY_UPDATE;
    }
    return !a->n_cycle || rw > 1 ? 0 : INS_BASE(PSI) | (after_ww ? 0 : INS_BASE(PC));
}

bool ins_level_forbids_this(enum ins_level level, const struct ins_anomaly *a)
{
    if (ins_level_implies(level, a->breaks))
        return true;
    if (a->n_branches || !ins_model_of(a->breaks).versions)
        return false;
    const ins_levels beside =
        ins_levels_of(broken_beside(a), 1u << ins_level_table[a->breaks].variant);
    INS_EACH_LEVEL(l, beside)
        if (ins_level_implies(level, l))
            return true;
    return false;
}

void ins_say_title(struct ins_buf *b, enum ins_kind kind, enum ins_suffix suffix)
{
    static const char *const tail[INS_N_ORDERS] = {"", ", against session order",
                                                   ", against real time"};
    ins_buf_fmt(b, "%s%s%s", ins_suffix_is_predicate(suffix) ? "phantom: " : "",
                ins_kind_texts[kind].title, tail[ins_suffix_order(suffix)]);
}

void ins_say_heading(struct ins_buf *b, const struct ins_anomaly *a)
{
    struct ins_dispute d;
    const char *own = a->lost ? "lost commit"
                      : ins_dispute_of(a, &d)
                          ? "readers disagree about the order of two "
                            "writes"
                          : NULL;
    if (own)
        ins_buf_fmt(b, "%s (", own);
    ins_say_title(b, a->kind, a->suffix);
    ins_buf_text(b, own ? ")" : "");
}

/* The next letter that counts, lower case; 0 at the end. */
static int next_letter(const char **s)
{
    while (**s && strchr("-_ ", **s))
        (*s)++;
    return **s ? tolower((unsigned char)*(*s)++) : 0;
}

/* Equal but for letter case and separators? */
static bool same_name(const char *a, const char *b)
{
    int x = next_letter(&a);
    while (x == next_letter(&b)) {
        if (!x)
            return true;
        x = next_letter(&a);
    }
    return false;
}

/* Names that other tools and books use. */
static const struct {
    const char *name;
    enum ins_kind kind;
    enum ins_suffix suffix;
} other_names[] = {
    {"lost commit", INS_G_SINGLE, INS_REALTIME},
    {"stale read", INS_G_SINGLE, INS_REALTIME},
    {"G1a", INS_ABORTED_READ, INS_PLAIN},
    {"G1b", INS_INTERMEDIATE_READ, INS_PLAIN},
    {"dirty read", INS_ABORTED_READ, INS_PLAIN},
    {"dirty write", INS_G0, INS_PLAIN},
    {"read skew", INS_G_SINGLE, INS_PLAIN},
    {"write skew", INS_G2_ITEM, INS_PLAIN},
    {"G2", INS_G2_ITEM, INS_PLAIN},
    {"fractured read", INS_FRACTURED_READ_CO, INS_PLAIN},
    {"P2", INS_NON_REPEATABLE_READ, INS_PLAIN},
    {"P4", INS_LOST_UPDATE, INS_PLAIN},
    {"A5A", INS_G_SINGLE, INS_PLAIN},
    {"A5B", INS_G2_ITEM, INS_PLAIN},
    {"internal", INS_NOT_MY_OWN_WRITE, INS_PLAIN},
    {"phantom", INS_G2_ITEM, INS_PREDICATE},
    {"P3", INS_G2_ITEM, INS_PREDICATE},
    {"phantom write skew", INS_G2_ITEM, INS_PREDICATE},
    {"G2-predicate", INS_G2_ITEM, INS_PREDICATE},
    {"causality violation", INS_CO_CONFLICT_CM, INS_PLAIN},
};

bool ins_kind_find(const char *name, enum ins_kind *kind, enum ins_suffix *suffix)
{
    char full[64];
    for (int k = 0; k < INS_N_KINDS; k++)
        for (int s = 0; s < INS_N_SUFFIXES; s++) {
            ins_anomaly_name((enum ins_kind)k, (enum ins_suffix)s, full, sizeof full);
            const char letter[] = {ins_kind_table[k].letter, 0};
            const bool by_letter = s == INS_PLAIN && letter[0] && !strcmp(letter, name);
            const bool of_cycles = ins_kind_table[k].order == INS_N_VARIANTS;
            if ((!same_name(full, name) && !by_letter) ||
                (!of_cycles && ins_suffix_is_predicate((enum ins_suffix)s)))
                continue;
            *kind = (enum ins_kind)k;
            *suffix = (enum ins_suffix)s;
            return true;
        }
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (same_name(other_names[i].name, name)) {
            *kind = other_names[i].kind;
            *suffix = other_names[i].suffix;
            return true;
        }
    return false;
}

/* ---- drawing an example ---- */

enum { MOST_COLUMNS = 8 };

static unsigned box_width(const struct ins_example *e, uint32_t i)
{
    /* "t1: ", the operations two blanks apart, and the ends of the box. */
    unsigned n = 4 + 4;
    for (const char *c = e->txn[i].ops; *c; c++)
        n += *c == ' ' ? 2 : 1;
    return n + (e->txn[i].status == 'a' ? 9 : 0);
}

static void draw_box(struct ins_buf *b, const struct ins_example *e, uint32_t i)
{
    ins_buf_fmt(b, "├ t%u: ", i + 1);
    for (const char *c = e->txn[i].ops; *c; c++) {
        if (*c == ' ')
            ins_buf_char(b, ' ');
        ins_buf_char(b, *c);
    }
    ins_buf_text(b, e->txn[i].status == 'a' ? "  aborts ┤" : " ┤");
}

void ins_example_draw(struct ins_buf *b, const struct ins_example *e, unsigned indent)
{
    unsigned width[MOST_COLUMNS + 1] = {0};
    unsigned sessions = 0;
    for (uint32_t i = 0; i < e->n_txns; i++) {
        const unsigned c = e->txn[i].column;
        const unsigned w = box_width(e, i) + 2;
        if (w > width[c])
            width[c] = w;
        if (e->txn[i].session > sessions)
            sessions = e->txn[i].session;
    }
    for (unsigned s = 1; s <= sessions; s++) {
        ins_blanks(b, indent);
        ins_buf_fmt(b, "client %u  ", s);
        unsigned pending = 0;
        unsigned column = 1;
        for (uint32_t i = 0; i < e->n_txns; i++) {
            if (e->txn[i].session != s)
                continue;
            for (; column < e->txn[i].column; column++)
                pending += width[column];
            ins_blanks(b, pending);
            draw_box(b, e, i);
            pending = width[column] - box_width(e, i);
            column++;
        }
        ins_buf_char(b, '\n');
    }
}

/* Every pair of formats over random histories: what the target can express comes back
 * equal, what it cannot is refused with the reason and can still be had lossily. */
#include "canon.h"
#include "make_history.h"
#include "tap.h"

#include "base/mem.h"
#include "format/format.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FORMATS = 8, ROUNDS = 12 };

static const unsigned shapes[] = {
    0,
    MAKE_ABORTED,
    MAKE_ABORTED | MAKE_BIG | MAKE_NAMES,
    MAKE_EMPTY | MAKE_ABORTED,
    MAKE_LOAD | MAKE_ABORTED,
    MAKE_LOAD,
    MAKE_NO_INIT,
    MAKE_NO_INIT | MAKE_EMPTY,
    MAKE_NIL,
    MAKE_NIL | MAKE_WORDS | MAKE_ABORTED | MAKE_TIMES | MAKE_NAMES,
    MAKE_NIL | MAKE_WORDS | MAKE_INDETERMINATE | MAKE_UNKNOWN | MAKE_TIMES,
    MAKE_LISTS | MAKE_ABORTED,
    MAKE_LISTS | MAKE_TIMES | MAKE_INDETERMINATE | MAKE_BIG,
    MAKE_LISTS | MAKE_REGISTERS_TOO | MAKE_NIL | MAKE_ABORTED,
    MAKE_MIXED_INIT | MAKE_EMPTY,
    MAKE_INDETERMINATE,
    MAKE_NIL | MAKE_TIMES | MAKE_IN_ORDER | MAKE_INDETERMINATE | MAKE_ABORTED,
    MAKE_NIL | MAKE_TIMES | MAKE_IN_ORDER | MAKE_WORDS | MAKE_FORMS | MAKE_UNKNOWN,
    MAKE_LISTS | MAKE_TIMES | MAKE_IN_ORDER | MAKE_INDETERMINATE | MAKE_UNKNOWN,
    MAKE_ALL | MAKE_FORMS,
    MAKE_ALL,
    MAKE_ALL & ~MAKE_LISTS,
    MAKE_UNUSED,
    MAKE_NIL | MAKE_UNUSED,
    MAKE_NIL | MAKE_WORDS | MAKE_FORMS,
    MAKE_NIL | MAKE_ROWS | MAKE_UNUSED,
    MAKE_NIL | MAKE_ROWS | MAKE_WORDS | MAKE_FORMS | MAKE_UNUSED | MAKE_ABORTED,
    MAKE_ALL | MAKE_ROWS | MAKE_FORMS | MAKE_UNUSED,
    MAKE_NIL | MAKE_ROWS | MAKE_EVENT_ROWS,
    MAKE_NIL | MAKE_ROWS | MAKE_EVENT_ROWS | MAKE_LOAD | MAKE_UNUSED | MAKE_ABORTED,
    MAKE_NIL | MAKE_ROWS | MAKE_EVENT_ROWS | MAKE_WORDS | MAKE_FORMS | MAKE_UNUSED |
        MAKE_MIXED_INIT | MAKE_INDETERMINATE | MAKE_UNKNOWN,
    MAKE_NIL | MAKE_ROWS | MAKE_EVENT_ROWS | MAKE_LISTS | MAKE_REGISTERS_TOO |
        MAKE_UNUSED | MAKE_TIMES | MAKE_IN_ORDER,
    MAKE_LOAD | MAKE_ABORTED | MAKE_MANY_ABORTED,
    MAKE_ABORTED | MAKE_MANY_ABORTED | MAKE_EMPTY,
    MAKE_NIL | MAKE_LOAD,
};

/* What only many more rounds show. */
static const char *const found[] = {
    /* The file has no line of key 5, and the first transaction writes all others. */
    "insula 1\ninitial 0\n1 1: w(4)=3 w(6)=5\n2 2: w(4)=7 abort\n"
    "3 3: r(5)=1 abort\n",
    "insula 1\ninitial none\n1 1: w(4)=3 w(6)=5\n2 2: r(4)=3\n3 3: r(5)=1 abort\n",
};

struct stats {
    unsigned kept[FORMATS][FORMATS], refused[FORMATS][FORMATS];
    unsigned bad;
    char why[2048];
};

static char directory[] = "/tmp/insula-round-trip-XXXXXX";

static void remove_output(const char *path, bool is_directory)
{
    DIR *dir = is_directory ? opendir(path) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) /* NOLINT(concurrency-mt-unsafe) */
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        (void)closedir(dir);
    (void)(is_directory ? rmdir(path) : unlink(path));
}

static void complain(struct stats *s, const char *what, const char *format,
                     const char *detail)
{
    if (!s->bad++)
        (void)snprintf(s->why, sizeof s->why, "%s %s: %s", format, what, detail);
}

static bool has_committed_ops(const struct ins_history *h)
{
    for (ins_txn t = 1; t < h->n_txns; t++)
        if (h->txn_status[t] == INS_COMMITTED && h->txn_op[t] < h->txn_op[t + 1])
            return true;
    return false;
}

/* Save and load.  NULL, after a complaint, when either fails. */
static struct ins_history *through(struct stats *s, const struct ins_history *h,
                                   const struct ins_format *f, bool lossy)
{
    struct ins_error err = {0};
    struct ins_history *back = NULL;
    char path[256], text[1024];
    const struct ins_read_options o = {.threads = 1};
    const char *suffix = s->kept[0][0] % 3 == 0 || f->directory ? ""
                         : s->kept[0][0] % 3 == 1               ? ".gz"
                                                                : ".zst";
    (void)snprintf(path, sizeof path, "%s/h%s", directory, suffix);
    struct ins_read_options named = o;
    /* An empty file does not tell its format. */
    if (!has_committed_ops(h) || lossy)
        named.format = f->id;
    if (ins_format_save(h, f->id, path, lossy, &err) != INS_OK ||
        ins_format_load(path, &named, &back, &err) != INS_OK) {
        ins_error_format(&err, text, sizeof text);
        complain(s, "does not come back", f->id, text);
    } else if (strcmp(back->format, f->id) != 0) {
        complain(s, "was taken for", f->id, back->format);
    } else if (ins_history_validate(back, &err) != INS_OK) {
        complain(s, "is not valid", f->id, err.text);
    }
    remove_output(path, f->directory);
    return back;
}

static bool same_words(const void *a, const void *b, uint64_t n, size_t size)
{
    return !n || !memcmp(a, b, n * size);
}

/* What freezing makes of a history comes back from the binary format as it was: all
 * flags, and all indices. */
static bool same_frozen(const struct ins_history *a, const struct ins_history *b)
{
    const size_t flags = offsetof(struct ins_history, has_lists);
    const uint64_t keys = a->n_keys, groups = a->n_groups;
    return !memcmp((const char *)a + flags, (const char *)b + flags,
                   offsetof(struct ins_history, format) - flags) &&
           same_words(a->op_from, b->op_from, a->n_ops, 4) &&
           same_words(a->txn_status, b->txn_status, a->n_txns, 1) &&
           same_words(a->txn_session, b->txn_session, a->n_txns, 4) &&
           same_words(a->key_writer_off, b->key_writer_off, keys + 1, 8) &&
           same_words(a->key_writer, b->key_writer, a->key_writer_off[keys], 4) &&
           a->n_ambiguous == b->n_ambiguous && a->n_groups == b->n_groups &&
           same_words(a->ambiguous_op, b->ambiguous_op, a->n_ambiguous, 4) &&
           same_words(a->ambiguous_group, b->ambiguous_group, a->n_ambiguous, 4) &&
           same_words(a->group_txn, b->group_txn, groups ? a->group_off[groups] : 0,
                      4) &&
           !a->list_order_off == !b->list_order_off &&
           (!a->list_order_off ||
            (same_words(a->list_order_off, b->list_order_off, keys + 1, 8) &&
             same_words(a->list_order_op, b->list_order_op, a->list_order_off[keys],
                        4)));
}

static void compare(struct stats *s, const struct ins_history *a,
                    const struct ins_history *b, const char *format)
{
    char *left = canon(a, canon_flags(format)), *right = canon(b, canon_flags(format));
    if (strcmp(left, right) != 0) {
        char both[2000];
        (void)snprintf(both, sizeof both, "was\n%.900s\nis\n%.900s", left, right);
        complain(s, "changes the history", format, both);
    }
    ins_free(left);
    ins_free(right);
    if (!strcmp(format, "insulab") && !same_frozen(a, b))
        complain(s, "loses what freezing found", format, "flags or indices differ");
}

/* From the history of format i to format j. */
static struct ins_history *step(struct stats *s, const struct ins_history *h,
                                unsigned i, unsigned j)
{
    const struct ins_format *f = ins_format_at(j);
    struct ins_error err = {0};
    if (ins_format_can_express(f, h, &err) == INS_OK) {
        struct ins_history *back = through(s, h, f, false);
        if (back)
            compare(s, h, back, f->id);
        s->kept[i][j]++;
        return back;
    }
    if (err.status != INS_E_LOSSY || !strstr(err.text, "would lose: "))
        complain(s, "refuses without a reason", f->id, err.text);
    struct ins_error again = {0};
    if (ins_format_save(h, f->id, directory, false, &again) != INS_E_LOSSY)
        complain(s, "is written in spite of its losses", f->id, again.text);
    ins_history_free(through(s, h, f, true));
    s->refused[i][j]++;
    return NULL;
}

/* Through each format, and from there through every other. */
static void every_way(struct stats *s, const struct ins_history *h)
{
    for (unsigned i = 0; i < FORMATS; i++) {
        struct ins_history *first = step(s, h, i, i);
        for (unsigned j = 0; first && j < FORMATS; j++)
            if (j != i)
                ins_history_free(step(s, first, i, j));
        ins_history_free(first);
    }
}

int main(void)
{
    struct tap tap = {0};
    static struct stats s;
    struct ins_rng rng = {20};
    if (!mkdtemp(directory))
        return 99;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
            struct ins_history *h = make_history(&rng, shapes[shape]);
            every_way(&s, h);
            ins_history_free(h);
        }
    }
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        const struct ins_input in = {.data = found[i], .size = strlen(found[i])};
        const struct ins_read_options o = {.threads = 1};
        struct ins_history *h = NULL;
        struct ins_error err = {0};
        if (ins_format_read(ins_format_find("insula", NULL), &in, &o, &h, &err))
            complain(&s, "is not read", "insula", err.text);
        else
            every_way(&s, h);
        ins_history_free(h);
    }
    (void)rmdir(directory);
    if (s.bad)
        (void)fprintf(stderr, "%s\n", s.why);
    (void)tap_ok(&tap, !s.bad, "nothing changed on the way (%u complaints)", s.bad);
    (void)tap_ok(&tap, !ins_format_at(FORMATS), "all formats were tried");
    for (unsigned i = 0; i < FORMATS; i++)
        for (unsigned j = 0; j < FORMATS; j++)
            (void)tap_ok(&tap, s.kept[i][j] > 0, "%s to %s: %u kept, %u refused",
                         ins_format_at(i)->id, ins_format_at(j)->id, s.kept[i][j],
                         s.refused[i][j]);
    return tap_end(&tap);
}

/* An `insulab` file with an index or with lists, changed in one place or in several,
 * its sums put right: it is refused, or it is another history whose index is right. */
#include "bin_sums.h"
#include "same_frozen.h"
#include "tap.h"

#include "base/mem.h"
#include "base/rng.h"
#include "format/bin.h"
#include "format/format.h"
#include "gen/gen.h"
#include "history/index.h"

enum { ROUNDS = 5000 };

struct result {
    unsigned refused, same, wrong;
};

static struct ins_history *generate(const char *level, uint32_t ops, uint64_t seed,
                                    bool list)
{
    const struct ins_gen_options o = {.level = level,
                                      .sessions = 4,
                                      .txns = 40,
                                      .ops = ops,
                                      .keys = 12,
                                      .reads = 0.5,
                                      .dist = "uniform",
                                      .dup_values = 1,
                                      .abort = 0.1,
                                      .list = list,
                                      .seed = seed,
                                      .threads = 1};
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (ins_generate(&o, &h, &err) != INS_OK)
        printf("# %s\n", err.text);
    return h;
}

static void load(struct result *r, const char *data, size_t size, unsigned threads)
{
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    char *copy = ins_alloc(size, 1);
    if (!copy)
        return;
    memcpy(copy, data, size);
    bin_fix_sums(copy, size);
    const struct ins_input in = {.data = copy, .size = size};
    const struct ins_read_options o = {.threads = threads};
    if (ins_format_read(ins_format_find("insulab", NULL), &in, &o, &h, &err) != INS_OK)
        r->refused++;
    else if (ins_history_validate(h, &err) == INS_OK && same_frozen(h))
        r->same++;
    else
        r->wrong++;
    ins_history_free(h);
    ins_free(copy);
}

static struct ins_bin_column column(const char *data, enum ins_bin_id id)
{
    struct ins_bin_column c;
    memcpy(&c, data + INS_BIN_HEADER_SIZE + id * sizeof c, sizeof c);
    return c;
}

static void change_each_byte(struct result *r, char *data, size_t size)
{
    const size_t first = column(data, INS_BIN_SESSION_FIRST).offset;
    for (size_t at = first; at < size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            data[at] = (char)(data[at] ^ 1 << bit);
            load(r, data, size, 1);
            data[at] = (char)(data[at] ^ 1 << bit);
        }
}

/* What somebody would do who wants an index to be believed: let a read be of another
 * write, and count it there. */
static void move_reads(struct result *r, const char *data, size_t size,
                       struct ins_rng *rng)
{
    const struct ins_bin_column from = column(data, INS_BIN_OP_FROM);
    const uint32_t n = (uint32_t)from.count;
    for (unsigned round = 0; round < ROUNDS && from.width == 4; round++) {
        char *copy = ins_alloc(size, 1);
        if (!copy)
            return;
        memcpy(copy, data, size);
        uint32_t op[3], word[3];
        for (unsigned i = 0; i < 3; i++) {
            op[i] = ins_rng_below(rng, n);
            memcpy(&word[i], copy + from.offset + 4 * op[i], 4);
        }
        word[0] = word[2] < 50 ? word[2] : word[0];
        word[1] += round % 3 - 1;
        for (unsigned i = 0; i < 1 + round % 2; i++)
            memcpy(copy + from.offset + 4 * op[i], &word[i], 4);
        load(r, copy, size, 1 + round % 64 / 63);
        ins_free(copy);
    }
}

/* Lists have no index, but they share their elements: none may reach where it should
 * not. */
static void change_lists(struct tap *tap)
{
    struct ins_history *h = generate("ser", 4, 7, true);
    struct ins_error err = {0};
    struct ins_buf out = {0};
    struct result whole = {0}, bytes = {0};
    if (!h || ins_format_find("insulab", NULL)->write(h, &out, &err) != INS_OK)
        printf("# %s\n", err.text);
    load(&whole, out.at, out.len, 3);
    (void)tap_ok(tap, whole.same == 1, "lists: come back as they were");
    change_each_byte(&bytes, out.at, out.len);
    (void)tap_ok(tap, bytes.refused && bytes.same && !bytes.wrong,
                 "lists: a bit changed: %u refused, %u right, %u wrong", bytes.refused,
                 bytes.same, bytes.wrong);
    ins_buf_release(&out);
    ins_history_free(h);
}

int main(void)
{
    static const char *const levels[] = {"rc", "ra", "ser"};
    struct tap tap = {0};
    struct ins_rng rng = {11};
    for (unsigned i = 0; i < 3; i++) {
        struct ins_history *h = generate(levels[i], 3 + 3 * i, i + 1, false);
        struct ins_error err = {0};
        struct ins_buf out = {0};
        struct result whole = {0}, bytes = {0}, moved = {0};
        if (!h || !tap_ok(&tap, ins_index_fits(h), "%s: has an index", levels[i]))
            return 1;
        (void)ins_format_find("insulab", NULL)->write(h, &out, &err);
        load(&whole, out.at, out.len, 3);
        (void)tap_ok(&tap, whole.same == 1, "%s: comes back as it was", levels[i]);
        change_each_byte(&bytes, out.at, out.len);
        (void)tap_ok(&tap, bytes.refused && bytes.same && !bytes.wrong,
                     "%s: a bit changed: %u refused, %u right, %u wrong", levels[i],
                     bytes.refused, bytes.same, bytes.wrong);
        move_reads(&moved, out.at, out.len, &rng);
        (void)tap_ok(&tap, moved.refused && !moved.wrong,
                     "%s: reads moved: %u refused, %u right, %u wrong", levels[i],
                     moved.refused, moved.same, moved.wrong);
        ins_buf_release(&out);
        ins_history_free(h);
    }
    change_lists(&tap);
    return tap_end(&tap);
}

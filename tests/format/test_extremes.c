/* Reading where it is most delicate: memory that ends at any point, literals that make
 * all words before them change while operations wait for their keys, one value that is
 * appended very often. */
#include "tap.h"

#include "base/buf.h"
#include "base/mem.h"
#include "format/format.h"
#include "history/builder.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory that ends ---- */

static struct {
    long left;     /* allocations that succeed; negative: all */
    bool for_good; /* those after the failed one fail too */
    bool failed;
} memory = {.left = -1};

static bool ends(void)
{
    if (memory.left < 0 || memory.left--)
        return false;
    memory.failed = true;
    memory.left = memory.for_good ? 0 : -1;
    return true;
}

/* The linker puts these in the place of the allocator, see meson.build. */
void *real_malloc(size_t size) __asm__("__real_malloc");
void *real_calloc(size_t count, size_t size) __asm__("__real_calloc");
void *real_realloc(void *p, size_t size) __asm__("__real_realloc");
void *wrap_malloc(size_t size) __asm__("__wrap_malloc");
void *wrap_calloc(size_t count, size_t size) __asm__("__wrap_calloc");
void *wrap_realloc(void *p, size_t size) __asm__("__wrap_realloc");

void *wrap_malloc(size_t size)
{
    return ends() ? NULL : real_malloc(size);
}

void *wrap_calloc(size_t count, size_t size)
{
    return ends() ? NULL : real_calloc(count, size);
}

void *wrap_realloc(void *p, size_t size)
{
    return ends() ? NULL : real_realloc(p, size);
}

static enum ins_status read_text(const char *format, const char *text,
                                 struct ins_history **h)
{
    struct ins_error err = {0};
    const struct ins_input in = {.data = text, .size = strlen(text)};
    const struct ins_read_options o = {.threads = 1};
    return ins_format_read(ins_format_find(format, NULL), &in, &o, h, &err);
}

/* Told in our own text; NULL when it cannot be read. */
static char *meaning(const struct ins_history *h)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    if (!h || ins_format_find("insula", NULL)->write(h, &out, &err) != INS_OK)
        return NULL;
    ins_buf_char(&out, '\0');
    return out.at;
}

/* With the k-th allocation failing it is no memory, or nothing is amiss. */
static bool survives(const char *format, const char *text, const char *expected, long k)
{
    struct ins_history *h = NULL;
    memory.left = k;
    memory.failed = false;
    const enum ins_status st = read_text(format, text, &h);
    memory.left = -1;
    char *const found = meaning(h);
    const bool fine = st == INS_OK ? found && !strcmp(found, expected)
                                   : st == INS_E_NOMEM && memory.failed;
    if (!fine)
        printf("# allocation %ld: status %d\n", k, (int)st);
    ins_free(found);
    ins_history_free(h);
    return fine;
}

static void end_memory(struct tap *tap, const char *format, const char *text)
{
    struct ins_history *h = NULL;
    bool fine = read_text(format, text, &h) == INS_OK;
    char *const expected = meaning(h);
    long k = 0;
    for (int for_good = 0; for_good < 2; for_good++) {
        memory.for_good = for_good != 0;
        k = 0;
        do
            fine = fine && expected && survives(format, text, expected, k++);
        while (fine && memory.failed);
    }
    (void)tap_ok(tap, fine && k > 20, "%s: memory ends at any of %ld points", format,
                 k);
    ins_free(expected);
    ins_history_free(h);
}

/* ---- words that change ---- */

/* n transactions; number `at` has the literal as a key (kind 0), a value (1), or in the
 * middle of a list (2). */
static char *one_among_many(unsigned n, unsigned at, const char *literal, int kind)
{
    struct ins_buf b = {0};
    ins_buf_text(&b, "insula 1 transactions ");
    ins_buf_u64(&b, n);
    ins_buf_text(&b, "\ninitial nil\n");
    for (unsigned i = 0; i < n; i++) {
        const bool here = i == at;
        ins_buf_text(&b, "1 ");
        ins_buf_u64(&b, i + 1);
        ins_buf_text(&b, ": w(");
        ins_buf_text(&b, here && kind == 0 ? literal : "3");
        ins_buf_text(&b, ")=");
        ins_buf_text(&b, here && kind == 1 ? literal : "4");
        ins_buf_text(&b, " r(7)=[5 6");
        if (here && kind == 2) {
            ins_buf_char(&b, ' ');
            ins_buf_text(&b, literal);
        }
        ins_buf_text(&b, " 8]\n");
    }
    ins_buf_char(&b, '\0');
    return b.at;
}

static void change_words(struct tap *tap)
{
    static const char *const literals[] = {"s", ":k", "-1", "9223372036854775808",
                                           "nil"};
    unsigned wrong = 0, tried = 0;
    for (size_t l = 0; l < sizeof literals / sizeof *literals; l++)
        for (int kind = 0; kind < 3; kind++)
            for (unsigned at = 0; at < 300; at++) {
                char *const text = one_among_many(300, at, literals[l], kind);
                struct ins_history *h = NULL;
                (void)read_text("insula", text, &h);
                char *const found = meaning(h);
                wrong += !found || strcmp(found, text) != 0;
                tried++;
                ins_free(found);
                ins_history_free(h);
                ins_free(text);
            }
    (void)tap_ok(tap, !wrong, "one literal among numbers: %u of %u are wrong", wrong,
                 tried);
}

/* ---- equal appends ---- */

/* With a look at every append from every other one this takes minutes. */
static void append_equals(struct tap *tap)
{
    enum { N = 1000000 };
    struct ins_builder *b = ins_builder_new();
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    if (!b)
        return;
    const uint32_t s = ins_builder_session(b, ins_lit_u64(0));
    for (int i = 0; i < 2; i++) {
        const uint32_t t = ins_builder_begin_unnamed(b, s, 0);
        for (int j = 0; j < N / 2; j++)
            ins_builder_append(b, t, ins_lit_u64(1), ins_lit_u64(2));
    }
    const bool built = ins_builder_finish(b, 1, &h, &err) == INS_OK;
    (void)tap_ok(
        tap, built && h->duplicate_writes == 1,
        "one value appended %d times: a duplicate for each transaction but one",
        (int)N);
    ins_builder_free(b);
    ins_history_free(h);
}

int main(void)
{
    struct tap tap = {0};
    end_memory(&tap, "insula",
               "insula 1\n"
               "0: a(1)=1 a(2)=2 r(1)=[1] r(2)=[2] w(x)=4\n"
               "1: a(1)=2 r(1)=[1 2] r(1)=[1 2 9223372036854775809] unknown\n"
               "2: r(1)=[1 2] r(2)=[2 -4 7 nil s] r(2)=[2 1 2] r(1)=[] a(1)=1 r(x)=5\n"
               "initial y = :k\n");
    end_memory(&tap, "edn",
               "{:index 0 :type :ok :process 0 :value [[:append 1 1] [:r 1 [1 2 3]]]}\n"
               "{:index 1 :type :ok :process 1 :value [[:r 1 [1 2 3 4 5 6 7 8 9 10 11 "
               "12 13 14 15 16 17 18 19 \"a\\n\" :k -1]] [:append :z nil]]}\n"
               "{:index 2 :type :ok :process 2 :value [[:w 7 2] [:r 7 nil]]}\n");
    end_memory(&tap, "json",
               "{\"index\":0,\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",1,"
               "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]]]}\n"
               "{\"index\":1,\"type\":\"ok\",\"process\":1,\"value\":[[\"append\","
               "\"k\",1],[\"r\",1,[1,2,3,\"s\",18446744073709551615]]]}\n");
    change_words(&tap);
    append_equals(&tap);
    return tap_end(&tap);
}

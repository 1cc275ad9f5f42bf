/* Every example of `insula explain` shows what it says: it breaks the level, with the
 * anomaly that it is an example of, and nothing that it must not.  Prints TAP. */
#include "check/check.h"
#include "explain/texts.h"
#include "format/format.h"
#include "history/builder.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned number, failed;

static void ok(bool holds, const char *what, const char *name)
{
    (void)printf("%sok %u - %s: %s\n", holds ? "" : "not ", ++number, name, what);
    failed += !holds;
}

/* One operation of an example, e.g. "append(x)=1" or "r(x)=[1,2]". */
static void put_op(struct ins_builder *b, uint32_t t, const char *text, size_t len)
{
    const char *open = memchr(text, '(', len);
    const char *value = memchr(text, '=', len);
    if (!open || !value)
        abort();
    const struct ins_lit key = ins_lit_text(INS_LIT_STRING, open + 1, 1);
    if (value[1] == '[') {
        struct ins_lit elem[8];
        size_t n = 0;
        for (const char *c = value + 2; *c != ']'; c++)
            if (*c != ',')
                elem[n++] = ins_lit_u64((uint64_t)(*c - '0'));
        ins_builder_read_list(b, t, key, elem, n);
        return;
    }
    const struct ins_lit v = ins_lit_u64(strtoull(value + 1, NULL, 10));
    if (*text == 'a')
        ins_builder_append(b, t, key, v);
    else if (*text == 'w')
        ins_builder_write(b, t, key, v);
    else
        ins_builder_read(b, t, key, v);
}

/* An example with statements, through the reader of text. */
static struct ins_history *history_of_text(const struct ins_example *e)
{
    struct ins_buf b = {0};
    struct ins_history *h = NULL;
    struct ins_error err = {0};
    ins_buf_text(&b, "insula 1\n");
    if (!strstr(e->txn[0].ops, "insert(")) /* else the rows are not there at first */
        ins_buf_text(&b, "initial 0\n");
    for (uint32_t i = 0; i < e->n_txns; i++)
        ins_buf_fmt(&b, "%u %u: %s\n", (unsigned)e->txn[i].session, i + 1,
                    e->txn[i].ops);
    const struct ins_input in = {.data = b.at, .size = b.len};
    if (ins_format_read(ins_format_find("insula", &err), &in,
                        &(struct ins_read_options){.threads = 1}, &h, &err))
        abort();
    ins_buf_release(&b);
    return h;
}

static struct ins_history *history_of(const struct ins_example *e)
{
    for (uint32_t i = 0; i < e->n_txns; i++)
        if (strstr(e->txn[i].ops, "q("))
            return history_of_text(e);
    struct ins_builder *b = ins_builder_new();
    ins_builder_init_default(b, ins_lit_u64(0));
    for (uint32_t i = 0; i < e->n_txns; i++) {
        const struct ins_example_txn *x = &e->txn[i];
        const uint32_t s = ins_builder_session(b, ins_lit_u64(x->session));
        const uint32_t t = ins_builder_begin(b, s, ins_lit_u64(i + 1), 0);
        for (const char *c = x->ops; *c;) {
            const size_t n = strcspn(c, " ");
            put_op(b, t, c, n);
            c += n + (c[n] == ' ');
        }
        ins_builder_end(b, t, x->status == 'a' ? INS_ABORTED : INS_COMMITTED);
        if (e->timed)
            ins_builder_times(b, t, INT64_C(10) * x->column,
                              INT64_C(10) * x->column + 5);
    }
    struct ins_history *h = NULL;
    if (ins_builder_finish(b, 1, &h, NULL))
        abort();
    ins_builder_free(b);
    return h;
}

static struct ins_result *result_of(const struct ins_example *e)
{
    struct ins_history *h = history_of(e);
    struct ins_result *r = NULL;
    if (ins_check(h, &(struct ins_check_options){.threads = 1}, &r, NULL))
        abort();
    ins_history_free(h);
    return r;
}

static void check_kind(enum ins_kind kind)
{
    const struct ins_kind_text *t = &ins_kind_texts[kind];
    const char *name = ins_kind_table[kind].name;
    if (!t->example.n_txns)
        return;
    struct ins_result *r = result_of(&t->example);
    ok(r->count[kind][INS_PLAIN] > 0, "its example shows it", name);
    for (int l = 0; l < INS_N_LEVELS; l++) {
        const bool forbids = ins_level_forbids((enum ins_level)l, kind, INS_PLAIN);
        if (r->level[l].verdict != INS_PASS && r->level[l].verdict != INS_FAIL)
            continue;
        /* Where lists show the version order, weaker levels see these too. */
        if (!forbids && (kind == INS_G0 || kind == INS_G1C))
            continue;
        ok((r->level[l].verdict == INS_FAIL) == forbids, ins_level_table[l].id, name);
    }
    ins_result_free(r);
}

static void check_level(enum ins_level level)
{
    const struct ins_level_text *t = ins_level_text(level);
    const char *name = ins_level_table[level].id;
    const bool stale = ins_model_of(level).real_time;
    struct ins_result *r =
        result_of(stale ? &ins_stale_example : &ins_kind_texts[t->forbids].example);
    ok(r->level[level].verdict == INS_FAIL, "forbids its example", name);
    ins_result_free(r);
    if (stale)
        return;
    r = result_of(t->permits < 0 ? &ins_stale_example
                                 : &ins_kind_texts[t->permits].example);
    ok(r->level[level].verdict == INS_PASS, "permits the other", name);
    ins_result_free(r);
}

int main(void)
{
    for (int k = 0; k < INS_N_KINDS; k++)
        check_kind((enum ins_kind)k);
    struct ins_result *r = result_of(&ins_phantom_example);
    ok(r->count[INS_G2_ITEM][INS_PREDICATE] == 1 &&
           r->level[INS_SI].verdict == INS_PASS,
       "its example shows it", "G2-item-predicate");
    ins_result_free(r);
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all)
        check_level(l);
    (void)printf("1..%u\n", number);
    return failed ? 1 : 0;
}

#include "sample.h"

#include "history/builder.h"

#include <stdlib.h>

/* Sessions 1 to 4; the names are the positions in this table. */
static const struct {
    int session;
    enum ins_txn_status status;
    const char *ops;
} rows[] = {
    {1, INS_COMMITTED, "rx0 wx1"},     /* 1 */
    {1, INS_COMMITTED, "wy1"},         /* 2 */
    {2, INS_COMMITTED, "rx0 wx2"},     /* 3 */
    {2, INS_COMMITTED, "ry1 wz1"},     /* 4 */
    {3, INS_COMMITTED, "rz1 rx2 rx9"}, /* 5 */
    {3, INS_ABORTED, "wa1"},           /* 6 */
    {4, INS_COMMITTED, "ra1 rb0 wc1"}, /* 7 */
    {4, INS_COMMITTED, "rc0 wb1"},     /* 8 */
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static struct ins_history *make_history(void)
{
    struct ins_builder *b = ins_builder_new();
    must(b != NULL);
    ins_builder_init_default(b, ins_lit_u64(0));
    for (uint32_t i = 0; i < N_ROWS; i++) {
        const uint32_t s = ins_builder_session(b, ins_lit_i64(rows[i].session));
        const uint32_t t =
            ins_builder_begin(b, s, ins_lit_u64(i + 1), UINT64_C(10) * (i + 1));
        for (const char *c = rows[i].ops; *c; c += c[3] ? 4 : 3) {
            const struct ins_lit key = ins_lit_text(INS_LIT_STRING, c + 1, 1);
            const struct ins_lit value = ins_lit_u64((uint64_t)(c[2] - '0'));
            if (*c == 'r')
                ins_builder_read(b, t, key, value);
            else
                ins_builder_write(b, t, key, value);
        }
        ins_builder_end(b, t, rows[i].status);
        ins_builder_times(b, t, 1000 * (int64_t)i, 1000 * (int64_t)i + 700);
    }
    struct ins_history *h = NULL;
    must(!ins_builder_finish(b, 1, &h, NULL));
    ins_builder_free(b);
    return h;
}

static ins_key key_of(const struct ins_history *h, char name)
{
    for (ins_key k = 0; k < h->n_keys; k++)
        if (ins_history_key_lit(h, k).text[0] == name)
            return k;
    abort();
}

/* Operation number i of a transaction. */
static uint32_t op(const struct ins_history *h, ins_txn t, uint32_t i)
{
    return h->txn_op[t] + i;
}

static struct ins_anomaly *add(struct ins_result *r, enum ins_kind kind,
                               enum ins_level breaks)
{
    ins_vec_anomaly_push(&r->anomaly,
                         (struct ins_anomaly){.kind = kind, .breaks = breaks});
    must(!r->anomaly.failed);
    r->count[kind][INS_PLAIN]++;
    const ins_levels broken = ins_level_above(breaks) & ins_levels_default();
    INS_EACH_LEVEL(l, broken) {
        r->level[l].verdict = INS_FAIL;
        r->level[l].kinds |= UINT64_C(1) << kind;
    }
    return &r->anomaly.at[r->anomaly.len - 1];
}

static void *keep(struct ins_result *r, const void *at, size_t count, size_t size)
{
    void *copy = ins_arena_alloc(&r->arena, count, size);
    must(copy != NULL);
    memcpy(copy, at, count * size);
    return copy;
}

static void set(struct ins_result *r, struct ins_anomaly *a, const struct ins_edge *e,
                uint32_t n, uint32_t n_cycle)
{
    a->edge = keep(r, e, n, sizeof *e);
    a->n_edges = n;
    a->n_cycle = n_cycle;
}

static void add_reads(struct ins_result *r, const struct ins_history *h)
{
    struct ins_anomaly *a = add(r, INS_THIN_AIR_READ, INS_RC);
    const uint32_t thin = op(h, 5, 2);
    const ins_txn reader = 5;
    a->op = keep(r, &thin, 1, sizeof thin);
    a->n_ops = 1;
    a->txn = keep(r, &reader, 1, sizeof reader);
    a->n_txns = 1;
    a = add(r, INS_ABORTED_READ, INS_RC);
    const uint32_t two[] = {op(h, 6, 0), op(h, 7, 0)};
    const ins_txn both[] = {6, 7};
    a->op = keep(r, two, 2, sizeof *two);
    a->n_ops = 2;
    a->txn = keep(r, both, 2, sizeof *both);
    a->n_txns = 2;
}

static void add_lost_update(struct ins_result *r, const struct ins_history *h)
{
    struct ins_edge e[2];
    for (uint32_t i = 0; i < 2; i++) {
        const ins_txn from = i ? 3 : 1;
        const ins_txn to = i ? 1 : 3;
        e[i] = ins_edge_bare(from, to, INS_RW, INS_WHY_ANTI);
        e[i].key = key_of(h, 'x');
        e[i].from_op = op(h, from, 0);
        e[i].to_op = op(h, to, 1);
        e[i].other = INS_INIT;
    }
    set(r, add(r, INS_LOST_UPDATE, INS_SI), e, 2, 2);
}

/* t5 reads x=2 of t3 although t1, x=1, reaches it; and the other way about is assumed
 * to close the cycle: a ConflictCM whose inferred edge has a path of three. */
static void add_conflict(struct ins_result *r, const struct ins_history *h)
{
    struct ins_edge e[5] = {
        ins_edge_bare(1, 3, INS_CO, INS_WHY_CAUSAL),
        ins_edge_bare(3, 1, INS_RW, INS_WHY_ANTI),
        ins_edge_bare(1, 2, INS_SO, INS_WHY_SESSION),
        ins_edge_bare(2, 4, INS_WR, INS_WHY_READ),
        ins_edge_bare(4, 5, INS_WR, INS_WHY_READ),
    };
    e[0].key = key_of(h, 'x');
    e[0].from_op = op(h, 1, 1);
    e[0].to_op = op(h, 3, 1);
    e[0].reader = 5;
    e[0].reader_op = op(h, 5, 1);
    e[0].path = 2;
    e[0].n_path = 3;
    e[1].key = key_of(h, 'x');
    e[1].from_op = op(h, 3, 0);
    e[1].to_op = op(h, 1, 1);
    e[1].other = INS_INIT;
    e[3].key = key_of(h, 'y');
    e[3].from_op = op(h, 2, 0);
    e[3].to_op = op(h, 4, 0);
    e[4].key = key_of(h, 'z');
    e[4].from_op = op(h, 4, 1);
    e[4].to_op = op(h, 5, 0);
    set(r, add(r, INS_CONFLICT_CM, INS_CC), e, 5, 2);
}

static void add_cases(struct ins_result *r, const struct ins_history *h)
{
    struct ins_edge e[6];
    struct ins_case c[2];
    for (uint32_t i = 0; i < 2; i++) {
        const ins_txn from = i ? 3 : 1;
        const ins_txn to = i ? 1 : 3;
        struct ins_edge *const part = e + (size_t)3 * i;
        part[0] = ins_edge_bare(from, to, INS_WW, INS_WHY_ASSUMED);
        part[0].key = key_of(h, 'x');
        part[0].from_op = op(h, from, 1);
        part[0].to_op = op(h, to, 1);
        part[1] = part[0];
        part[2] = ins_edge_bare(to, from, INS_RW, INS_WHY_ANTI);
        part[2].key = key_of(h, 'x');
        part[2].from_op = op(h, to, 0);
        part[2].to_op = op(h, from, 1);
        part[2].other = INS_INIT;
        c[i] = (struct ins_case){3 * i, 1, 3 * i + 1, 2};
    }
    struct ins_anomaly *a = add(r, INS_NO_ORDER, INS_SI);
    set(r, a, e, 6, 0);
    a->branch = keep(r, c, 2, sizeof *c);
    a->n_branches = 2;
}

void sample_make(struct sample *s)
{
    s->h = make_history();
    s->r = calloc(1, sizeof *s->r);
    must(s->r != NULL);
    const ins_levels all = ins_levels_default();
    INS_EACH_LEVEL(l, all)
        s->r->level[l] =
            (struct ins_level_result){.verdict = INS_PASS, .seconds = 1e-4};
    add_reads(s->r, s->h);
    add_lost_update(s->r, s->h);
    add_conflict(s->r, s->h);
    add_cases(s->r, s->h);
    s->r->level[INS_SSER].verdict = INS_UNDECIDED;
    s->r->level[INS_SSER].why = "time limit reached";
    s->r->stage[0] = (struct ins_stage){"parse", 0.5, 10000000};
    s->r->stage[1] = (struct ins_stage){"rc", 0.25, 12000000};
    s->r->stage[2] = (struct ins_stage){"si", 1.25, 52000000};
    s->r->n_stages = 3;
    s->r->peak_rss = 60000000;
    s->item =
        (struct ins_report_item){.path = "sample.txt", .history = s->h, .result = s->r};
}

void sample_free(struct sample *s)
{
    ins_history_free(s->h);
    ins_arena_release(&s->r->arena);
    ins_vec_anomaly_release(&s->r->anomaly);
    free(s->r);
}

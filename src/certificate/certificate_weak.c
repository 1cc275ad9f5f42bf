/* certificate_weak.c - certificates of ci, rc, ra and cc, and of what follows. */
#include "certificate.h"

#include <string.h>

static void put_order(struct ins_certificate *c, const ins_txn *order, uint32_t n)
{
    ins_buf_text(&c->text, "order");
    for (uint32_t i = 0; i < n; i++) {
        ins_buf_char(&c->text, ' ');
        ins_buf_u64(&c->text, order[i]);
    }
    ins_buf_text(&c->text, "\nend\n");
}

void ins_certificate_commits(struct ins_certificate *c, enum ins_level level,
                             const ins_txn *order, uint32_t n)
{
    ins_certificate_head(c, level, "pass");
    put_order(c, order, n);
}

void ins_certificate_sources(struct ins_certificate *c, const struct ins_history *h,
                             enum ins_level level,
                             struct ins_certificate_sources sources,
                             const ins_txn *order, uint32_t n)
{
    ins_certificate_head(c, level, "pass");
    for (uint32_t i = 0; i < sources.n; i++)
        if (sources.from[i] != INS_NONE &&
            h->op_from[sources.op[i]] == INS_FROM_AMBIGUOUS)
            ins_buf_fmt(&c->text, "choose %u %u\n", sources.op[i], sources.from[i]);
    put_order(c, order, n);
}

/* The writer of read r, for it and those that repeat it: from ra on they agree. */
static void put_choice(struct ins_certificate *c, const struct ins_engine *e,
                       uint32_t r, ins_txn writer)
{
    const struct ins_history *h = e->h;
    const uint32_t first = e->read_op[r];
    const uint32_t end =
        !e->model.repeatable ? first + 1 : h->txn_op[e->read_txn[r] + 1];
    for (uint32_t op = first; op < end; op++)
        if (ins_reads_key(h, op, ins_op_key(h, first)) &&
            h->op_from[op] == INS_FROM_AMBIGUOUS)
            ins_buf_fmt(&c->text, "choose %u %u\n", op, writer);
}

void ins_certificate_choices(struct ins_certificate *c, const struct ins_engine *e,
                             const uint32_t *order, const uint32_t *source)
{
    ins_certificate_head(c, e->level, "pass");
    for (uint32_t r = 0; r < e->n_reads; r++)
        if ((e->h->n_ambiguous || e->h->n_joint) &&
            ins_engine_counts(e, e->read_txn[r]))
            put_choice(c, e, r, ins_ver_txn(e, source[r]));
    ins_buf_text(&c->text, "order");
    for (uint32_t i = 0; i < e->n_nodes; i++)
        if (order[i] < e->n_txn_nodes && ins_engine_counts(e, order[i]))
            ins_certificate_node(c, e, order[i]);
    ins_buf_text(&c->text, "\nend\n");
}

static void put_causal(struct ins_certificate *c, const struct ins_anomaly *a,
                       const struct ins_edge *e)
{
    ins_buf_fmt(&c->text, "causal %u %u : %u", e->reader_op, e->from, e->from);
    for (uint32_t i = e->path; i < e->path + e->n_path; i++)
        ins_buf_fmt(&c->text, " %u", a->edge[i].to);
    if (!e->n_path) /* read atomic: one step within the session */
        ins_buf_fmt(&c->text, " %u", e->reader);
    ins_buf_char(&c->text, '\n');
}

static void put_edge(struct ins_certificate *c, const struct ins_anomaly *a,
                     const struct ins_edge *e)
{
    if (e->rule == INS_WHY_LIST)
        ins_buf_fmt(&c->text, "list %u %u %u :\n", e->reader_op, e->from, e->to);
    else if (e->rule == INS_WHY_MONOTONIC)
        ins_buf_fmt(&c->text, "mono %u %u\n", e->reader_op, e->other_op);
    else if (e->rule == INS_WHY_FRACTURED && e->other_op != INS_NONE)
        ins_buf_fmt(&c->text, "beside %u %u\n", e->reader_op, e->other_op);
    else if (e->rule == INS_WHY_FRACTURED || e->rule == INS_WHY_CAUSAL)
        put_causal(c, a, e);
}

static void put_anomaly(struct ins_certificate *c, const struct ins_history *h,
                        enum ins_level level, const struct ins_anomaly *a)
{
    ins_certificate_head(c, level, "fail");
    bool stale = false;
    for (uint32_t i = 0; i < a->n_cycle; i++) {
        put_edge(c, a, &a->edge[i]);
        stale |= a->edge[i].to == INS_INIT;
    }
    if (a->n_cycle && !stale) {
        ins_buf_text(&c->text, "cycle");
        for (uint32_t i = 0; i <= a->n_cycle; i++)
            ins_buf_fmt(&c->text, " %u", a->edge[i % a->n_cycle].from);
        ins_buf_char(&c->text, '\n');
    } else if (a->kind == INS_NON_REPEATABLE_READ) {
        ins_buf_fmt(&c->text, "differ %u %u\n", a->op[0], a->op[a->n_ops - 1]);
    } else if (!a->n_cycle) {
        for (uint32_t i = 0; i < a->n_ops; i++)
            if (!ins_is_write(h, a->op[i]) &&
                h->op_from[a->op[i]] >= INS_FROM_THIN_AIR) {
                ins_buf_fmt(&c->text, "misread %u\n", a->op[i]);
                break;
            }
    }
    ins_buf_text(&c->text, "end\n");
}

/* A read that is wrong by itself, or differs from another, breaks many levels. */
static bool breaks_by_reads(const struct ins_anomaly *a, enum ins_level level)
{
    return !a->n_cycle &&
           (ins_level_below(level) & ins_kind_breaks(a->kind, INS_PLAIN)) != 0;
}

/* A listed anomaly that breaks exactly this level, by one of the weak rules. */
static const struct ins_anomaly *find_anomaly(const struct ins_result *r,
                                              enum ins_level level)
{
    for (size_t i = 0; i < r->anomaly.len; i++) {
        const struct ins_anomaly *a = &r->anomaly.at[i];
        bool weak = !a->n_branches && a->kind != INS_NO_ORDER;
        for (uint32_t e = 0; e < a->n_cycle; e++)
            weak &= a->edge[e].type != INS_RW && a->edge[e].rule != INS_WHY_REACHES &&
                    a->edge[e].rule != INS_WHY_OVERWRITE &&
                    a->edge[e].rule != INS_WHY_UPDATE;
        if (weak && (a->breaks == level || breaks_by_reads(a, level)))
            return a;
    }
    return NULL;
}

/* Levels whose verdict an earlier block implies: a fail that of a weaker level, a pass
 * that of a stronger one. */
static void put_implied(struct ins_certificate *c, const struct ins_result *r,
                        enum ins_level level)
{
    const enum ins_verdict v = r->level[level].verdict;
    const ins_levels by =
        c->blocks & ins_result_with(r, v) &
        (v == INS_FAIL ? ins_level_below(level) : ins_level_above(level));
    if (by)
        ins_certificate_implied(c, level, v, ins_levels_from(by, (enum ins_level)0));
}

/* In front of the blocks: what they are about, and the verdict of each. */
static void put_head(struct ins_certificate *c)
{
    if (c->text.failed)
        return;
    struct ins_buf all = {0};
    const char *at = c->text.at, *end = at + c->text.len;
    ins_buf_fmt(&all, "insula-certificate 2\nhistory %u %u %u\nclaims",
                c->h->n_sessions, c->h->n_txns, c->h->n_ops);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!strncmp(at, "level ", 6)) {
            const char *verdict = memchr(at + 6, ' ', (size_t)(stop - at - 6));
            ins_buf_fmt(&all, " %.*s=%.4s", (int)(verdict - at - 6), at + 6,
                        verdict + 1);
        }
        at = stop + 1;
    }
    ins_buf_char(&all, '\n');
    ins_buf_bytes(&all, c->text.at, c->text.len);
    ins_buf_release(&c->text);
    c->text = all;
}

void ins_certificate_complete(struct ins_certificate *c, const struct ins_history *h,
                              const struct ins_result *r, ins_levels asked)
{
    const ins_levels passed = ins_result_with(r, INS_PASS);
    const ins_levels failed = ins_result_with(r, INS_FAIL);
    /* Whether reads are right by themselves the verifier sees without help. */
    INS_EACH_LEVEL(l, passed & ins_levels_fixed(UINT32_MAX)) {
        ins_certificate_head(c, l, "pass");
        ins_buf_text(&c->text, "end\n");
    }
    const ins_levels to_prove = failed & ins_levels_decided();
    INS_EACH_LEVEL(l, to_prove & ~c->blocks) {
        const struct ins_anomaly *a = find_anomaly(r, l);
        const bool implied = (ins_level_below(l) & failed & c->blocks) != 0;
        if (a && (ins_model_of(l).versions ? !implied && breaks_by_reads(a, l)
                                           : !implied || a->breaks == l))
            put_anomaly(c, h, l, a);
    }
    const ins_levels still_failed = failed & asked & ~c->blocks;
    INS_EACH_LEVEL(l, still_failed)
        put_implied(c, r, l);
    const ins_levels still_passed = passed & asked & ~c->blocks;
    INS_EACH_LEVEL_DOWN(l, still_passed)
        put_implied(c, r, l);
    put_head(c);
}

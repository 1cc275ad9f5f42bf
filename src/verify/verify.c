/* verify.c - docs/certificates.md, sections 3 and 4: the head, the blocks, the levels.
 */
#include "verify_state.h"

#include <string.h>

/* Every base: its id and those that it implies; and where reads alone decide, what
 * checks a block that says pass and, unless ci's steps do, one that says fail. */
#define ROW_CI                        \
    {                                 \
        "ci", 0, ins_verify_cut, NULL \
    }
#define ROW_PL2              \
    {                        \
        "pl2", 0, NULL, NULL \
    }
#define ROW_RC                         \
    {                                  \
        "rc", V_BIT(V_PL2), NULL, NULL \
    }
#define ROW_RA                                                     \
    {                                                              \
        "ra", V_BIT(V_CI) | V_BIT(V_PL2) | V_BIT(V_RC), NULL, NULL \
    }
#define ROW_CC                                                                   \
    {                                                                            \
        "cc", V_BIT(V_CI) | V_BIT(V_PL2) | V_BIT(V_RC) | V_BIT(V_RA), NULL, NULL \
    }
#define ROW_PSI                                                   \
    {                                                             \
        "psi", V_BIT(V_CI) | V_BIT(V_PL2) | V_COMMITS, NULL, NULL \
    }
#define ROW_PC                                                   \
    {                                                            \
        "pc", V_BIT(V_CI) | V_BIT(V_PL2) | V_COMMITS, NULL, NULL \
    }
#define ROW_SI                                                                     \
    {                                                                              \
        "si", V_BIT(V_CI) | V_BIT(V_PL2) | V_COMMITS | V_BIT(V_PSI) | V_BIT(V_PC), \
            NULL, NULL                                                             \
    }
#define ROW_RR              \
    {                       \
        "rr", 0, NULL, NULL \
    }
#define ROW_SER                                \
    {                                          \
        "ser", V_BIT(V_CI) | V_ALL, NULL, NULL \
    }
#ifdef INS_EXTRA_VERIFIER
#include INS_EXTRA_VERIFIER
#endif

/* A level without a row here does not compile. */
static const struct {
    const char *id;
    unsigned implies;
    bool (*pass)(struct ins_verifier *v);
    bool (*fail)(struct ins_verifier *v);
} base_table[V_BASES] = {
#define FIXED(NAME, ...) [V_##NAME] = ROW_##NAME,
#define LEVEL(NAME, ...) [V_##NAME] = ROW_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
};

static bool takes_sessions(int level)
{
    return level % V_VARIANTS != V_FREE && level / V_VARIANTS > V_PL2;
}

static bool takes_real_time(int level)
{
    return level % V_VARIANTS == V_STRONG;
}

/* "free-si", "si", "strong-si"; strong-ser is sser. */
static void name_of(int level, char name[16])
{
    static const char *const prefix[V_VARIANTS] = {"free-", "", "strong-"};
    const char *id = base_table[level / V_VARIANTS].id;
    const bool sser = level == V_SER * V_VARIANTS + V_STRONG;
    (void)snprintf(name, 16, "%s%s", sser ? "s" : prefix[level % V_VARIANTS], id);
}

static bool is_level(int level)
{
    return !base_table[level / V_VARIANTS].pass || level % V_VARIANTS == V_PLAIN;
}

/* Whatever satisfies a satisfies b. */
static bool implies(int a, int b)
{
    const int x = a / V_VARIANTS, y = b / V_VARIANTS;
    return (x == y || base_table[x].implies >> y & 1) &&
           (takes_sessions(a) || !takes_sessions(b)) &&
           (takes_real_time(a) || !takes_real_time(b));
}

/* ---- faults ---- */

bool ins_verify_fault(struct ins_verifier *v, const char *what)
{
    if (v->status == INS_OK)
        v->status = ins_fail(v->err, INS_E_INPUT, v->line, "%s", what);
    return false;
}

bool ins_verify_no_memory(struct ins_verifier *v)
{
    if (v->status == INS_OK)
        v->status = ins_nomem(v->err, "the verifier");
    return false;
}

bool ins_verify_go_on(struct ins_verifier *v)
{
    if (++v->steps % 4096 == 0 && v->status == INS_OK)
        v->status = ins_limit_room(v->o->limit, 0, v->err);
    return v->status == INS_OK;
}

/* ---- tokens ---- */

static void skip_blanks(struct ins_verifier *v)
{
    while (v->at < v->end && *v->at == ' ')
        v->at++;
}

bool ins_verify_more(struct ins_verifier *v)
{
    skip_blanks(v);
    return v->at < v->end && *v->at != '\n';
}

bool ins_verify_word(struct ins_verifier *v, const char *word)
{
    const size_t n = strlen(word);
    skip_blanks(v);
    if ((size_t)(v->end - v->at) < n || memcmp(v->at, word, n) != 0)
        return false;
    const char *after = v->at + n;
    if (after < v->end && *after != ' ' && *after != '\n')
        return false;
    v->at = after;
    return true;
}

bool ins_verify_end_of_line(struct ins_verifier *v)
{
    if (ins_verify_more(v) || v->at == v->end)
        return ins_verify_fault(v, "expected the end of the line");
    v->at++;
    v->line++;
    ins_verify_forget_assumed(v);
    return ins_verify_go_on(v);
}

uint32_t ins_verify_number(struct ins_verifier *v, uint32_t below)
{
    skip_blanks(v);
    uint64_t x = 0;
    const char *start = v->at;
    while (v->at < v->end && *v->at >= '0' && *v->at <= '9' && x < UINT32_MAX)
        x = 10 * x + (uint64_t)(*v->at++ - '0');
    const bool ends = v->at == v->end || *v->at == ' ' || *v->at == '\n';
    if (v->at == start || !ends || x >= below) {
        (void)ins_verify_fault(v, "expected a number that names something");
        return 0;
    }
    return (uint32_t)x;
}

ins_key ins_verify_key(struct ins_verifier *v)
{
    const uint32_t op = ins_verify_number(v, v->h->n_ops);
    return ins_verify_bad(v) ? 0 : ins_op_key(v->h, op);
}

static bool read_node(struct ins_verifier *v)
{
    uint32_t commit = 0;
    skip_blanks(v);
    if (v->split) {
        if (v->at == v->end || (*v->at != 'b' && *v->at != 'c'))
            return ins_verify_fault(v, "expected b or c and a transaction");
        commit = *v->at++ == 'c';
        if (v->at == v->end || *v->at == ' ')
            return ins_verify_fault(v, "expected a transaction");
    }
    const ins_txn t = ins_verify_number(v, v->h->n_txns);
    if (ins_verify_bad(v))
        return false;
    if (t == INS_INIT)
        return ins_verify_fault(v, "the initial transaction is no node");
    ins_vec_u32_push(&v->node, v->split ? 2 * t + commit : t);
    return !v->node.failed || ins_verify_no_memory(v);
}

bool ins_verify_nodes(struct ins_verifier *v)
{
    v->node.len = 0;
    while (ins_verify_more(v) && *v->at != ':')
        if (!read_node(v) || !ins_verify_go_on(v))
            return false;
    return !ins_verify_bad(v);
}

/* ---- who may count ---- */

/* Two external reads of one key by t whose results differ, which ra and above forbid.
 * `first` holds by key the first one, from 1. */
static bool disagrees(const struct ins_verifier *v, ins_txn t, uint32_t *first)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const ins_key k = ins_op_key(h, op);
        if (v->f.fact[op] != INS_FACT_EXTERNAL || ins_fact_is_loose(&v->f, op))
            continue;
        if (h->statements.n) {
            struct ins_sources s = ins_fact_own_sources(&v->f, op);
            ins_txn any;
            if (!ins_is_list_key(h, k) && ins_sources_next(&s, &any) &&
                !ins_fact_have_common(&v->f, op))
                return true;
        }
        if (first[k] <= h->txn_op[t])
            first[k] = op + 1;
        else if (ins_has_value(h, op) && ins_has_value(h, first[k] - 1) &&
                 !ins_fact_same_result(&v->f, first[k] - 1, op))
            return true;
    }
    return false;
}

/* A read of t that no choice explains. */
static bool has_misread(struct ins_verifier *v, ins_txn t)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
        const uint8_t fact = v->f.fact[op];
        ins_txn w;
        if ((fact == INS_FACT_NOT_OWN && !ins_verify_passed_over(v, op)) ||
            fact == INS_FACT_MISMATCH)
            return true;
        if (fact != INS_FACT_EXTERNAL && fact != INS_FACT_OWN)
            continue;
        struct ins_sources s = ins_fact_sources(&v->f, op);
        if (fact == INS_FACT_EXTERNAL && !ins_sources_next(&s, &w))
            return true;
        bool fits = true;
        if (ins_is_list_key(h, ins_op_key(h, op)) &&
            ins_fact_list_fits(&v->f, op, &fits) != INS_OK)
            return ins_verify_no_memory(v);
        if (!fits)
            return true;
    }
    return false;
}

struct needs {             /* indeterminate readers by the only one they may be from */
    uint32_t *head, *next; /* by transaction: a read; by read */
};

static void exclude(struct ins_verifier *v, const struct needs *n, ins_txn t,
                    struct ins_vec_u32 *out)
{
    v->possible[t] = 0;
    ins_vec_u32_push(out, t);
    for (size_t i = out->len - 1; !out->failed && i < out->len; i++)
        for (uint32_t op = n->head[out->at[i]]; op; op = n->next[op - 1]) {
            const ins_txn reader = v->f.txn[op - 1];
            if (v->possible[reader]) {
                v->possible[reader] = 0;
                ins_vec_u32_push(out, reader);
            }
        }
}

/* An indeterminate transaction may count when its reads agree and can be explained, and
 * whom it must have read from may count too. */
static bool find_possible(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (ins_txn t = 0; t < h->n_txns; t++)
        v->possible[t] = t == INS_INIT || ins_fact_alive(&v->f, t);
    if (!v->f.uncertain)
        return true;
    uint32_t *first = INS_NEW0(uint32_t, (size_t)h->n_keys + 1);
    struct needs n = {INS_NEW0(uint32_t, h->n_txns),
                      INS_NEW0(uint32_t, (size_t)h->n_ops + 1)};
    struct ins_vec_u32 out = {0};
    bool ok = first && n.head && n.next;
    for (uint32_t op = 0; ok && op < h->n_ops; op++)
        if (v->f.only[op] != INS_NONE && !ins_fact_committed(&v->f, v->f.txn[op])) {
            n.next[op] = n.head[v->f.only[op]];
            n.head[v->f.only[op]] = op + 1;
        }
    for (ins_txn t = 1; ok && t < h->n_txns; t++) {
        const bool repeats = v->base >= V_RA;
        if (!v->possible[t] || ins_fact_committed(&v->f, t) || !ins_verify_go_on(v))
            continue;
        if (has_misread(v, t) || (repeats && disagrees(v, t, first)))
            exclude(v, &n, t, &out);
    }
    ok = ok && !out.failed;
    ins_free(first);
    ins_free(n.head);
    ins_free(n.next);
    ins_vec_u32_release(&out);
    return ok || ins_verify_no_memory(v);
}

/* ---- blocks ---- */

static void forget(struct ins_verifier *v)
{
    ins_number_map_release(&v->edge);
    ins_number_map_release(&v->anti);
    ins_number_map_release(&v->dropped);
    ins_number_map_release(&v->before);
    v->claim.len = v->lit.len = v->clause.len = v->clause_at.len = v->unit.len = 0;
    v->derived.len = v->clause_line.len = v->hint.len = 0;
    v->occur.len = v->occur_next.len = v->occur_head.len = 0;
    v->refuted = false;
}

/* Reads of one version out of a set: what the others of the key leave over is their
 * source, when that one counts anyway. */
static void find_common(struct ins_verifier *v)
{
    for (uint32_t op = 0; op < v->h->n_ops; op++) {
        ins_txn w, other;
        if (v->f.fact[op] != INS_FACT_EXTERNAL || v->source[op] != INS_NONE)
            continue;
        struct ins_sources s = ins_fact_sources(&v->f, op);
        if (ins_sources_next(&s, &w) && !ins_sources_next(&s, &other) && v->f.sure[w])
            v->source[op] = w;
    }
}

static bool start_level(struct ins_verifier *v, int level)
{
    const struct ins_history *h = v->h;
    forget(v);
    v->level = level;
    v->base = (enum ins_verify_base)(level / V_VARIANTS);
    v->sessions = takes_sessions(level);
    v->real_time = takes_real_time(level);
    v->split = v->base == V_PC || v->base == V_SI;
    memcpy(v->counts, v->f.sure, h->n_txns);
    memcpy(v->source, v->f.only, (size_t)h->n_ops * sizeof *v->source);
    v->f.together = v->base >= V_RA;
    v->f.items = v->base == V_RR;
    if (h->statements.n && v->f.together)
        find_common(v);
    return base_table[v->base].pass || find_possible(v);
}

static int read_level(struct ins_verifier *v)
{
    for (int l = 0; l < V_LEVELS; l++) {
        char name[16];
        name_of(l, name);
        if (is_level(l) && ins_verify_word(v, name))
            return l;
    }
    (void)ins_verify_fault(v, "expected a level");
    return V_CI * V_VARIANTS + V_PLAIN;
}

static bool read_verdict(struct ins_verifier *v, uint8_t *verdict)
{
    *verdict = ins_verify_word(v, "pass") ? 1 : ins_verify_word(v, "fail") ? 2 : 0;
    return *verdict || ins_verify_fault(v, "expected pass or fail");
}

/* Up to and with its end. */
static bool fail_block(struct ins_verifier *v)
{
    if (base_table[v->base].fail)
        return base_table[v->base].fail(v);
    while (!ins_verify_bad(v) && !ins_verify_word(v, "end")) {
        bool taken = false;
        if (!ins_verify_axiom(v, &taken) || (!taken && !ins_verify_step(v, &taken)) ||
            (!taken && !ins_verify_search(v, &taken)))
            return false;
        if (!taken)
            return ins_verify_fault(v, "expected a step that proves something of that "
                                       "level");
    }
    return !ins_verify_bad(v) &&
           (v->refuted || ins_verify_fault(v, "the proof ends before a contradiction"));
}

static bool implied_block(struct ins_verifier *v, uint8_t verdict,
                          const uint8_t *verdicts)
{
    const int by = read_level(v);
    if (ins_verify_bad(v) || !ins_verify_end_of_line(v))
        return false;
    const bool holds = verdict == 1 ? implies(by, v->level) : implies(v->level, by);
    if (!holds || verdicts[by] != verdict)
        return ins_verify_fault(
            v, "that level does not imply it, or was not proved before");
    return true;
}

static bool pass_block(struct ins_verifier *v)
{
    if (base_table[v->base].pass)
        return base_table[v->base].pass(v);
    if (v->real_time && !v->f.has_times)
        return ins_verify_fault(v, "the history has no times");
    return V_BIT(v->base) & V_VERSIONS && v->base != V_PSI ? ins_verify_order(v)
                                                           : ins_verify_commits(v);
}

static bool export_block(struct ins_verifier *v)
{
    char name[16];
    name_of(v->level, name);
    return ins_export_block(v, name);
}

static bool block(struct ins_verifier *v, uint8_t *verdicts)
{
    const int level = read_level(v);
    uint8_t verdict;
    if (ins_verify_bad(v) || !read_verdict(v, &verdict) || !ins_verify_end_of_line(v))
        return false;
    if (verdicts[level])
        return ins_verify_fault(v, "a level is claimed twice");
    if (!start_level(v, level))
        return false;
    const bool implied = ins_verify_word(v, "implied");
    const bool proof = !implied && verdict == 2;
    const bool ok = implied ? implied_block(v, verdict, verdicts)
                    : proof ? fail_block(v)
                            : pass_block(v);
    if (!ok)
        return false;
    if (!proof && !ins_verify_word(v, "end"))
        return ins_verify_fault(v, "expected end");
    if (proof && !export_block(v))
        return false;
    verdicts[level] = verdict;
    return ins_verify_end_of_line(v);
}

/* ---- the head ---- */

static bool header(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    if (!ins_verify_word(v, "insula-certificate") || ins_verify_number(v, 3) != 2 ||
        ins_verify_bad(v) || !ins_verify_end_of_line(v))
        return ins_verify_fault(v, "expected insula-certificate 2");
    const bool same = ins_verify_word(v, "history") &&
                      ins_verify_number(v, UINT32_MAX) == h->n_sessions &&
                      ins_verify_number(v, UINT32_MAX) == h->n_txns &&
                      ins_verify_number(v, UINT32_MAX) == h->n_ops;
    if (!same || ins_verify_bad(v))
        return ins_verify_fault(v, "the certificate is for another history");
    return ins_verify_end_of_line(v);
}

/* The level of "ser=fail", with its verdict; V_LEVELS when it is none. */
static int parse_claim(const char *text, size_t n, uint8_t *verdict)
{
    for (int l = 0; l < V_LEVELS; l++) {
        char name[16];
        name_of(l, name);
        const size_t id = strlen(name);
        if (!is_level(l) || n != id + 5 || memcmp(text, name, id) != 0)
            continue;
        *verdict = !memcmp(text + id, "=pass", 5)   ? 1
                   : !memcmp(text + id, "=fail", 5) ? 2
                                                    : 0;
        return *verdict ? l : V_LEVELS;
    }
    return V_LEVELS;
}

/* "claims rc=pass ...": what the blocks prove, all of it. */
static bool claims(struct ins_verifier *v, uint8_t *claimed)
{
    bool any = false;
    if (!ins_verify_word(v, "claims"))
        return ins_verify_fault(v, "expected claims");
    for (; ins_verify_more(v); any = true) {
        const char *start = v->at;
        while (v->at < v->end && *v->at != ' ' && *v->at != '\n')
            v->at++;
        uint8_t verdict;
        const int l = parse_claim(start, (size_t)(v->at - start), &verdict);
        if (l == V_LEVELS || claimed[l])
            return ins_verify_fault(v, "expected a level and its verdict, once");
        claimed[l] = verdict;
    }
    if (!any)
        return ins_verify_fault(v, "the certificate claims nothing");
    return ins_verify_end_of_line(v);
}

static void unproved(struct ins_verifier *v, int level, uint8_t verdict)
{
    char name[16];
    name_of(level, name);
    if (v->status == INS_OK)
        v->status =
            ins_fail(v->err, INS_E_INPUT, v->line, "'%s=%s' is claimed and not proved",
                     name, verdict == 1 ? "pass" : "fail");
}

static void run(struct ins_verifier *v)
{
    uint8_t verdicts[V_LEVELS] = {0}, claimed[V_LEVELS] = {0};
    if (!header(v) || !claims(v, claimed))
        return;
    while (v->at < v->end) {
        if (!ins_verify_word(v, "level")) {
            (void)ins_verify_fault(v, "expected level");
            return;
        }
        if (!block(v, verdicts))
            return;
        if (verdicts[v->level] != claimed[v->level]) {
            (void)ins_verify_fault(v, "this block is not what the head claims");
            return;
        }
    }
    for (int l = 0; l < V_LEVELS; l++)
        if (verdicts[l] != claimed[l])
            unproved(v, l, claimed[l]);
    if (v->status == INS_OK)
        memcpy(v->proved, verdicts, sizeof v->proved);
}

/* What was asked for must be among what was proved. */
static void look_for(struct ins_verifier *v, const char *asked)
{
    while (v->status == INS_OK && asked && *asked) {
        const size_t n = strcspn(asked, ",");
        uint8_t verdict = 0;
        const int l = parse_claim(asked, n, &verdict);
        if (l == V_LEVELS || v->proved[l] != verdict)
            v->status =
                ins_fail(v->err, INS_E_INPUT, 0,
                         "the certificate does not prove '%.*s'", (int)n, asked);
        asked += n + (asked[n] == ',');
    }
}

static void report(const struct ins_verifier *v, FILE *out)
{
    for (int l = 0; l < V_LEVELS; l++) {
        char name[16];
        name_of(l, name);
        if (v->proved[l])
            (void)fprintf(out, "%s %s: proved\n", name,
                          v->proved[l] == 1 ? "pass" : "fail");
    }
}

/* ---- all of it ---- */

static void release(struct ins_verifier *v)
{
    forget(v);
    ins_facts_release(&v->f);
    ins_free(v->counts);
    ins_free(v->possible);
    ins_free(v->source);
    ins_free(v->value);
    ins_vec_u32_release(&v->node);
    ins_vec_claim_release(&v->claim);
    ins_vec_literal_release(&v->lit);
    ins_vec_literal_release(&v->clause);
    ins_vec_literal_release(&v->trail);
    ins_vec_u32_release(&v->clause_at);
    ins_vec_u32_release(&v->assumed);
    ins_vec_u32_release(&v->unit);
    ins_vec_u32_release(&v->reason);
    ins_vec_u8_release(&v->derived);
    ins_vec_u32_release(&v->clause_line);
    ins_vec_u32_release(&v->hint);
    ins_vec_u32_release(&v->occur);
    ins_vec_u32_release(&v->occur_next);
    ins_vec_u32_release(&v->occur_head);
}

enum ins_status ins_verify(const struct ins_history *h, const char *text, size_t size,
                           const struct ins_verify_options *o, struct ins_error *err)
{
    static const struct ins_verify_options none;
    struct ins_error own = {0};
    struct ins_verifier v = {.h = h,
                             .o = o ? o : &none,
                             .err = err ? err : &own,
                             .at = text,
                             .end = text + size,
                             .line = 1};
    v.status = ins_facts_init(&v.f, h, v.o->limit, v.err);
    v.counts = INS_NEW0(uint8_t, h->n_txns);
    v.possible = INS_NEW0(uint8_t, h->n_txns);
    v.source = INS_NEW(uint32_t, (size_t)h->n_ops + 1);
    if (!v.counts || !v.possible || !v.source)
        (void)ins_verify_no_memory(&v);
    if (v.status == INS_OK)
        run(&v);
    look_for(&v, v.o->asked);
    if (v.status == INS_OK && v.o->out)
        report(&v, v.o->out);
    release(&v);
    return v.status;
}

#include "verify_state.h"

#include <string.h>

static const char *const level_id[V_LEVELS] = {"ci", "rc", "ra",  "cc",
                                               "pc", "si", "ser", "sser"};

bool ins_verify_fault(struct ins_verifier *v, const char *what)
{
    if (!v->bad)
        (void)ins_fail(v->err, INS_E_INPUT, v->line, "%s", what);
    v->bad = true;
    return false;
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
    return true;
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
    if (!v->bad && t == INS_INIT)
        return ins_verify_fault(v, "the initial transaction is no node");
    ins_vec_u32_push(&v->node, v->split ? 2 * t + commit : t);
    return !v->bad && !v->node.failed;
}

bool ins_verify_nodes(struct ins_verifier *v)
{
    v->node.len = 0;
    while (ins_verify_more(v) && *v->at != ':')
        if (!read_node(v))
            return false;
    return true;
}

/* ---- the history ---- */

uint32_t ins_verify_write(const struct ins_verifier *v, ins_txn t, ins_key k)
{
    const struct ins_history *h = v->h;
    for (uint32_t op = h->txn_op[t + 1]; op-- > h->txn_op[t];)
        if (ins_is_write(h, op) && ins_op_key(h, op) == k)
            return op;
    return INS_NONE;
}

bool ins_verify_external(const struct ins_verifier *v, uint32_t op)
{
    const uint32_t from = v->h->op_from[op];
    return !ins_is_write(v->h, op) &&
           (from < INS_FROM_SPECIAL || from == INS_FROM_AMBIGUOUS);
}

/* Repeated external reads of t that do not agree, which ra and above forbid. */
static bool disagrees(const struct ins_verifier *v, ins_txn t)
{
    const struct ins_history *h = v->h;
    for (uint32_t a = h->txn_op[t]; a < h->txn_op[t + 1]; a++)
        for (uint32_t b = a + 1; ins_verify_external(v, a) && b < h->txn_op[t + 1];
             b++) {
            if (ins_op_key(h, a) != ins_op_key(h, b) || !ins_verify_external(v, b))
                continue;
            if (!ins_history_same_result(h, a, b))
                return true;
        }
    return false;
}

/* An indeterminate transaction may count when its reads agree, none of them is faulty
 * and what it read from may count too. */
static void find_possible(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    for (ins_txn t = 1; t < h->n_txns; t++)
        v->possible[t] = ins_counted(h, t) || (h->txn_status[t] == INS_INDETERMINATE &&
                                               (v->level <= V_RC || !disagrees(v, t)));
    v->possible[INS_INIT] = 1;
    for (bool again = true; again;) {
        again = false;
        for (ins_txn t = 1; t < h->n_txns; t++) {
            if (!v->possible[t] || ins_counted(h, t))
                continue;
            for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
                const uint32_t from = h->op_from[op];
                const bool faulty = from >= INS_FROM_THIN_AIR ||
                                    (from < INS_FROM_SPECIAL && !v->possible[from]);
                if (ins_is_write(h, op) || !faulty)
                    continue;
                v->possible[t] = 0;
                again = true;
                break;
            }
        }
    }
}

/* ---- blocks ---- */

static void forget(struct ins_verifier *v)
{
    ins_number_map_release(&v->edge);
    ins_number_map_release(&v->dropped);
    ins_number_map_release(&v->before);
    v->claim.len = v->lit.len = v->clause.len = v->clause_at.len = 0;
    v->occur.len = v->occur_next.len = v->occur_head.len = 0;
    v->refuted = false;
}

static void start_level(struct ins_verifier *v, int level)
{
    const struct ins_history *h = v->h;
    forget(v);
    v->level = level;
    v->split = level == V_PC || level == V_SI;
    for (ins_txn t = 0; t < h->n_txns; t++)
        v->counts[t] = t == INS_INIT || ins_counted(h, t);
    for (uint32_t op = 0; op < h->n_ops; op++)
        v->source[op] = ins_verify_external(v, op) && h->op_from[op] < INS_FROM_SPECIAL
                            ? h->op_from[op]
                            : INS_NONE;
    find_possible(v);
}

static int read_level(struct ins_verifier *v)
{
    for (int l = 0; l < V_LEVELS; l++)
        if (ins_verify_word(v, level_id[l]))
            return l;
    (void)ins_verify_fault(v, "expected a level");
    return 0;
}

/* A read that is from nobody breaks every level. */
static bool read_fault(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    const uint32_t op = ins_verify_number(v, h->n_ops);
    if (v->bad)
        return false;
    if (ins_is_write(h, op) || h->op_from[op] < INS_FROM_THIN_AIR ||
        !ins_counted(h, ins_op_txn(h, op)))
        return ins_verify_fault(v, "that read is not faulty");
    return ins_verify_end_of_line(v);
}

static bool fail_block(struct ins_verifier *v)
{
    bool proved = false;
    if (v->level != V_CI && ins_verify_word(v, "misread")) {
        proved = read_fault(v);
        return proved &&
               (ins_verify_word(v, "end") || ins_verify_fault(v, "expected end"));
    }
    while (!v->bad && !ins_verify_word(v, "end")) {
        bool taken = false;
        if (v->level != V_CI && ins_verify_word(v, "cycle")) {
            if (!ins_verify_nodes(v))
                return false;
            const struct ins_vec_u32 *n = &v->node;
            if (n->len < 2 || n->at[0] != n->at[n->len - 1] || !ins_verify_walk(v))
                return ins_verify_fault(v, "the cycle does not hold");
            proved = ins_verify_end_of_line(v);
            continue;
        }
        if (!ins_verify_weak_step(v, &taken))
            return false;
        if (taken) {
            proved |= v->refuted;
            continue;
        }
        if (v->level == V_CI)
            return ins_verify_fault(v, "expected two reads that differ");
        if (!ins_verify_step(v, &taken) || (!taken && !ins_verify_search(v, &taken)))
            return false;
        if (!taken)
            return ins_verify_fault(v, "expected a step of a proof");
        proved |= v->refuted;
    }
    return !v->bad &&
           (proved || ins_verify_fault(v, "the proof ends before a contradiction"));
}

/* verdicts[l]: 0 none, 1 pass, 2 fail. */
static bool implied_block(struct ins_verifier *v, bool pass, const uint8_t *verdicts)
{
    const int level = v->level, by = read_level(v);
    if (v->bad || !ins_verify_end_of_line(v))
        return false;
    const bool holds =
        pass ? by > level && by > V_RC && verdicts[by] == 1
             : by < level && (by != V_CI || level != V_RC) && verdicts[by] == 2;
    if (!holds)
        return ins_verify_fault(
            v, "that level does not imply it, or was not proved before");
    return ins_verify_word(v, "end") || ins_verify_fault(v, "expected end");
}

static bool block(struct ins_verifier *v, uint8_t *verdicts)
{
    start_level(v, read_level(v));
    const bool pass = ins_verify_word(v, "pass");
    if (v->bad || (!pass && !ins_verify_word(v, "fail")))
        return ins_verify_fault(v, "expected pass or fail");
    if (!ins_verify_end_of_line(v))
        return false;
    bool ok;
    if (ins_verify_word(v, "implied"))
        ok = implied_block(v, pass, verdicts);
    else if (!pass)
        ok = fail_block(v);
    else if (v->level == V_CI)
        ok = ins_verify_cut(v) &&
             (ins_verify_word(v, "end") || ins_verify_fault(v, "expected end"));
    else
        ok = (v->level < V_PC ? ins_verify_commits(v) : ins_verify_order(v)) &&
             (ins_verify_word(v, "end") || ins_verify_fault(v, "expected end"));
    if (ok && verdicts[v->level])
        return ins_verify_fault(v, "a level is claimed twice");
    verdicts[v->level] = pass ? 1 : 2;
    return ok && ins_verify_end_of_line(v);
}

static bool header(struct ins_verifier *v)
{
    const struct ins_history *h = v->h;
    if (!ins_verify_word(v, "insula-certificate") || ins_verify_number(v, 3) != 2 ||
        v->bad || !ins_verify_end_of_line(v))
        return ins_verify_fault(v, "expected insula-certificate 2");
    const bool same = ins_verify_word(v, "history") &&
                      ins_verify_number(v, UINT32_MAX) == h->n_sessions &&
                      ins_verify_number(v, UINT32_MAX) == h->n_txns &&
                      ins_verify_number(v, UINT32_MAX) == h->n_ops;
    if (!same || v->bad)
        return ins_verify_fault(v, "the certificate is for another history");
    return ins_verify_end_of_line(v);
}

/* "claims rc=pass ...": what the blocks prove, all of it. */
static bool claims(struct ins_verifier *v, uint8_t *claimed)
{
    bool any = false;
    if (!ins_verify_word(v, "claims"))
        return ins_verify_fault(v, "expected claims");
    for (; ins_verify_more(v); any = true) {
        bool known = false;
        for (int l = 0; l < V_LEVELS && !known; l++)
            for (int verdict = 1; verdict <= 2 && !known; verdict++) {
                char word[16];
                (void)snprintf(word, sizeof word, "%s=%s", level_id[l],
                               verdict == 1 ? "pass" : "fail");
                known = !claimed[l] && ins_verify_word(v, word);
                if (known)
                    claimed[l] = (uint8_t)verdict;
            }
        if (!known)
            return ins_verify_fault(v, "expected a level and its verdict, once");
    }
    if (!any)
        return ins_verify_fault(v, "the certificate claims nothing");
    return ins_verify_end_of_line(v);
}

static void run(struct ins_verifier *v)
{
    uint8_t verdicts[V_LEVELS] = {0}, claimed[V_LEVELS] = {0};
    if (!header(v) || !claims(v, claimed))
        return;
    while (!v->bad && v->at < v->end) {
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
    for (int l = 0; l < V_LEVELS && !v->bad; l++)
        if (verdicts[l] != claimed[l])
            (void)ins_fail(v->err, INS_E_INPUT, v->line,
                           "'%s=%s' is claimed and not proved", level_id[l],
                           claimed[l] == 1 ? "pass" : "fail"),
                v->bad = true;
    for (int l = 0; l < V_LEVELS && !v->bad; l++)
        v->proved[l] = verdicts[l];
}

/* What was asked for, "ser=fail,si=pass", must be among what was proved. */
static void look_for(struct ins_verifier *v, const char *asked)
{
    while (!v->bad && asked && *asked) {
        const size_t n = strcspn(asked, ",");
        const char *is = memchr(asked, '=', n);
        const size_t id = is ? (size_t)(is - asked) : n;
        const size_t verdict = is ? n - id - 1 : 0;
        bool found = false;
        for (int l = 0; l < V_LEVELS; l++)
            found |= v->proved[l] && verdict == 4 && strlen(level_id[l]) == id &&
                     !memcmp(level_id[l], asked, id) &&
                     !memcmp(v->proved[l] == 1 ? "pass" : "fail", is + 1, 4);
        if (!found) {
            v->bad = true;
            (void)ins_fail(v->err, INS_E_INPUT, 0,
                           "the certificate does not prove '%.*s'", (int)n, asked);
        }
        asked += n + (asked[n] == ',');
    }
}

static void tell(const struct ins_verifier *v, FILE *out)
{
    for (int l = 0; l < V_LEVELS; l++)
        if (v->proved[l])
            (void)fprintf(out, "%s %s: proved\n", level_id[l],
                          v->proved[l] == 1 ? "pass" : "fail");
}

static void release(struct ins_verifier *v)
{
    forget(v);
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
    ins_vec_u32_release(&v->occur);
    ins_vec_u32_release(&v->occur_next);
    ins_vec_u32_release(&v->occur_head);
}

enum ins_status ins_verify(const struct ins_history *h, const char *text, size_t size,
                           const char *asked, FILE *out, struct ins_error *err)
{
    struct ins_error own = {0};
    struct ins_verifier v = {
        .h = h, .err = err ? err : &own, .at = text, .end = text + size, .line = 1};
    v.counts = INS_NEW0(uint8_t, h->n_txns);
    v.possible = INS_NEW0(uint8_t, h->n_txns);
    v.source = INS_NEW(uint32_t, (size_t)h->n_ops + 1);
    enum ins_status st = INS_OK;
    if (!v.counts || !v.possible || !v.source) {
        st = ins_nomem(err, "the verifier");
    } else {
        run(&v);
        look_for(&v, asked);
        if (!v.bad && out)
            tell(&v, out);
        st = v.bad ? INS_E_INPUT : INS_OK;
    }
    release(&v);
    return st;
}

/* verify_export.c - a search for checkers that others wrote: its clauses as CNF, what
 * was derived by propagation as DRAT or LRAT.  Section 11 of docs/certificates.md.
 *
 * The clauses that the history states come first and are the CNF; the others follow in
 * their order.  Stating some of them earlier than the certificate does takes nothing
 * away from a proof by propagation. */
#include "verify_state.h"

#include <inttypes.h>
#include <stdlib.h>

/* The clauses that make the line's negations contradictory, in the order in which they
 * become unit; the last one is false.  Taken from the trail. */
bool ins_export_hints(struct ins_verifier *v, uint32_t conflict)
{
    struct ins_vec_u32 *hint = &v->hint;
    uint8_t *needed = INS_NEW0(uint8_t, v->cap_value + 1);
    if (!needed)
        return ins_verify_no_memory(v);
    const size_t first = hint->len;
    for (const int *l = v->clause.at + v->clause_at.at[conflict]; *l; l++)
        needed[abs(*l)] = 1;
    ins_vec_u32_push(hint, conflict);
    for (size_t i = v->trail.len; i-- > 0;) {
        const uint32_t var = (uint32_t)abs(v->trail.at[i]);
        if (!needed[var] || i >= v->reason.len || v->reason.at[i] == INS_NONE)
            continue;
        for (const int *l = v->clause.at + v->clause_at.at[v->reason.at[i]]; *l; l++)
            needed[abs(*l)] = 1;
        ins_vec_u32_push(hint, v->reason.at[i]);
    }
    ins_free(needed);
    if (hint->failed)
        return ins_verify_no_memory(v);
    for (size_t a = first, b = hint->len - 1; a < b; a++, b--) {
        const uint32_t x = hint->at[a];
        hint->at[a] = hint->at[b];
        hint->at[b] = x;
    }
    ins_vec_u32_push(hint, INS_NONE);
    return !hint->failed || ins_verify_no_memory(v);
}

static void put_clause(const struct ins_verifier *v, FILE *f, size_t i)
{
    for (const int *l = v->clause.at + v->clause_at.at[i]; *l; l++)
        (void)fprintf(f, "%d ", *l);
}

static void put_variable(const struct ins_verifier *v, FILE *f, size_t i)
{
    static const char *const end[] = {"", "begin of ", "commit of "};
    const struct ins_claim *c = &v->claim.at[i];
    const bool keyed = c->kind == CLAIM_ORDER || c->kind == CLAIM_PLACE;
    uint32_t n;
    const uint32_t key = keyed ? *ins_fact_writes(&v->f, c->a, c->key, &n) : 0;
    (void)fprintf(f, "c variable %zu: ", i + 1);
    switch (c->kind) {
    case CLAIM_ORDER:
        (void)fprintf(f,
                      "of the key of operation %u, %u's version is older than %u's\n",
                      key, c->a, c->b);
        break;
    case CLAIM_FROM:
        (void)fprintf(f, "operation %u counts and is from %u\n", c->a, c->b);
        break;
    case CLAIM_COUNT:
        (void)fprintf(f, "transaction %u counts\n", c->a);
        break;
    case CLAIM_EDGE:
        (void)fprintf(f, "%s%u is before %s%u\n", end[v->split ? 1 + c->a % 2 : 0],
                      ins_verify_txn(v, c->a), end[v->split ? 1 + c->b % 2 : 0],
                      ins_verify_txn(v, c->b));
        break;
    case CLAIM_PLACE:
        (void)fprintf(f, "in the list of operation %u, %u stands behind %u elements\n",
                      key, c->a, c->b);
        break;
    }
}

static void put_cnf(const struct ins_verifier *v, FILE *f, size_t stated)
{
    size_t number = 0;
    (void)fprintf(f, "c a search of insula: without a model of these clauses the level "
                     "has none\n");
    for (size_t i = 0; i < v->claim.len; i++)
        put_variable(v, f, i);
    for (size_t i = 0; i < v->clause_at.len; i++)
        if (!v->derived.at[i])
            (void)fprintf(f, "c clause %zu: line %u of the certificate\n", ++number,
                          v->clause_line.at[i]);
    (void)fprintf(f, "p cnf %zu %zu\n", v->claim.len, stated);
    for (size_t i = 0; i < v->clause_at.len; i++)
        if (!v->derived.at[i]) {
            put_clause(v, f, i);
            (void)fputs("0\n", f);
        }
}

/* Numbers of LRAT: those of the CNF, then the derived ones. */
static bool put_proof(const struct ins_verifier *v, FILE *f, size_t stated, bool lrat)
{
    uint32_t *id = INS_NEW(uint32_t, v->clause_at.len + 1);
    size_t next[2] = {1, stated + 1}, hint = 0;
    if (!id)
        return false;
    for (size_t i = 0; i < v->clause_at.len; i++) {
        id[i] = (uint32_t)next[v->derived.at[i]]++;
        if (!v->derived.at[i])
            continue;
        if (lrat)
            (void)fprintf(f, "%u ", id[i]);
        put_clause(v, f, i);
        (void)fputs("0", f);
        for (; v->hint.at[hint] != INS_NONE; hint++)
            if (lrat)
                (void)fprintf(f, " %u", id[v->hint.at[hint]]);
        hint++;
        (void)fputs(lrat ? " 0\n" : "\n", f);
    }
    ins_free(id);
    return true;
}

static FILE *create(struct ins_verifier *v, const char *level, const char *suffix,
                    char *path, size_t size)
{
    (void)snprintf(path, size, "%s.%s.%s", v->o->proof_path, level, suffix);
    FILE *f = fopen(path, "wbe");
    if (!f && v->status == INS_OK)
        v->status = ins_fail(v->err, INS_E_IO, 0, "cannot create '%s'", path);
    return f;
}

static bool finish(struct ins_verifier *v, FILE *f, bool fine, const char *path)
{
    fine = f && fine && !ferror(f);
    if (f && fclose(f) != 0)
        fine = false;
    if (f && !fine && v->status == INS_OK) {
        v->status = ins_fail(v->err, INS_E_IO, 0, "cannot write '%s'", path);
        (void)remove(path);
    }
    return fine;
}

bool ins_export_block(struct ins_verifier *v, const char *level)
{
    size_t stated = 0;
    for (size_t i = 0; i < v->derived.len; i++)
        stated += !v->derived.at[i];
    if (!v->o->proof_path || !v->o->proof_format || stated == v->derived.len)
        return true; /* no search */
    char path[4096];
    FILE *f = create(v, level, "cnf", path, sizeof path);
    if (f)
        put_cnf(v, f, stated);
    if (!finish(v, f, true, path))
        return false;
    f = create(v, level, v->o->proof_format, path, sizeof path);
    const bool put = f && put_proof(v, f, stated, !strcmp(v->o->proof_format, "lrat"));
    return finish(v, f, put, path);
}

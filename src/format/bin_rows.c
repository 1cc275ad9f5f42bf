/* bin_rows.c - statements as columns of numbers; bin.h describes the rest. */
#include "format/bin.h"

#include "base/mem.h"

/* One statement: kinds and flags, a byte each, in the first word. */
static void pack(const struct ins_statement *s, uint64_t w[INS_BIN_STATEMENT_WORDS])
{
    w[0] = s->kind | (uint64_t)s->no_effect << 8 | (uint64_t)s->key.kind << 16 |
           (uint64_t)s->key.range << 24 | (uint64_t)s->value.kind << 32 |
           (uint64_t)s->value.range << 40;
    w[1] = s->txn;
    w[2] = s->op;
    w[3] = s->n_ops;
    w[4] = s->limit;
    w[5] = s->key.n;
    w[6] = s->key.a;
    w[7] = s->key.b;
    w[8] = s->value.n;
    w[9] = s->value.a;
    w[10] = s->value.b;
}

static bool unpack(const uint64_t w[INS_BIN_STATEMENT_WORDS], struct ins_statement *s)
{
    *s = (struct ins_statement){
        .kind = (uint8_t)w[0],
        .no_effect = (uint8_t)(w[0] >> 8),
        .txn = (uint32_t)w[1],
        .op = (uint32_t)w[2],
        .n_ops = (uint32_t)w[3],
        .limit = (uint32_t)w[4],
        .key = {(uint8_t)(w[0] >> 16), (uint8_t)(w[0] >> 24), (uint32_t)w[5], w[6],
                w[7]},
        .value = {(uint8_t)(w[0] >> 32), (uint8_t)(w[0] >> 40), (uint32_t)w[8], w[9],
                  w[10]},
    };
    uint64_t again[INS_BIN_STATEMENT_WORDS];
    pack(s, again);
    return !memcmp(again, w, sizeof again);
}

enum ins_status ins_bin_pack_statements(const struct ins_statements *all,
                                        uint64_t **out, struct ins_error *err)
{
    *out = INS_NEW(uint64_t, (size_t)all->n * INS_BIN_STATEMENT_WORDS);
    if (!*out)
        return ins_nomem(err, "the output");
    for (uint32_t i = 0; i < all->n; i++)
        pack(&all->at[i], *out + (size_t)i * INS_BIN_STATEMENT_WORDS);
    return INS_OK;
}

enum ins_status ins_bin_unpack_statements(const uint64_t *word, uint64_t n,
                                          struct ins_statements *out,
                                          struct ins_error *err)
{
    bool fine =
        n % INS_BIN_STATEMENT_WORDS == 0 && n / INS_BIN_STATEMENT_WORDS < INS_NONE - 1;
    const uint32_t count = fine ? (uint32_t)(n / INS_BIN_STATEMENT_WORDS) : 0;
    out->at = count ? INS_NEW(struct ins_statement, count) : NULL;
    if (count && !out->at)
        return ins_nomem(err, "the statements");
    for (uint32_t i = 0; i < count && fine; i++)
        fine = unpack(word + (size_t)i * INS_BIN_STATEMENT_WORDS, &out->at[i]);
    out->n = count;
    return fine ? INS_OK
                : ins_fail(err, INS_E_INPUT, 0,
                           "the file is damaged, expected statements");
}

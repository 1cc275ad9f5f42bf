/* Freezing against a naive look at the operations: who each read is from, what is wrong
 * with it, and which indeterminate transactions count. */
#include "recheck.h"
#include "same_frozen.h"
#include "tiny.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CANDIDATES = TINY_TXNS + 1 };

static bool claim_of(uint32_t from, enum ins_kind *kind)
{
    switch (from) {
    case INS_FROM_THIN_AIR:
        *kind = INS_THIN_AIR_READ;
        return true;
    case INS_FROM_ABORTED:
        *kind = INS_ABORTED_READ;
        return true;
    case INS_FROM_FUTURE:
        *kind = INS_FUTURE_READ;
        return true;
    case INS_FROM_NOT_OWN:
        *kind = INS_NOT_MY_OWN_WRITE;
        return true;
    case INS_FROM_NOT_LAST:
        *kind = INS_NOT_MY_LAST_WRITE;
        return true;
    case INS_FROM_INTERMEDIATE:
        *kind = INS_INTERMEDIATE_READ;
        return true;
    case INS_FROM_DUPLICATE_ELEMENTS:
        *kind = INS_DUPLICATE_ELEMENTS;
        return true;
    case INS_FROM_INCOMPATIBLE:
        *kind = INS_INCOMPATIBLE_ORDER;
        return true;
    default:
        return false;
    }
}

static const char *wrong_candidates(const struct ins_history *h, uint32_t op,
                                    const ins_txn *source, unsigned n)
{
    uint32_t count, seen = 0;
    const ins_txn self = ins_op_txn(h, op);
    const ins_txn *candidate = ins_history_candidates(h, op, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (candidate[i] == self)
            continue;
        if (seen == n || source[seen] != candidate[i])
            return "other candidates";
        seen++;
    }
    return seen == n ? NULL : "too few candidates";
}

/* Is a sound list read, or a read that was found faulty, what it should be? */
static const char *wrong_list_read(const struct ins_history *h, uint32_t op)
{
    ins_txn source[CANDIDATES];
    const uint32_t from = h->op_from[op];
    for (int kind = INS_THIN_AIR_READ; kind < INS_INTERMEDIATE_READ; kind++)
        if (recheck_misread(h, op, (enum ins_kind)kind))
            return "a faulty list read was not found";
    if (recheck_internal(h, op))
        return from == INS_FROM_OWN || from == INS_FROM_OWN_OPEN ? NULL : "not its own";
    const unsigned n = recheck_sources(h, op, source, CANDIDATES);
    if (from == INS_FROM_AMBIGUOUS)
        return n ? wrong_candidates(h, op, source, n) : "a list from nobody";
    return n >= 1 && source[0] == from ? NULL : "another source";
}

static const char *wrong_read(const struct ins_history *h, uint32_t op)
{
    ins_txn source[CANDIDATES];
    enum ins_kind kind;
    const uint32_t from = h->op_from[op];
    if (ins_is_unknown(h, op))
        return from == INS_FROM_UNKNOWN ? NULL : "an unknown read has a source";
    if (claim_of(from, &kind))
        return recheck_misread(h, op, kind) ? NULL : "a false accusation";
    if (ins_is_list_key(h, ins_op_key(h, op)))
        return wrong_list_read(h, op);
    for (int k = INS_THIN_AIR_READ; k <= INS_INTERMEDIATE_READ; k++)
        if (recheck_misread(h, op, (enum ins_kind)k))
            return "a faulty read was not found";
    if (recheck_internal(h, op))
        return from == INS_FROM_OWN ? NULL : "not its own";
    const unsigned n = recheck_sources(h, op, source, CANDIDATES);
    if (n == 1)
        return from == source[0] ? NULL : "another source";
    return from == INS_FROM_AMBIGUOUS ? wrong_candidates(h, op, source, n)
                                      : "an ambiguous read has one source";
}

static const char *wrong_history(const struct tiny_history *tiny)
{
    struct ins_error err = {0};
    struct ins_history *h;
    if (tiny_build(tiny, &h, &err) != INS_OK)
        return "it does not build";
    const char *wrong =
        ins_history_validate(h, &err) == INS_OK ? NULL : "an invariant is broken";
    for (ins_txn t = 1; !wrong && t < h->n_txns; t++)
        for (uint32_t op = h->txn_op[t]; !wrong && op < h->txn_op[t + 1]; op++)
            if (ins_counted(h, t) && !ins_is_write(h, op))
                wrong = wrong_read(h, op);
    if (!wrong && !same_with_lists_apart(h))
        wrong = "it depends on where its lists are";
    struct tiny_history back;
    if (!wrong && !tiny_from_history(&back, h))
        wrong = "it does not come back";
    ins_history_free(h);
    return wrong;
}

static bool still_wrong(void *context, const struct tiny_history *h)
{
    (void)context;
    return wrong_history(h) != NULL;
}

int main(int argc, char **argv)
{
    const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 50000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct ins_rng rng = {seed};
    printf("# seed %" PRIu64 ", %lu histories\n1..1\n", seed, count);
    for (unsigned long i = 0; i < count; i++) {
        struct tiny_history h;
        tiny_random(&h, &tiny_profiles[i % tiny_n_profiles], &rng);
        if (!wrong_history(&h))
            continue;
        tiny_shrink(&h, still_wrong, NULL);
        printf("not ok 1 - history %lu: %s\n", i, wrong_history(&h));
        tiny_line(&h, stdout);
        return 1;
    }
    puts("ok 1 - reads are resolved");
    return 0;
}

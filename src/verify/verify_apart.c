/* verify_apart.c - does one node of an acyclic graph lead to another?
 *
 * The graph is split into chains, in each of which every node leads to the next.  For a
 * few chains at a time one pass over the nodes finds, for every node, the last one of
 * each chain that leads to it. */
#include "verify_state.h"

#include <string.h>

enum { WIDTH = 16 }; /* chains of a pass */

bool ins_apart_chains(struct ins_apart *a)
{
    const size_t n = (size_t)a->n + 1;
    uint8_t *taken = INS_NEW0(uint8_t, n);
    a->chain = INS_NEW(uint32_t, n);
    a->rank = INS_NEW(uint32_t, n);
    a->n_chains = 0;
    if (!taken || !a->chain || !a->rank) {
        ins_free(taken);
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t before = INS_NONE; /* the last node of some chain */
        for (uint32_t e = a->pred_off[i]; e < a->pred_off[i + 1] && before == INS_NONE;
             e++)
            if (!taken[a->pred[e]])
                before = a->pred[e];
        a->chain[i] = before == INS_NONE ? a->n_chains++ : a->chain[before];
        a->rank[i] = before == INS_NONE ? 1 : a->rank[before] + 1;
        if (before != INS_NONE)
            taken[before] = 1;
    }
    ins_free(taken);
    return true;
}

/* The ranks of the last nodes of chains first .. first + WIDTH - 1 that lead to each
 * node, itself among them. */
static bool sweep(const struct ins_apart *a, struct ins_verifier *v, uint32_t first,
                  uint32_t *clock)
{
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t *const row = clock + (size_t)i * WIDTH;
        memset(row, 0, WIDTH * sizeof *row);
        for (uint32_t e = a->pred_off[i]; e < a->pred_off[i + 1]; e++) {
            const uint32_t *const from = clock + (size_t)a->pred[e] * WIDTH;
            for (uint32_t w = 0; w < WIDTH; w++)
                row[w] = row[w] > from[w] ? row[w] : from[w];
        }
        if (a->chain[i] - first < WIDTH)
            row[a->chain[i] - first] = a->rank[i];
        if (!ins_verify_go_on(v))
            return false;
    }
    return true;
}

bool ins_apart_hold(struct ins_apart *a, struct ins_verifier *v)
{
    const uint32_t passes = a->n_chains / WIDTH + 1;
    uint8_t *wanted = INS_NEW0(uint8_t, passes);
    uint32_t *clock = a->pair.len ? INS_NEW(uint32_t, (size_t)a->n * WIDTH) : NULL;
    bool hold = wanted && (clock || !a->pair.len) && !a->pair.failed;
    if (!hold)
        (void)ins_verify_no_memory(v);
    for (size_t i = 0; hold && i < a->pair.len; i++)
        wanted[a->chain[a->pair.at[i] >> 32] / WIDTH] = 1;
    for (uint32_t p = 0; hold && clock && p < passes; p++) {
        if (!wanted[p])
            continue;
        hold = sweep(a, v, p * WIDTH, clock);
        for (size_t i = 0; hold && i < a->pair.len; i++) {
            const uint32_t from = (uint32_t)(a->pair.at[i] >> 32),
                           to = (uint32_t)a->pair.at[i];
            const uint32_t w = a->chain[from] - p * WIDTH;
            hold = w >= WIDTH || clock[(size_t)to * WIDTH + w] < a->rank[from] ||
                   ins_verify_fault(v, "the order breaks the level's axiom");
        }
    }
    a->pair.len = 0;
    ins_free(wanted);
    ins_free(clock);
    return hold;
}

void ins_apart_release(struct ins_apart *a)
{
    ins_free(a->pred_off);
    ins_free(a->pred);
    ins_free(a->chain);
    ins_free(a->rank);
    ins_vec_u64_release(&a->pair);
}

#include "argument.h"

#include "prove/exclude.h"
#include "prove/justify.h"
#include "prove/refute.h"

#include <stdlib.h>

void ins_argue_cycle(const struct ins_engine *e, const struct ins_vec_u32 *cycle,
                     struct ins_argument *p)
{
    p->kind = INS_BY_CYCLE;
    ins_justify(e, cycle, p);
}

void ins_argue_read(const struct ins_engine *e, struct ins_argument *p)
{
    const struct ins_vec_u32 none = {0};
    uint32_t i = 0;
    while (e->read_ver[e->open_read[i]] != INS_NONE || e->open_live[i] ||
           e->optional[e->read_txn[e->open_read[i]]])
        i++;
    p->kind = INS_BY_READ;
    p->read = e->open_read[i];
    ins_exclude(e, p, i, INS_NONE, (uint32_t)e->link.len);
    if (!p->failed)
        ins_justify_links(e, &none, p);
}

void ins_argue_search(struct ins_engine *e, struct ins_problem *problem,
                      struct ins_argument *p)
{
    p->kind = INS_BY_SEARCH;
    p->refutation = ins_refute(e, problem, p);
    if (!p->refutation)
        p->failed = true;
}

static int by_link(const void *a, const void *b)
{
    const struct ins_argument_step *x = a, *y = b;
    return (x->link > y->link) - (x->link < y->link);
}

const struct ins_argument_step *ins_argument_find(const struct ins_argument *p,
                                                  uint32_t link)
{
    const struct ins_argument_step key = {.link = link};
    if (!p->step.len)
        return NULL;
    return bsearch(&key, p->step.at, p->step.len, sizeof key, by_link);
}

void ins_argument_release(struct ins_argument *p)
{
    ins_vec_u32_release(&p->node);
    ins_vec_u32_release(&p->link);
    ins_vec_step_release(&p->step);
    ins_vec_exclusion_release(&p->exclusion);
    ins_refutation_free(p->refutation);
}

/* The counted read of k with the longest list of which each element is known: it shows
 * all that any such read shows. */
static uint32_t list_reader(const struct ins_engine *e, ins_key k)
{
    const struct ins_history *h = e->h;
    uint32_t best = INS_NONE;
    uint64_t best_len = 0;
    for (ins_txn t = 1; t < h->n_txns; t++) {
        if (!ins_counted(h, t))
            continue;
        for (uint32_t op = h->txn_op[t]; op < h->txn_op[t + 1]; op++) {
            if (!ins_reads_key(h, op, k) ||
                (h->op_from[op] >= INS_FROM_SPECIAL && h->op_from[op] != INS_FROM_OWN))
                continue;
            const uint64_t len = ins_history_shown(h, op).len;
            if (best == INS_NONE || len > best_len) {
                best = op;
                best_len = len;
            }
        }
    }
    return best;
}

uint32_t ins_list_reader(const struct ins_engine *e, const struct ins_link *l)
{
    return list_reader(e, e->ver_key[l->why & ~INS_LINK_KIND]);
}

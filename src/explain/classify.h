/* classify.h - name a cycle of transactions after its edges, as Adya and Elle do. */
#ifndef INS_CLASSIFY_H
#define INS_CLASSIFY_H

#include "explain/result.h"

/* Set kind and suffix of an anomaly from the first n_cycle edges:
 *   G0 only WW; G1c WW and WR; with one RW G-single, with two or more G-nonadjacent,
 *   or G2-item when two RW follow each other.  LostUpdate: two transactions read one
 *   version of a key and both write the key.  LongFork: WR and RW take turns and there
 * are at least two of each.  SO and RT count as no edge but give the
 * suffix, also where the reason of an edge needs them, as does an RW that rests on
 * nothing but a row that a query missed. */
/* The order that the first n edges need.  The initial state comes first with and
 * without sessions. */
enum ins_suffix ins_order_of(const struct ins_anomaly *a, uint32_t n);
void ins_classify(const struct ins_history *h, struct ins_anomaly *a);

/* Is k read by t, before t writes it, other than as a row that a query missed? */
bool ins_reads_plainly(const struct ins_history *h, ins_txn t, ins_key k);

#endif

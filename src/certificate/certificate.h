/* certificate.h - the proof of each verdict as text, for `insula verify`.
 *
 * docs/certificates.md has the grammar. */
#ifndef INS_CERTIFICATE_H
#define INS_CERTIFICATE_H

#include "base/buf.h"
#include "explain/result.h"
#include "prove/argument.h"

void ins_certificate_order(struct ins_certificate *c, const struct ins_engine *e,
                           const uint32_t *order);
/* The same for a sequence of steps: transaction << 1, | 1 for its commit where begin
 * and commit are two steps. */
void ins_certificate_run(struct ins_certificate *c, enum ins_level level,
                         const uint32_t *step, size_t n);
/* The argument why the level fails. */
void ins_certificate_argument(struct ins_certificate *c, const struct ins_engine *e,
                              const struct ins_argument *p);

/* Pieces, and a proof by search. */
void ins_certificate_search(struct ins_certificate *c, const struct ins_argument *p);
void ins_certificate_head(struct ins_certificate *c, enum ins_level level,
                          const char *verdict);
/* A key is named by an operation on it, as it has no number of its own in a file: a
 * write of version `ver`. */
uint32_t ins_certificate_key(const struct ins_engine *e, uint32_t ver);
void ins_certificate_node(struct ins_certificate *c, const struct ins_engine *e,
                          uint32_t node);
void ins_certificate_walk(struct ins_certificate *c, const struct ins_engine *e,
                          const struct ins_argument *p, struct ins_walk w);
void ins_certificate_steps(struct ins_certificate *c, const struct ins_engine *e,
                           const struct ins_argument *p);
void ins_certificate_exclusion(struct ins_certificate *c, const struct ins_engine *e,
                               const struct ins_argument *p, size_t i);
/* A verdict that follows from that of another level. */
void ins_certificate_implied(struct ins_certificate *c, enum ins_level level,
                             enum ins_verdict verdict, enum ins_level by);

/* A commit order that shows rc, ra or cc. */
void ins_certificate_commits(struct ins_certificate *c, enum ins_level level,
                             const ins_txn *order, uint32_t n);
/* The same where reads have several candidates: `source` has each read's version; the
 * transactions of `order` that do not count are left out. */
void ins_certificate_choices(struct ins_certificate *c, const struct ins_engine *e,
                             const uint32_t *order, const uint32_t *source);
/* The same for single operations and whom they are from; INS_NONE: left out. */
struct ins_certificate_sources {
    const uint32_t *op;
    const ins_txn *from;
    uint32_t n;
};
void ins_certificate_sources(struct ins_certificate *c, const struct ins_history *h,
                             enum ins_level level,
                             struct ins_certificate_sources sources,
                             const ins_txn *order, uint32_t n);
/* When all levels are decided: blocks for the weak levels from the anomalies that are
 * listed, and for what the blocks imply.  A level for which neither is there stays
 * without one.  Puts the head in front. */
void ins_certificate_complete(struct ins_certificate *c, const struct ins_history *h,
                              const struct ins_result *r, ins_levels asked);

/* Write r's certificate to a file. */
enum ins_status ins_certificate_save(const struct ins_certificate *c, const char *path,
                                     struct ins_error *err);

#endif

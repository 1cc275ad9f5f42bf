/* certificate.h - the proof of each verdict as text, for `insula verify`.
 *
 * docs/certificates.md has the grammar. */
#ifndef INS_CERTIFICATE_H
#define INS_CERTIFICATE_H

#include "base/buf.h"
#include "check/justify.h"

struct ins_certificate {
    struct ins_buf text;
};

/* Both return NULL or do nothing when there is no memory; r->certificate->text.failed
 * tells. */
struct ins_certificate *ins_certificate_get(struct ins_result *r,
                                            const struct ins_history *h);
void ins_certificate_free(struct ins_certificate *c);

void ins_certificate_order(struct ins_certificate *c, const struct ins_engine *e,
                           const uint32_t *order);
void ins_certificate_cycle(struct ins_certificate *c, const struct ins_engine *e,
                           const struct ins_argument *p);
/* The steps alone, for a proof that goes on. */
void ins_certificate_steps(struct ins_certificate *c, const struct ins_engine *e,
                           const struct ins_argument *p);
/* A verdict that follows from that of another level. */
void ins_certificate_implied(struct ins_certificate *c, enum ins_level level,
                             enum ins_verdict verdict, enum ins_level by);

/* Write r's certificate to a file. */
enum ins_status ins_certificate_save(const struct ins_certificate *c, const char *path,
                                     struct ins_error *err);

#endif

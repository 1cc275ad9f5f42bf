#include "refute.h"

enum ins_verdict ins_refute(struct ins_engine *e, struct ins_problem *p,
                            struct ins_result *r, bool certificate)
{
    (void)p;
    (void)certificate;
    struct ins_anomaly a = {.kind = INS_NO_ORDER, .breaks = e->level};
    r->count[a.kind][a.suffix]++;
    r->level[e->level].kinds |= UINT64_C(1) << a.kind;
    ins_vec_anomaly_push(&r->anomaly, a);
    return INS_FAIL;
}

/* Histories that the numbers of the engine have no room for are refused, not wrapped.
 */
#include "engine/engine.h"

#include <stdio.h>

int main(void)
{
    const uint64_t reads = UINT64_C(1) << 29, nodes = UINT64_C(1) << 32;
    const bool right[] = {
        ins_engine_fits(10, 2, 4, true),
        ins_engine_fits(reads - 100, 10, 1000, true),
        !ins_engine_fits(reads, 0, 1000, false), /* reads beside the kind of a link */
        !ins_engine_fits(reads - 10, 10, 1000, false), /* with initial versions */
        ins_engine_fits(1000, 10, nodes / 3 - 2, true),
        !ins_engine_fits(1000, 10, nodes / 3 + 1, true), /* begin, commit and time */
        ins_engine_fits(1000, 10, nodes / 3 + 1, false),
        !ins_engine_fits(1000, 10, nodes / 2, false),
    };
    const unsigned n = sizeof right / sizeof *right;
    unsigned failed = 0;
    (void)printf("1..%u\n", n);
    for (unsigned i = 0; i < n; i++) {
        (void)printf("%sok %u\n", right[i] ? "" : "not ", i + 1);
        failed += !right[i];
    }
    return failed != 0;
}

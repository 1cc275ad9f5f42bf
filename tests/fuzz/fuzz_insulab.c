/* The sums are put right first, or nothing behind them would ever be reached. */
#include "../format/bin_sums.h"
#include "fuzz.h"
#include "same_frozen.h"

#include "base/mem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = ins_alloc(size, 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    bin_fix_sums(copy, size);
    (void)fuzz_reader("insulab", (const uint8_t *)copy, size);
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    const struct ins_input in = {.data = copy, .size = size};
    const struct ins_read_options o = {.threads = 2};
    if (ins_format_read(ins_format_find("insulab", NULL), &in, &o, &h, &err) == INS_OK)
        fuzz_require(same_frozen(h));
    ins_history_free(h);
    ins_free(copy);
    return 0;
}

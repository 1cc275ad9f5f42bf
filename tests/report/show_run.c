/* show_run KIND HISTORY PROMISE [LOG [LEVELS]]: print the report on a history as if it
 * had been recorded just now from a database that promises PROMISE ("" for nothing). */
#include "insula.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 4)
        return 3;
    static const struct insula_setting settings[] = {{"fsync", "off"}, {"a", "<b>"}};
    const struct insula_run run = {.database = "SampleDB 1.2",
                                   .isolation = "serializable",
                                   .server_isolation = "SERIALIZABLE",
                                   .promise = argv[3],
                                   .promise_alone = argv[3],
                                   .source = "SampleDB manual, 4.2",
                                   .forgets = "SampleDB manual, 5.1",
                                   .workload = "general",
                                   .settings = settings,
                                   .n_settings = 2,
                                   .seed = 7,
                                   .faults = argc > 4 && *argv[4] ? 1 : 0,
                                   .log = argc > 4 && *argv[4] ? argv[4] : NULL};
    struct insula_error error = {0};
    struct insula_history *h = insula_load(argv[2], NULL, &error);
    const struct insula_check_options check = {.levels = argc > 5 ? argv[5] : NULL};
    struct insula_result *r = h ? insula_check(h, &check, &error) : NULL;
    const struct insula_report_item item = {
        .path = argv[2], .history = h, .result = r, .run = &run};
    const struct insula_report_options how = {.width = 200};
    if (!r || insula_report(argv[1], &item, 1, &how, stdout, &error))
        (void)fprintf(stderr, "%s\n", error.message);
    insula_result_free(r);
    insula_history_free(h);
    return error.status;
}

/* The example of insula.h, as a program: a lost update is seen when it happens. */
#include "insula.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void add_one(struct insula_monitor *m, const char *client, int64_t saw,
                    int64_t begin)
{
    struct insula_error err = {0};
    const struct insula_op op[] = {
        {.kind = INSULA_READ, .key = insula_text("x"), .value = insula_int(saw)},
        {.kind = INSULA_WRITE, .key = insula_text("x"), .value = insula_int(begin)}};
    const struct insula_completion txn = {.session = insula_text(client),
                                          .begin_ns = begin,
                                          .end_ns = begin + 50,
                                          .op = op,
                                          .ops = 2};
    if (insula_monitor_push(m, &txn, &err))
        printf("# %s\n", err.message);
}

static int is(struct insula_monitor *m, const char *level, const char *verdict)
{
    const char *now = insula_monitor_verdict(m, level, NULL);
    return now && !strcmp(now, verdict);
}

int main(void)
{
    struct insula_error err = {0};
    struct insula_monitor *m = insula_monitor_new(NULL, &err);
    assert(m);
    insula_monitor_initial(m, insula_int(0));
    printf("1..3\n");
    add_one(m, "client 1", 0, 100);
    add_one(m, "client 2", 100, 200);
    printf("%sok 1 - holds so far\n", is(m, "sser", "holds") ? "" : "not ");
    add_one(m, "client 1", 100, 300);
    const int found = is(m, "si", "violated") && is(m, "ser", "violated") &&
                      is(m, "rc", "holds") && is(m, "cc", "holds");
    printf("%sok 2 - violated with the transaction that does it\n",
           found ? "" : "not ");
    const struct insula_result *r = insula_monitor_result(m);
    const int named = r && insula_result_count(r, "LostUpdate") == 1;
    const int ended = !insula_monitor_finish(m, &err) && insula_monitor_status(m) == 1;
    printf("%sok 3 - with its name, and so it stays\n", named && ended ? "" : "not ");
    insula_monitor_free(m);
    return !(found && named && ended);
}

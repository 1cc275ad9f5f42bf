#include "nemesis.h"

#include "fail.h"

#include <string.h>

/* Between half and one and a half of the mean. */
static void schedule(struct ins_nemesis *n, double mean_s)
{
    double wait = mean_s * (0.5 + ins_draw_unit(&n->draw));
    n->next = ins_runlog_now(n->log) + (int64_t)(wait * 1e9);
}

int ins_nemesis_init(struct ins_nemesis *n, const char *kinds,
                     struct ins_server *server, struct insula_error *error)
{
    if (!kinds || !strcmp(kinds, "none"))
        return 0;
    const char *at = kinds;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (length == 4 && !strncmp(at, "kill", 4))
            n->kill = true;
        else if (length == 5 && !strncmp(at, "pause", 5))
            n->pause = true;
        else
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "unknown nemesis '%.*s': expected kill or pause",
                                (int)length, at);
        if (!at[length])
            break;
        at += length + 1;
    }
    if (!server)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "a nemesis needs a throw-away server: --db postgres: or "
                            "--db mariadb:");
    n->server = server;
    return 0;
}

static int pause_server(struct ins_nemesis *n, bool stop, struct insula_error *error)
{
    n->paused = stop;
    ins_runlog_add(n->log, stop ? "pause" : "continue", -1, "%s to the server",
                   stop ? "SIGSTOP" : "SIGCONT");
    int status = ins_server_pause(n->server, stop, error);
    if (!stop)
        n->down = ins_runlog_now(n->log);
    return status;
}

/* The time to the next fault counts from when the server answers again. */
static void recovered(struct ins_nemesis *n)
{
    n->down = 0;
    ins_runlog_add(n->log, "up", -1, "the server answers again");
    schedule(n, n->mean_s);
}

int ins_nemesis_step(struct ins_nemesis *n, int64_t answered,
                     struct insula_error *error)
{
    if (n->server && !n->next)
        schedule(n, n->mean_s);
    if (n->down && answered > n->down)
        recovered(n);
    if (!n->server || n->down || ins_runlog_now(n->log) < n->next)
        return 0;
    if (n->paused)
        return pause_server(n, false, error);
    n->faults++;
    if (n->pause && (!n->kill || ins_draw_chance(&n->draw, 0.5))) {
        schedule(n, 0.3);
        return pause_server(n, true, error);
    }
    ins_runlog_add(n->log, "kill", -1, "SIGKILL to the server");
    int status = ins_server_kill(n->server, error);
    if (!status)
        status = ins_server_again(n->server, error);
    ins_runlog_add(n->log, "restart", -1, "the server is started again");
    n->down = ins_runlog_now(n->log);
    return status;
}

void ins_nemesis_end(struct ins_nemesis *n)
{
    if (n->server && n->paused)
        (void)pause_server(n, false, NULL);
}

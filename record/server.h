/* server.h - a throw-away database server in a temporary directory.
 *
 * A keeper process starts the server and ends with us: it waits on a pipe whose other
 * end only we hold, so whatever way this process dies, the kernel closes the pipe, and
 * the keeper kills the server with all its processes and removes the directory.  The
 * server is also told to die with the keeper (PR_SET_PDEATHSIG).  Start it before any
 * thread. */
#ifndef INS_SERVER_H
#define INS_SERVER_H

#include "insula.h"

#include <stdbool.h>

#define INS_SERVER_ARGUMENTS 80

/* What to run.  Arguments are borrowed until ins_server_start returns; "@" at the start
 * of an argument's value part stands for the temporary directory, as in "-D@/data". */
struct ins_server_plan {
    const char *title;
    const char *user;                       /* to run as when we are root */
    const char *init[INS_SERVER_ARGUMENTS]; /* run once before; or empty */
    const char *command[INS_SERVER_ARGUMENTS];
    const char *again[INS_SERVER_ARGUMENTS]; /* the command after a kill, if another */
    const char *data;                        /* a directory to make, "@/data" */
    const char *log;                         /* file that takes its output */
    int network;                             /* namespace to run in, or 0 for ours */
    int quit; /* signal that ends it at once and lets it clean up; or 0 */
};

struct ins_server;

/* Find a program in `bin` (when not NULL), else in PATH, else by the patterns (NULL at
 * the end; glob, the last match wins).  NULL when there is none; the caller frees. */
char *ins_server_find(const char *program, const char *bin, const char *const *pattern);

/* NULL on failure. */
struct ins_server *ins_server_start(const struct ins_server_plan *plan,
                                    struct insula_error *error);
/* The temporary directory. */
const char *ins_server_dir(const struct ins_server *server);
/* Non-zero with the end of the server's log once it has ended by itself. */
int ins_server_failed(struct ins_server *server, struct insula_error *error);

/* It did not answer attempt number `tries` to connect, for the reason in `late`: after
 * a short pause 0, to try again; or a failure when there is no point.  A server that is
 * not ours (NULL) is tried once; `stop` (or NULL) says that the user has had enough. */
int ins_server_retry(struct ins_server *server, bool (*stop)(void), int tries,
                     const struct insula_error *late, struct insula_error *error);

/* A short pause; true when the user has had enough. */
bool ins_server_nap(bool (*stop)(void));

/* SIGKILL to all its processes; and start it again over the same data. */
int ins_server_kill(struct ins_server *server, struct insula_error *error);
int ins_server_again(struct ins_server *server, struct insula_error *error);
int ins_server_pause(struct ins_server *server, bool stop, struct insula_error *error);

/* Kill it and remove its directory. */
void ins_server_free(struct ins_server *server);

#endif

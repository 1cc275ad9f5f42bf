/* session.h - one client: a thread with a connection that runs transactions. */
#ifndef INS_SESSION_H
#define INS_SESSION_H

#include "journal.h"
#include "runlog.h"

#include <pthread.h>
#include <stdatomic.h>

/* Shared by the sessions of a run. */
struct ins_run {
    const struct ins_record_options *options;
    const struct ins_target *target;
    const struct ins_work *work;
    struct ins_runlog *log;
    atomic_bool stop;
    atomic_uint running; /* sessions that have not ended */
    /* When something began that the server answered: a transaction or a connection.
     * What began after a fault was answered by a server that is up again. */
    _Atomic int64_t answered;
    int64_t deadline; /* ns, or INT64_MAX */
};

struct ins_session {
    struct ins_run *run;
    unsigned number;
    uint64_t txns; /* to run; UINT64_MAX for no limit */
    pthread_t thread;
    bool wander;                            /* each transaction picks its node */
    unsigned node;                          /* where it is */
    struct ins_connection *connection;      /* link[node] */
    struct ins_connection *link[INS_NODES]; /* to the nodes that it has been at */
    struct ins_worker worker;
    struct ins_draw pauses; /* streams of their own, so that plans do not depend on */
    struct ins_draw way;    /* them: when to pause, where to go */
    struct ins_journal journal;
    struct ins_plan plan;
    struct ins_list list;
    struct ins_rows rows;
    struct ins_list *range; /* INS_PLAN_MAX, when plans read together; or NULL */
    _Atomic uint64_t committed, aborted, unknown, errors;
    _Atomic uint64_t busy_ns;    /* what its transactions took */
    _Atomic uint64_t longest_ns; /* and the longest that committed */
    int64_t waited, worked;      /* ns in statements that took long; in all */
    unsigned logged;             /* errors that were logged */
    char first_error[256];       /* the first unexpected answer */
    struct insula_error fatal;   /* why it ended early */
    atomic_bool over;            /* its journal is complete */
    /* Keep two sessions' counters out of one cache line. */
    char padding[64];
};

/* Connect to the node; then `connection` is there. */
int ins_session_connect(struct ins_session *s, unsigned node,
                        struct insula_error *error);
/* Close all connections and release what else it has. */
void ins_session_release(struct ins_session *s);

/* Read every key below `keys` once; in the thread that calls.  False on failure. */
bool ins_session_read_all(struct ins_session *s, int64_t keys);

/* The thread's function; argument: struct ins_session. */
void *ins_session_main(void *argument);

#endif

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
    struct ins_connection *connection;
    struct ins_worker worker;
    struct ins_draw pauses; /* its own stream, so that plans do not depend on them */
    struct ins_journal journal;
    struct ins_plan plan;
    struct ins_list list;
    _Atomic uint64_t committed, aborted, unknown, errors;
    int64_t waited, worked;    /* ns in statements that took long; in all */
    unsigned told;             /* errors that were logged */
    char first_error[256];     /* the first unexpected answer */
    struct insula_error fatal; /* why it ended early */
    /* Keep two sessions' counters out of one cache line. */
    char padding[64];
};

/* The thread's function; argument: struct ins_session. */
void *ins_session_main(void *argument);

#endif

/* keeper.h - the process that holds a throw-away server; see server.h. */
#ifndef INS_KEEPER_H
#define INS_KEEPER_H

#include "server.h"

/* Commands, one byte each.  Every one is answered by INS_KEEPER_UP or, when the server
 * does not run, INS_KEEPER_DOWN. */
#define INS_KEEPER_START 'b'
#define INS_KEEPER_ALIVE 'a'
#define INS_KEEPER_KILL 'k' /* always answered by UP */
#define INS_KEEPER_AGAIN 'g'
#define INS_KEEPER_STOP 's'
#define INS_KEEPER_CONTINUE 'c'

#define INS_KEEPER_UP '+'
#define INS_KEEPER_DOWN '-'

/* A file in the directory that the keeper locks while it lives. */
#define INS_KEEPER_LOCK "keeper"

/* Runs in the child of a fork and does not return. */
_Noreturn void ins_keeper_run(const struct ins_server_plan *plan, const char *dir,
                              int command, int reply);

#endif

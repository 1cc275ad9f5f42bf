/* pq_server.h - throw-away PostgreSQL servers: a primary and its standbys. */
#ifndef INS_PQ_SERVER_H
#define INS_PQ_SERVER_H

#include "driver.h"

/* Start node 0 from the parameters of its URL; its `where` is a conninfo. */
int ins_pq_start_primary(struct ins_target *target, struct insula_error *error);
/* Copy the running node 0 as often as `standbys` says, and start the copies. */
int ins_pq_start_standbys(struct ins_target *target, struct insula_error *error);

#endif

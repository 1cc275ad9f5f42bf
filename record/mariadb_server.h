/* mariadb_server.h - throw-away MariaDB servers: one alone, or a Galera cluster. */
#ifndef INS_MARIADB_SERVER_H
#define INS_MARIADB_SERVER_H

#include "driver.h"

/* Start node 0, or as many as `nodes` says, from the parameters of the URL.  `where` of
 * each is its socket. */
int ins_mariadb_start(struct ins_target *target, struct insula_error *error);
int ins_galera_start(struct ins_target *target, struct insula_error *error);

#endif

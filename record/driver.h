/* driver.h - what a database must offer to be recorded.
 *
 * A driver is one file with one struct ins_driver and one row in drivers.c; see
 * docs/new-driver.md.  All keys live in one table: registers as (k, v) with an integer
 * v, lists as (k, v) with v a text of numbers that each start with a comma.  A register
 * whose row is missing has the value 0, a list whose row is missing is empty. */
#ifndef INS_DRIVER_H
#define INS_DRIVER_H

#include "cluster.h"
#include "record.h"
#include "row_statements.h"

#include <stddef.h>

/* How a call ended.  After CONFLICT, REFUSED or ERROR the caller rolls back; after LOST
 * it closes the connection.
 *
 * What commit answers decides the outcome: CONFLICT and REFUSED say that the server has
 * undone the transaction, for certain; ERROR and LOST leave open whether it took
 * effect. A driver that is not sure answers ERROR. */
enum ins_answer {
    INS_DONE,
    INS_CONFLICT, /* serialization failure, deadlock, lock time-out: to be expected */
    INS_REFUSED,  /* of commit: undone for another reason */
    INS_ERROR,    /* anything else that the server said */
    INS_LOST,     /* no answer: the connection is gone */
    INS_BROKEN,   /* the client is at fault: nothing that was recorded counts */
};

/* One database under test, shared by all sessions.  Written by prepare, read-only
 * afterwards. */
struct ins_target {
    const struct ins_driver *driver;
    struct ins_cluster cluster; /* prepare may add throw-away nodes to it */
    enum ins_isolation isolation;
    const char *table;
    struct ins_net *net; /* of the nodes, when it can be cut; or NULL */
    bool wants_links;    /* faults will cut the ways between nodes, or stand between */
    bool wants_fronts;   /* nodes and clients */
    const char *dir;     /* the store directory */
    bool (*stop)(void);  /* the user asked to end; may be NULL */
    bool list;           /* the keys are lists */
    double answer_s;     /* how long a client of exec: may take to answer */
    bool rows;           /* rows come and go: the table is empty at first */
    bool index;          /* with rows: an index on the values, and it is used */
    unsigned sessions;   /* how many will connect */
    uint32_t preload;    /* keys 0 .. preload-1 get a row */
    const char *const *setting; /* NAME=VALUE,VALUE... for the sessions, or NULL */
    unsigned settings;
    char name[64];       /* "MariaDB 10.11.19" */
    char promise_as[16]; /* scheme whose promises hold; "" for the driver's own */
    char variant[32];    /* see promise.c */
    char level_name[64]; /* what the server calls the isolation */
    char hint[256];      /* what would help if sessions mostly wait, or "" */
    void *own;           /* the driver's */
};

/* Who connects: session number `session`, to this node. */
struct ins_place {
    unsigned node, session;
};

/* A list as it was read; the buffer grows and is used again. */
struct ins_list {
    int64_t *element;
    size_t count, capacity;
};

/* What every connection starts with; the driver's own fields follow. */
struct ins_connection {
    _Alignas(max_align_t) char message[256]; /* of the last answer not INS_DONE */
};

struct ins_driver {
    const char *scheme; /* of its URLs */
    const char *title;
    /* It answers without any wait.  The sessions then wait now and then between two
     * operations, as a client behind a network does; otherwise a transaction would run
     * in one go and the sessions would hardly ever meet. */
    bool embedded;
    /* A program of the user's stands between: when it is lost before COMMIT, or cannot
     * roll back, it is open too what the transaction did. */
    bool foreign;
    /* Start a server if the URL has no host, and make the table.  Fails with a message
     * for people.  finish undoes it; it is called also after a failed prepare. */
    int (*prepare)(struct ins_target *target, struct insula_error *error);
    void (*finish)(struct ins_target *target);
    /* Wait until every node answers and holds what was committed before; with NULL
     * there is nothing to wait for. */
    int (*await_all)(const struct ins_target *target, struct insula_error *error);
    /* One connection for one thread; NULL on failure. */
    struct ins_connection *(*connect)(const struct ins_target *target,
                                      struct ins_place place,
                                      struct insula_error *error);
    void (*close)(struct ins_connection *c);
    enum ins_answer (*begin)(struct ins_connection *c);
    enum ins_answer (*read)(struct ins_connection *c, int64_t key, int64_t *value);
    enum ins_answer (*read_list)(struct ins_connection *c, int64_t key,
                                 struct ins_list *list);
    /* Read the keys first .. first + count - 1 with one statement, one list for each;
     * a register is a list of one. */
    enum ins_answer (*read_range)(struct ins_connection *c, int64_t first,
                                  unsigned count, struct ins_list *list);
    enum ins_answer (*write)(struct ins_connection *c, int64_t key, int64_t value);
    enum ins_answer (*append)(struct ins_connection *c, int64_t key, int64_t value);
    /* Run a statement on rows (rows.h) and wait for its answer.  NULL: the driver has
     * none. */
    enum ins_answer (*rows)(struct ins_connection *c, enum ins_row_form form,
                            const int64_t *argument, struct ins_rows *rows);
    enum ins_answer (*commit)(struct ins_connection *c);
    enum ins_answer (*rollback)(struct ins_connection *c);
};

/* The driver of a URL; NULL with a message when there is none or it was left out. */
const struct ins_driver *ins_driver_find(const struct ins_url *url,
                                         struct insula_error *error);

/* Setting number i of a session: its name and the value that it takes, one of those
 * that were given in turn.  False when they do not fit. */
bool ins_target_setting(const struct ins_target *target, unsigned i, unsigned session,
                        char *name, char *value, size_t size);

/* Set a list to one element; for registers read as a range. */
bool ins_list_set(struct ins_list *list, int64_t element);
bool ins_list_push(struct ins_list *list, int64_t element);
/* Read ",1,2,3" of length bytes.  False when it is not such a text or memory ends. */
bool ins_list_parse(struct ins_list *list, const char *text, size_t length);
void ins_list_release(struct ins_list *list);

extern const struct ins_driver ins_driver_sqlite;
extern const struct ins_driver ins_driver_postgres;
extern const struct ins_driver ins_driver_mariadb;
extern const struct ins_driver ins_driver_galera;
extern const struct ins_driver ins_driver_exec;
extern const struct ins_driver ins_driver_odbc;

#endif

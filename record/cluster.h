/* cluster.h - the nodes of a database under test.
 *
 * A database has one node or more.  A throw-away one has a server of our own, which can
 * be killed, paused and started again; one of the user's has a URL.  Which node takes
 * writes is its role.  The only node of a database has no name: then nothing is said
 * about nodes in the history. */
#ifndef INS_CLUSTER_H
#define INS_CLUSTER_H

#include "server.h"
#include "url.h"

enum { INS_NODES = 16 };

enum ins_role {
    INS_ROLE_ANY,     /* reads and writes, as the others */
    INS_ROLE_PRIMARY, /* reads and writes */
    INS_ROLE_REPLICA, /* reads */
};

struct ins_node {
    char name[32];
    enum ins_role role;
    struct ins_url url;        /* as given, or the parameters of a throw-away one */
    struct ins_server *server; /* a throw-away one, or NULL */
    char *where;               /* the driver's: how to reach it */
    /* Of a throw-away one: its socket; where clients go instead when something stands
     * between, and how; and what stands there: for clients, and for the node's own way
     * to the primary. */
    char socket[256], door[256];
    char *through;
    struct ins_proxy *front, *link;
};

struct ins_cluster {
    unsigned nodes;
    struct ins_node node[INS_NODES];
};

/* One node for each of `count` texts, URL or ROLE=URL; at least one. */
int ins_cluster_parse(struct ins_cluster *c, const char *const *text, unsigned count,
                      struct insula_error *error);
void ins_cluster_release(struct ins_cluster *c);

/* Add a throw-away node beside node 0, with its parameters. */
struct ins_node *ins_cluster_add(struct ins_cluster *c, enum ins_role role,
                                 struct insula_error *error);

/* The way that connections take now. */
static inline const char *ins_node_way(const struct ins_node *n)
{
    return n->front ? n->through : n->where;
}

/* The socket of a throw-away node and the door before it are called `name`, in its
 * directory and in c/ there.  False when the directory c/ cannot be made. */
bool ins_node_place(struct ins_node *n, const char *name);

/* Number of a node by its name, or INS_NODES. */
unsigned ins_cluster_find(const struct ins_cluster *c, const char *name, size_t length);

/* Parameter i of a throw-away cluster's URL as a setting of this node: NAME=VALUE is of
 * all nodes, NODE.NAME=VALUE of one.  NULL when it is not for this node. */
const char *ins_cluster_setting(const struct ins_cluster *c, unsigned node, unsigned i);

static inline bool ins_node_writable(const struct ins_node *n)
{
    return n->role != INS_ROLE_REPLICA;
}

/* The n-th node that takes writes, over and over. */
unsigned ins_cluster_writable(const struct ins_cluster *c, unsigned n);

#endif

#include "cluster.h"

#include "fail.h"
#include "proxy.h"

#include <string.h>
#include <sys/stat.h>

static const char *const role_names[] = {
    [INS_ROLE_ANY] = "any",
    [INS_ROLE_PRIMARY] = "primary",
    [INS_ROLE_REPLICA] = "replica",
};

/* Take "ROLE=" from the front of a text. */
static enum ins_role take_role(const char **text)
{
    for (unsigned i = 0; i < sizeof role_names / sizeof role_names[0]; i++) {
        size_t length = strlen(role_names[i]);
        if (!strncmp(*text, role_names[i], length) && (*text)[length] == '=') {
            *text += length + 1;
            return (enum ins_role)i;
        }
    }
    return INS_ROLE_ANY;
}

/* Names by role and number, as people would call them. */
static void name_nodes(struct ins_cluster *c)
{
    unsigned count[3] = {0}, seen[3] = {0};
    for (unsigned i = 0; i < c->nodes; i++)
        count[c->node[i].role]++;
    for (unsigned i = 0; i < c->nodes; i++) {
        struct ins_node *n = &c->node[i];
        const char *word = n->role == INS_ROLE_ANY ? "n" : role_names[n->role];
        seen[n->role]++;
        if (count[n->role] == 1 && n->role != INS_ROLE_ANY)
            (void)snprintf(n->name, sizeof n->name, "%s", word);
        else
            (void)snprintf(n->name, sizeof n->name, "%s%u", word, seen[n->role]);
    }
}

int ins_cluster_parse(struct ins_cluster *c, const char *const *text, unsigned count,
                      struct insula_error *error)
{
    if (count > INS_NODES)
        return ins_rec_fail(error, INSULA_E_USAGE, "at most %d nodes, got %u",
                            INS_NODES, count);
    bool writable = false;
    for (unsigned i = 0; i < count; i++) {
        const char *at = text[i];
        struct ins_node *n = &c->node[c->nodes++];
        n->role = take_role(&at);
        if (ins_url_parse(&n->url, at, error))
            return error->status;
        writable |= ins_node_writable(n);
        if (strcmp(n->url.scheme, c->node[0].url.scheme) != 0)
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "the nodes of a cluster are of one database, got %s: "
                                "and %s:",
                                c->node[0].url.scheme, n->url.scheme);
        if (count > 1 && !ins_url_has_server(&n->url))
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "expected a server in each of several --db, got '%s'",
                                at);
    }
    if (!writable)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "a cluster of replicas alone takes no writes");
    if (count > 1)
        name_nodes(c);
    return 0;
}

void ins_cluster_release(struct ins_cluster *c)
{
    for (unsigned i = 0; i < c->nodes; i++) {
        ins_proxy_free(c->node[i].front);
        ins_proxy_free(c->node[i].link);
        free(c->node[i].through);
        ins_server_free(c->node[i].server);
        ins_url_release(&c->node[i].url);
        free(c->node[i].where);
    }
    *c = (struct ins_cluster){0};
}

struct ins_node *ins_cluster_add(struct ins_cluster *c, enum ins_role role,
                                 struct insula_error *error)
{
    if (c->nodes == INS_NODES) {
        (void)ins_rec_fail(error, INSULA_E_USAGE, "at most %d nodes", INS_NODES);
        return NULL;
    }
    struct ins_node *n = &c->node[c->nodes++];
    n->role = role;
    return ins_url_parse(&n->url, c->node[0].url.text, error) ? NULL : n;
}

bool ins_node_place(struct ins_node *n, const char *name)
{
    const char *dir = ins_server_dir(n->server);
    char folder[256];
    (void)snprintf(n->socket, sizeof n->socket, "%s/%s", dir, name);
    (void)snprintf(n->door, sizeof n->door, "%s/c/%s", dir, name);
    (void)snprintf(folder, sizeof folder, "%s/c", dir);
    return !mkdir(folder, 0755);
}

unsigned ins_cluster_find(const struct ins_cluster *c, const char *name, size_t length)
{
    for (unsigned i = 0; i < c->nodes; i++)
        if (strlen(c->node[i].name) == length &&
            !strncmp(c->node[i].name, name, length))
            return i;
    return INS_NODES;
}

const char *ins_cluster_setting(const struct ins_cluster *c, unsigned node, unsigned i)
{
    const char *name = c->node[0].url.parameter[i].name;
    size_t length = strcspn(name, ".");
    if (!name[length] || !length)
        return name;
    unsigned of = ins_cluster_find(c, name, length);
    return of == INS_NODES ? name : of == node ? name + length + 1 : NULL;
}

unsigned ins_cluster_writable(const struct ins_cluster *c, unsigned n)
{
    unsigned count = 0;
    for (unsigned i = 0; i < c->nodes; i++)
        count += ins_node_writable(&c->node[i]);
    n = count ? n % count : 0;
    for (unsigned i = 0; i < c->nodes; i++)
        if (ins_node_writable(&c->node[i]) && !n--)
            return i;
    return 0;
}

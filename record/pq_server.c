/* pq_server.c - throw-away PostgreSQL servers, all of them on sockets in their
 * temporary directories.
 *
 *   postgres:?bin=DIR&standbys=N&sync=N&SETTING=VALUE&NODE.SETTING=VALUE
 *
 * A standby is a copy by pg_basebackup that streams from the primary. */
#include "pq_server.h"

#include "fail.h"
#include "proxy.h"

#include <signal.h>
#include <sys/stat.h>

static bool is_ours(const char *name)
{
    return !strcmp(name, "bin") || !strcmp(name, "standbys") || !strcmp(name, "sync");
}

struct plan {
    struct ins_server_plan server;
    char setting[INS_URL_PARAMETERS + 4][640];
    int arguments, used;
    char log[4096];
};

static void add(struct plan *p, const char *argument)
{
    p->server.command[p->arguments++] = argument;
}

static void add_setting(struct plan *p, const char *name, const char *value)
{
    (void)snprintf(p->setting[p->used], sizeof p->setting[0], "-c%s=%s", name, value);
    add(p, p->setting[p->used++]);
}

static int plan_server(struct plan *p, const struct ins_target *target, unsigned node,
                       const char *postgres, struct insula_error *error)
{
    const struct ins_url *url = &target->cluster.node[0].url;
    (void)snprintf(p->log, sizeof p->log, node ? "%s/server-%s.log" : "%s/server.log",
                   target->dir, target->cluster.node[node].name);
    p->server = (struct ins_server_plan){.title = "PostgreSQL",
                                         .user = "postgres",
                                         .data = "@/data",
                                         .log = p->log,
                                         .quit = SIGQUIT};
    static const char *const fixed[] = {
        "-D@/data", "-k@", "-clisten_addresses=", "-cdeadlock_timeout=10ms",
        "-cwal_keep_size=1GB"};
    char connections[32];
    (void)snprintf(connections, sizeof connections, "%u", target->sessions + 20);
    add(p, postgres);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(p, fixed[i]);
    add_setting(p, "max_connections", connections);
    for (unsigned i = 0; i < url->parameters; i++) {
        const char *name = ins_cluster_setting(&target->cluster, node, i);
        const char *value = url->parameter[i].value;
        if (!name || is_ours(name))
            continue;
        if (strchr(value, '@'))
            return ins_rec_fail(error, INSULA_E_USAGE, "'%s' must not have an '@'",
                                name);
        add_setting(p, name, value);
    }
    return 0;
}

static int find_programs(const struct ins_target *target, const char *const *name,
                         char **program, struct insula_error *error)
{
    static const char *const folders[] = {"/usr/lib/postgresql/*/bin", NULL};
    const char *bin = ins_url_get(&target->cluster.node[0].url, "bin");
    for (int i = 0; i < 2; i++)
        program[i] = ins_server_find(name[i], bin, folders);
    if (program[0] && program[1])
        return 0;
    return ins_rec_fail(error, INSULA_E_USAGE,
                        "PostgreSQL is not installed: no %s and %s in %s; "
                        "install the package postgresql, or name a server: "
                        "--db postgres://user@host/database",
                        name[0], name[1],
                        bin ? bin : "PATH or /usr/lib/postgresql/*/bin");
}

static int start(struct ins_target *target, unsigned number, const struct plan *p,
                 struct insula_error *error)
{
    struct ins_node *node = &target->cluster.node[number];
    node->server = ins_server_start(&p->server, error);
    if (!node->server)
        return error->status;
    const char *dir = ins_server_dir(node->server);
    if (!ins_node_place(node, ".s.PGSQL.5432"))
        return ins_rec_fail(error, INSULA_E_IO, "cannot make a directory in %s", dir);
    if (asprintf(&node->where, "host=%s user=insula dbname=postgres", dir) < 0)
        node->where = NULL;
    if (asprintf(&node->through, "host=%s/c user=insula dbname=postgres", dir) < 0)
        node->through = NULL;
    return node->where && node->through
               ? 0
               : ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
}

static int count_standbys(const struct ins_target *target, unsigned *count,
                          struct insula_error *error)
{
    const struct ins_url *url = &target->cluster.node[0].url;
    const char *standbys = ins_url_get(url, "standbys");
    const char *synchronous = ins_url_get(url, "sync");
    char *end = NULL;
    *count = standbys ? (unsigned)strtoul(standbys, &end, 10) : 0;
    if (standbys && (end == standbys || *end || *count >= INS_NODES))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected standbys=0 to %d, got '%s'", INS_NODES - 1,
                            standbys);
    unsigned long wanted = synchronous ? strtoul(synchronous, &end, 10) : 0;
    if (synchronous && (end == synchronous || *end || !wanted || wanted > *count))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected sync=1 to the number of standbys, got '%s'",
                            synchronous);
    return 0;
}

static int name_nodes(struct ins_target *target, unsigned standbys,
                      struct insula_error *error)
{
    struct ins_cluster *c = &target->cluster;
    if (!standbys)
        return 0;
    c->node[0].role = INS_ROLE_PRIMARY;
    (void)snprintf(c->node[0].name, sizeof c->node[0].name, "primary");
    for (unsigned i = 1; i <= standbys; i++) {
        struct ins_node *n = ins_cluster_add(c, INS_ROLE_REPLICA, error);
        if (!n)
            return error->status;
        if (standbys == 1)
            (void)snprintf(n->name, sizeof n->name, "standby");
        else
            (void)snprintf(n->name, sizeof n->name, "standby%u", i);
    }
    return 0;
}

int ins_pq_start_primary(struct ins_target *target, struct insula_error *error)
{
    static const char *const names[] = {"initdb", "postgres"};
    char *program[2] = {NULL, NULL};
    struct plan *p = calloc(1, sizeof *p);
    unsigned standbys;
    if (!p)
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    else if (!find_programs(target, names, program, error) &&
             !count_standbys(target, &standbys, error) &&
             !name_nodes(target, standbys, error) &&
             !plan_server(p, target, 0, program[1], error)) {
        const char *const init[] = {program[0], "-D@/data",         "--no-sync",
                                    "-Atrust",  "-Uinsula",         "--locale=C",
                                    "-EUTF8",   "--no-instructions"};
        memcpy(p->server.init, init, sizeof init);
        (void)start(target, 0, p, error);
    }
    free(program[0]);
    free(program[1]);
    free(p);
    return error->status;
}

static int start_standby(struct ins_target *target, unsigned number,
                         char *const *program, struct insula_error *error)
{
    const struct ins_node *primary = &target->cluster.node[0];
    struct ins_node *self = &target->cluster.node[number];
    char way[300], path[330];
    (void)snprintf(way, sizeof way, "%s", ins_server_dir(primary->server));
    if (target->wants_links) {
        /* Its own way to the primary, which can be held up. */
        (void)snprintf(way, sizeof way, "%s/r%u", ins_server_dir(primary->server),
                       number);
        (void)snprintf(path, sizeof path, "%s/.s.PGSQL.5432", way);
        if (mkdir(way, 0755))
            return ins_rec_fail(error, INSULA_E_IO, "cannot make %s", way);
        if (!(self->link = ins_proxy_new(path, primary->socket, error)))
            return error->status;
    }
    struct plan *p = calloc(1, sizeof *p);
    char from[300], link[512];
    if (!p)
        return ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    (void)snprintf(from, sizeof from, "-h%s", ins_server_dir(primary->server));
    (void)snprintf(link, sizeof link, "host=%s user=insula application_name=%s", way,
                   self->name);
    if (!plan_server(p, target, number, program[1], error)) {
        const char *const init[] = {program[0], from,     "-Uinsula", "-D@/data",
                                    "-Xstream", "-cfast", "-N",       "-R"};
        memcpy(p->server.init, init, sizeof init);
        add_setting(p, "primary_conninfo", link);
        (void)start(target, number, p, error);
    }
    free(p);
    return error->status;
}

int ins_pq_start_standbys(struct ins_target *target, struct insula_error *error)
{
    static const char *const names[] = {"pg_basebackup", "postgres"};
    char *program[2] = {NULL, NULL};
    if (target->cluster.nodes == 1)
        return 0;
    (void)find_programs(target, names, program, error);
    for (unsigned i = 1; i < target->cluster.nodes && !error->status; i++)
        (void)start_standby(target, i, program, error);
    free(program[0]);
    free(program[1]);
    return error->status;
}

/* mariadb_server.c - throw-away MariaDB servers, reached by a socket in their temporary
 * directories.
 *
 *   mariadb:?bin=DIR&VARIABLE=VALUE
 *   galera:?bin=DIR&nodes=N&provider=FILE&VARIABLE=VALUE&NODE.VARIABLE=VALUE
 *
 * A Galera cluster is started without any transfer of state: every node begins with the
 * same empty database, and a saved view that names all of them lets them find each
 * other, as after a loss of power (pc.recovery).  So they also come back when all were
 * killed; what each has in its files is asked for first (--wsrep-recover). */
#include "mariadb_server.h"

#include "fail.h"
#include "net.h"

#include <glob.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORTS = 3 }; /* a node: group communication, incremental and full transfers */

struct plan {
    struct ins_server_plan server;
    char text[INS_URL_PARAMETERS + 16][1024];
    int arguments, used;
    char log[4096];
};

static void add(struct plan *p, const char *argument)
{
    p->server.command[p->arguments++] = argument;
}

__attribute__((format(printf, 2, 3))) static const char *say(struct plan *p,
                                                             const char *format, ...)
{
    char *to = p->text[p->used++];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(to, sizeof p->text[0], format, args);
    va_end(args);
    return to;
}

static bool is_ours(const char *name)
{
    return !strcmp(name, "bin") || !strcmp(name, "nodes") || !strcmp(name, "provider");
}

/* The part that both kinds of servers have. */
static int plan_server(struct plan *p, const struct ins_target *target, unsigned node,
                       const char *program, struct insula_error *error)
{
    /* Without its system tables the server is up in a fifth of a second; nothing that
     * is recorded uses them. */
    static const char *const fixed[] = {"--no-defaults",
                                        "--datadir=@/data",
                                        "--socket=@/s",
                                        "--pid-file=@/pid",
                                        "--skip-networking",
                                        "--skip-grant-tables",
                                        "--loose-innodb-stats-persistent=OFF",
                                        "--innodb-lock-wait-timeout=10",
                                        "--loose-mysqlx=OFF"};
    const struct ins_url *url = &target->cluster.node[0].url;
    (void)snprintf(p->log, sizeof p->log, node ? "%s/server-%s.log" : "%s/server.log",
                   target->dir, target->cluster.node[node].name);
    p->server = (struct ins_server_plan){
        .title = "MariaDB", .user = "mysql", .data = "@/data", .log = p->log};
    add(p, program);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(p, fixed[i]);
    add(p, say(p, "--max-connections=%u", target->sessions + 20));
    for (unsigned i = 0; i < url->parameters; i++) {
        const char *name = ins_cluster_setting(&target->cluster, node, i);
        const char *value = url->parameter[i].value;
        if (!name || is_ours(name))
            continue;
        if (strchr(value, '@'))
            return ins_rec_fail(error, INSULA_E_USAGE, "'%s' must not have an '@'",
                                name);
        add(p, say(p, "--%s=%s", name, value));
    }
    return 0;
}

static char *find_server(const struct ins_target *target, struct insula_error *error)
{
    static const char *const folders[] = {"/usr/sbin", "/usr/libexec",
                                          "/usr/local/mysql/bin", NULL};
    const char *bin = ins_url_get(&target->cluster.node[0].url, "bin");
    char *program = ins_server_find("mariadbd", bin, folders);
    if (!program)
        (void)ins_rec_fail(error, INSULA_E_USAGE,
                           "MariaDB is not installed: no mariadbd in %s; install the "
                           "package mariadb-server, or name a server: "
                           "--db mariadb://user@host/database",
                           bin ? bin : "PATH or /usr/sbin");
    return program;
}

static int start(struct ins_target *target, unsigned number, const struct plan *p,
                 struct insula_error *error)
{
    struct ins_node *node = &target->cluster.node[number];
    node->server = ins_server_start(&p->server, error);
    if (!node->server)
        return error->status;
    if (!ins_node_place(node, "s"))
        return ins_rec_fail(error, INSULA_E_IO, "cannot make a directory in %s",
                            ins_server_dir(node->server));
    node->where = strdup(node->socket);
    node->through = strdup(node->door);
    return node->where && node->through
               ? 0
               : ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
}

int ins_mariadb_start(struct ins_target *target, struct insula_error *error)
{
    char *program = find_server(target, error);
    struct plan *p = calloc(1, sizeof *p);
    if (!p)
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
    if (program && p && !plan_server(p, target, 0, program, error)) {
        /* Data files that were never closed are not safe against a kill yet. */
        const char *const init[] = {program, "--no-defaults", "--datadir=@/data",
                                    "--bootstrap"};
        memcpy(p->server.init, init, sizeof init);
        (void)start(target, 0, p, error);
    }
    free(program);
    free(p);
    return error->status;
}

/* ---- Galera ---- */

struct galera {
    char *program;
    char provider[256];
    unsigned nodes;
    unsigned port; /* the first of nodes * PORTS */
    const struct ins_net *net;
    char address[INS_NODES * 32 + 16];
    char members[INS_NODES * 64];
};

static int read_parameters(const struct ins_target *target, struct galera *g,
                           struct insula_error *error)
{
    const struct ins_url *url = &target->cluster.node[0].url;
    const char *nodes = ins_url_get(url, "nodes");
    const char *provider = ins_url_get(url, "provider");
    char *end = NULL;
    g->nodes = nodes ? (unsigned)strtoul(nodes, &end, 10) : 3;
    if (nodes && (end == nodes || *end || g->nodes < 1 || g->nodes > INS_NODES))
        return ins_rec_fail(error, INSULA_E_USAGE, "expected nodes=1 to %d, got '%s'",
                            INS_NODES, nodes);
    glob_t match;
    if (provider) {
        (void)snprintf(g->provider, sizeof g->provider, "%s", provider);
        // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread yet
    } else if (!glob("/usr/lib*/galera*/libgalera*smm.so", 0, NULL, &match)) {
        (void)snprintf(g->provider, sizeof g->provider, "%s", match.gl_pathv[0]);
        globfree(&match);
    }
    if (access(g->provider, R_OK))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "Galera is not installed: no /usr/lib/galera/"
                            "libgalera_smm.so; install the package galera-4");
    g->program = find_server(target, error);
    return error->status;
}

static bool is_free(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && !bind(fd, (const struct sockaddr *)&at, sizeof at);
    if (fd >= 0)
        (void)close(fd);
    return ok;
}

/* A row of ports that nobody uses now, below those that the kernel hands out. */
static int choose_ports(struct galera *g, struct insula_error *error)
{
    const unsigned count = g->nodes * PORTS;
    unsigned place = (unsigned)getpid();
    for (int tries = 0; tries < 200; tries++, place += 7) {
        g->port = 15000 + place % 300 * 48;
        unsigned n = 0;
        while (n < count && is_free(g->port + n))
            n++;
        if (n == count)
            return 0;
    }
    return ins_rec_fail(error, INSULA_E_IO, "no free ports for the nodes");
}

/* Where a node listens. */
static const char *address_of(const struct galera *g, unsigned node, char *buffer,
                              size_t size)
{
    if (g->net)
        return ins_net_address(node, buffer, size);
    (void)snprintf(buffer, size, "127.0.0.1");
    return buffer;
}

static int add_nodes(struct ins_target *target, struct galera *g,
                     struct insula_error *error)
{
    struct ins_cluster *c = &target->cluster;
    size_t used = (size_t)snprintf(g->address, sizeof g->address,
                                   "--wsrep-cluster-address=gcomm://");
    size_t length = 0;
    for (unsigned i = 0; i < g->nodes; i++) {
        struct ins_node *n = i ? ins_cluster_add(c, INS_ROLE_ANY, error) : &c->node[0];
        if (!n)
            return error->status;
        (void)snprintf(n->name, sizeof n->name, "n%u", i + 1);
        char at[32];
        used += (size_t)snprintf(g->address + used, sizeof g->address - used, "%s%s:%u",
                                 i ? "," : "", address_of(g, i, at, sizeof at),
                                 g->port + PORTS * i);
        length +=
            (size_t)snprintf(g->members + length, sizeof g->members - length,
                             "member: %08x-0000-11ee-8a0a-000000000001 0\n", i + 1);
    }
    return 0;
}

/* An empty database, where the cluster stands, and the view that it had. */
static const char make_node[] =
    "mkdir \"$1/mysql\" && echo 'create database insula;' | \"$0\" --no-defaults "
    "--datadir=\"$1\" --bootstrap && "
    "printf '# GALERA saved state\\nversion: 2.1\\nuuid: "
    "5f7a3f3e-0000-11ee-8a0a-000000000001\\nseqno: 0\\nsafe_to_bootstrap: 0\\n' "
    ">\"$1/grastate.dat\" && printf '%s' \"$2\" >\"$1/gvwstate.dat\"";

/* What was committed before the kill, and then the server from there. */
static const char start_again[] =
    "at=$(\"$0\" \"$@\" --wsrep-recover 2>&1 | "
    "sed -n 's/.*Recovered position: *//p' | tail -n 1); "
    "exec \"$0\" \"$@\" ${at:+--wsrep-start-position=$at}";

static void plan_member(struct plan *p, const struct galera *g, unsigned node)
{
    static const char *const fixed[] = {
        "--wsrep-on=ON", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
        "--wsrep-sst-method=rsync", "--innodb-buffer-pool-size=32M"};
    const unsigned port = g->port + PORTS * node;
    char at[32];
    (void)address_of(g, node, at, sizeof at);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(p, fixed[i]);
    add(p, say(p, "--wsrep-provider=%s", g->provider));
    add(p, g->address);
    add(p, say(p, "--wsrep-node-name=n%u", node + 1));
    add(p, say(p, "--wsrep-node-address=%s:%u", at, port));
    add(p, say(p, "--wsrep-sst-receive-address=%s:%u", at, port + 2));
    add(p, say(p,
               "--wsrep-provider-options=pc.recovery=yes;gcache.size=64M;"
               "gmcast.listen_addr=tcp://%s:%u;ist.recv_addr=%s:%u;"
               "evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;"
               "evs.inactive_timeout=PT4S;evs.inactive_check_period=PT0.5S",
               at, port, at, port + 1));
    const char *view = say(p,
                           "my_uuid: %08x-0000-11ee-8a0a-000000000001\n#vwbeg\n"
                           "view_id: 3 00000001-0000-11ee-8a0a-000000000001 1\n"
                           "bootstrap: 0\n%s#vwend\n",
                           node + 1, g->members);
    const char *const init[] = {"/bin/sh", "-c", make_node, g->program, "@/data", view};
    memcpy(p->server.init, init, sizeof init);
    static const char *const again[] = {"/bin/sh", "-c", start_again};
    memcpy(p->server.again, again, sizeof again);
    memcpy(p->server.again + 3, p->server.command,
           (size_t)p->arguments * sizeof p->server.command[0]);
}

int ins_galera_start(struct ins_target *target, struct insula_error *error)
{
    struct galera g = {0};
    if (!read_parameters(target, &g, error) && !choose_ports(&g, error) &&
        target->wants_links)
        g.net = target->net = ins_net_new(g.nodes, error);
    if (!error->status)
        (void)add_nodes(target, &g, error);
    for (unsigned i = 0; i < g.nodes && !error->status; i++) {
        struct plan *p = calloc(1, sizeof *p);
        if (!p) {
            (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        } else if (!plan_server(p, target, i, g.program, error)) {
            plan_member(p, &g, i);
            p->server.network = g.net ? ins_net_of(g.net, i) : 0;
            (void)start(target, i, p, error);
        }
        free(p);
    }
    free(g.program);
    return error->status;
}

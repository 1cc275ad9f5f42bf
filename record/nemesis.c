#include "nemesis.h"

#include "fail.h"
#include "net.h"
#include "proxy.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a kind of fault needs. */
enum {
    SERVERS = 1, /* throw-away ones */
    NODES = 2,   /* more than one node */
    FRONTS = 4,  /* a proxy between each node and its clients */
    LINKS = 8,   /* ways between the nodes that can be cut */
    NETWORK = 16 /* namespaces */
};

struct ins_fault_kind {
    const char *name;
    unsigned needs;
    double duration_s;
    int (*begin)(struct ins_nemesis *n, struct insula_error *error);
    int (*heal)(struct ins_nemesis *n, struct insula_error *error);
};

static struct ins_cluster *cluster_of(const struct ins_nemesis *n)
{
    return &n->target->cluster;
}

/* The names of the victims: "n1, n3". */
static const char *names(const struct ins_nemesis *n, char *buffer, size_t size)
{
    const struct ins_cluster *c = cluster_of(n);
    size_t used = 0;
    buffer[0] = 0;
    for (unsigned i = 0; i < c->nodes && used < size; i++)
        if (n->victims >> i & 1)
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "",
                                 c->node[i].name[0] ? c->node[i].name : "the server");
    return buffer;
}

/* One line for each victim. */
static void note(struct ins_nemesis *n, const char *event, const char *what)
{
    const struct ins_cluster *c = cluster_of(n);
    for (unsigned i = 0; i < c->nodes; i++)
        if (n->victims >> i & 1) {
            char text[256];
            const char *name = c->node[i].name;
            (void)snprintf(text, sizeof text, "%s %s", what,
                           *name ? name : "the server");
            ins_runlog_node(n->log, event, name, text);
        }
}

static uint32_t all_nodes(const struct ins_nemesis *n)
{
    return (uint32_t)((1ull << cluster_of(n)->nodes) - 1);
}

static uint32_t one_node(struct ins_nemesis *n)
{
    return 1u << ins_draw_below(&n->draw, cluster_of(n)->nodes);
}

/* Do it to the servers of all victims. */
static int to_victims(struct ins_nemesis *n,
                      int (*act)(struct ins_server *, struct insula_error *),
                      struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    for (unsigned i = 0; i < c->nodes; i++)
        if ((n->victims >> i & 1) && act(c->node[i].server, error))
            return error->status;
    return 0;
}

static int stop_server(struct ins_server *s, struct insula_error *error)
{
    return ins_server_pause(s, true, error);
}

static int continue_server(struct ins_server *s, struct insula_error *error)
{
    return ins_server_pause(s, false, error);
}

static int begin_kill(struct ins_nemesis *n, struct insula_error *error)
{
    n->victims = one_node(n);
    note(n, "kill", "SIGKILL to");
    return to_victims(n, ins_server_kill, error);
}

static int begin_kill_all(struct ins_nemesis *n, struct insula_error *error)
{
    n->victims = all_nodes(n);
    note(n, "kill", "SIGKILL to");
    return to_victims(n, ins_server_kill, error);
}

static int heal_kill(struct ins_nemesis *n, struct insula_error *error)
{
    int status = to_victims(n, ins_server_again, error);
    note(n, "restart", "started again:");
    return status;
}

static int begin_pause(struct ins_nemesis *n, struct insula_error *error)
{
    n->victims = one_node(n);
    note(n, "pause", "SIGSTOP to");
    return to_victims(n, stop_server, error);
}

static int heal_pause(struct ins_nemesis *n, struct insula_error *error)
{
    note(n, "continue", "SIGCONT to");
    return to_victims(n, continue_server, error);
}

/* ---- between nodes ---- */

/* Nothing passes from j to i where cut[i] has bit j. */
static int cut(struct ins_nemesis *n, const uint32_t *cut, unsigned loss,
               struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    if (n->target->net)
        return ins_net_rules(n->target->net, cut, loss, error);
    for (unsigned i = 1; i < c->nodes; i++)
        ins_proxy_hold(c->node[i].link, cut[0] >> i & 1);
    return 0;
}

/* Two sides that do not hear each other; a bridge, or INS_NODES for none, hears both.
 */
static int separate(struct ins_nemesis *n, uint32_t side, unsigned bridge,
                    struct insula_error *error)
{
    const unsigned nodes = cluster_of(n)->nodes;
    uint32_t from[INS_NODES] = {0};
    for (unsigned i = 0; i < nodes; i++)
        for (unsigned j = 0; j < nodes; j++)
            if ((side >> i & 1) != (side >> j & 1) && i != bridge && j != bridge)
                from[i] |= 1u << j;
    n->victims = side;
    note(n, "partition",
         bridge < nodes ? "one node hears both sides, the others do not hear"
                        : "cut off from the others:");
    return cut(n, from, 0, error);
}

static int begin_partition_one(struct ins_nemesis *n, struct insula_error *error)
{
    return separate(n, one_node(n), INS_NODES, error);
}

static uint32_t half(struct ins_nemesis *n, unsigned without)
{
    const unsigned nodes = cluster_of(n)->nodes;
    const unsigned wanted = (nodes - (without < nodes)) / 2;
    uint32_t side = 0;
    for (unsigned have = 0; have < wanted;) {
        unsigned i = ins_draw_below(&n->draw, nodes);
        if (i == without || (side >> i & 1))
            continue;
        side |= 1u << i;
        have++;
    }
    return side;
}

static int begin_partition_halves(struct ins_nemesis *n, struct insula_error *error)
{
    return separate(n, half(n, INS_NODES), INS_NODES, error);
}

static int begin_partition_bridge(struct ins_nemesis *n, struct insula_error *error)
{
    if (cluster_of(n)->nodes < 3)
        return begin_partition_one(n, error);
    unsigned bridge = ins_draw_below(&n->draw, cluster_of(n)->nodes);
    return separate(n, half(n, bridge), bridge, error);
}

static int begin_partition(struct ins_nemesis *n, struct insula_error *error)
{
    switch (ins_draw_below(&n->draw, 3)) {
    case 0:
        return begin_partition_one(n, error);
    case 1:
        return begin_partition_halves(n, error);
    default:
        return begin_partition_bridge(n, error);
    }
}

static int heal_network(struct ins_nemesis *n, struct insula_error *error)
{
    static const uint32_t none[INS_NODES] = {0};
    note(n, "heal", "everything passes between the nodes again:");
    return cut(n, none, 0, error);
}

static int begin_loss(struct ins_nemesis *n, struct insula_error *error)
{
    static const uint32_t none[INS_NODES] = {0};
    const unsigned loss = 5 + ins_draw_below(&n->draw, 26);
    n->victims = all_nodes(n);
    char text[64];
    (void)snprintf(text, sizeof text, "%u %% of the packets to it are lost:", loss);
    note(n, "loss", text);
    return cut(n, none, loss, error);
}

/* ---- between nodes and clients ---- */

static int begin_isolate(struct ins_nemesis *n, struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    (void)error;
    n->victims = one_node(n);
    note(n, "isolate", "no client reaches");
    for (unsigned i = 0; i < c->nodes; i++)
        if (n->victims >> i & 1)
            ins_proxy_hold(c->node[i].front, true);
    return 0;
}

static int begin_slow(struct ins_nemesis *n, struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    const unsigned delay = 1 + ins_draw_below(&n->draw, 50);
    (void)error;
    n->victims = one_node(n);
    char text[64];
    (void)snprintf(text, sizeof text, "%u ms each way between clients and", delay);
    note(n, "slow", text);
    for (unsigned i = 0; i < c->nodes; i++) {
        if (n->victims >> i & 1)
            ins_proxy_delay(c->node[i].front, delay);
        ins_proxy_delay(c->node[i].link, delay);
    }
    return 0;
}

static int heal_fronts(struct ins_nemesis *n, struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    (void)error;
    note(n, "heal", "clients reach");
    for (unsigned i = 0; i < c->nodes; i++) {
        ins_proxy_hold(c->node[i].front, false);
        ins_proxy_delay(c->node[i].front, 0);
        ins_proxy_delay(c->node[i].link, 0);
    }
    return 0;
}

static const struct ins_fault_kind kinds[] = {
    {"kill", SERVERS, 0, begin_kill, heal_kill},
    {"kill-all", SERVERS, 0, begin_kill_all, heal_kill},
    {"pause", SERVERS, 0.3, begin_pause, heal_pause},
    {"partition", SERVERS | NODES | LINKS, 3, begin_partition, heal_network},
    {"partition-one", SERVERS | NODES | LINKS, 3, begin_partition_one, heal_network},
    {"partition-halves", SERVERS | NODES | LINKS, 3, begin_partition_halves,
     heal_network},
    {"partition-bridge", SERVERS | NODES | LINKS, 3, begin_partition_bridge,
     heal_network},
    {"loss", SERVERS | NODES | LINKS | NETWORK, 3, begin_loss, heal_network},
    {"isolate", SERVERS | FRONTS, 2, begin_isolate, heal_fronts},
    {"slow", SERVERS | FRONTS, 3, begin_slow, heal_fronts},
};

const char *ins_nemesis_name(unsigned i)
{
    return i < sizeof kinds / sizeof kinds[0] ? kinds[i].name : NULL;
}

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *ins_fault_name(unsigned i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

/* ---- the user's commands ---- */

/* What NAME=COMMAND of a list says for a name; NULL when nothing. */
static const char *command_for(const char *const *list, unsigned count,
                               const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        size_t length = strcspn(list[i], "=");
        if (list[i][length] && strlen(name) == length &&
            !strncmp(list[i], name, length))
            return list[i] + length + 1;
    }
    return NULL;
}

static int run_command(struct ins_nemesis *n, const char *command,
                       struct insula_error *error)
{
    char text[4096], who[512];
    (void)names(n, who, sizeof who);
    const char *at = strstr(command, "{node}");
    if (at)
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - command), command, who,
                       at + 6);
    else
        (void)snprintf(text, sizeof text, "%s", command);
    const char *const argv[] = {"sh", "-c", text, NULL};
    pid_t pid;
    int status = -1;
    if (!posix_spawn(&pid, "/bin/sh", NULL, NULL, (char *const *)(uintptr_t)argv,
                     environ))
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    return status ? ins_rec_fail(error, INSULA_E_IO, "this command failed: %s", text)
                  : 0;
}

/* ---- what was asked for ---- */

static int parse_one(struct ins_nemesis *n, const char *at, size_t length,
                     const struct ins_record_options *o, struct insula_error *error)
{
    if (n->kinds == INS_FAULTS)
        return ins_rec_fail(error, INSULA_E_USAGE, "at most %d faults", INS_FAULTS);
    struct ins_fault *f = &n->fault[n->kinds++];
    char text[128];
    (void)snprintf(text, sizeof text, "%.*s", (int)length, at);
    *f = (struct ins_fault){.weight = 1, .duration_s = 2};
    (void)snprintf(f->name, sizeof f->name, "%.*s", (int)strcspn(text, ":"), text);
    f->command = command_for(o->fault_command, o->fault_commands, f->name);
    f->heal = command_for(o->heal_command, o->heal_commands, f->name);
    for (size_t i = 0; !f->command && i < KINDS && !f->kind; i++)
        if (!strcmp(kinds[i].name, f->name)) {
            f->kind = &kinds[i];
            f->duration_s = kinds[i].duration_s;
        }
    if (!f->kind && !f->command)
        return ins_rec_fail(
            error, INSULA_E_USAGE,
            "unknown fault '%s': expected kill, kill-all, pause, partition, "
            "partition-one, partition-halves, partition-bridge, isolate, loss, slow or "
            "one of --fault-command",
            f->name);
    char *end = strchr(text, ':');
    if (end)
        f->weight = strtod(end + 1, &end);
    if (end && *end == ':')
        f->duration_s = strtod(end + 1, &end);
    if (!(f->weight > 0) || !(f->duration_s >= 0) || (end && *end))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "expected FAULT[:WEIGHT[:SECONDS]], got '%s'", text);
    return 0;
}

/* What the faults need of the database, and whether it can be had. */
static int check_needs(struct ins_nemesis *n, struct insula_error *error)
{
    const struct ins_url *url = &cluster_of(n)->node[0].url;
    const bool ours = !ins_url_has_server(url) && strcmp(url->scheme, "sqlite") != 0;
    const bool galera = !strcmp(url->scheme, "galera");
    for (unsigned i = 0; i < n->kinds; i++) {
        const struct ins_fault_kind *kind = n->fault[i].kind;
        const unsigned needs = kind ? kind->needs : 0;
        if ((needs & SERVERS) && !ours)
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "'%s' needs a throw-away server: --db postgres:, "
                                "mariadb: or galera:; or give a --fault-command for it",
                                n->fault[i].name);
        if ((needs & NODES) && !galera && !ins_url_get(url, "standbys"))
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "'%s' needs several nodes: --db postgres:?standbys=1 "
                                "or galera:",
                                n->fault[i].name);
        if ((needs & NETWORK) && !galera)
            return ins_rec_fail(error, INSULA_E_USAGE,
                                "'%s' needs nodes in network namespaces, which only "
                                "--db galera: has",
                                n->fault[i].name);
        if ((needs & LINKS) && galera && ins_net_possible(error))
            return error->status;
        n->target->wants_links |= (needs & LINKS) != 0;
        n->target->wants_fronts |= (needs & FRONTS) != 0;
    }
    return 0;
}

int ins_nemesis_parse(struct ins_nemesis *n, const struct ins_record_options *options,
                      struct insula_error *error)
{
    const char *at = options->nemesis;
    n->mean_s = options->nemesis_s;
    if (!at || !strcmp(at, "none"))
        return 0;
    for (;;) {
        size_t length = strcspn(at, ",");
        if (parse_one(n, at, length, options, error))
            return error->status;
        if (!at[length])
            break;
        at += length + 1;
    }
    return check_needs(n, error);
}

int ins_nemesis_init(struct ins_nemesis *n, struct insula_error *error)
{
    struct ins_cluster *c = cluster_of(n);
    for (unsigned i = 0; n->target->wants_fronts && i < c->nodes; i++) {
        struct ins_node *node = &c->node[i];
        node->front = ins_proxy_new(node->door, node->socket, error);
        if (!node->front)
            return error->status;
    }
    return 0;
}

/* ---- the schedule ---- */

/* Between half and one and a half of the mean. */
static void schedule(struct ins_nemesis *n, double mean_s)
{
    double wait = mean_s * (0.5 + ins_draw_unit(&n->draw));
    n->next = ins_runlog_now(n->log) + (int64_t)(wait * 1e9);
}

static int heal(struct ins_nemesis *n, struct insula_error *error)
{
    const struct ins_fault *f = n->active;
    int status;
    n->active = NULL;
    if (f->kind) {
        status = f->kind->heal(n, error);
    } else {
        note(n, "heal", f->name);
        status = f->heal ? run_command(n, f->heal, error) : 0;
    }
    n->down = ins_runlog_now(n->log);
    return status;
}

static const struct ins_fault *choose(struct ins_nemesis *n)
{
    double sum = 0;
    for (unsigned i = 0; i < n->kinds; i++)
        sum += n->fault[i].weight;
    double at = sum * ins_draw_unit(&n->draw);
    unsigned i = 0;
    for (; i + 1 < n->kinds && at >= n->fault[i].weight; i++)
        at -= n->fault[i].weight;
    return &n->fault[i];
}

static int begin(struct ins_nemesis *n, struct insula_error *error)
{
    const struct ins_fault *f = n->active = choose(n);
    int status;
    n->faults++;
    if (f->kind) {
        status = f->kind->begin(n, error);
    } else {
        n->victims = one_node(n);
        note(n, f->name, "the command for");
        status = run_command(n, f->command, error);
    }
    schedule(n, f->duration_s);
    return status || f->duration_s > 0 ? status : heal(n, error);
}

/* The time to the next fault counts from when the server answers again. */
static void recovered(struct ins_nemesis *n)
{
    n->down = 0;
    note(n, "up", "answers again:");
    schedule(n, n->mean_s);
}

int ins_nemesis_step(struct ins_nemesis *n, int64_t answered,
                     struct insula_error *error)
{
    if (!n->kinds)
        return 0;
    if (!n->next)
        schedule(n, n->mean_s);
    if (n->down && answered > n->down)
        recovered(n);
    if (n->down || ins_runlog_now(n->log) < n->next)
        return 0;
    return n->active ? heal(n, error) : begin(n, error);
}

void ins_nemesis_end(struct ins_nemesis *n)
{
    struct insula_error ignored = {0};
    if (n->active)
        (void)heal(n, &ignored);
}

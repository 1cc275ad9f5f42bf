#include "net.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

struct ins_net {
    unsigned nodes;
    int bridge;
    int node[INS_NODES];
};

/* Run a script; 0 when it succeeds. */
static int run_script(const char *script, struct insula_error *error)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    pid_t pid;
    int status = -1;
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, (char *const *)(uintptr_t)argv,
                    environ))
        return ins_rec_fail(error, INSULA_E_IO, "cannot run /bin/sh");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status ? ins_rec_fail(error, INSULA_E_IO, "failed: %.300s", script) : 0;
}

int ins_net_possible(struct insula_error *error)
{
    if (geteuid() != 0)
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "this fault needs network namespaces, and only root makes "
                            "them");
    struct insula_error ignored = {0};
    if (run_script("PATH=$PATH:/usr/sbin:/sbin; command -v ip nsenter nft >/dev/null",
                   &ignored))
        return ins_rec_fail(error, INSULA_E_USAGE,
                            "this fault needs ip, nsenter and nft: install the "
                            "packages iproute2, util-linux and nftables");
    return 0;
}

/* A child makes the namespace, and what we open here keeps it. */
static int new_namespace(void)
{
    int ready[2], done[2];
    if (pipe2(ready, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
        return -1;
    pid_t pid = fork();
    if (!pid) {
        char c = (char)(unshare(CLONE_NEWNET) ? '-' : '+');
        (void)close(done[1]);
        (void)write(ready[1], &c, 1);
        (void)read(done[0], &c, 1);
        _exit(0);
    }
    char c = '-', path[64];
    (void)close(ready[1]);
    (void)close(done[0]);
    if (pid > 0)
        (void)read(ready[0], &c, 1);
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    int fd = c == '+' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    (void)close(done[1]);
    (void)close(ready[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return fd;
}

const char *ins_net_address(unsigned node, char *buffer, size_t size)
{
    (void)snprintf(buffer, size, "10.77.0.%u", node + 1);
    return buffer;
}

static int connect_node(const struct ins_net *net, unsigned node,
                        struct insula_error *error)
{
    char script[1024], address[32];
    const int self = (int)getpid();
    (void)snprintf(
        script, sizeof script,
        "PATH=$PATH:/usr/sbin:/sbin; b=/proc/%d/fd/%d n=/proc/%d/fd/%d; "
        "nsenter --net=$b ip link add v%u type veth peer name p%u && "
        "nsenter --net=$b ip link set v%u master bridge up && "
        "nsenter --net=$b ip link set p%u netns $n && "
        "nsenter --net=$n ip link set lo up && "
        "nsenter --net=$n ip addr add %s/24 dev p%u && "
        "nsenter --net=$n ip link set p%u up && "
        "nsenter --net=$n nft 'add table inet insula; add chain inet insula in "
        "{ type filter hook input priority 0; }'",
        self, net->bridge, self, net->node[node], node, node, node, node,
        ins_net_address(node, address, sizeof address), node, node);
    return run_script(script, error);
}

struct ins_net *ins_net_new(unsigned nodes, struct insula_error *error)
{
    struct ins_net *net = calloc(1, sizeof *net);
    if (!net) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    net->bridge = new_namespace();
    for (; net->nodes < nodes; net->nodes++)
        net->node[net->nodes] = new_namespace();
    bool made = net->bridge >= 0;
    for (unsigned i = 0; i < nodes; i++)
        made &= net->node[i] >= 0;
    char script[256];
    (void)snprintf(script, sizeof script,
                   "PATH=$PATH:/usr/sbin:/sbin; nsenter --net=/proc/%d/fd/%d sh -c "
                   "'ip link add bridge type bridge && ip link set bridge up'",
                   (int)getpid(), net->bridge);
    if (!made)
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot make network namespaces");
    else
        (void)run_script(script, error);
    for (unsigned i = 0; i < nodes && !error->status; i++)
        (void)connect_node(net, i, error);
    if (!error->status)
        return net;
    ins_net_free(net);
    return NULL;
}

void ins_net_free(struct ins_net *net)
{
    if (!net)
        return;
    for (unsigned i = 0; i < net->nodes; i++)
        if (net->node[i] >= 0)
            (void)close(net->node[i]);
    if (net->bridge >= 0)
        (void)close(net->bridge);
    free(net);
}

int ins_net_of(const struct ins_net *net, unsigned node)
{
    return net->node[node];
}

int ins_net_rules(struct ins_net *net, const uint32_t *cut, unsigned loss,
                  struct insula_error *error)
{
    for (unsigned i = 0; i < net->nodes; i++) {
        char script[2048], address[32];
        int used = snprintf(script, sizeof script,
                            "PATH=$PATH:/usr/sbin:/sbin; nsenter --net=/proc/%d/fd/%d "
                            "nft 'flush chain inet insula in",
                            (int)getpid(), net->node[i]);
        for (unsigned j = 0; j < net->nodes; j++)
            if (cut[i] >> j & 1)
                used += snprintf(script + used, sizeof script - (size_t)used,
                                 "; add rule inet insula in ip saddr %s drop",
                                 ins_net_address(j, address, sizeof address));
        if (loss)
            used += snprintf(script + used, sizeof script - (size_t)used,
                             "; add rule inet insula in ip saddr 10.77.0.0/24 numgen "
                             "random mod 100 < %u drop",
                             loss);
        (void)snprintf(script + used, sizeof script - (size_t)used, "'");
        if (run_script(script, error))
            return error->status;
    }
    return 0;
}

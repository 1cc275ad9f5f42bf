#include "proxy.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 512, CHUNK = 16384 };

struct ins_proxy {
    pid_t process;
    int command; /* we write int32: a delay in ms, or HOLD or GO */
};

enum { HOLD = -1, GO = -2 };

/* What came in at one end and has not gone out at the other. */
struct piece {
    struct piece *next;
    int64_t due; /* ns */
    size_t from, to;
    char data[CHUNK];
};

struct flow {
    struct piece *first, *last;
    bool ended; /* nothing more comes in */
    bool shut;  /* and the other end knows */
};

struct pair {
    int fd[2];
    struct flow flow[2]; /* from fd[i] to fd[1 - i] */
};

struct state {
    int listener, command;
    struct sockaddr_un target;
    struct pair pair[PAIRS];
    unsigned pairs;
    int64_t delay;
    bool hold;
};

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void drop(struct state *s, unsigned i)
{
    for (int side = 0; side < 2; side++) {
        (void)close(s->pair[i].fd[side]);
        for (struct piece *p = s->pair[i].flow[side].first; p;) {
            struct piece *next = p->next;
            free(p);
            p = next;
        }
    }
    s->pair[i] = s->pair[--s->pairs];
}

static void add(struct state *s)
{
    int in = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int out = in < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out < 0 || s->pairs == PAIRS ||
        connect(out, (const struct sockaddr *)&s->target, sizeof s->target)) {
        if (in >= 0)
            (void)close(in);
        if (out >= 0)
            (void)close(out);
        return;
    }
    (void)fcntl(out, F_SETFL, O_NONBLOCK);
    s->pair[s->pairs++] = (struct pair){.fd = {in, out}};
}

/* Take what has come in at this end.  False when the connection is broken. */
static bool take(struct state *s, struct pair *p, int side)
{
    struct flow *f = &p->flow[side];
    struct piece *piece = malloc(sizeof *piece);
    if (!piece)
        return false;
    ssize_t n = read(p->fd[side], piece->data, CHUNK);
    if (n <= 0) {
        free(piece);
        f->ended |= n == 0;
        return n == 0 || errno == EAGAIN || errno == EINTR;
    }
    piece->next = NULL;
    piece->from = 0;
    piece->to = (size_t)n;
    piece->due = now() + s->delay;
    if (f->last)
        f->last->next = piece;
    else
        f->first = piece;
    f->last = piece;
    return true;
}

/* Pass on what is due.  False when the connection is broken. */
static bool pass(struct pair *p, int side)
{
    struct flow *f = &p->flow[side];
    while (f->first && f->first->due <= now()) {
        struct piece *piece = f->first;
        ssize_t n = send(p->fd[1 - side], piece->data + piece->from,
                         piece->to - piece->from, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        piece->from += (size_t)n;
        if (piece->from < piece->to)
            return true;
        f->first = piece->next;
        if (!f->first)
            f->last = NULL;
        free(piece);
    }
    if (f->ended && !f->first && !f->shut) {
        f->shut = true;
        (void)shutdown(p->fd[1 - side], SHUT_WR);
    }
    return true;
}

static bool obey(struct state *s)
{
    int32_t what;
    ssize_t n = read(s->command, &what, sizeof what);
    if (n != sizeof what)
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    if (what == HOLD || what == GO)
        s->hold = what == HOLD;
    else
        s->delay = (int64_t)what * 1000000;
    return true;
}

/* How long poll may sleep, ms. */
static int patience(const struct state *s)
{
    int64_t first = INT64_MAX, t = now();
    for (unsigned i = 0; !s->hold && i < s->pairs; i++)
        for (int side = 0; side < 2; side++)
            if (s->pair[i].flow[side].first && s->pair[i].flow[side].first->due < first)
                first = s->pair[i].flow[side].first->due;
    if (first == INT64_MAX)
        return -1;
    return first <= t ? 1 : (int)((first - t) / 1000000) + 1;
}

/* What to wait for: commands, clients, and what either side of a pair sends. */
static void wait_for(const struct state *s, struct pollfd *poll_at)
{
    poll_at[0] = (struct pollfd){s->command, POLLIN, 0};
    poll_at[1] = (struct pollfd){s->hold ? -1 : s->listener, POLLIN, 0};
    for (unsigned i = 0; i < s->pairs; i++)
        for (int side = 0; side < 2; side++) {
            const struct pair *p = &s->pair[i];
            const bool open = !s->hold && !p->flow[side].ended;
            poll_at[2 + 2 * i + (unsigned)side] =
                (struct pollfd){open ? p->fd[side] : -1, POLLIN, 0};
        }
}

static void serve(struct state *s, struct pollfd *poll_at)
{
    for (;;) {
        wait_for(s, poll_at);
        if (poll(poll_at, 2 + 2 * s->pairs, patience(s)) < 0 && errno != EINTR)
            return;
        if (poll_at[0].revents && !obey(s))
            return;
        if (s->hold)
            continue;
        for (unsigned i = s->pairs; i-- > 0;) {
            struct pair *p = &s->pair[i];
            bool well = true;
            for (int side = 0; side < 2 && well; side++)
                well = (!poll_at[2 + 2 * i + (unsigned)side].revents ||
                        take(s, p, side)) &&
                       pass(p, side);
            if (!well || (p->flow[0].shut && p->flow[1].shut))
                drop(s, i);
        }
        if (poll_at[1].revents)
            add(s);
    }
}

_Noreturn static void run(int listener, int command, const char *target)
{
    struct state *s = calloc(1, sizeof *s);
    struct pollfd *poll_at = calloc(2 + 2 * PAIRS, sizeof *poll_at);
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != listener && fd != command)
            (void)close(fd);
    if (s && poll_at) {
        s->listener = listener;
        s->command = command;
        s->target.sun_family = AF_UNIX;
        (void)snprintf(s->target.sun_path, sizeof s->target.sun_path, "%s", target);
        serve(s, poll_at);
    }
    _exit(0);
}

static int listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path)
        return -1;
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    (void)unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&at, sizeof at) ||
                    chmod(path, 0777) || listen(fd, 128))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

struct ins_proxy *ins_proxy_new(const char *listen, const char *connect,
                                struct insula_error *error)
{
    struct ins_proxy *p = calloc(1, sizeof *p);
    int fd[2] = {-1, -1};
    int listener = listen_at(listen);
    if (!p || listener < 0 || pipe2(fd, O_CLOEXEC)) {
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot listen at %s", listen);
        if (listener >= 0)
            (void)close(listener);
        free(p);
        return NULL;
    }
    p->command = fd[1];
    p->process = fork();
    if (!p->process)
        run(listener, fd[0], connect);
    (void)close(listener);
    (void)close(fd[0]);
    if (p->process < 0) {
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot start a process");
        (void)close(p->command);
        free(p);
        return NULL;
    }
    return p;
}

void ins_proxy_free(struct ins_proxy *proxy)
{
    if (!proxy)
        return;
    (void)close(proxy->command);
    while (waitpid(proxy->process, NULL, 0) < 0 && errno == EINTR)
        ;
    free(proxy);
}

static void tell(struct ins_proxy *proxy, int32_t what)
{
    if (proxy)
        (void)write(proxy->command, &what, sizeof what);
}

void ins_proxy_delay(struct ins_proxy *proxy, unsigned milliseconds)
{
    tell(proxy, (int32_t)milliseconds);
}

void ins_proxy_hold(struct ins_proxy *proxy, bool hold)
{
    tell(proxy, hold ? HOLD : GO);
}

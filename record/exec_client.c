#include "exec_client.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* An answer beyond this is none. */
#define LONGEST ((size_t)64 << 20)

struct ins_exec_client {
    pid_t pid;
    int to, from;
    char *text; /* what has arrived: an answer, and perhaps more */
    size_t used, size;
    int64_t asked;   /* requests so far */
    uint64_t lines;  /* answers so far */
    char status[64]; /* how it ended, once that is known */
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void close_all(const int *fd, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (fd[i] >= 0)
            (void)close(fd[i]);
}

/* fd: its standard input, output and error. */
static int spawn(pid_t *pid, const char *command, const int *fd)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, plain;
    (void)sigemptyset(&none);
    (void)sigemptyset(&plain);
    (void)sigaddset(&plain, SIGINT);
    (void)sigaddset(&plain, SIGTERM);
    (void)sigaddset(&plain, SIGPIPE);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    for (int i = 0; i < 3; i++)
        (void)posix_spawn_file_actions_adddup2(&actions, fd[i], i);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                                    POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &plain);
    char shell[] = "sh", option[] = "-c";
    char *text = strdup(command);
    char *arguments[] = {shell, option, text, NULL};
    const int failed =
        text ? posix_spawn(pid, "/bin/sh", &actions, &attributes, arguments, environ)
             : ENOMEM;
    free(text);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return failed;
}

struct ins_exec_client *ins_exec_start(const char *command, const char *log,
                                       struct insula_error *error)
{
    /* Both pipes, and its standard error. */
    int fd[5] = {-1, -1, -1, -1, -1};
    struct ins_exec_client *c = calloc(1, sizeof *c);
    int failed = c ? 0 : ENOMEM;
    fd[4] = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (!failed && (fd[4] < 0 || pipe2(fd, O_CLOEXEC) || pipe2(fd + 2, O_CLOEXEC)))
        failed = errno;
    if (!failed) {
        const int its[3] = {fd[0], fd[3], fd[4]};
        failed = spawn(&c->pid, command, its);
    }
    if (failed) {
        char reason[128];
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot start '%s': %s", command,
                           strerror_r(failed, reason, sizeof reason));
        close_all(fd, 5);
        free(c);
        return NULL;
    }
    c->to = fd[1];
    c->from = fd[2];
    /* It may not read: a full pipe must not hold us. */
    (void)fcntl(c->to, F_SETFL, O_NONBLOCK);
    const int its[3] = {fd[0], fd[3], fd[4]};
    close_all(its, 3);
    return c;
}

/* Wait until the descriptor is ready, the time is over, or soon after a stop. */
static bool ready(int fd, short events, double deadline, bool (*stop)(void))
{
    double stopped = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        const double left = deadline - now();
        const int n = poll(&p, 1,
                           left > 0.1 ? 100
                           : left > 0 ? (int)(left * 1e3) + 1
                                      : 0);
        if (n > 0)
            return true;
        if (left <= 0 || (n < 0 && errno != EINTR))
            return false;
        if (stop && stop() && stopped <= 0)
            stopped = now();
        if (stopped > 0 && now() - stopped > 2)
            return false;
    }
}

/* write, but a reader that has gone is an error and no signal. */
static ssize_t write_quietly(int fd, const char *text, size_t length)
{
    sigset_t pipe, before;
    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t n = write(fd, text, length);
    const int failed = errno;
    if (n < 0 && failed == EPIPE) {
        const struct timespec at_once = {0, 0};
        (void)sigtimedwait(&pipe, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return n;
}

static enum ins_exec_got send_all(struct ins_exec_client *c, const char *text,
                                  size_t length, double deadline, bool (*stop)(void))
{
    while (length) {
        const ssize_t n = write_quietly(c->to, text, length);
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return INS_EXEC_GONE;
        } else if (!ready(c->to, POLLOUT, deadline, stop)) {
            return INS_EXEC_SILENT;
        }
    }
    return INS_EXEC_ANSWERED;
}

static enum ins_exec_got send_request(struct ins_exec_client *c, const char *request,
                                      int64_t id, double deadline, bool (*stop)(void))
{
    char start[40];
    const int length = snprintf(start, sizeof start, "{\"id\": %" PRId64 ", ", id);
    enum ins_exec_got got = send_all(c, start, (size_t)length, deadline, stop);
    if (got == INS_EXEC_ANSWERED)
        got = send_all(c, request, strlen(request), deadline, stop);
    if (got == INS_EXEC_ANSWERED)
        got = send_all(c, "\n", 1, deadline, stop);
    return got;
}

/* Read what there is.  0: it has ended; below 0: no memory, or far too much. */
static int receive(struct ins_exec_client *c)
{
    if (c->size - c->used < 4096) {
        const size_t size = c->size ? 2 * c->size : 8192;
        char *grown = size <= LONGEST ? realloc(c->text, size) : NULL;
        if (!grown)
            return -1;
        c->text = grown;
        c->size = size;
    }
    const ssize_t n = read(c->from, c->text + c->used, c->size - c->used);
    if (n < 0)
        return errno == EINTR ? 1 : 0;
    c->used += (size_t)n;
    return n > 0;
}

/* Wait until it has ended, for some milliseconds.  Its children go before its process
 * is reaped: until then its group can be nobody else's. */
static bool reap(struct ins_exec_client *c, unsigned ms)
{
    for (unsigned i = 0; c->pid; i++) {
        siginfo_t info = {0};
        const struct timespec pause = {0, 2000000};
        if (!waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
            info.si_pid == c->pid) {
            (void)kill(-c->pid, SIGKILL);
            (void)waitpid(c->pid, NULL, 0);
            (void)snprintf(c->status, sizeof c->status, "%s %d",
                           info.si_code == CLD_EXITED ? "exit status" : "signal",
                           info.si_status);
            c->pid = 0;
        } else if (i >= ms / 2) {
            return false;
        } else {
            (void)nanosleep(&pause, NULL);
        }
    }
    return true;
}

/* Up to the end of a line, whose length is *length. */
static enum ins_exec_got receive_line(struct ins_exec_client *c, double deadline,
                                      bool (*stop)(void), size_t *length,
                                      struct ins_exec_answer *answer)
{
    size_t searched = 0;
    for (;;) {
        const char *end = c->used > searched
                              ? memchr(c->text + searched, '\n', c->used - searched)
                              : NULL;
        if (end) {
            *length = (size_t)(end - c->text);
            return INS_EXEC_ANSWERED;
        }
        searched = c->used;
        if (!ready(c->from, POLLIN, deadline, stop))
            return INS_EXEC_SILENT;
        const int got = receive(c);
        if (got < 0) {
            answer->verdict = INS_EXEC_BROKEN;
            (void)snprintf(answer->message, sizeof answer->message,
                           "expected the end of a line within %zu MiB", LONGEST >> 20);
            *length = 0;
            return INS_EXEC_ANSWERED;
        }
        if (!got)
            return INS_EXEC_GONE;
    }
}

/* The line that broke the protocol, as it came, behind what was expected. */
static void quote(const struct ins_exec_client *c, size_t length,
                  struct ins_exec_answer *a)
{
    char expected[128], shown[97];
    size_t used = 0;
    (void)snprintf(expected, sizeof expected, "%.127s", a->message);
    for (size_t i = 0; i < length && used + 1 < sizeof shown; i++) {
        const unsigned char byte = (unsigned char)c->text[i];
        shown[used++] = (char)(byte < ' ' || byte > 126 ? '?' : byte);
    }
    shown[used] = 0;
    (void)snprintf(a->message, sizeof a->message, "line %llu: %s, got '%s'%s",
                   (unsigned long long)c->lines, expected, shown,
                   length > used ? "..." : "");
}

/* Has it said something that nobody has asked for? */
static bool early_line(const struct ins_exec_client *c)
{
    struct pollfd p = {.fd = c->from, .events = POLLIN};
    int waiting = 0;
    return poll(&p, 1, 0) > 0 && (p.revents & POLLIN) &&
           !ioctl(c->from, FIONREAD, &waiting) && waiting > 0;
}

enum ins_exec_got ins_exec_ask(struct ins_exec_client *c, const char *request,
                               struct ins_exec_want want, double seconds,
                               bool (*stop)(void), struct ins_exec_answer *answer)
{
    const double deadline = now() + seconds;
    size_t length = 0;
    *answer = (struct ins_exec_answer){0};
    enum ins_exec_got got = INS_EXEC_ANSWERED;
    /* What is there before it is asked is found out below. */
    const bool early = c->lines && early_line(c);
    if (!early)
        got = send_request(c, request, want.id = c->asked++, deadline, stop);
    /* What it said before it ended may be an answer still. */
    if (got != INS_EXEC_SILENT)
        got = receive_line(c, deadline, stop, &length, answer);
    if (got == INS_EXEC_GONE)
        (void)snprintf(answer->message, sizeof answer->message,
                       "the client has ended: %s",
                       reap(c, 100) ? c->status : "it closed its output");
    if (got == INS_EXEC_SILENT)
        (void)snprintf(answer->message, sizeof answer->message,
                       "the client has not answered in %g s", seconds);
    if (got != INS_EXEC_ANSWERED)
        return got;
    c->lines++;
    if (answer->verdict != INS_EXEC_BROKEN) {
        ins_exec_answer_read(answer, &want, c->text, length);
        if (answer->verdict != INS_EXEC_BROKEN && (early || c->used > length + 1)) {
            /* A line that nobody has asked for: whose answer is it? */
            answer->verdict = INS_EXEC_BROKEN;
            (void)snprintf(answer->message, sizeof answer->message,
                           "expected one line for each request");
        }
    }
    if (answer->verdict == INS_EXEC_BROKEN)
        quote(c, length, answer);
    c->used = 0;
    return INS_EXEC_ANSWERED;
}

void ins_exec_end(struct ins_exec_client *c, bool at_once)
{
    if (!c)
        return;
    (void)close(c->to);
    if (!at_once)
        (void)reap(c, 2000);
    if (c->pid) {
        (void)kill(-c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, 0);
    }
    (void)close(c->from);
    free(c->text);
    free(c);
}

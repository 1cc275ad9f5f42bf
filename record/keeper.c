#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct keeper {
    const struct ins_server_plan *plan;
    const char *dir;
    uid_t uid;
    gid_t gid;
    bool drop; /* run the server as uid, gid */
    int log;
    pid_t server; /* 0: none */
};

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

/* Replace the first "@", at the end or before a slash, by the directory. */
static char *expand(const char *argument, const char *dir)
{
    const char *at = strchr(argument, '@');
    while (at && at[1] && at[1] != '/')
        at = strchr(at + 1, '@');
    char *text;
    if (!at)
        return strdup(argument);
    if (asprintf(&text, "%.*s%s%s", (int)(at - argument), argument, dir, at + 1) < 0)
        return NULL;
    return text;
}

_Noreturn static void run_program(const struct keeper *k, const char *const *argument)
{
    char *expanded[INS_SERVER_ARGUMENTS + 1] = {0};
    for (int i = 0; i < INS_SERVER_ARGUMENTS && argument[i]; i++)
        expanded[i] = expand(argument[i], k->dir);
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    (void)dup2(k->log, 1);
    (void)dup2(k->log, 2);
    if (k->drop && (setgroups(0, NULL) || setgid(k->gid) || setuid(k->uid)))
        _exit(126);
    /* After the change of user, which clears it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == 1)
        _exit(126);
    /* MariaDB keeps temporary files there. */
    (void)setenv("TMPDIR", k->dir, 1); // NOLINT(concurrency-mt-unsafe): one thread
    if (chdir(k->dir)) {
        (void)dprintf(2,
                      "FATAL: user %u cannot enter %s: set TMPDIR to a directory that "
                      "everybody may enter\n",
                      (unsigned)k->uid, k->dir);
        _exit(126);
    }
    if (expanded[0])
        (void)execv(expanded[0], expanded);
    (void)dprintf(2, "FATAL: cannot run %s\n", argument[0]);
    _exit(127);
}

static pid_t spawn(const struct keeper *k, const char *const *argument)
{
    pid_t pid = fork();
    if (!pid)
        run_program(k, argument);
    return pid;
}

/* Send to the server and its children.  PostgreSQL's backends lead process groups of
 * their own, so the group is not enough; the parent goes first and makes no new ones
 * while it is stopped. */
static void signal_all(pid_t server, int number)
{
    char path[64], text[65536];
    bool wake = number == SIGCONT;
    if (!wake)
        (void)kill(server, SIGSTOP);
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", server, server);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    char *end = text;
    for (;;) {
        long pid = strtol(end, &end, 10);
        if (pid <= 0)
            break;
        (void)kill((pid_t)pid, number);
    }
    (void)kill(server, number);
}

/* The keeper is a sub-reaper, so orphans become its children: when wait finds none, no
 * process of the server is left. */
static void kill_server(struct keeper *k)
{
    if (k->server <= 0)
        return;
    signal_all(k->server, SIGKILL);
    (void)kill(-k->server, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    k->server = 0;
}

/* Some servers hold shared memory that outlives a SIGKILL. */
static void quit_server(struct keeper *k)
{
    if (k->server > 0 && k->plan->quit) {
        signal_all(k->server, SIGCONT);
        (void)kill(k->server, k->plan->quit);
        for (int tries = 0; tries < 100; tries++) {
            if (waitpid(k->server, NULL, WNOHANG) == k->server)
                break;
            (void)poll(NULL, 0, 20);
        }
    }
    kill_server(k);
}

static bool alive(struct keeper *k)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        if (pid == k->server) {
            kill_server(k);
            return false;
        }
    return k->server > 0;
}

static bool start(struct keeper *k)
{
    char *data = expand(k->plan->data, k->dir);
    bool made =
        data && !mkdir(data, 0700) &&
        (!k->drop || (!chown(k->dir, k->uid, k->gid) && !chown(data, k->uid, k->gid)));
    free(data);
    if (!made)
        return false;
    if (k->plan->init[0]) {
        k->server = spawn(k, k->plan->init);
        int status = 1;
        while (waitpid(k->server, &status, 0) < 0 && errno == EINTR)
            ;
        k->server = 0;
        if (status)
            return false;
    }
    k->server = spawn(k, k->plan->command);
    return k->server > 0;
}

static bool obey(struct keeper *k, char what)
{
    switch (what) {
    case INS_KEEPER_START:
        return start(k);
    case INS_KEEPER_KILL:
        kill_server(k);
        return true;
    case INS_KEEPER_AGAIN:
        kill_server(k);
        k->server = spawn(k, k->plan->again[0] ? k->plan->again : k->plan->command);
        return k->server > 0;
    case INS_KEEPER_STOP:
    case INS_KEEPER_CONTINUE:
        if (k->server > 0)
            signal_all(k->server, what == INS_KEEPER_STOP ? SIGSTOP : SIGCONT);
        return alive(k);
    default:
        return alive(k);
    }
}

static void find_user(struct keeper *k)
{
    if (geteuid() != 0)
        return;
    const struct passwd *p =
        getpwnam(k->plan->user); // NOLINT(concurrency-mt-unsafe): one thread
    if (!p)
        p = getpwnam("nobody"); // NOLINT(concurrency-mt-unsafe): one thread
    k->drop = true;
    k->uid = p ? p->pw_uid : 65534;
    k->gid = p ? p->pw_gid : 65534;
}

/* Hold a lock on a file of the directory as long as we live: a directory whose lock is
 * free belongs to nobody.  It gets its name when it is locked. */
static void lock_directory(const char *dir)
{
    char fresh[300], path[300];
    (void)snprintf(fresh, sizeof fresh, "%s/.keeper", dir);
    (void)snprintf(path, sizeof path, "%s/" INS_KEEPER_LOCK, dir);
    int fd = open(fresh, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
        (void)rename(fresh, path);
}

_Noreturn void ins_keeper_run(const struct ins_server_plan *plan, const char *dir,
                              int command, int reply)
{
    struct keeper k = {.plan = plan, .dir = dir};
    /* Out of the terminal's reach: Ctrl-C is for the recorder, which then ends us. */
    (void)setsid();
    if (plan->network > 0 && setns(plan->network, CLONE_NEWNET))
        _exit(126);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    /* A caller without standard streams would have had these numbers to give away. */
    command = fcntl(command, F_DUPFD_CLOEXEC, 3);
    reply = fcntl(reply, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    k.log = open(plan->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    k.log = fcntl(k.log, F_DUPFD_CLOEXEC, 3);
    for (int fd = 0; fd < 3; fd++)
        (void)dup2(null, fd);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != command && fd != reply && fd != k.log)
            (void)close(fd);
    find_user(&k);
    lock_directory(dir);
    char what;
    ssize_t n;
    while ((n = read(command, &what, 1)) == 1 || (n < 0 && errno == EINTR)) {
        if (n != 1)
            continue;
        char answer = obey(&k, what) ? INS_KEEPER_UP : INS_KEEPER_DOWN;
        (void)write(reply, &answer, 1);
    }
    quit_server(&k);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    (void)nftw(dir, remove_one, 32, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

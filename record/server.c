#include "server.h"

#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"

struct ins_server {
    char dir[256];
    char log[4096];
    char title[64];
    pid_t keeper;
    int command; /* we write, the keeper reads; closed means: end */
    int reply;
};

static char *join(const char *folder, size_t length, const char *program)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, program);
    return access(path, X_OK) ? NULL : strdup(path);
}

char *ins_server_find(const char *program, const char *bin, const char *const *pattern)
{
    if (bin)
        return join(bin, strlen(bin), program);
    const char *path = getenv("PATH"); // NOLINT(concurrency-mt-unsafe): no thread yet
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *found = length ? join(path, length, program) : NULL;
        if (found)
            return found;
        path += length + (path[length] == ':');
    }
    for (; *pattern; pattern++) {
        glob_t match;
        char *found = NULL;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread yet
        if (!glob(*pattern, 0, NULL, &match))
            for (size_t i = match.gl_pathc; i-- && !found;)
                found = join(match.gl_pathv[i], strlen(match.gl_pathv[i]), program);
        globfree(&match);
        if (found)
            return found;
    }
    return NULL;
}

/* What the log's end says: its first line with an error, or else its last line. */
static void tail(const char *path, char *line, size_t size)
{
    line[0] = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char text[4097];
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, text, sizeof text - 1, end > 4096 ? end - 4096 : 0);
    (void)close(fd);
    text[n > 0 ? n : 0] = 0;
    for (char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        bool more = at[length] == '\n';
        at[length] = 0;
        bool error = strstr(at, "ERROR") || strstr(at, "FATAL") || strstr(at, "error:");
        if (length)
            (void)snprintf(line, size, "%.*s", (int)size - 1, at);
        if (error)
            return;
        at += length + more;
    }
}

static int ended(const struct ins_server *s, struct insula_error *error)
{
    char line[512];
    tail(s->log, line, sizeof line);
    return ins_rec_fail(error, INSULA_E_IO, "the %s server ended: %s (see %s)",
                        s->title, *line ? line : "it said nothing", s->log);
}

/* Ask the keeper and wait for its answer, one byte. */
static int ask(struct ins_server *s, char what, struct insula_error *error)
{
    char answer = 0;
    ssize_t n = write(s->command, &what, 1);
    while (n == 1 && (n = read(s->reply, &answer, 1)) < 0 && errno == EINTR)
        n = 1;
    if (n != 1 || answer != INS_KEEPER_UP)
        return ended(s, error);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

/* Directories of runs that were killed together with their keepers. */
static void sweep(const char *base)
{
    char pattern[300];
    glob_t match;
    (void)snprintf(pattern, sizeof pattern, "%s/insula-*/" INS_KEEPER_LOCK, base);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread yet
    if (glob(pattern, 0, NULL, &match))
        return;
    for (size_t i = 0; i < match.gl_pathc; i++) {
        char *path = match.gl_pathv[i];
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        struct stat st;
        if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() &&
            !flock(fd, LOCK_EX | LOCK_NB)) {
            *strrchr(path, '/') = 0;
            // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread yet
            (void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
        }
        if (fd >= 0)
            (void)close(fd);
    }
    globfree(&match);
}

static int make_dir(struct ins_server *s, struct insula_error *error)
{
    const char *base = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): no thread yet
    base = base && *base ? base : "/tmp";
    sweep(base);
    (void)snprintf(s->dir, sizeof s->dir, "%s/insula-XXXXXX", base);
    if (!mkdtemp(s->dir))
        return ins_rec_fail(error, INSULA_E_IO, "cannot make a directory %s: %s",
                            s->dir,
                            strerror(errno)); // NOLINT(concurrency-mt-unsafe)
    return 0;
}

struct ins_server *ins_server_start(const struct ins_server_plan *plan,
                                    struct insula_error *error)
{
    struct ins_server *s = calloc(1, sizeof *s);
    int command[2] = {-1, -1}, reply[2] = {-1, -1};
    if (!s) {
        (void)ins_rec_fail(error, INSULA_E_NOMEM, "out of memory");
        return NULL;
    }
    s->command = s->reply = -1;
    (void)snprintf(s->log, sizeof s->log, "%s", plan->log);
    (void)snprintf(s->title, sizeof s->title, "%s", plan->title);
    if (make_dir(s, error))
        goto failed;
    if (pipe2(command, O_CLOEXEC) || pipe2(reply, O_CLOEXEC)) {
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot make a pipe");
        goto failed;
    }
    s->keeper = fork();
    if (!s->keeper)
        ins_keeper_run(plan, s->dir, command[0], reply[1]);
    (void)close(command[0]);
    (void)close(reply[1]);
    s->command = command[1];
    s->reply = reply[0];
    if (s->keeper < 0) {
        (void)ins_rec_fail(error, INSULA_E_IO, "cannot start a process");
        goto failed;
    }
    if (ask(s, INS_KEEPER_START, error))
        goto failed;
    return s;
failed:
    ins_server_free(s);
    return NULL;
}

const char *ins_server_dir(const struct ins_server *server)
{
    return server->dir;
}

int ins_server_failed(struct ins_server *server, struct insula_error *error)
{
    return ask(server, INS_KEEPER_ALIVE, error);
}

int ins_server_retry(struct ins_server *server, bool (*stop)(void), int tries,
                     const struct insula_error *late, struct insula_error *error)
{
    enum { MOST_TRIES = 3000 };
    if (server && ins_server_failed(server, error))
        return error->status;
    if (server && stop && stop())
        return ins_rec_fail(error, INSULA_E_LIMIT, "stopped before the server was up");
    if (!server || tries > MOST_TRIES) {
        *error = *late;
        return error->status;
    }
    (void)ins_server_nap(NULL);
    return 0;
}

bool ins_server_nap(bool (*stop)(void))
{
    const struct timespec pause = {0, 10000000};
    (void)nanosleep(&pause, NULL);
    return stop && stop();
}

int ins_server_kill(struct ins_server *server, struct insula_error *error)
{
    return ask(server, INS_KEEPER_KILL, error);
}

int ins_server_again(struct ins_server *server, struct insula_error *error)
{
    return ask(server, INS_KEEPER_AGAIN, error);
}

int ins_server_pause(struct ins_server *server, bool stop, struct insula_error *error)
{
    return ask(server, stop ? INS_KEEPER_STOP : INS_KEEPER_CONTINUE, error);
}

void ins_server_free(struct ins_server *s)
{
    if (!s)
        return;
    if (s->command >= 0)
        (void)close(s->command);
    if (s->keeper > 0)
        while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    if (s->reply >= 0)
        (void)close(s->reply);
    if (s->keeper <= 0)
        (void)rmdir(s->dir);
    free(s);
}

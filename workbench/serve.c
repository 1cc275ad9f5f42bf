#include "serve.h"

#include "guard.h"
#include "jobs.h"
#include "record.h"
#include "runs.h"

#include "insula.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loaded when it is asked for: linked in, it and what it needs would cost every command
 * of the program. */
#define CALLS(X)                       \
    X(MHD_start_daemon)                \
    X(MHD_stop_daemon)                 \
    X(MHD_get_daemon_info)             \
    X(MHD_lookup_connection_value)     \
    X(MHD_get_connection_values)       \
    X(MHD_queue_response)              \
    X(MHD_create_response_from_buffer) \
    X(MHD_create_response_from_fd)     \
    X(MHD_destroy_response)            \
    X(MHD_add_response_header)
#define POINTER(name) __typeof__(name) *name;
#define NAME(name) #name,
struct library {
    CALLS(POINTER)
};
static const char *const call_names[] = {CALLS(NAME)};

enum {
    MOST_CONNECTIONS = 1200,
    CONNECTION_BYTES = 16384,
    CONNECTION_SECONDS = 15,
    MOST_BODY = 65536 /* of a request that is no upload */
};

struct server {
    const struct ins_serve_options *o;
    struct library mhd;
    struct ins_guard guard;
    struct ins_jobs jobs;
    int dir; /* the store */
};

/* A request while its body arrives. */
struct request {
    char *body;
    size_t len;
    int upload; /* file that it goes to, or -1 */
    char run[128], path[4400], name[128];
    bool refused; /* an answer was given; the rest is ignored */
};

typedef struct MHD_Connection connection;

/* ---- answers ---- */

static enum MHD_Result answer(struct server *s, connection *c, unsigned status,
                              const char *type, struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    static const char *const headers[][2] = {
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cache-Control", "no-store"}};
    (void)s->mhd.MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        (void)s->mhd.MHD_add_response_header(r, headers[i][0], headers[i][1]);
    const enum MHD_Result done = s->mhd.MHD_queue_response(c, status, r);
    s->mhd.MHD_destroy_response(r);
    return done;
}

/* `text` is taken over. */
static enum MHD_Result answer_text(struct server *s, connection *c, unsigned status,
                                   const char *type, char *text, size_t size)
{
    if (!text)
        return MHD_NO;
    return answer(
        s, c, status, type,
        s->mhd.MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
}

__attribute__((format(printf, 4, 5))) static enum MHD_Result
refuse(struct server *s, connection *c, unsigned status, const char *fmt, ...)
{
    char why[512], *text = NULL;
    size_t size = 0;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    (void)fputs("{\"error\": ", out);
    ins_json_put(out, why);
    (void)fputs("}\n", out);
    (void)fclose(out);
    return answer_text(s, c, status, "application/json", text, size);
}

static const char *query(struct server *s, connection *c, const char *name)
{
    return s->mhd.MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- the page and files ---- */

static enum MHD_Result send_page(struct server *s, connection *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    ins_runs_frame(out, "{\"serve\": true}", true);
    (void)fclose(out);
    return answer_text(s, c, 200, "text/html; charset=utf-8", text, size);
}

static enum MHD_Result send_file(struct server *s, connection *c, const char *url)
{
    struct stat sb;
    const int fd = strchr(url, '/') ? ins_runs_open(s->dir, url, &sb) : -1;
    if (fd < 0)
        return refuse(s, c, 404, "there is no such file in the store");
    const char *dot = strrchr(url, '.');
    const char *type = dot && !strcmp(dot, ".html")    ? "text/html; charset=utf-8"
                       : dot && !strcmp(dot, ".json")  ? "application/json"
                       : dot && !strcmp(dot, ".jsonl") ? "text/plain; charset=utf-8"
                       : dot && !strcmp(dot, ".log")   ? "text/plain; charset=utf-8"
                                                       : "application/octet-stream";
    struct MHD_Response *r = s->mhd.MHD_create_response_from_fd((size_t)sb.st_size, fd);
    if (!r) {
        (void)close(fd);
        return MHD_NO;
    }
    /* A report runs in an origin of its own, whatever is in it. */
    (void)s->mhd.MHD_add_response_header(r, "Content-Security-Policy",
                                         "sandbox allow-scripts allow-popups");
    return answer(s, c, 200, type, r);
}

/* ---- GET /api/... ---- */

static enum MHD_Result send_runs(struct server *s, connection *c)
{
    const char *since = query(s, c, "since");
    struct ins_runs_filter filter = {.db = query(s, c, "db"),
                                     .verdict = query(s, c, "verdict")};
    if (since && !ins_runs_since(since, time(NULL), &filter.since))
        return refuse(s, c, 400, "since is a date such as 2026-11-01, or 3d, 12h");
    struct ins_runs runs;
    if (!ins_runs_read(&runs, s->o->store, &filter, true))
        return refuse(s, c, 500, "cannot read the store: %s", strerrordesc_np(errno));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        ins_runs_json(&runs, out);
        (void)fclose(out);
    }
    ins_runs_release(&runs);
    return answer_text(s, c, 200, "application/json", text, size);
}

static enum MHD_Result send_files(struct server *s, connection *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const bool well = out && ins_runs_files(s->o->store, out);
    if (out)
        (void)fclose(out);
    if (well)
        return answer_text(s, c, 200, "application/json", text, size);
    free(text);
    return refuse(s, c, 500, "cannot read the store");
}

struct collected {
    char *run[16];
    size_t n;
};

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *key,
                               const char *value)
{
    (void)kind;
    struct collected *all = context;
    if (!strcmp(key, "run") && value && all->n < 16)
        all->run[all->n++] = (char *)(uintptr_t)value; /* only read */
    return MHD_YES;
}

static enum MHD_Result send_comparison(struct server *s, connection *c)
{
    struct collected all = {0};
    (void)s->mhd.MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, collect, &all);
    if (all.n < 2)
        return refuse(s, c, 400, "compare takes run=NAME two times or more");
    char *text = NULL;
    size_t size = 0;
    const char *missing = NULL;
    FILE *out = open_memstream(&text, &size);
    const bool well =
        out && ins_runs_compare(s->o->store, all.run, all.n, true, out, &missing);
    if (out)
        (void)fclose(out);
    if (well)
        return answer_text(s, c, 200, "application/json", text, size);
    free(text);
    return refuse(s, c, 404, "there is no result of run '%.100s'",
                  missing ? missing : "");
}

static void put_names(FILE *out, const char *name,
                      const char *(*line)(unsigned, char *, size_t))
{
    char text[256];
    (void)fprintf(out, ", \"%s\": [", name);
    for (unsigned i = 0; line(i, text, sizeof text); i++) {
        (void)fputs(i ? ", " : "", out);
        ins_json_put(out, text);
    }
    (void)fputc(']', out);
}

static const char *fault_line(unsigned i, char *text, size_t size)
{
    const char *name = ins_nemesis_name(i);
    (void)snprintf(text, size, "%s", name ? name : "");
    return name;
}

static const char *isolation_line(unsigned i, char *text, size_t size)
{
    const char *name = ins_isolation_name(i);
    (void)snprintf(text, size, "%s", name ? name : "");
    return name;
}

/* What this build can do, for forms. */
static enum MHD_Result send_about(struct server *s, connection *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    (void)fprintf(out, "{\"insula\": \"%s\", \"upload_limit\": %zu", s->o->version,
                  s->o->upload_limit);
    (void)fputs(", \"store\": ", out);
    ins_json_put(out, s->o->store);
    put_names(out, "databases", ins_driver_line);
    put_names(out, "workloads", ins_workload_line);
    put_names(out, "faults", fault_line);
    put_names(out, "isolations", isolation_line);
    (void)fputs("}\n", out);
    (void)fclose(out);
    return answer_text(s, c, 200, "application/json", text, size);
}

static enum MHD_Result send_jobs(struct server *s, connection *c, const char *id)
{
    ins_jobs_reap(&s->jobs);
    const char *after = query(s, c, "after");
    const struct ins_job *one =
        *id ? ins_jobs_find(&s->jobs, (unsigned)strtoul(id, NULL, 10)) : NULL;
    if (*id && !one)
        return refuse(s, c, 404, "there is no job '%.20s'", id);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    const long from = after ? strtol(after, NULL, 10) : 0;
    if (one)
        ins_jobs_put(one, from < 0 ? 0 : from, out);
    else
        (void)fputs("{\"jobs\": [", out);
    for (int i = 0, n = 0; !one && i < INS_JOBS_KEPT; i++) {
        if (!s->jobs.job[i].id)
            continue;
        (void)fputs(n++ ? ",\n" : "\n", out);
        ins_jobs_put(&s->jobs.job[i], -1, out);
    }
    (void)fputs(one ? "\n" : "]}\n", out);
    (void)fclose(out);
    return answer_text(s, c, 200, "application/json", text, size);
}

static enum MHD_Result do_get(struct server *s, connection *c, const char *url)
{
    if (!strcmp(url, "/") || !strcmp(url, "/index.html"))
        return send_page(s, c);
    if (!strcmp(url, "/api/runs"))
        return send_runs(s, c);
    if (!strcmp(url, "/api/compare"))
        return send_comparison(s, c);
    if (!strcmp(url, "/api/files"))
        return send_files(s, c);
    if (!strcmp(url, "/api/about"))
        return send_about(s, c);
    if (!strcmp(url, "/api/jobs"))
        return send_jobs(s, c, "");
    if (!strncmp(url, "/api/jobs/", 10))
        return send_jobs(s, c, url + 10);
    if (!strncmp(url, "/api/runs/", 10) && ins_runs_is_name(url + 10)) {
        char file[160];
        (void)snprintf(file, sizeof file, "%s/result.json", url + 10);
        return send_file(s, c, file);
    }
    if (!strncmp(url, "/api/", 5))
        return refuse(s, c, 404, "there is nothing at '%.100s'", url);
    return send_file(s, c, url + 1);
}

/* ---- what changes something ---- */

static enum MHD_Result started(struct server *s, connection *c, unsigned job,
                               const char *why)
{
    if (!job)
        return refuse(s, c, strstr(why, "at once") ? 429 : 400, "%s", why);
    char *text = NULL;
    const int n = asprintf(&text, "{\"job\": %u}\n", job);
    return n < 0 ? MHD_NO : answer_text(s, c, 201, "application/json", text, (size_t)n);
}

static enum MHD_Result start_job(struct server *s, connection *c,
                                 const struct request *r)
{
    struct ins_json j = {0};
    char why[256] = "the body is no JSON object";
    unsigned job = 0;
    if (r->body && ins_json_parse(&j, r->body, r->len, NULL, 0) &&
        j.node[0].kind == '{')
        job = ins_jobs_start(&s->jobs, &j, why);
    ins_json_release(&j);
    return started(s, c, job, why);
}

static enum MHD_Result check_upload(struct server *s, connection *c, struct request *r)
{
    char why[256] = "";
    if (close(r->upload)) {
        r->upload = -1;
        return refuse(s, c, 500, "could not write the upload");
    }
    r->upload = -1;
    const unsigned job =
        ins_jobs_check(&s->jobs, r->run, r->path, r->name, query(s, c, "levels"), why);
    if (job)
        r->run[0] = '\0'; /* it stays */
    return started(s, c, job, why);
}

static enum MHD_Result stop_job(struct server *s, connection *c, const char *url)
{
    char *end;
    const unsigned long id = strtoul(url, &end, 10);
    struct ins_job *job = ins_jobs_find(&s->jobs, (unsigned)id);
    if (!job || strcmp(end, "/stop") != 0)
        return refuse(s, c, 404, "there is no such job");
    ins_jobs_reap(&s->jobs);
    ins_jobs_stop(job);
    return send_jobs(s, c, url);
}

static enum MHD_Result remove_run(struct server *s, connection *c, const char *run)
{
    char path[4400];
    const bool named = ins_runs_is_name(run);
    (void)snprintf(path, sizeof path, "%s/%s/result.json", s->o->store,
                   named ? run : "");
    const bool has_result = named && !access(path, F_OK);
    (void)snprintf(path, sizeof path, "%s/%s/log.jsonl", s->o->store, named ? run : "");
    if (!named || (!has_result && access(path, F_OK)))
        return refuse(s, c, 404, "there is no such run");
    (void)snprintf(path, sizeof path, "%s/%s", s->o->store, run);
    ins_runs_remove(path);
    (void)ins_runs_page(s->o->store);
    return answer_text(s, c, 200, "application/json", strdup("{}\n"), 3);
}

static enum MHD_Result do_change(struct server *s, connection *c, const char *method,
                                 const char *url, struct request *r)
{
    if (!strcmp(method, "DELETE") && !strncmp(url, "/api/runs/", 10))
        return remove_run(s, c, url + 10);
    if (!strcmp(method, "POST") && !strcmp(url, "/api/jobs"))
        return start_job(s, c, r);
    if (!strcmp(method, "POST") && !strcmp(url, "/api/check") && r->upload >= 0)
        return check_upload(s, c, r);
    if (!strcmp(method, "POST") && !strncmp(url, "/api/jobs/", 10))
        return stop_job(s, c, url + 10);
    return refuse(s, c, 404, "%.10s of '%.100s' means nothing here", method, url);
}

/* ---- requests ---- */

static const char *header(void *context, const char *name)
{
    void *const *pair = context;
    struct server *s = pair[0];
    return s->mhd.MHD_lookup_connection_value(pair[1], MHD_HEADER_KIND, name);
}

/* The first of a request: may it be made, and where does its body go? */
static enum MHD_Result begin(struct server *s, connection *c, const char *method,
                             const char *url, struct request *r)
{
    void *pair[] = {s, c};
    const bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    char why[256];
    const unsigned status =
        ins_guard_check(&s->guard, header, pair, reads, query(s, c, "token"), why);
    r->refused = status != 0;
    if (status)
        return refuse(s, c, status, "%s", why);
    if (reads || strcmp(url, "/api/check") != 0)
        return MHD_YES;
    const char *length = header(pair, "Content-Length");
    if (length && strtoull(length, NULL, 10) > s->o->upload_limit) {
        r->refused = true;
        return refuse(s, c, 413, "more than the limit of %zu bytes, see --upload-limit",
                      s->o->upload_limit);
    }
    const char *name = query(s, c, "name");
    (void)snprintf(r->name, sizeof r->name, "%s", name ? name : "history");
    if (!ins_jobs_place(&s->jobs, r->name, r->run, r->path, why)) {
        r->refused = true;
        return refuse(s, c, 500, "%s", why);
    }
    r->upload =
        open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (r->upload >= 0)
        return MHD_YES;
    r->refused = true;
    return refuse(s, c, 500, "cannot write the upload: %s", strerrordesc_np(errno));
}

/* A piece of the body.  False when there is too much of it, or no room. */
static bool take(const struct server *s, struct request *r, const char *data, size_t n)
{
    r->len += n;
    if (r->upload >= 0) {
        for (size_t done = 0; done < n;) {
            const ssize_t w = write(r->upload, data + done, n - done);
            if (w <= 0)
                return false;
            done += (size_t)w;
        }
        return r->len <= s->o->upload_limit;
    }
    if (r->len > MOST_BODY)
        return false;
    char *more = realloc(r->body, r->len + 1);
    if (!more)
        return false;
    memcpy(more + r->len - n, data, n);
    more[r->len] = '\0';
    r->body = more;
    return true;
}

/* With a token in the address a cookie is set, and the address is without it. */
static enum MHD_Result welcome(struct server *s, connection *c)
{
    char cookie[256];
    struct MHD_Response *r =
        s->mhd.MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!r)
        return MHD_NO;
    (void)snprintf(cookie, sizeof cookie,
                   "insula=%s; HttpOnly; SameSite=Strict; Path=/", s->o->token);
    (void)s->mhd.MHD_add_response_header(r, "Set-Cookie", cookie);
    (void)s->mhd.MHD_add_response_header(r, "Location", "/");
    return answer(s, c, 303, "text/plain", r);
}

// NOLINTNEXTLINE(readability-function-size): the library asks for these parameters
static enum MHD_Result handle(void *context, connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **own)
{
    (void)version;
    struct server *s = context;
    struct request *r = *own;
    if (!r) {
        r = *own = calloc(1, sizeof *r);
        if (!r)
            return MHD_NO;
        r->upload = -1;
        return begin(s, c, method, url, r);
    }
    if (r->refused) {
        *size = 0;
        return MHD_YES;
    }
    if (*size) {
        if (!take(s, r, data, *size)) {
            /* Too late for an answer: the connection ends. */
            (void)fprintf(stderr, "insula: refused a body of more than %zu bytes\n",
                          r->upload >= 0 ? s->o->upload_limit : (size_t)MOST_BODY);
            return MHD_NO;
        }
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return do_change(s, c, method, url, r);
    if (s->o->token && query(s, c, "token"))
        return welcome(s, c);
    return do_get(s, c, url);
}

static void finished(void *context, connection *c, void **own,
                     enum MHD_RequestTerminationCode code)
{
    (void)c, (void)code;
    struct server *s = context;
    struct request *r = *own;
    if (!r)
        return;
    if (r->upload >= 0)
        (void)close(r->upload);
    if (r->run[0]) /* an upload that came to nothing */
        ins_jobs_forget_place(&s->jobs, r->run);
    free(r->body);
    free(r);
    *own = NULL;
}

/* ---- the server ---- */

static bool load(struct library *lib, char why[256])
{
    void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW);
    for (size_t i = 0; library && i < sizeof call_names / sizeof *call_names; i++) {
        void *call = dlsym(library, call_names[i]);
        if (!call)
            library = NULL;
        memcpy((char *)lib + i * sizeof call, &call, sizeof call);
    }
    if (!library)
        (void)snprintf(why, 256,
                       "cannot load libmicrohttpd.so.12: install the package "
                       "libmicrohttpd12");
    return library != NULL;
}

static bool address_of(const struct ins_serve_options *o, struct sockaddr_storage *at,
                       unsigned *flags, char why[256])
{
    struct sockaddr_in *four = (struct sockaddr_in *)at;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)at;
    const char *host = !strcmp(o->host, "localhost") ? "127.0.0.1" : o->host;
    *at = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)o->port);
    } else if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)o->port);
        *flags |= MHD_USE_IPv6;
    } else {
        (void)snprintf(why, 256, "--host takes an address such as 127.0.0.1, not '%s'",
                       o->host);
        return false;
    }
    return true;
}

static void quiet(void *context, const char *fmt, va_list args)
{
    (void)context, (void)fmt, (void)args; /* clients that go away are nothing to tell */
}

static struct MHD_Daemon *listen_at(struct server *s, char why[256])
{
    struct sockaddr_storage at;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG;
    if (!address_of(s->o, &at, &flags, why))
        return NULL;
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    struct MHD_Daemon *d = s->mhd.MHD_start_daemon(
        flags, (uint16_t)s->o->port, NULL, NULL, handle, s, MHD_OPTION_EXTERNAL_LOGGER,
        quiet, NULL, MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)CONNECTION_SECONDS, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_NOTIFY_COMPLETED, finished, s, MHD_OPTION_END);
    if (!d)
        (void)snprintf(why, 256, "cannot listen at %s, port %u: %s", s->o->host,
                       s->o->port, errno ? strerrordesc_np(errno) : "not possible");
    return d;
}

bool ins_serve_is_local(const char *host)
{
    return !strcmp(host, "localhost") || !strcmp(host, "::1") ||
           !strncmp(host, "127.", 4);
}

bool ins_serve(const struct ins_serve_options *o, bool (*stop)(void),
               void (*ready)(const char *address, const char *token), char why[256])
{
    static char program[] = "/proc/self/exe";
    struct server s = {.o = o,
                       .jobs = {.store = o->store,
                                .program = program,
                                .most = o->jobs,
                                .timeout_s = o->timeout_s,
                                .memory_mb = o->memory_mb}};
    (void)mkdir(o->store, 0755);
    s.dir = open(o->store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s.dir < 0) {
        (void)snprintf(why, 256, "cannot open '%.150s': %s", o->store,
                       strerrordesc_np(errno));
        return false;
    }
    struct MHD_Daemon *d = load(&s.mhd, why) ? listen_at(&s, why) : NULL;
    if (d) {
        const union MHD_DaemonInfo *info =
            s.mhd.MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
        const unsigned port = info ? info->port : o->port;
        ins_guard_init(&s.guard, o->host, port, o->token);
        char address[160];
        (void)snprintf(address, sizeof address,
                       strchr(o->host, ':') ? "http://[%s]:%u/" : "http://%s:%u/",
                       o->host, port);
        ready(address, o->token);
        while (!stop())
            (void)usleep(100000);
        s.mhd.MHD_stop_daemon(d);
        ins_jobs_end(&s.jobs);
    }
    (void)close(s.dir);
    return d != NULL;
}

/* cmd_serve.c - the workbench as a web server on this machine. */
#include "interrupt.h"
#include "output.h"
#include "serve.h"

#include "insula.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

static void tell_ready(const char *address, const char *token)
{
    if (token)
        (void)printf("%s?token=%s\n", address, token);
    else
        (void)printf("%s\n", address);
    (void)fflush(stdout);
    (void)fprintf(stderr, "insula: serving, Ctrl-C ends it\n");
}

/* 128 bits by chance. */
static bool make_token(char out[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool is_plain(const char *token)
{
    const size_t n = strlen(token);
    return n >= 8 && n <= 200 &&
           strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789-_") == n;
}

int cmd_serve(const struct options *o)
{
    char token[33], why[256];
    struct ins_serve_options s = {
        .store = o->text[OPT_store],
        .host = o->text[OPT_host],
        .port = (unsigned)o->number[OPT_port],
        .token = o->text[OPT_token],
        .upload_limit = (size_t)o->number[OPT_upload_limit],
        .jobs = (unsigned)o->number[OPT_jobs],
        .timeout_s = opt_given(o, OPT_timeout) ? (unsigned)o->number[OPT_timeout] : 300,
        .memory_mb = opt_given(o, OPT_memory_limit)
                         ? (unsigned)(o->number[OPT_memory_limit] / (1 << 20))
                         : 2048,
        .version = INSULA_VERSION};
    if (s.token && !is_plain(s.token))
        return complain("--token takes 8 or more letters and digits");
    if (!s.token && !ins_serve_is_local(s.host)) {
        if (!make_token(token))
            return complain("no random numbers for a token");
        s.token = token;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    interrupt_hold();
    const bool well = ins_serve(&s, interrupt_seen, tell_ready, why);
    interrupt_release();
    return well ? EXIT_PASS : complain("%s", why);
}

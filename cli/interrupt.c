#include "interrupt.h"

#include "options.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A signal handler has nothing but globals to talk through. */
static atomic_int held, seen;

static void on_signal(int number)
{
    (void)number;
    if (atomic_load(&held) && !atomic_exchange(&seen, 1))
        return;
    _exit(130);
}

/* A mapped page has no file behind it any more.  What was read before may be half of
 * something, so there is nothing to go on with. */
static void on_cut_file(int number, siginfo_t *info, void *context)
{
    static const char text[] =
        "insula: cannot read: a file was cut short while it was read\n";
    (void)context;
    if (info->si_code != BUS_ADRERR) {
        (void)signal(number, SIG_DFL);
        return; /* to the same instruction, and to its end */
    }
    const ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n;
    _exit(EXIT_USAGE);
}

void interrupt_install(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&a.sa_mask);
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
    struct sigaction before;
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        (void)sigaction(SIGHUP, &a, NULL);
    struct sigaction cut = {.sa_sigaction = on_cut_file, .sa_flags = SA_SIGINFO};
    (void)sigemptyset(&cut.sa_mask);
    (void)sigaction(SIGBUS, &cut, NULL);
}

void interrupt_hold(void)
{
    (void)atomic_fetch_add(&held, 1);
}

void interrupt_release(void)
{
    (void)atomic_fetch_sub(&held, 1);
}

bool interrupt_seen(void)
{
    return atomic_load(&seen) != 0;
}

bool interrupt_forget(void)
{
    return atomic_exchange(&seen, 0) != 0;
}

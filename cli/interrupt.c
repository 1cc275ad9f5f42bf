#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A signal handler has nothing but globals to talk through. */
static atomic_int held, seen;
static _Atomic(const char *) partial;

static void on_signal(int number)
{
    (void)number;
    if (atomic_load(&held) && !atomic_exchange(&seen, 1))
        return;
    const char *path = atomic_load(&partial);
    if (path)
        (void)unlink(path);
    _exit(130);
}

void interrupt_install(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&a.sa_mask);
    (void)sigaction(SIGINT, &a, NULL);
    (void)sigaction(SIGTERM, &a, NULL);
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

void interrupt_partial(const char *path)
{
    atomic_store(&partial, path);
}

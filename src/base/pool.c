#include "pool.h"

#include <pthread.h>
#include <sched.h>

enum { MAX_THREADS = 64 };

struct job {
    void (*work)(void *, unsigned);
    void *context;
    unsigned i;
};

static void *run(void *p)
{
    const struct job *j = p;
    j->work(j->context, j->i);
    return NULL;
}

void ins_parallel(unsigned n, void (*work)(void *context, unsigned i), void *context)
{
    pthread_t thread[MAX_THREADS];
    struct job job[MAX_THREADS];
    int started[MAX_THREADS] = {0};

    for (unsigned done = 0; done < n; done += MAX_THREADS) {
        const unsigned here = n - done < MAX_THREADS ? n - done : MAX_THREADS;
        for (unsigned i = 0; i + 1 < here; i++) {
            job[i] = (struct job){work, context, done + i};
            started[i] = !pthread_create(&thread[i], NULL, run, &job[i]);
        }
        work(context, done + here - 1);
        for (unsigned i = 0; i + 1 < here; i++) {
            if (started[i])
                (void)pthread_join(thread[i], NULL);
            else
                work(context, done + i);
        }
    }
}

void ins_both(bool beside, void (*work)(void *context, unsigned i), void *context)
{
    if (beside)
        ins_parallel(2, work, context);
    for (unsigned i = 0; i < 2 && !beside; i++)
        work(context, i);
}

unsigned ins_threads(unsigned asked)
{
    if (asked)
        return asked < MAX_THREADS ? asked : MAX_THREADS;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    const int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

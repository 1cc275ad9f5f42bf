/* pool.h - run one function on several threads and wait for all of them. */
#ifndef INS_POOL_H
#define INS_POOL_H

#include <stdbool.h>

/* Call work(context, i) for every i below n, each on its own thread (the last one
 * on the caller's).  When a thread cannot be had, its part runs on the caller's. */
void ins_parallel(unsigned n, void (*work)(void *context, unsigned i), void *context);

/* Two calls like that, beside each other or one after the other. */
void ins_both(bool beside, void (*work)(void *context, unsigned i), void *context);

/* How many threads to use when 0 were asked for: the processors there are. */
unsigned ins_threads(unsigned asked);

#endif

/* limit.h - when to give up: a deadline, a ceiling on memory, a caller's wish.
 *
 * Long loops count their steps and call ins_limit_hit every few thousand of them.
 * Once hit, it stays hit, on every thread. */
#ifndef INS_LIMIT_H
#define INS_LIMIT_H

#include "error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Called now and then from one of the threads; non-zero cancels.  total 0: nobody knows
 * how many steps there are. */
typedef int ins_limit_progress(void *context, const char *stage, uint64_t done,
                               uint64_t total);

struct ins_limit {
    int64_t deadline_ns;          /* on the monotonic clock; 0: none */
    uint64_t memory_bytes;        /* resident; 0: none */
    atomic_int hit;               /* 0, or one of the reasons below */
    ins_limit_progress *progress; /* may be NULL */
    void *progress_context;
    /* What is being done, for the progress: a stage, which part of it (or NULL), and
     * how far that is. */
    _Atomic(const char *) stage, step;
    _Atomic uint64_t done, total;
    _Atomic int64_t asked_ns; /* when the progress was last reported */
};

enum { INS_HIT_TIME = 1, INS_HIT_MEMORY, INS_HIT_CANCEL };

int64_t ins_now_ns(void);
void ins_limit_init(struct ins_limit *l, double seconds, uint64_t memory_bytes);
/* What begins now, and how many steps that takes; l may be NULL.  A step is part of a
 * stage. */
void ins_limit_stage(struct ins_limit *l, const char *stage, uint64_t total);
void ins_limit_step(struct ins_limit *l, const char *step, uint64_t total);
/* So many are done by now; so many more are. */
void ins_limit_at(struct ins_limit *l, uint64_t done);
void ins_limit_add(struct ins_limit *l, uint64_t more);
/* True when the work must stop.  Looks at the clock and at the resident size, which
 * costs a system call, and opens a file only near the limit; l may be NULL. */
bool ins_limit_hit(struct ins_limit *l);
/* True when `bytes` more would pass the memory limit; marks it hit. */
bool ins_limit_memory(struct ins_limit *l, uint64_t bytes);
/* INS_OK when no limit is hit and `bytes` more would not pass the memory limit, else
 * INS_E_LIMIT with the reason.  Ask before a large array is filled. */
enum ins_status ins_limit_room(struct ins_limit *l, uint64_t bytes,
                               struct ins_error *err);
/* A limit of its own for a part of the work, which ends when `outer` does, or by itself
 * when it is cancelled; outer may be NULL. */
void ins_limit_within(struct ins_limit *l, struct ins_limit *outer);
/* The same, that ends by itself after so many seconds. */
void ins_limit_for(struct ins_limit *l, struct ins_limit *outer, double seconds);
void ins_limit_cancel(struct ins_limit *l);
/* "time limit reached", for messages. */
const char *ins_limit_reason(const struct ins_limit *l);
/* Why work ended that only a limit or memory can end: the limit that was hit, else "out
 * of memory"; l may be NULL. */
const char *ins_limit_or_memory(const struct ins_limit *l);

#endif

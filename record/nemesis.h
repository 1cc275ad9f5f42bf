/* nemesis.h - faults for throw-away servers, on a schedule that the seed fixes. */
#ifndef INS_NEMESIS_H
#define INS_NEMESIS_H

#include "draw.h"
#include "runlog.h"
#include "server.h"

struct ins_nemesis {
    struct ins_server *server; /* NULL: there is no nemesis */
    struct ins_runlog *log;
    struct ins_draw draw;
    bool kill, pause;
    double mean_s;
    int64_t next; /* when to act, ns on the log's clock; 0: not yet fixed */
    bool paused;
    int64_t down; /* since when the server has not answered; 0: it does */
    uint64_t faults;
};

/* kinds: "kill", "pause" or both with a comma; NULL for none. */
int ins_nemesis_init(struct ins_nemesis *n, const char *kinds,
                     struct ins_server *server, struct insula_error *error);
/* Act if it is time and the server has recovered from the fault before; the first call
 * starts the clock.  answered: when the last thing began that the server answered. */
int ins_nemesis_step(struct ins_nemesis *n, int64_t answered,
                     struct insula_error *error);
/* Leave the server running. */
void ins_nemesis_end(struct ins_nemesis *n);

#endif

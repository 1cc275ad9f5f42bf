/* exec_answer.h - one line that a client of --db exec: answered.
 *
 * The grammar is JSON, cut down to what docs/exec-protocol.md allows: one object with
 * known members, each at most once.  Whatever else it holds breaks the protocol. */
#ifndef INS_EXEC_ANSWER_H
#define INS_EXEC_ANSWER_H

#include "driver.h"

enum ins_exec_verdict {
    INS_EXEC_OK,
    INS_EXEC_CONFLICT,
    INS_EXEC_REFUSED,
    INS_EXEC_FAILED,
    INS_EXEC_UNKNOWN,
    INS_EXEC_BROKEN, /* not an answer; `message` says what was expected */
};

/* What the request asked for. */
struct ins_exec_want {
    int64_t id;            /* of the request, which the answer repeats */
    bool hello;            /* the first answer of a process */
    unsigned count;        /* values: 0 for none */
    bool many;             /* as "values", a list of them, rather than as "value" */
    bool list;             /* each of them is a list, not a number */
    struct ins_list *into; /* `count` of them; a register becomes a list of one */
};

struct ins_exec_answer {
    enum ins_exec_verdict verdict;
    char message[256];
    int64_t id;
    /* of a hello */
    int64_t version;
    char name[64], isolation[64];
    bool range;
};

/* Read the line of `length` bytes, without its end. */
void ins_exec_answer_read(struct ins_exec_answer *a, const struct ins_exec_want *want,
                          const char *line, size_t length);

#endif

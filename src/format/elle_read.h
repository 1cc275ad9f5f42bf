/* elle_read.h - the reader of Jepsen's events, shared by its files.
 *
 * elle_read.c takes the events apart, elle_txn.c makes transactions of invocations and
 * completions, elle_ops.c reads the operations of a transaction, elle_flat.c the
 * workloads whose events are single operations.
 *
 * A file is read in passes.  PASS_PROBE ends at the first operation that tells whether
 * keys are registers or lists.  PASS_BUILD builds the history; it ends early when the
 * guess was wrong, or when an event has no operations as its value.  Then PASS_COLLECT
 * learns the kind of each key and, where there are sets, PASS_ELEMENTS who may be in
 * them, or PASS_SURVEY the workload, and the history is built again. */
#ifndef INS_ELLE_READ_H
#define INS_ELLE_READ_H

#include "format/elle_lex.h"
#include "format/format.h"

#include "base/vec.h"
#include "history/builder.h"

enum ins_elle_type {
    ELLE_NO_TYPE,
    ELLE_OTHER_TYPE,
    ELLE_INVOKE,
    ELLE_OK,
    ELLE_FAIL,
    ELLE_INFO
};

/* :f, as far as it is known. */
enum ins_elle_f {
    ELLE_F_NONE,
    ELLE_F_TXN,
    ELLE_F_READ,
    ELLE_F_WRITE,
    ELLE_F_CAS,
    ELLE_F_ADD,
    ELLE_F_TRANSFER,
    ELLE_F_ACQUIRE,
    ELLE_F_RELEASE,
    ELLE_F_QUEUE,
    ELLE_F_INIT,
    ELLE_F_OTHER
};

struct ins_elle_event {
    const char *at; /* where it starts */
    uint64_t line;
    enum ins_elle_type type;
    enum ins_elle_f f;
    bool has_process, has_index, nemesis;
    bool results;     /* all reads have one, though it is no :ok */
    bool named;       /* its process is not a number */
    uint32_t process; /* place in `pending` */
    struct ins_lit index;
    int64_t time;
    const char *f_at;  /* where :f's value starts, or NULL */
    const char *value; /* where it starts, or NULL: none, or nil */
    bool used;         /* its operations are in the history already */
    uint32_t txn;      /* their transaction */
    int64_t began;     /* when it was invoked */
    uint32_t node;     /* the builder's handle, or 0 */
};

/* A process, and its invocation that waits for a completion. */
struct ins_elle_pending {
    uint32_t session; /* INS_NONE until it has a transaction */
    bool named;       /* `process` is an id in `named`, else a number */
    uint64_t process;
    bool open, has_index;
    enum ins_elle_f f;
    struct ins_lit index; /* a number */
    int64_t time;
    uint64_t line;
    const char *value;
    uint32_t node;
};
INS_VEC(elle_pending, struct ins_elle_pending);

enum ins_elle_pass { PASS_PROBE, PASS_COLLECT, PASS_ELEMENTS, PASS_SURVEY, PASS_BUILD };
enum ins_elle_kinds { KINDS_REGISTERS, KINDS_LISTS, KINDS_MIXED };
enum ins_elle_flat { FLAT_NONE, FLAT_REGISTER, FLAT_KEYED, FLAT_SEQUENTIAL };

/* What the survey saw: of :f, of shapes of values, and the first event ... */
struct ins_elle_seen {
    bool operations;               /* some event has operations */
    unsigned f;                    /* a bit each */
    uint8_t read, write, cas, add; /* shapes */
    uint32_t subkeys;              /* longest second element of a pair */
    struct ins_elle_event first;   /* ... that is no transaction, */
    struct ins_elle_event flat;    /* ... that has another value than operations, */
    struct ins_elle_event other;   /* ... the same with an :f that is not known */
};

/* How a key is used, for KINDS_MIXED. */
enum {
    ELLE_WRITTEN = 1,
    ELLE_APPENDED = 2,
    ELLE_READ_AS_LIST = 4,
    ELLE_READ_AS_SET = 8,
    ELLE_ADDED = 16,
    ELLE_READ_AS_VALUE = 32 /* neither a list nor a set, nor nil */
};

/* An element that somebody added to a set. */
struct ins_elle_element {
    uint32_t key, pair; /* ids in `keys` and `pairs` */
};
INS_VEC(elle_element, struct ins_elle_element);

struct ins_elle_reader {
    struct ins_elle_lex x;
    struct ins_builder *b;
    struct ins_limit *limit;
    enum ins_elle_pass pass;

    /* What keys are. */
    enum ins_elle_kinds kinds;
    bool contradiction; /* an operation of another kind came up */
    struct ins_literals keys;
    struct ins_vec_u8 key_use; /* ELLE_*, by id in keys */
    struct ins_literals pairs; /* keys of the elements of sets: [key element] */
    struct ins_vec_elle_element elements; /* by key, once all are collected */
    uint64_t missing;                     /* elements that reads of sets do not show */
    bool has_tuple; /* the current operations belong to one independent key */
    struct ins_lit tuple;

    /* Workloads of single operations. */
    bool wants_survey; /* an event's value is no operations */
    enum ins_elle_flat flat;
    struct ins_elle_seen seen;
    bool no_flat; /* events that might be of such a workload have no values at all */
    uint64_t failed_cas;

    /* Sessions. */
    struct ins_number_map processes;     /* those that are numbers, to ids */
    struct ins_literals named;           /* the others, to ids */
    struct ins_vec_u32 place;            /* in `pending`, by id of numbers ... */
    struct ins_vec_u32 named_place;      /* ... and of others */
    struct ins_vec_elle_pending pending; /* by process */
    uint64_t lone_invocations, lone_completions;

    /* Time. */
    bool by_clock;                    /* real time is :time instead of the order */
    bool timed;                       /* some event has a :time */
    int64_t latest_begin, latest_end; /* so far; INS_NO_TIME when there is none */

    uint64_t events;
    uint64_t nemesis, without; /* events that were passed over */
    const char *value_end;     /* after the operations that were read last */
    const char *line_at;       /* lines are counted up to here */
    uint64_t line;
};

/* The fault "expected WHAT" at the event.  Returns false. */
bool ins_elle_refuse(struct ins_elle_reader *r, const struct ins_elle_event *e,
                     const char *what);

/* elle_ops.c: a map of initial values; p stays. */
bool ins_elle_initial(struct ins_elle_reader *r, const char *value);

/* elle_txn.c */

/* The place of a process in `pending`; INS_NONE when out of memory. */
uint32_t ins_elle_process(struct ins_elle_reader *r, struct ins_lit process);
bool ins_elle_invoke(struct ins_elle_reader *r, const struct ins_elle_event *e);
bool ins_elle_complete(struct ins_elle_reader *r, struct ins_elle_event *e);
/* The operations of an :ok event of which all that matters has come. */
bool ins_elle_value_now(struct ins_elle_reader *r, struct ins_elle_event *e);
/* What is still open when the file ends. */
bool ins_elle_abandon_all(struct ins_elle_reader *r);

/* Begin a transaction for what e completes, with its status and times.  `part` is its
 * number when e is several, else INS_NONE. */
void ins_elle_begin_part(struct ins_elle_reader *r, struct ins_elle_event *e,
                         uint32_t part, int64_t end);

/* elle_ops.c */

/* Is it an operation vector, one of an independent key, or an empty vector? */
bool ins_elle_is_operations(struct ins_elle_reader *r, const char *value);
/* The operations at `value`, which may be NULL.  With `known`, a nil that was read is a
 * result; otherwise there was none.  x.p stays; value_end is set. */
bool ins_elle_operations(struct ins_elle_reader *r, const char *value, uint32_t txn,
                         bool known);
/* After PASS_COLLECT: is any key a set? */
bool ins_elle_has_sets(const struct ins_elle_reader *r);
/* After PASS_ELEMENTS. */
void ins_elle_sort_elements(struct ins_elle_reader *r);

/* elle_flat.c */

/* PASS_SURVEY: what one event tells of the workload. */
bool ins_elle_survey(struct ins_elle_reader *r, const struct ins_elle_event *e);
/* After it: which workload it is.  False when it is none that can be read. */
bool ins_elle_decide(struct ins_elle_reader *r);
/* What e completes, in a file of such a workload. */
bool ins_elle_flat_txn(struct ins_elle_reader *r, struct ins_elle_event *e,
                       const char *value, int64_t end);

#endif

/* sim.h - the running simulation: what gen.c schedules and store.c executes. */
#ifndef INS_SIM_H
#define INS_SIM_H

#include "base/vec.h"
#include "gen/dist.h"
#include "gen/gen.h"

enum { INS_MAX_REPLICAS = 4 };

/* What the transaction under execution has written so far: open addressing by key,
 * emptied by a new epoch. */
struct ins_own_slot {
    uint32_t key, epoch;
    uint32_t first, last; /* operations: its first and latest write of the key */
    uint32_t count;
};

struct ins_own {
    struct ins_own_slot *slot; /* mask + 1 entries, at most half of them used */
    uint32_t mask, epoch;
};

/* One client and its current transaction. */
struct ins_sim_client {
    ins_txn txn, end;  /* current one, and one past the last */
    uint32_t op;       /* next operation, where statements run one by one */
    uint32_t snapshot; /* commits that the transaction sees */
    uint32_t last_ts;  /* ser: timestamp of the latest transaction */
    uint8_t phase;
    bool effect; /* its writes will be applied */
};

/* ser: the two newest versions of a key, and who may have read the newest. */
struct ins_ts_key {
    uint32_t version, before;         /* values, or lengths of the list */
    uint32_t written, written_before; /* timestamps of the two */
    uint32_t read;                    /* highest timestamp that read the newest */
};

/* cc, ra: one replica's view. */
struct ins_replica {
    uint32_t *version; /* by key */
    uint32_t *seq;     /* by key: commit number of the version (registers) */
    uint32_t seen[INS_MAX_REPLICAS]; /* cc: how much of each replica's log */
    struct ins_vec_u32 log;          /* cc: transactions committed here */
    struct ins_vec_u32 pending;      /* ra: transactions still to be applied */
};

struct ins_sim {
    const struct ins_gen_options *o;
    struct ins_columns *h; /* the history to be */
    const struct ins_store *store;
    struct ins_rng rng;
    struct ins_dist keys, values;
    struct ins_sim_client *client;
    struct ins_own *own; /* one, or one a client where statements interleave */
    uint32_t n_clients, n_own;
    double update_share;   /* mini: of units that are a read and a write */
    uint32_t *counter;     /* by key: values handed out */
    uint32_t first_unique; /* the smallest value that is not for duplicates */
    uint32_t commits;      /* so far; the next transaction's place in commit order */
    uint64_t tick;

    /* the store; what a level does not use stays NULL.  A version is a value or, for
     * lists, a length. */
    uint32_t *version; /* by key: newest committed */
    uint32_t *stamp;   /* si, pc: commits when it was written */
    struct ins_ts_key *ts_key;
    struct ins_replica replica[INS_MAX_REPLICAS];
    uint32_t n_replicas;
    uint32_t *commit_number; /* cc, ra: by transaction */

    /* lists */
    uint32_t *position;   /* by operation: where an append stands, INS_NONE: nowhere */
    ins_txn *last_writer; /* cc, ra, psi: by key, INS_INIT for none */
    ins_txn *previous;    /* ra: by operation, the appender before it */
    uint8_t *applied;     /* ra: by transaction, a bit a replica */
    struct ins_vec_u32 stack;
};

/* A level's store.  `begin` may be NULL.  `statement` is NULL where a transaction runs
 * as a whole in `commit`; else it runs the client's next operation. */
struct ins_store {
    const char *level;
    bool (*init)(struct ins_sim *s);
    void (*begin)(struct ins_sim *s, struct ins_sim_client *c);
    void (*statement)(struct ins_sim *s, struct ins_sim_client *c);
    void (*commit)(struct ins_sim *s, struct ins_sim_client *c);
    /* Appends of others may come between those of a transaction and what it has read
     * of the list, so it must not read a list that it has appended to. */
    bool appends_interleave;
};

extern const struct ins_store ins_store_table[];
/* NULL when there is no store for that level. */
const struct ins_store *ins_store_find(const char *level);
/* "rc, ra, ... or sser", cut to size. */
void ins_store_list(char *text, size_t size);

void ins_own_clear(struct ins_own *own);
/* The slot of key: the one it has, else the free one where it would go. */
static inline struct ins_own_slot *ins_own_at(struct ins_own *own, uint32_t key)
{
    uint32_t i = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40) & own->mask;
    while (own->slot[i].epoch == own->epoch && own->slot[i].key != key)
        i = (i + 1) & own->mask;
    return &own->slot[i];
}

static inline struct ins_own *ins_own_of(struct ins_sim *s,
                                         const struct ins_sim_client *c)
{
    return &s->own[s->n_own == 1 ? 0 : c - s->client];
}

#endif

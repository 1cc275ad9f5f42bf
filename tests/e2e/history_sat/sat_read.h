/* sat_read.h - a history as history_sat needs it.
 *
 * Deliberately not the history of src/: what the encoding is compared with must not
 * share its reader, nor what it found out about reads. */
#ifndef SAT_READ_H
#define SAT_READ_H

#include <stdbool.h>
#include <stddef.h>

/* The initial transaction wrote 0 to every key. */
enum { INITIAL = 0 };

struct item {
    int key;
    long value;
};

struct txn {
    long session, begin, end;
    int before;      /* the one before it in its session, or INITIAL */
    int rank;        /* a guess: how many commit until it does, itself among them */
    int begun, done; /* the same for its two events among all 2 n of them, from 2 on */
    struct item *reads;  /* of keys that it had not written, in their order */
    struct item *writes; /* the last one for each key */
    int n_reads, n_writes;
};

/* Transactions 1 .. n; the writers of key k are writers[k][0 .. n_writers[k]). */
struct sat_history {
    int n, n_keys;
    struct txn *txn;
    int **writers;
    int *n_writers;
    bool times;     /* each has begin and end */
    bool own_fault; /* somebody read something else than what it had written itself */
};

/* Ends the program when the file is not one that `insula gen -t insula` could have made
 * from committed transactions over registers that start as 0. */
void sat_read(struct sat_history *h, const char *path);
void sat_release(struct sat_history *h);

/* Guess that events happen in the order of their moments; all differ. */
struct moment {
    long when;
    int txn;
    bool is_commit;
};
void sat_guess(struct sat_history *h, struct moment *events);

/* The index of what t wrote to the key, or -1. */
int sat_wrote(const struct txn *t, int key);

/* Room for n, ends the program when there is none. */
void *sat_grow(void *old, size_t n, size_t size);

#endif

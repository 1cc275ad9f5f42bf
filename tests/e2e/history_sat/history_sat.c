/* Decide isolation levels of a history by an encoding for cadical.
 *
 *   history_sat [-t SECONDS] HISTORY LEVEL...
 *
 * Prints `LEVEL pass|fail|unknown SECONDS` for each of rc, ra, cc, psi, pc, si, ser,
 * sser.
 * Strong levels first is faster.
 *
 * Written from the definitions alone, to be compared with what insula says.  A variable
 * says that a read is from a writer; others ask that one event is before another.
 * A model is turned into an order of all events.  Where that order breaks the
 * definition for the sources that the model chose, a clause says so (with orders as
 * literals), until the order breaks nothing or no model is left.  Every clause follows
 * from the definition, so `fail` is right; and `pass` is the definition itself, looked
 * at. */

#include <ccadical.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sat_orders.h"
#include "sat_read.h"

enum level { RC, RA, CC, PSI, PC, SI, SER, SSER, N_LEVELS };
static const char *const names[N_LEVELS] = {"rc", "ra", "cc",  "psi",
                                            "pc", "si", "ser", "sser"};

/* A writer that a read may be from, and the literal that it is. */
struct source {
    int writer, lit;
};

struct read {
    int txn, key, n;
    struct source *from;
};

struct problem {
    const struct sat_history *h;
    enum level level;
    struct orders o;
    struct read *reads; /* by transaction, in their order */
    int n_reads;
};

/* ---- events: begin and commit are one node, but for pc and si ---- */

static bool is_split(const struct problem *p)
{
    return p->level == PC || p->level == SI;
}

static int begin_of(const struct problem *p, int t)
{
    return is_split(p) ? p->h->txn[t].begun : p->h->txn[t].rank;
}

static int commit_of(const struct problem *p, int t)
{
    return is_split(p) ? p->h->txn[t].done : p->h->txn[t].rank;
}

/* Is x before y in the order that was found? */
static bool comes_first(const struct problem *p, int x, int y)
{
    return y != 0 && (x == 0 || p->o.place[x] < p->o.place[y]);
}

static void clause(struct problem *p, int a, int b, int c)
{
    sat_add(&p->o, a);
    sat_add(&p->o, b);
    sat_add(&p->o, c);
    sat_add(&p->o, 0);
}

/* ---- what holds from the start ---- */

static void known_arc(struct problem *p, int x, int y)
{
    sat_arc(&p->o, (struct arc){x, y, ALWAYS, true});
}

static void add_known_orders(struct problem *p)
{
    const struct sat_history *h = p->h;
    for (int t = 1; t <= h->n; t++) {
        if (is_split(p))
            known_arc(p, begin_of(p, t), commit_of(p, t));
        if (h->txn[t].before)
            known_arc(p, commit_of(p, h->txn[t].before), begin_of(p, t));
    }
    for (int t = 1; p->level == SSER && t <= h->n; t++)
        for (int u = 1; u <= h->n; u++)
            if (h->txn[t].end < h->txn[u].begin)
                known_arc(p, commit_of(p, t), begin_of(p, u));
}

/* False when nobody wrote what was read. */
static bool add_read(struct problem *p, int t, struct item item)
{
    const struct sat_history *h = p->h;
    size_t room = (size_t)h->n_writers[item.key] + 1;
    struct read *r = &p->reads[p->n_reads++];
    *r = (struct read){t, item.key, 0, sat_grow(NULL, room, sizeof *r->from)};
    if (item.value == 0)
        r->from[r->n++].writer = INITIAL;
    for (int i = 0; i < h->n_writers[item.key]; i++) {
        int u = h->writers[item.key][i];
        const struct txn *w = &h->txn[u];
        if (u != t && w->writes[sat_wrote(w, item.key)].value == item.value)
            r->from[r->n++].writer = u;
    }
    int likely = 0, last = -1; /* the last one before the reader */
    for (int i = 0; i < r->n; i++) {
        int done = h->txn[r->from[i].writer].done;
        if (done < h->txn[t].begun && done > last) {
            likely = i;
            last = done;
        }
    }
    for (int i = 0; i < r->n; i++) {
        struct source *s = &r->from[i];
        s->lit = sat_literal(&p->o, i == likely);
        sat_add(&p->o, s->lit);
        if (s->writer != INITIAL)
            sat_arc(&p->o, (struct arc){commit_of(p, s->writer), begin_of(p, t), s->lit,
                                        true});
    }
    sat_add(&p->o, 0);
    return r->n > 0;
}

/* False when a read has no writer, or from ra on two reads of a key differ. */
static bool add_reads(struct problem *p)
{
    size_t n = 0;
    for (int t = 1; t <= p->h->n; t++)
        n += (size_t)p->h->txn[t].n_reads;
    p->reads = sat_grow(NULL, n, sizeof *p->reads);
    for (int t = 1; t <= p->h->n; t++) {
        const struct txn *x = &p->h->txn[t];
        for (int i = 0; i < x->n_reads; i++) {
            int seen = 0;
            while (x->reads[seen].key != x->reads[i].key)
                seen++;
            if (p->level != RC && x->reads[seen].value != x->reads[i].value)
                return false;
            if ((p->level == RC || seen == i) && !add_read(p, t, x->reads[i]))
                return false;
        }
    }
    return true;
}

/* ---- pc, si, ser, sser ---- */

/* The writer is the last one of its key before the reader. */
static void look_at_source(struct problem *p, const struct read *r, struct source s)
{
    int begin = begin_of(p, r->txn), from = commit_of(p, s.writer);
    for (int i = 0; i < p->h->n_writers[r->key]; i++) {
        int u = p->h->writers[r->key][i], other = commit_of(p, u);
        if (u != s.writer && u != r->txn && !comes_first(p, other, from) &&
            !comes_first(p, begin, other))
            clause(p, -s.lit, sat_before(&p->o, other, from),
                   sat_before(&p->o, begin, other));
    }
}

/* Of two that write the same key one has committed before the other begins. */
static void look_at_writers(struct problem *p, int key)
{
    for (int i = 0; i < p->h->n_writers[key]; i++)
        for (int j = 0; j < i; j++) {
            int a = p->h->writers[key][i], b = p->h->writers[key][j];
            int begin_a = begin_of(p, a), commit_a = commit_of(p, a);
            int begin_b = begin_of(p, b), commit_b = commit_of(p, b);
            if (!comes_first(p, commit_a, begin_b) &&
                !comes_first(p, commit_b, begin_a))
                clause(p, NEVER, sat_before(&p->o, commit_a, begin_b),
                       sat_before(&p->o, commit_b, begin_a));
        }
}

/* ---- rc, ra, cc, psi: the order is that of commits ---- */

/* Read from s, which is lit, means u before s. */
static void want_before(struct problem *p, int u, struct source s, int lit)
{
    int x = commit_of(p, u), y = commit_of(p, s.writer);
    if (u != s.writer && u != INITIAL && !comes_first(p, x, y))
        clause(p, -s.lit, lit == ALWAYS ? NEVER : -lit, sat_before(&p->o, x, y));
}

/* rc: what earlier reads of the transaction are from; ra: what any read of it is from,
 * and what is before it in its session. */
static void look_at_seen(struct problem *p, int index, struct source s)
{
    const struct read *r = &p->reads[index], *end = p->reads + p->n_reads;
    const struct read *other = r;
    while (other > p->reads && other[-1].txn == r->txn)
        other--;
    for (; other < (p->level == RC ? r : end) && other->txn == r->txn; other++)
        for (int i = 0; i < other->n; i++)
            if (sat_true(&p->o, other->from[i].lit) &&
                sat_wrote(&p->h->txn[other->from[i].writer], r->key) >= 0)
                want_before(p, other->from[i].writer, s, other->from[i].lit);
    if (p->level == RA)
        for (int u = p->h->txn[r->txn].before; u; u = p->h->txn[u].before)
            if (sat_wrote(&p->h->txn[u], r->key) >= 0)
                want_before(p, u, s, ALWAYS);
}

/* cc: whoever wrote the key and is in the causal past comes before the source; psi: the
 * same, where versions are part of causality. */
static void look_at_past(struct problem *p, const struct read *r, struct source s)
{
    struct orders *o = &p->o;
    int reader = commit_of(p, r->txn), from = commit_of(p, s.writer);
    for (int i = 0; i < p->h->n_writers[r->key]; i++) {
        int u = p->h->writers[r->key][i], x = commit_of(p, u);
        if (u == s.writer || o->parent[x] == NO_ARC || comes_first(p, x, from))
            continue;
        int lit = sat_before(o, x, from);
        for (int y = x; y != reader; y = o->arcs[o->parent[y]].to)
            if (o->arcs[o->parent[y]].lit != ALWAYS)
                sat_add(o, -o->arcs[o->parent[y]].lit);
        clause(p, NEVER, -s.lit, lit);
    }
}

/* Writers of a key as the order has them: what follows from it is to be seen, too. */
static void assume_versions(struct problem *p)
{
    for (int k = 0; k < p->h->n_keys; k++) {
        const int *writers = p->h->writers[k];
        for (int i = 0; i < p->h->n_writers[k]; i++) {
            int x = commit_of(p, writers[i]), next = 0;
            for (int j = 0; j < p->h->n_writers[k]; j++) {
                int y = commit_of(p, writers[j]);
                if (comes_first(p, x, y) && (!next || comes_first(p, y, next)))
                    next = y;
            }
            if (next) {
                int lit = sat_before(&p->o, x, next);
                p->o.model[abs(lit)] = lit > 0;
            }
        }
    }
    sat_look_again(&p->o);
}

/* ---- all of it ---- */

/* Add what the order that was found breaks. */
static void look(struct problem *p)
{
    if (p->level == PSI)
        assume_versions(p);
    for (int i = 0, last = 0; i < p->n_reads; i++) {
        const struct read *r = &p->reads[i];
        if ((p->level == CC || p->level == PSI) && r->txn != last)
            sat_paths_to(&p->o, commit_of(p, r->txn));
        last = r->txn;
        for (int j = 0; j < r->n; j++) {
            if (!sat_true(&p->o, r->from[j].lit))
                continue;
            if (p->level >= PC)
                look_at_source(p, r, r->from[j]);
            else if (p->level == RC || p->level == RA)
                look_at_seen(p, i, r->from[j]);
            else
                look_at_past(p, r, r->from[j]);
        }
    }
    for (int k = 0; p->level == SI && k < p->h->n_keys; k++)
        look_at_writers(p, k);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int is_late(void *until)
{
    return now() > *(double *)until;
}

/* What satisfies a level is a good guess for weaker ones. */
static void keep_order(struct problem *p, struct sat_history *h)
{
    struct moment *events = sat_grow(NULL, 2 * (size_t)h->n, sizeof *events);
    for (int i = 0; i < 2 * h->n; i++) {
        int t = 1 + i / 2, node = i % 2 ? commit_of(p, t) : begin_of(p, t);
        events[i] = (struct moment){p->o.place[node], t, i % 2};
    }
    sat_guess(h, events);
    free(events);
}

static const char *decide(struct sat_history *h, enum level level, double until)
{
    struct problem p = {.h = h, .level = level};
    int result = 20;
    orders_init(&p.o, is_split(&p) ? 2 * h->n + 2 : h->n + 1);
    p.o.causal = level == PSI;
    ccadical_set_terminate(p.o.solver, &until, is_late);
    add_known_orders(&p);
    if (!h->own_fault && add_reads(&p))
        for (;;) {
            result = is_late(&until) ? 0 : sat_solve(&p.o);
            if (result != 10)
                break;
            long added = p.o.added;
            look(&p);
            if (p.o.added == added)
                break;
        }
    if (result == 10)
        keep_order(&p, h);
    for (int i = 0; i < p.n_reads; i++)
        free(p.reads[i].from);
    free(p.reads);
    orders_release(&p.o);
    return result == 10 ? "pass" : result == 20 ? "fail" : "unknown";
}

static enum level level_of(const char *name)
{
    for (int level = 0; level < N_LEVELS; level++)
        if (!strcmp(names[level], name))
            return level;
    fprintf(stderr, "history_sat: unknown level '%s'\n", name);
    exit(3);
}

int main(int argc, char **argv)
{
    double limit = 1e9;
    if (argc > 2 && !strcmp(argv[1], "-t")) {
        limit = strtod(argv[2], NULL);
        argv += 2;
        argc -= 2;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: history_sat [-t SECONDS] HISTORY LEVEL...\n");
        return 3;
    }
    struct sat_history h;
    sat_read(&h, argv[1]);
    for (int i = 2; i < argc; i++) {
        double start = now();
        enum level level = level_of(argv[i]);
        const char *verdict =
            level == SSER && !h.times ? "unknown" : decide(&h, level, start + limit);
        printf("%s %s %.3f\n", names[level], verdict, now() - start);
    }
    sat_release(&h);
    return 0;
}

#include "inject.h"

#include "gen.h"

#include <ctype.h>
#include <string.h>

/* A script lists sessions separated by '|', their transactions separated by ';', their
 * operations separated by blanks: wx1 writes or appends 1 to key x, rx1 reads 1 from
 * it; registers start as 0.  A list read has all elements, none for an empty list.  "!"
 * before a transaction: it aborts.  Two digits: it runs from that time to that; else it
 * overlaps the transactions of the other sessions.
 *
 * Scripts of rows have statements besides: ix1, ux1 and dx insert, update and delete,
 * qxyz1 asks for all keys from x to y and gets z=1, nx1 says that x starts as 1.  There
 * a 0 is a row that is not there, and keys are in the order in which they are met.
 *
 * Each register script shows its anomaly by the definition in the table of result.h;
 * the comments say which order is forced and what contradicts it. */
struct script {
    const char *name;
    const char *registers, *list; /* NULL where it cannot be shown */
};

static const struct script scripts[] = {
    {"ThinAirRead", "rx7", "rx7"},
    {"AbortedRead", "!wx1 | rx1", "!wx1 | rx1"},
    {"FutureRead", "rx1 wx1", "rx1 wx1"},
    {"NotMyOwnWrite", "wx1 | wx2 rx1", "wx1 rx"},
    {"NotMyLastWrite", "wx1 wx2 rx1", "wx1 wx2 rx1"},
    {"IntermediateRead", "wx1 wx2 | rx1", "wx1 wx2 | rx1"},
    {"CyclicCO", "rx1 wy1 | ry1 wx1", "rx1 wy1 | ry1 wx1"},
    /* The third sees the second, then x from the first, which the second has read. */
    {"NonMonoReadCO", "wx1 | rx1 wx2 wy2 | ry2 rx1", "wx1 | rx1 wx2 wy2 | ry2 rx1"},
    /* The third puts the second before the first, the fourth the first before it. */
    {"NonMonoReadCM", "wx1 wy1 | wx2 wy2 | ry2 rx1 | ry1 rx2", NULL},
    {"NonRepeatableRead", "wx1 | rx0 rx1", "wx1 | rx rx1"},
    /* The same reads as for rc, in the order that rc permits. */
    {"FracturedReadCO", "wx1 | rx1 wx2 wy2 | rx1 ry2", "wx1 | rx1 wx2 wy2 | rx1 ry2"},
    {"FracturedReadCM", "wx1 wy1 | wx2 wy2 | rx1 ry2", NULL},
    /* The cause reaches the last transaction only through the third. */
    {"COConflictCM", "wx1 | rx1 wx2 | rx2 wy3 | ry3 rx1",
     "wx1 | rx1 wx2 | rx12 wy3 | ry3 rx1"},
    {"ConflictCM", "wx1 wa1 | ra1 wb1 | rb1 rx2 | wx2 wc1 | rc1 wd1 | rd1 rx1", NULL},
    {"duplicate-elements", NULL, "wx1 | rx11"},
    {"incompatible-order", NULL, "wx1 | wx2 | rx12 | rx21"},
    {"G0", NULL, "wx1 wy1 | wx2 wy2 | rx12 | ry21"},
    {"G1c", NULL, "wx1 ry1 | wx2 wy1 | rx12"},
    {"LostUpdate", "rx0 wx1 | rx0 wx2", "rx wx1 | rx wx2"},
    /* The third fixes the first before the second on x; the fourth sees the second and
     * misses the first's y. */
    {"G-single", "wx1 wy1 | wx2 wz1 | ry1 rx2 | rz1 ry0",
     "wx1 wy1 | wx2 wz1 | rx12 | rz1 ry"},
    {"LongFork", "wx1 | wy1 | rx1 ry0 | ry1 rx0", "wx1 | wy1 | rx1 ry | ry1 rx"},
    /* Two pairs of writers in a fixed order; the later of each pair misses a write of
     * the other pair's earlier one. */
    {"G-nonadjacent", "wx1 wv1 | wx2 ry0 | rv1 rx2 | wy1 wz1 | wz2 rv0 | ry1 rz2",
     "wx1 wv1 | wx2 ry | rx12 | wy1 wz1 | wz2 rv | rz12"},
    {"G2-item", "rx0 ry0 wx1 | rx0 ry0 wy1", "rx ry wx1 | rx ry wy1"},
    {"G-single-process", "wx1 wy1 | wx2 ; ry0 | ry1 rx2", "wx1 wy1 | wx2 ; ry | rx12"},
    {"G-nonadjacent-process", "wx1 ; ry0 | wy1 ; rx0", "wx1 ; ry | wy1 ; rx"},
    {"G2-item-process", "wy1 ; rx0 | wx1 ry0", "wy1 ; rx | wx1 ry"},
    {"G0-realtime", "01 wx1 | 23 wx2 wq1 | 05 rq1 rx1", "01 wx1 | 23 wx2 | 05 rx21"},
    {"G1c-realtime", "01 rx1 | 23 wx1", "01 rx1 | 23 wx1"},
    {"G-single-realtime", "01 wx1 | 23 rx0", "01 wx1 | 23 rx"},
    {"G2-item-realtime", "01 wy1 | 23 rx0 | 03 wx1 ry0", "01 wy1 | 23 rx | 03 wx1 ry"},
};
enum { N_SCRIPTS = sizeof scripts / sizeof *scripts };

/* What can only be shown with rows. */
static const struct {
    const char *name, *script;
} row_scripts[] = {
    {"PredicateMismatch", "qxxy1 | iy1"},
    {"PredicateReadMiss", "nx1 qxx"},
    /* As G-single; what is missed is a row. */
    {"G-single-predicate", "wx1 iy1 | wx2 iz1 | ry1 rx2 | rz1 qyy"},
    /* Phantom write skew. */
    {"G2-item-predicate", "qxy ix1 | qxy iy1"},
};
enum { N_ROW_SCRIPTS = sizeof row_scripts / sizeof *row_scripts };

const char *ins_inject_name(unsigned i)
{
    if (i < N_SCRIPTS)
        return scripts[i].name;
    return i - N_SCRIPTS < N_ROW_SCRIPTS ? row_scripts[i - N_SCRIPTS].name : NULL;
}

/* ---- reading a script ---- */

/* Walks over a script's words; the history is NULL while it is only measured. */
struct walk {
    struct ins_plant count;
    struct ins_columns *h;
    uint8_t key[26];   /* number + 1 of the keys met, by letter */
    uint64_t init[26]; /* what they start as, by number */
    bool list, rows;
    ins_key first_key;
    int64_t now, unit;
    uint32_t in_session; /* transactions of the session so far */
};

static ins_key key_of(struct walk *w, char letter)
{
    uint8_t *k = &w->key[letter - 'a'];
    if (!*k)
        *k = (uint8_t)++w->count.keys;
    return w->first_key + *k - 1;
}

static uint64_t put_list(struct ins_columns *h, const char *digits, size_t n)
{
    const uint64_t at = h->n_elems;
    for (size_t i = 0; i < n; i++)
        h->list_elem[h->n_elems++] = (uint64_t)(digits[i] - '0');
    return ins_list_word(at, n);
}

/* A value of a script; of rows, 0 is no row. */
static uint64_t value_of(const struct walk *w, char digit)
{
    return w->rows && digit == '0' ? INS_WORD_NIL : (uint64_t)(digit - '0');
}

static void put(struct walk *w, enum ins_op_kind kind, ins_key k, uint64_t value)
{
    if (w->h) {
        w->h->op_word[w->h->n_ops] = ins_op_word(kind, k);
        w->h->op_value[w->h->n_ops++] = value;
    }
    w->count.ops++;
}

static void put_statement(struct walk *w, struct ins_statement s)
{
    struct ins_columns *h = w->h;
    if (h) {
        s.txn = h->n_txns - 1;
        s.op = h->n_ops;
        h->statements.at[h->statements.n++] = s;
    }
    w->count.statements++;
}

static void do_change(struct walk *w, const char *word)
{
    const enum ins_statement_kind kind = *word == 'i'   ? INS_INSERT
                                         : *word == 'u' ? INS_UPDATE
                                                        : INS_DELETE;
    const ins_key k = key_of(w, word[1]);
    const uint64_t value = kind == INS_DELETE ? INS_WORD_NIL : value_of(w, word[2]);
    put_statement(
        w, (struct ins_statement){.kind = (uint8_t)kind,
                                  .n_ops = 2,
                                  .value = {.b = kind == INS_DELETE ? 0 : value}});
    put(w, INS_OP_READ_AMONG, k, w->h ? w->h->statements.n - 1 : 0);
    put(w, INS_OP_WRITE, k, value);
}

static void do_query(struct walk *w, const char *word, size_t len)
{
    const ins_key from = key_of(w, word[1]), to = key_of(w, word[2]);
    put_statement(
        w, (struct ins_statement){.kind = INS_QUERY,
                                  .n_ops = (uint32_t)(len - 3) / 2,
                                  .key = {.kind = INS_COND_RANGE,
                                          .range = INS_RANGE_LOW | INS_RANGE_HIGH,
                                          .a = from,
                                          .b = to}});
    for (size_t i = 3; i + 1 < len; i += 2)
        put(w, INS_OP_READ, key_of(w, word[i]), value_of(w, word[i + 1]));
}

static void do_op(struct walk *w, const char *word, size_t len)
{
    if (strchr("iud", *word)) {
        do_change(w, word);
        return;
    }
    if (*word == 'q') {
        do_query(w, word, len);
        return;
    }
    if (*word == 'n') {
        w->init[key_of(w, word[1]) - w->first_key] = value_of(w, word[2]);
        return;
    }
    const bool write = word[0] == 'w';
    const ins_key k = key_of(w, word[1]);
    const bool list_read = w->list && !write;
    struct ins_columns *h = w->h;
    if (h) {
        h->op_word[h->n_ops] = ins_op_word(write ? INS_OP_WRITE : INS_OP_READ, k);
        h->op_value[h->n_ops++] =
            list_read ? put_list(h, word + 2, len - 2) : value_of(w, word[2]);
    }
    w->count.ops++;
    w->count.lists += list_read;
    w->count.elements += list_read ? len - 2 : 0;
}

static void begin_txn(struct walk *w)
{
    struct ins_columns *h = w->h;
    if (h) {
        const ins_txn t = h->n_txns++;
        h->txn_op[t] = h->n_ops;
        h->txn_status[t] = INS_COMMITTED;
        if (h->txn_begin) {
            /* Overlapping, but in order within the session. */
            h->txn_begin[t] = w->now + 5 * w->unit * w->in_session;
            h->txn_end[t] = h->txn_begin[t] + 4 * w->unit;
        }
    }
    w->in_session++;
    w->count.txns++;
}

static void begin_session(struct walk *w)
{
    if (w->h) {
        w->h->session_first[w->h->n_sessions] = w->h->n_txns;
        w->h->session_name[w->h->n_sessions] = w->h->n_sessions;
        w->h->n_sessions++;
    }
    w->in_session = 0;
    w->count.sessions++;
    begin_txn(w);
}

static void set_times(const struct walk *w, const char *word)
{
    struct ins_columns *h = w->h;
    if (!h || !h->txn_begin)
        return;
    h->txn_begin[h->n_txns - 1] = w->now + (word[0] - '0') * w->unit;
    h->txn_end[h->n_txns - 1] = w->now + (word[1] - '0') * w->unit + w->unit / 2;
}

static void do_word(struct walk *w, const char *word, size_t len)
{
    if (*word == '!') {
        if (w->h)
            w->h->txn_status[w->h->n_txns - 1] = INS_ABORTED;
        word++;
        len--;
    }
    if (*word == '|')
        begin_session(w);
    else if (*word == ';')
        begin_txn(w);
    else if (isdigit((unsigned char)*word))
        set_times(w, word);
    else
        do_op(w, word, len);
}

static void walk_script(struct walk *w, const char *script)
{
    begin_session(w);
    for (const char *word = script; *word;) {
        const size_t len = strcspn(word, " ");
        do_word(w, word, len);
        word += len;
        word += strspn(word, " ");
    }
}

/* The script for what is asked for, or NULL; then *only says what it can be shown
 * with, NULL when there is no such anomaly. */
static const char *find_script(const char *name, const struct ins_gen_options *o,
                               const char **only)
{
    *only = NULL;
    for (size_t i = 0; i < N_SCRIPTS; i++)
        if (!strcmp(scripts[i].name, name)) {
            *only = o->list ? "registers" : "lists";
            return o->list ? scripts[i].list : scripts[i].registers;
        }
    for (size_t i = 0; i < N_ROW_SCRIPTS; i++)
        if (!strcmp(row_scripts[i].name, name)) {
            *only = "rows";
            return o->rows ? row_scripts[i].script : NULL;
        }
    return NULL;
}

enum ins_status ins_plant_find(struct ins_plant *p, const char *name,
                               const struct ins_gen_options *o, struct ins_error *err)
{
    memset(p, 0, sizeof *p);
    if (!name)
        return INS_OK;
    const char *only;
    const char *script = find_script(name, o, &only);
    if (!script && only)
        return ins_fail(err, INS_E_USAGE, 0,
                        "'%s' cannot be shown with %s, only with %s", name,
                        o->list   ? "lists"
                        : o->rows ? "rows"
                                  : "registers",
                        only);
    if (!script)
        return ins_fail(err, INS_E_USAGE, 0, "cannot plant '%s', no such anomaly",
                        name);
    struct walk w = {.list = o->list, .rows = o->rows};
    walk_script(&w, script);
    *p = w.count;
    p->script = script;
    p->rows = o->rows;
    return INS_OK;
}

void ins_plant_add(const struct ins_plant *p, struct ins_columns *h, int64_t now,
                   int64_t unit)
{
    if (!p->script)
        return;
    const ins_key first = h->n_keys;
    struct walk w = {.h = h,
                     .list = p->lists || (first && h->key_flags[0] & INS_KEY_LIST),
                     .rows = p->rows,
                     .first_key = first,
                     .now = now,
                     .unit = unit};
    for (size_t i = 0; i < sizeof w.init / sizeof *w.init; i++)
        w.init[i] = value_of(&w, '0');
    walk_script(&w, p->script);
    for (ins_key k = first; k < first + p->keys; k++) {
        h->key_name[k] = k;
        h->key_flags[k] = INS_KEY_HAS_INIT | (w.list ? INS_KEY_LIST : 0);
        h->key_init[k] = w.init[k - first];
    }
    h->n_keys += p->keys;
    h->session_first[h->n_sessions] = h->n_txns;
    h->txn_op[h->n_txns] = h->n_ops;
}

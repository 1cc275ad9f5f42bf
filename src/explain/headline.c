#include "story.h"

#include "say.h"

/* Reads that are wrong by themselves: the sentence is about one read. */

static uint32_t wrong_read(const struct ins_story *s)
{
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (!ins_is_write(s->h, s->op[i]) &&
            s->h->op_from[s->op[i]] >= INS_FROM_THIN_AIR)
            return s->op[i];
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (!ins_is_write(s->h, s->op[i]))
            return s->op[i];
    return INS_NONE;
}

/* A write among those that matter, of the value that `read` returned. */
static uint32_t matching_write(const struct ins_story *s, uint32_t read)
{
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (ins_is_write(s->h, s->op[i]) &&
            ins_op_key(s->h, s->op[i]) == ins_op_key(s->h, read) &&
            ins_op_kind(s->h, read) == INS_OP_READ &&
            s->h->op_value[s->op[i]] == s->h->op_value[read])
            return s->op[i];
    return INS_NONE;
}

/* Some write of that key that matters, for lists. */
static uint32_t any_write(const struct ins_story *s, uint32_t read)
{
    if (!ins_is_list_key(s->h, ins_op_key(s->h, read)))
        return matching_write(s, read);
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (ins_is_write(s->h, s->op[i]) &&
            ins_op_key(s->h, s->op[i]) == ins_op_key(s->h, read))
            return s->op[i];
    return INS_NONE;
}

static void say_writer(struct ins_buf *b, const struct ins_story *s, uint32_t write)
{
    if (write != INS_NONE)
        ins_say_txn(b, s->h, ins_op_txn(s->h, write));
    else
        ins_buf_text(b, "another transaction");
}

/* The order that the longest read of a list shows. */
static void say_list_order(struct ins_buf *b, const struct ins_history *h, ins_key k)
{
    enum { MOST = 12 };
    if (!h->list_order_off || h->list_order_off[k] == h->list_order_off[k + 1])
        return;
    const uint64_t first = h->list_order_off[k];
    const uint64_t n = h->list_order_off[k + 1] - first;
    ins_buf_text(b, " The longest read of ");
    ins_say_key(b, h, k);
    ins_buf_text(b, " has the order");
    for (uint64_t i = 0; i < n && i < MOST; i++) {
        ins_buf_text(b, i ? ", " : " ");
        ins_say_value(b, h, h->op_value[h->list_order_op[first + i]]);
    }
    ins_buf_text(b, n > MOST ? ", …." : ".");
}

static void say_wrong_query(struct ins_buf *b, const struct ins_story *s, uint32_t read)
{
    const struct ins_history *h = s->h;
    const uint32_t number = h->op_statement[read];
    if (s->a->kind == INS_PREDICATE_MISMATCH) {
        ins_say_txn(b, h, ins_op_txn(h, read));
        ins_buf_text(b, " asked ");
        ins_say_query(b, h, number);
        ins_buf_text(b, " and got ");
        ins_say_version(b, h, read);
        ins_buf_text(b, ", which it did not ask for, or got already.");
        return;
    }
    ins_say_missed_row(b, h, read, INS_NONE);
    for (uint32_t i = 0; i < s->n_ops; i++)
        if (ins_is_write(h, s->op[i]) &&
            ins_op_key(h, s->op[i]) == ins_op_key(h, read)) {
            ins_buf_text(b, ", which ");
            ins_say_txn(b, h, ins_op_txn(h, s->op[i]));
            ins_buf_text(b, " had written");
            break;
        }
    ins_buf_text(b, ": every version of it matches.");
}

static void say_wrong_read(struct ins_buf *b, const struct ins_story *s, uint32_t read)
{
    const struct ins_history *h = s->h;
    const ins_txn reader = ins_op_txn(h, read);
    const uint32_t write = any_write(s, read);
    if (s->a->kind == INS_PREDICATE_READ_MISS || s->a->kind == INS_PREDICATE_MISMATCH) {
        say_wrong_query(b, s, read);
        return;
    }
    ins_say_txn(b, h, reader);
    if (s->a->kind == INS_NOT_MY_OWN_WRITE) {
        ins_buf_text(b, " wrote ");
        ins_say_key(b, h, ins_op_key(h, read));
        ins_buf_text(b, " itself and then");
    }
    ins_buf_text(b, " read ");
    ins_say_version(b, h, read);
    switch ((int)s->a->kind) {
    case INS_THIN_AIR_READ:
        ins_buf_text(b, ", but nobody ever wrote that");
        break;
    case INS_ABORTED_READ:
        ins_buf_text(b, ", which ");
        say_writer(b, s, write);
        ins_buf_text(b, " wrote and then rolled back");
        break;
    case INS_FUTURE_READ:
        ins_buf_text(b, " before it wrote that itself");
        break;
    case INS_NOT_MY_OWN_WRITE:
        ins_buf_text(b, ", which is not what it wrote");
        break;
    case INS_NOT_MY_LAST_WRITE:
        ins_buf_text(b, ", an own write that it had overwritten by then");
        break;
    case INS_INTERMEDIATE_READ:
        ins_buf_text(b, ", which ");
        say_writer(b, s, write);
        ins_buf_text(b, " overwrote before it committed");
        break;
    case INS_DUPLICATE_ELEMENTS:
        ins_buf_text(b, ", a list that shows one append more than once");
        break;
    default:
        ins_buf_text(b, ", a list that fits no single order of the appends");
    }
    ins_buf_char(b, '.');
    if (s->a->kind == INS_INCOMPATIBLE_ORDER)
        say_list_order(b, h, ins_op_key(h, read));
}

static void say_unrepeatable(struct ins_buf *b, const struct ins_story *s)
{
    uint32_t first = INS_NONE;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        const uint32_t op = s->op[i];
        if (ins_is_write(s->h, op))
            continue;
        if (first == INS_NONE || ins_op_txn(s->h, first) != ins_op_txn(s->h, op) ||
            ins_op_key(s->h, first) != ins_op_key(s->h, op)) {
            first = op;
            continue;
        }
        if (ins_op_kind(s->h, first) == ins_op_kind(s->h, op) &&
            s->h->op_value[first] == s->h->op_value[op])
            continue;
        ins_say_txn(b, s->h, ins_op_txn(s->h, op));
        ins_buf_text(b, " read ");
        ins_say_version(b, s->h, first);
        ins_buf_text(b, " and later, without writing it, ");
        ins_say_version(b, s->h, op);
        ins_buf_char(b, '.');
        return;
    }
}

/* Cycles: name the transactions and say in which way they contradict one another. */

static void say_names(struct ins_buf *b, const struct ins_story *s)
{
    const uint32_t n = s->a->n_cycle;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 6 && n > 8) {
            ins_buf_fmt(b, " and %u more", n - i);
            return;
        }
        if (i)
            ins_buf_text(b, i + 1 == n ? " and " : ", ");
        ins_say_txn(b, s->h, s->a->edge[i].from);
    }
}

/* The edge whose reader saw too little, for the patterns that are about one reader. */
static const struct ins_edge *stale_edge(const struct ins_anomaly *a)
{
    for (uint32_t i = 0; i < a->n_cycle; i++)
        if (a->edge[i].type == INS_CO && a->edge[i].reader != INS_NONE)
            return &a->edge[i];
    return NULL;
}

static void say_stale(struct ins_buf *b, const struct ins_story *s,
                      const struct ins_edge *e)
{
    const struct ins_history *h = s->h;
    const bool read = s->a->kind != INS_CO_CONFLICT_CM && e->other_op != INS_NONE;
    const bool own = s->a->kind != INS_CO_CONFLICT_CM && !read;
    ins_say_txn(b, h, e->reader);
    ins_buf_text(b, read ? " saw " : " comes after ");
    ins_say_txn(b, h, e->from);
    ins_buf_text(b, own ? " of its own session, which wrote " : ", which wrote ");
    ins_say_written(b, h, e->from, e->key);
    ins_buf_text(b, ", and yet it read ");
    ins_say_written(b, h, e->to, e->key);
    if (e->to == INS_INIT) {
        ins_buf_text(b, ", the initial value.");
        return;
    }
    ins_buf_text(b, ", which ");
    ins_say_txn(b, h, e->to);
    ins_buf_text(b, " had written earlier.");
}

static void say_lost_update(struct ins_buf *b, const struct ins_story *s)
{
    say_names(b, s);
    for (uint32_t i = 0; i < s->a->n_cycle; i++) {
        const struct ins_edge *e = &s->a->edge[i];
        if (e->type != INS_RW || e->from_op == INS_NONE)
            continue;
        ins_buf_text(b, " both read ");
        ins_say_version(b, s->h, e->from_op);
        ins_buf_text(b, " and then both overwrote it: one of the two updates is lost.");
        return;
    }
    ins_buf_text(b, " updated the same version: one of the updates is lost.");
}

/* A pair that contradicts session order or real time: who came later missed a write, or
 * its own is the older version. */
static bool say_overlooked(struct ins_buf *b, const struct ins_story *s)
{
    const struct ins_anomaly *a = s->a;
    if (a->n_cycle != 2)
        return false;
    const bool swap = a->edge[0].type == INS_RW || a->edge[0].type == INS_WW;
    const struct ins_edge *order = &a->edge[swap];
    const struct ins_edge *miss = &a->edge[!swap];
    if ((miss->type != INS_RW && (miss->type != INS_WW || miss->key == INS_NONE)) ||
        (order->type != INS_RT && order->type != INS_SO))
        return false;
    ins_say_txn(b, s->h, miss->from);
    ins_buf_text(b, order->type == INS_RT ? " began after " : " comes after ");
    ins_say_txn(b, s->h, miss->to);
    ins_buf_text(b, order->type == INS_RT ? " had ended" : " in their session");
    if (miss->type == INS_RW) {
        ins_buf_text(b, ", and yet it missed its ");
    } else {
        ins_buf_text(b, ", and yet its ");
        ins_say_written(b, s->h, miss->from, miss->key);
        ins_buf_text(b, " is older than ");
    }
    ins_say_written(b, s->h, miss->to, miss->key);
    ins_buf_char(b, '.');
    return true;
}

/* Two readers that came after each other's writes. */
static bool say_dispute(struct ins_buf *b, const struct ins_story *s)
{
    struct ins_dispute d;
    if (!ins_dispute_of(s->a, &d))
        return false;
    ins_say_txn(b, s->h, d.reader[0]);
    ins_buf_text(b, " and ");
    ins_say_txn(b, s->h, d.reader[1]);
    ins_buf_text(b, " disagree about the order of two writes: ");
    for (int i = 0; i < 2; i++) {
        ins_buf_text(b, i ? ", and " : "");
        ins_say_txn(b, s->h, d.reader[i]);
        ins_buf_text(b, " read ");
        ins_say_written(b, s->h, d.writer[i], d.key);
        ins_buf_text(b, " of ");
        ins_say_txn(b, s->h, d.writer[i]);
        ins_buf_text(b, " though it comes after ");
        ins_say_written(b, s->h, d.writer[!i], d.key);
        ins_buf_text(b, " of ");
        ins_say_txn(b, s->h, d.writer[!i]);
    }
    ins_buf_char(b, '.');
    return true;
}

/* Two inferred orders against each other: say whose reads ask for which. */
static bool say_opposed(struct ins_buf *b, const struct ins_story *s)
{
    const struct ins_edge *e = s->a->edge;
    if (s->a->n_cycle != 2 || e[0].type != INS_CO || e[1].type != INS_CO ||
        e[0].reader >= s->h->n_txns || e[1].reader >= s->h->n_txns)
        return false;
    for (int i = 0; i < 2; i++) {
        ins_buf_text(b, i ? ", what " : "What ");
        ins_say_txn(b, s->h, e[i].reader);
        ins_buf_text(b, i && e[0].reader == e[1].reader ? " read besides puts "
                                                        : " read puts ");
        ins_say_txn(b, s->h, e[i].from);
        ins_buf_text(b, " before ");
        ins_say_txn(b, s->h, e[i].to);
    }
    ins_buf_char(b, '.');
    return true;
}

/* Whose write who missed, for every RW edge of the cycle; says only what these edges
 * say, so it is true of any cycle that has some. */
static bool say_missed(struct ins_buf *b, const struct ins_story *s)
{
    enum { MOST = 4 };
    const struct ins_anomaly *a = s->a;
    uint32_t misses = 0;
    for (uint32_t i = 0; i < a->n_cycle; i++)
        misses += a->edge[i].type == INS_RW;
    if (!misses)
        return false;
    ins_buf_text(b, "No order of ");
    say_names(b, s);
    ins_buf_text(b, " explains what they read: ");
    uint32_t said = 0;
    for (uint32_t i = 0; i < a->n_cycle && said < MOST; i++) {
        const struct ins_edge *e = &a->edge[i];
        if (e->type != INS_RW)
            continue;
        const bool row = e->from_op != INS_NONE && ins_is_missed_row(s->h, e->from_op);
        ins_buf_text(b, !said ? "" : row ? "; " : said + 1 == misses ? " and " : ", ");
        if (row) {
            ins_say_missed_row(b, s->h, e->from_op, e->to);
            said++;
            continue;
        }
        ins_say_txn(b, s->h, e->from);
        ins_buf_text(b, " missed ");
        if (e->key != INS_NONE) {
            ins_say_written(b, s->h, e->to, e->key);
            ins_buf_text(b, " of ");
        } else {
            ins_buf_text(b, "a write of ");
        }
        ins_say_txn(b, s->h, e->to);
        said++;
    }
    ins_buf_text(b, misses > MOST ? ", and so on." : ".");
    return true;
}

/* Of a fork, who saw the writes in different orders. */
static bool say_fork(struct ins_buf *b, const struct ins_story *s)
{
    const struct ins_anomaly *a = s->a;
    uint32_t n = 0, said = 0;
    for (uint32_t i = 0; a->kind == INS_LONG_FORK && i < a->n_cycle; i++)
        n += a->edge[i].type == INS_RW;
    for (uint32_t i = 0; n && i < a->n_cycle; i++) {
        if (a->edge[i].type != INS_RW)
            continue;
        ins_buf_text(b, said == 0 ? "" : said + 1 < n ? ", " : " and ");
        ins_say_txn(b, s->h, a->edge[i].from);
        said++;
    }
    ins_buf_text(b, n == 2  ? " disagree about which of two writes came first."
                    : n > 2 ? " disagree about the order of writes."
                            : "");
    return n != 0;
}

static const char *cycle_words(const struct ins_anomaly *a)
{
    switch ((int)a->kind) {
    case INS_CYCLIC_CO:
        return " each saw something of the one before it, all the way round: none of "
               "them can have come first.";
    case INS_G0:
        return ins_suffix_order(a->suffix) == INS_PLAIN
                   ? " overwrote each other's writes: none of them can have come first."
                   : " each came after the one before it, by what it overwrote or by "
                     "its time: none of them can have come first.";
    case INS_G1C:
        return ins_suffix_order(a->suffix) == INS_PLAIN
                   ? " each overwrote or read what the one before it wrote, all the "
                     "way round."
                   : " each came after the one before it, by what it read or overwrote "
                     "or by its time, all the way round.";
    case INS_G_SINGLE:
        return " do not fit in any order: one of them missed a write that, by the "
               "others, "
               "came before it.";
    default:
        return " can be put in no order that explains all of their reads.";
    }
}

/* The nodes of the story's transactions, those of one session or, with INS_NONE, of all
 * of them, each once: "primary, standby".  Returns how many transactions have one. */
static uint32_t say_nodes(struct ins_buf *b, const struct ins_story *s,
                          uint32_t session)
{
    const struct ins_history *h = s->h;
    uint32_t known = 0;
    for (uint32_t i = 0; h->txn_node && i < s->n_txns; i++) {
        const ins_txn t = s->txn[i];
        if (!h->txn_node[t] || (session != INS_NONE && h->txn_session[t] != session))
            continue;
        bool again = false;
        for (uint32_t j = 0; j < i && !again; j++)
            again = h->txn_node[s->txn[j]] == h->txn_node[t] &&
                    (session == INS_NONE || h->txn_session[s->txn[j]] == session);
        if (!again) {
            ins_buf_text(b, known ? ", " : "");
            ins_say_node(b, h, t);
        }
        known++;
    }
    return known;
}

void ins_say_lane(struct ins_buf *b, const struct ins_story *s, uint32_t i)
{
    const uint32_t session = s->h->txn_session[s->txn[i]];
    ins_buf_text(b, session == INS_NONE ? "" : "session ");
    ins_say_session(b, s->h, session);
    struct ins_buf nodes = {0};
    if (session != INS_NONE && say_nodes(&nodes, s, session)) {
        ins_buf_text(b, " on ");
        ins_buf_bytes(b, nodes.at, nodes.len);
    }
    ins_buf_release(&nodes);
}

/* "The four transactions ran on primary, standby." */
static void say_places(struct ins_buf *b, const struct ins_story *s)
{
    static const char *const words[] = {
        "", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
    struct ins_buf nodes = {0};
    const uint32_t known = say_nodes(&nodes, s, INS_NONE);
    uint32_t ran = 0;
    for (uint32_t i = 0; i < s->n_txns; i++)
        ran += s->txn[i] != INS_INIT;
    if (known && known == ran) {
        if (ran == 1)
            ins_buf_text(b, " It ran on ");
        else if (ran < sizeof words / sizeof *words)
            ins_buf_fmt(b, " The %s transactions ran on ", words[ran]);
        else
            ins_buf_fmt(b, " The %u transactions ran on ", ran);
        ins_buf_bytes(b, nodes.at, nodes.len);
        ins_buf_char(b, '.');
    }
    ins_buf_release(&nodes);
}

static void say_what(struct ins_buf *b, const struct ins_story *s)
{
    const struct ins_anomaly *a = s->a;
    const uint32_t read = wrong_read(s);
    const struct ins_edge *stale = stale_edge(a);
    const bool about_read =
        a->kind <= INS_INTERMEDIATE_READ || a->kind == INS_DUPLICATE_ELEMENTS ||
        a->kind == INS_INCOMPATIBLE_ORDER || a->kind == INS_PREDICATE_MISMATCH ||
        a->kind == INS_PREDICATE_READ_MISS;
    if (about_read && read != INS_NONE)
        say_wrong_read(b, s, read);
    else if (a->kind == INS_NON_REPEATABLE_READ)
        say_unrepeatable(b, s);
    else if (a->kind == INS_NO_ORDER || !a->n_cycle) {
        ins_buf_text(
            b, "Whichever way the versions are ordered, a contradiction follows.");
        if (!a->n_edges)
            ins_buf_text(b,
                         " No single cycle shows it: a search tried every order. "
                         "--counterexample writes the smallest history that has none, "
                         "--certificate the search.");
    } else if (a->kind == INS_LOST_UPDATE && a->n_cycle == 2)
        say_lost_update(b, s);
    else if (stale &&
             (a->kind == INS_NON_MONO_READ_CO || a->kind == INS_FRACTURED_READ_CO ||
              a->kind == INS_CO_CONFLICT_CM))
        say_stale(b, s, stale);
    else if (!say_overlooked(b, s) && !say_dispute(b, s) && !say_opposed(b, s) &&
             !say_fork(b, s) && (a->kind != INS_G2_ITEM || !say_missed(b, s))) {
        say_names(b, s);
        ins_buf_text(b, cycle_words(a));
    }
}

/* Nobody who began later saw it, which is more than that one reader missed it. */
static void say_unseen(struct ins_buf *b, const struct ins_story *s)
{
    const struct ins_lost_commit *l = s->a->lost;
    if (l->seer != INS_INIT) {
        ins_buf_text(b, " The last to see ");
        ins_say_txn(b, s->h, l->txn);
        ins_buf_text(b, " was ");
        ins_say_txn(b, s->h, l->seer);
        ins_buf_text(b, "; nobody who began after that did: ");
    } else {
        ins_buf_text(b, " Nobody who began after the commit of ");
        ins_say_txn(b, s->h, l->txn);
        ins_buf_text(b, " saw it: ");
    }
    if (l->misses > 1) {
        ins_say_count(b, l->misses);
        ins_buf_text(b, " transactions missed it, ");
        ins_say_txn(b, s->h, l->reader);
        ins_buf_text(b, " first.");
    } else {
        ins_say_txn(b, s->h, l->reader);
        ins_buf_text(b, " missed it.");
    }
}

void ins_say_headline(struct ins_buf *b, const struct ins_story *s)
{
    ins_buf_text(b, s->a->lost ? "Lost commit: " : "");
    say_what(b, s);
    if (s->a->lost)
        say_unseen(b, s);
    const enum ins_guarantee broken = ins_guarantee_of(s->a);
    if (broken)
        ins_buf_fmt(b, " The session guarantee that broke is %s: %s.",
                    ins_guarantee_name(broken), ins_guarantee_meaning(broken));
    say_places(b, s);
}

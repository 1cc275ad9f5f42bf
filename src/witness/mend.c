/* mend.c - a witness by mending.
 *
 * Begins with an order that is as good as any, by recorded times or with all sessions
 * going on evenly, and asks reads that miss their values what could be done: such a
 * read moves to behind a write of its value, or to just before that is overwritten; or
 * the write moves to before the read; or a write between the two goes elsewhere.  Those
 * of the same session that are in the way move along, a few of them.
 *
 * What makes more reads miss is done, too, with a chance that falls with their number:
 * how warm it is says how fast.  Where it is too cold all is soon stuck, where it is
 * too hot all melts.  What is right depends on how much each read tells, so the
 * beginning of the history is tried at several heats.
 *
 * A front goes through the order from the first turn to the last; what is behind it may
 * miss as it likes.  All works on what is near the front, which is quick, and so it is
 * told soon when there are more reads that miss than can ever be mended. */
#include "mend.h"

#include "base/rng.h"
#include "witness/sequence.h"

#include <math.h>

enum {
    WAYS = 128,       /* to mend one read, at most */
    ALONG = 64,       /* turns of a session that move at once, at most; */
    ALONG_BITS = 5,   /* mostly far less: up to 1, 2, 4, ... */
    NEAR_BITS = 4,    /* how far to look for a write: so far, or 2, 4, ... times that */
    TRIES = 12,       /* until one of the ways is possible */
    SHAKE = 10,       /* turns to go at random, where there is no way */
    STEP = 100,       /* turns that the front goes on at once */
    TRIAL = 2500,     /* turns of a trial, */
    TRIAL_MENDS = 60, /* with so many reads to mend for each of them, at most; */
    ENOUGH = 2,       /* one that leaves so few is good enough, */
    TOO_MANY = 5,     /* and all that leave more are bad, where more is to come; */
    MENDS = 100,      /* the same afterwards, */
    END_MENDS = 50,   /* and when the front is at the end, */
    END_ALL = 1000 * 1000, /* with so many more, */
    END_MENDS_FEW = 1000,  /* of a short history less: so many for each turn, */
    END_FEW = 20 * 1000,   /* and so many more */
    PERIOD = 4000,         /* and another heat after so many of these; */
    PATIENCE = 24,         /* periods in which nothing gets better */
    SOME = 40,             /* so many reads that miss are not hopeless, */
    HOPELESS = 250,        /* or one of so many */
    FAR = 1 << 16,         /* turns: writes further apart than that do not meet */
    ASK = 256,             /* mends between looks at the clock */
};

/* The most likely ones first. */
static const double heats[] = {0.5, 0.8, 1.2, 1.8, 0.3, 2.4};
/* At the end it is warmer and colder by turns. */
static const double swing[] = {1.0, 1.3, 0.8, 1.6};
enum { N_HEATS = sizeof heats / sizeof *heats, N_SWING = sizeof swing / sizeof *swing };

/* Of what is usually between two writes of a value. */
#define NEAR 0.4

struct way { /* turn t goes behind another */
    uint32_t t, behind;
};

struct mend {
    const struct ins_script *s;
    struct ins_sequence order;
    struct ins_limit *limit;
    struct ins_rng rng;
    struct way way[WAYS], made[ALONG]; /* made: where they were */
    uint32_t n_ways, n_made;
    uint64_t near; /* less than from one write of a value to the next, in labels */
    uint32_t near_bits, along_bits;
    double heat;
    uint64_t work;
    bool stop;
};

/* ---- moving a turn ---- */

static void make(struct mend *q, uint32_t t, uint32_t behind)
{
    const uint32_t was = q->order.turn[t].before;
    if (was == behind)
        return;
    q->made[q->n_made++] = (struct way){t, was};
    ins_sequence_move(&q->order, t, behind);
}

static void take_back(struct mend *q)
{
    while (q->n_made) {
        const struct way w = q->made[--q->n_made];
        ins_sequence_move(&q->order, w.t, w.behind);
    }
}

/* Those of t's session, from t on, that are before the place to go to, or behind it.
 * 0: too many. */
static uint32_t list_along(const struct mend *q, struct way w, uint32_t most,
                           uint32_t along[ALONG])
{
    const struct ins_turn *all = q->order.turn;
    const uint64_t label = all[w.behind].label;
    const bool on = label > all[w.t].label;
    uint32_t n = 0;
    for (uint32_t t = w.t; t && (on ? all[t].label <= label : all[t].label > label);
         t = on ? all[t].later : all[t].earlier) {
        if (n == most || t == w.behind)
            return 0;
        along[n++] = t;
    }
    return n;
}

/* How many more may miss. */
static uint32_t draw_more(struct mend *q)
{
    return (uint32_t)(-q->heat * log(ins_rng_unit(&q->rng) + 1e-9));
}

/* Move a turn with those in the way, unless more than `most` reads miss then.  False
 * when too many are in the way. */
static bool go(struct mend *q, struct way w, uint32_t most)
{
    uint32_t along[ALONG];
    const uint32_t reach = UINT32_C(1) << ins_rng_below(&q->rng, q->along_bits);
    const bool on = q->order.turn[w.behind].label > q->order.turn[w.t].label;
    uint32_t n = list_along(q, w, reach, along);
    if (!n)
        return false;
    q->n_made = 0;
    for (uint32_t behind = w.behind; n && q->order.n_miss <= most + 1;) {
        make(q, along[--n], behind);
        behind = on ? behind : along[n];
    }
    if (q->order.n_miss > most)
        take_back(q);
    return true;
}

/* ---- ways to mend ---- */

static void offer(struct mend *q, uint32_t t, uint32_t behind)
{
    if (q->n_ways < WAYS && t && t != behind && q->order.turn[t].before != behind)
        q->way[q->n_ways++] = (struct way){t, behind};
}

/* Behind a write of the value, or just before it is overwritten; or the write goes to
 * the read. */
static void offer_meeting(struct mend *q, uint32_t t, uint32_t write)
{
    const struct ins_use *use = q->order.use;
    const struct ins_turn *turn = q->order.turn;
    uint32_t next = use[write].after;
    offer(q, t, use[write].turn);
    offer(q, use[write].turn, turn[t].before);
    while (next != INS_NONE && !use[next].writes)
        next = use[next].after;
    if (next != INS_NONE && use[next].turn != t)
        offer(q, t, turn[use[next].turn].before);
}

/* The write before a use, of its key. */
static uint32_t write_before(const struct mend *q, uint32_t use)
{
    do
        use = q->order.use[use].before;
    while (use != INS_NONE && !q->order.use[use].writes);
    return use;
}

/* One write is between a read and one of its value: it goes elsewhere. */
static void offer_parting(struct mend *q, uint32_t read)
{
    const struct ins_use *use = q->order.use;
    const uint32_t between = write_before(q, read);
    const uint32_t write = write_before(q, between);
    if (write == INS_NONE || use[write].value != use[read].value)
        return;
    offer(q, use[between].turn, use[read].turn);
    if (use[write].turn)
        offer(q, use[between].turn, q->order.turn[use[write].turn].before);
}

/* What is written between a begin and its commit: one of the three goes elsewhere. */
static void list_ways_apart(struct mend *q, uint32_t guard)
{
    const struct ins_use *use = q->order.use;
    const struct ins_turn *turn = q->order.turn;
    const uint32_t t = use[guard].turn, commit = use[guard].value;
    uint32_t next = use[guard].after;
    q->n_ways = 0;
    while (next != INS_NONE && !use[next].writes)
        next = use[next].after;
    offer(q, commit, t);
    offer(q, t, turn[commit].before);
    offer(q, t, use[write_before(q, use[guard].kin_after)].turn);
    if (next != INS_NONE) {
        offer(q, use[next].turn, turn[t].before);
        offer(q, use[next].turn, commit);
        offer(q, commit, turn[use[next].turn].before);
    }
}

/* What a read that misses could do. */
static void list_ways(struct mend *q, uint32_t read)
{
    const struct ins_use *use = q->order.use;
    const uint32_t t = use[read].turn;
    const uint64_t reach = q->near << ins_rng_below(&q->rng, q->near_bits);
    const uint64_t label = q->order.turn[t].label;
    q->n_ways = 0;
    for (uint32_t i = use[read].kin_before;
         i != INS_NONE && label - q->order.turn[use[i].turn].label < reach;
         i = use[i].kin_before)
        if (use[i].writes)
            offer_meeting(q, t, i);
    for (uint32_t i = use[read].kin_after;
         i != INS_NONE && q->order.turn[use[i].turn].label - label < reach;
         i = use[i].kin_after)
        if (use[i].writes && use[i].turn != t)
            offer_meeting(q, t, i);
    offer_parting(q, read);
}

/* There is no way: move it a little, so that there may be one. */
static void shake(struct mend *q, uint32_t t)
{
    uint32_t behind = t;
    for (uint32_t n = ins_rng_below(&q->rng, SHAKE); n--;)
        behind = ins_rng_below(&q->rng, 2) ? q->order.turn[behind].after
                                           : q->order.turn[behind].before;
    if (behind != t && q->order.turn[t].before != behind)
        (void)go(q, (struct way){t, behind}, q->order.n_miss + draw_more(q));
}

/* Who may be left out is taken out, the commit with the begin. */
static void take_out(struct mend *q, uint32_t t)
{
    const uint32_t most = q->order.n_miss + draw_more(q);
    const uint32_t commit = q->order.how.split ? q->order.turn[t].later : 0;
    ins_sequence_take_out(&q->order, t);
    if (commit)
        ins_sequence_take_out(&q->order, commit);
    if (q->order.n_miss <= most)
        return;
    if (commit)
        ins_sequence_put_back(&q->order, commit);
    ins_sequence_put_back(&q->order, t);
}

static void mend_one(struct mend *q, uint32_t read)
{
    const uint32_t t = q->order.use[read].turn;
    if (q->order.use[read].guards)
        list_ways_apart(q, read);
    else
        list_ways(q, read);
    if (!q->s->counts[q->order.turn[t].step >> 1] &&
        !ins_rng_below(&q->rng, q->n_ways + 1)) {
        take_out(q, t);
        return;
    }
    for (uint32_t i = 0; q->n_ways && i < TRIES; i++) {
        const uint32_t x = ins_rng_below(&q->rng, q->n_ways);
        const struct way w = q->way[x];
        q->way[x] = q->way[--q->n_ways];
        if (go(q, w, q->order.n_miss + draw_more(q)))
            return;
    }
    shake(q, t);
}

/* Mend reads until none misses, or so many were mended. */
static bool mend_some(struct mend *q, uint64_t most)
{
    for (uint64_t i = 0; q->order.n_miss && i < most; i++) {
        if (q->work++ % ASK == 0 && ins_limit_hit(q->limit))
            q->stop = true;
        if (q->stop)
            return false;
        mend_one(q, q->order.miss[ins_rng_below(&q->rng, q->order.n_miss)]);
    }
    return !q->order.n_miss;
}

static bool is_hopeless(const struct mend *q)
{
    const uint32_t n = q->order.n_miss;
    return n > SOME && n > q->order.turn[q->order.watched + 1].use / HOPELESS;
}

/* Mend up to a turn.  False: it is hopeless. */
static bool go_on(struct mend *q, uint32_t up_to, uint32_t mends)
{
    while (q->order.watched < up_to && !q->stop) {
        const uint32_t left = up_to - q->order.watched;
        const uint32_t n = left < STEP ? left : STEP;
        ins_sequence_watch(&q->order, q->order.watched + n);
        (void)mend_some(q, (uint64_t)mends * n);
        if (is_hopeless(q))
            return false;
    }
    return !q->stop;
}

/* Find the heat at which the fewest reads of the beginning miss.  False: it is hopeless
 * at all of them. */
static bool try_heats(struct mend *q)
{
    const uint32_t n = q->order.n < TRIAL ? q->order.n : TRIAL;
    uint32_t best = INS_NONE;
    double heat = 0;
    for (unsigned i = 0; i < N_HEATS && best > ENOUGH && !q->stop; i++) {
        ins_sequence_reset(&q->order);
        q->heat = heats[i];
        if (go_on(q, n, TRIAL_MENDS) && q->order.n_miss < best) {
            best = q->order.n_miss;
            heat = q->heat;
        }
    }
    q->heat = heat;
    return best <= TOO_MANY || (best != INS_NONE && n == q->order.n);
}

/* The last few are the hardest: more turns may move, further, and more or less warm.
 * Where that melts, it is too hot; where nothing gets better, too cold. */
static bool end_well(struct mend *q)
{
    const uint64_t n = q->order.n, few = END_FEW + END_MENDS_FEW * n;
    const uint64_t many = END_ALL + END_MENDS * n, most = few < many ? few : many;
    uint32_t least = q->order.n_miss, patience = PATIENCE;
    double heat = q->heat;
    for (uint32_t i = 0; i < most / PERIOD && !q->stop; i++) {
        q->heat = heat * swing[i % N_SWING];
        q->near_bits = NEAR_BITS + i % 3;
        q->along_bits = ALONG_BITS + i % 2;
        if (mend_some(q, PERIOD))
            return true;
        const bool melts = q->order.n_miss > 2 * least + SOME;
        const bool better = q->order.n_miss < least;
        patience = better ? PATIENCE : patience - 1;
        least = better ? q->order.n_miss : least;
        if (melts || !patience) {
            heat *= melts ? 0.9 : 1.15;
            least = q->order.n_miss;
            patience = PATIENCE;
        }
    }
    return false;
}

static bool run(struct mend *q)
{
    if (!try_heats(q))
        return false;
    if (q->order.watched < q->order.n) {
        if (q->order.n_miss > ENOUGH) /* else the last trial is a good beginning */
            ins_sequence_reset(&q->order);
        if (!go_on(q, q->order.n, MENDS))
            return false;
    }
    return end_well(q);
}

static void write_steps(const struct mend *q, struct ins_vec_u32 *step)
{
    for (uint32_t t = q->order.turn[0].after; t; t = q->order.turn[t].after)
        ins_vec_u32_push(step, q->order.turn[t].step);
}

bool ins_mend_search(const struct ins_script *s, struct ins_steps how,
                     struct ins_limit *limit, struct ins_vec_u32 *step)
{
    const uint32_t n = s->h->n_txns;
    const double spacing =
        (double)s->n_values * n * (1 + how.split) / (s->write_off[n] + 1.);
    const double near = NEAR * (spacing < FAR ? spacing : FAR) * INS_TURN_GAP;
    struct mend q = {.s = s,
                     .limit = limit,
                     .rng = {1},
                     .near = (uint64_t)near,
                     .near_bits = NEAR_BITS,
                     .along_bits = ALONG_BITS};
    step->len = 0;
    const bool found =
        !how.real_time && ins_sequence_init(&q.order, s, how, limit) && run(&q);
    if (found)
        write_steps(&q, step);
    ins_sequence_release(&q.order);
    return found && !step->failed && ins_script_runs(s, how, step->at, step->len);
}

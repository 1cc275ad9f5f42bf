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
 * A front goes through the order, some rounds of all sessions at a time; what is behind
 * it may miss as it likes.  All works on what is near the front, which is quick, and so
 * it is told soon when there are more reads that miss than can ever be mended.  When it
 * is through, the last few are worked on everywhere, until none is left or it gets
 * nowhere.
 *
 * Parts of a long history are mended beside each other, and then where they meet; a
 * short one by several at once, each by another chance.  Where begin and commit are two
 * steps, it is tried first as if they were one: that is half as much, and what misses
 * then is mended with both. */
#include "mend.h"

#include "base/pool.h"
#include "base/rng.h"
#include "witness/sequence.h"

#include <math.h>

enum {
    WAYS = 128,     /* to mend one read, at most */
    ALONG = 64,     /* turns of a session that move at once, at most; */
    ALONG_BITS = 5, /* mostly far less: up to 1, 2, 4, ... */
    NEAR_BITS = 4,  /* how far to look for a write: so far, or 2, 4, ... times that */
    TRIES = 12,     /* until some of the ways are possible, */
    FIRST = 3,      /* and so many of these are compared, */
    HEAVY = 5,      /* unless it weighs so much: chance finds what is best for all */
    SHAKE = 10,     /* turns to go at random, where there is no way */
    ROUNDS = 64,    /* that the front goes on at once, */
    STRIDE = 1000,  /* or so many turns, if that is more */
    LOOK = 5,       /* reads to mend for each turn, until it is looked how many miss */
    ASK = 256,      /* reads to mend between looks at the clock */
    FAR = 1 << 16,  /* turns: writes further apart than that do not meet */
    PART = 20 * 1000, /* turns, at least */
    MOST_PARTS = 16,
    ALL_PARTS = MOST_PARTS,
};
/* Is it hopeless? */
enum {
    TRIAL_ROUNDS = 32, /* rounds of a trial, */
    TRIAL = 1500,      /* or turns, */
    TRIAL_MENDS = 60,  /* with so many reads to mend for each of them, at most */
    ENOUGH = 2,        /* one that leaves so few is good enough, */
    TOO_MANY = 10,     /* and one that leaves more of a thousand bad, if afterwards */
    PER_TURN = 100, /* so many are to mend for each turn; fewer by so much as that is */
    HARDLY = 200,   /* one of so many is hardly one */
    NOT_SURE = 10,  /* and more than so many in all are not hardly one, either */
    SOME = 40,      /* so many reads that miss are not hopeless, */
    HOPELESS = 50,  /* or one of so many */
};
/* The end. */
enum {
    PERIOD = 4000,  /* reads to mend at one heat */
    PATIENCE = 12,  /* periods in which nothing gets better, until it is warmer */
    GIVE_UP = 1000, /* so many of these are the end, */
    IN_PART = 36,   /* or so many in a part: what its ends forbid is mended later, */
    FROZEN = 240,   /* or so many in which about as many miss all the time, */
    PROGRESS = 120, /* or when hardly fewer miss than so many periods before */
    FEW = 10,       /* where so few miss, they weigh more and more */
};

/* How many reads may be mended. */
struct patience {
    uint32_t least, most;  /* for each turn, */
    uint32_t all;          /* in between so many in all; */
    uint32_t end, end_all; /* at the end so many for each turn, and beside these */
    uint32_t end_most;     /* of a short history less, for each turn; */
    bool progress;         /* and no more when it does not get better steadily */
};
static const struct patience quick = {.least = 20,
                                      .most = 1000,
                                      .all = 1000 * 1000,
                                      .end = 5,
                                      .end_all = 4000 * 1000,
                                      .end_most = 1000,
                                      .progress = true};
static const struct patience patient = {.least = 100,
                                        .most = 1500,
                                        .all = 10 * 1000 * 1000,
                                        .end = 50,
                                        .end_all = 10 * 1000 * 1000,
                                        .end_most = 1000};

static const double heats[] = {0.25, 0.35, 0.5, 0.65, 0.85, 1.1, 1.5, 2.0, 2.7};
/* At the end it is warmer and colder by turns, */
static const double swing[] = {1.0, 0.9, 1.0, 0.8};
#define COOL 0.85 /* and all in all, if nothing gets better */
#define WARM 1.2
#define MOST_WARM 20.
enum {
    N_HEATS = sizeof heats / sizeof *heats,
    LIKELY_HEAT = 4,
    N_SWING = sizeof swing / sizeof *swing
};

/* Of what is usually between two writes of a value. */
#define NEAR 0.4

struct way { /* turn t goes behind another */
    uint32_t t, behind;
};

struct mend {
    const struct ins_script *s;
    struct ins_sequence order;
    struct ins_limit *limit;
    bool sure; /* only if hardly one misses */
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

enum went { NO_WAY, TOO_COSTLY, GONE };

/* Move a turn with those in the way, so many at most, unless the reads that miss then
 * weigh more than `most`. */
static enum went go(struct mend *q, struct way w, uint32_t reach, uint32_t most)
{
    uint32_t along[ALONG];
    const bool on = q->order.turn[w.behind].label > q->order.turn[w.t].label;
    uint32_t n = list_along(q, w, reach, along);
    if (!n)
        return NO_WAY;
    q->n_made = 0;
    for (uint32_t behind = w.behind; n && q->order.cost <= most + 1;) {
        make(q, along[--n], behind);
        behind = on ? behind : along[n];
    }
    if (q->order.cost <= most)
        return GONE;
    take_back(q);
    return TOO_COSTLY;
}

static uint32_t draw_reach(struct mend *q)
{
    return UINT32_C(1) << ins_rng_below(&q->rng, q->along_bits);
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
        (void)go(q, (struct way){t, behind}, draw_reach(q),
                 q->order.cost + draw_more(q));
}

/* Who may be left out is taken out, the commit with the begin. */
static void take_out(struct mend *q, uint32_t t)
{
    const uint32_t most = q->order.cost + draw_more(q);
    const uint32_t commit = q->order.how.split ? q->order.turn[t].later : 0;
    ins_sequence_take_out(&q->order, t);
    if (commit)
        ins_sequence_take_out(&q->order, commit);
    if (q->order.cost <= most)
        return;
    if (commit)
        ins_sequence_put_back(&q->order, commit);
    ins_sequence_put_back(&q->order, t);
}

/* Of the first ways that are possible go the best, or one at once that leaves fewer to
 * miss.  False when there is none. */
static bool go_best(struct mend *q, uint32_t first)
{
    const uint32_t before = q->order.cost;
    uint32_t least = before + draw_more(q) + 1, reach = 0, possible = 0;
    struct way best = {0, 0};
    for (uint32_t i = 0; q->n_ways && i < TRIES && possible < first; i++) {
        const uint32_t x = ins_rng_below(&q->rng, q->n_ways), r = draw_reach(q);
        const struct way w = q->way[x];
        q->way[x] = q->way[--q->n_ways];
        const enum went went = go(q, w, r, least - 1);
        if (went == GONE && q->order.cost < before)
            return true;
        possible += went != NO_WAY;
        if (went != GONE)
            continue;
        least = q->order.cost;
        best = w;
        reach = r;
        take_back(q);
    }
    if (best.t)
        (void)go(q, best, reach, least);
    return possible != 0;
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
    if (!go_best(q, q->order.use[read].weight < HEAVY ? FIRST : 1))
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
    return q->sure ? n > NOT_SURE
                   : n > SOME && n > q->order.turn[q->order.watched + 1].use / HOPELESS;
}

/* Mend up to a turn, `stride` at once, until no more miss than did before that, or so
 * many were mended for each turn.  False: it is hopeless. */
static bool go_on(struct mend *q, uint32_t up_to, uint32_t stride, uint32_t mends)
{
    uint32_t stuck = 0;
    while (q->order.watched < up_to && !q->stop) {
        const uint32_t left = up_to - q->order.watched;
        const uint32_t n = left < stride ? left : stride;
        ins_sequence_watch(&q->order, q->order.watched + n);
        for (uint32_t i = 0; i < mends && (i == 0 || q->order.n_miss > stuck);
             i += LOOK)
            (void)mend_some(q, (uint64_t)LOOK * n);
        stuck = q->order.n_miss;
        if (is_hopeless(q))
            return false;
    }
    return !q->stop;
}

/* How the end goes. */
struct course {
    uint32_t least, worse; /* that missed, and periods since then */
    uint32_t peak;         /* that missed since then */
    uint32_t before;       /* the least, some time ago */
};

/* After another period: does it get nowhere? */
static bool gets_nowhere(struct course *c, uint32_t miss, uint32_t period,
                         bool progress)
{
    c->worse = miss < c->least ? 0 : c->worse + 1;
    c->least = miss < c->least ? miss : c->least;
    c->peak = !c->worse || miss > c->peak ? miss : c->peak;
    if (c->worse >= FROZEN && c->peak <= c->least + ENOUGH)
        return true;
    if (period % PROGRESS != PROGRESS - 1)
        return false;
    const uint32_t before = c->before;
    c->before = c->least;
    return progress && c->least > SOME && c->least > before - before / 8;
}

/* The last few are the hardest: more turns may move, further, and more or less warm.
 * Where that melts, it is too hot; where nothing gets better, too cold. */
static bool end_well(struct mend *q, const struct patience *p, uint32_t give_up)
{
    const uint64_t n = q->order.n, few = PERIOD + p->end_most * n;
    const uint64_t many = p->end_all + p->end * n, most = few < many ? few : many;
    const double heat = q->heat;
    const uint32_t miss = q->order.n_miss;
    struct course c = {.least = miss, .peak = miss, .before = miss};
    double warmth = 1;
    for (uint32_t i = 0; i < most / PERIOD && c.worse < give_up && !q->stop; i++) {
        q->heat = heat * warmth * swing[i % N_SWING];
        q->near_bits = NEAR_BITS + i % 3;
        q->along_bits = ALONG_BITS + i % 2;
        if (mend_some(q, PERIOD))
            return true;
        if (q->order.n_miss < FEW)
            ins_sequence_weigh(&q->order);
        const bool melts = q->order.n_miss > 2 * c.least + SOME;
        if (gets_nowhere(&c, q->order.n_miss, i, p->progress))
            return false;
        if (!melts && c.worse % PATIENCE != PATIENCE - 1)
            continue;
        warmth *= WARM;
        if (melts || warmth > MOST_WARM) {
            warmth = COOL;
            ins_sequence_weigh_anew(&q->order);
        }
    }
    return !q->order.n_miss;
}

/* ---- the whole ---- */

struct part {
    struct mend q;
    struct ins_limit limit;
    uint32_t from, to; /* steps */
    uint32_t *first;   /* by key: its value before them */
    uint32_t twin;     /* number; twins mend the same by another chance */
    bool hopeless;
};

struct search {
    const struct ins_script *s;
    struct ins_steps how;
    struct ins_limit *limit;
    struct ins_vec_u32 step; /* the order */
    const struct patience *patience;
    bool sure;              /* only if a trial leaves none to mend, or hardly one */
    uint32_t stride, mends; /* turns, and reads to mend for each */
    double heat;
    uint32_t threads;
    struct part part[MOST_PARTS]; /* n_twins of each of n_parts */
    uint32_t n_parts, n_twins;
    bool joined; /* what was parts is to be mended as one */
};

static bool begin(const struct search *x, struct mend *q, const struct part *p,
                  struct ins_limit *limit)
{
    const uint32_t n = x->s->h->n_txns;
    const double spacing =
        (double)x->s->n_values * n * (1 + x->how.split) / (x->s->write_off[n] + 1.);
    const double near = NEAR * (spacing < FAR ? spacing : FAR) * INS_TURN_GAP;
    *q = (struct mend){.s = x->s,
                       .limit = limit,
                       .sure = x->sure,
                       .rng = {1 + p->from + ((uint64_t)p->twin << 32)},
                       .near = (uint64_t)near,
                       .near_bits = NEAR_BITS,
                       .along_bits = ALONG_BITS,
                       .heat = x->heat};
    return ins_sequence_init(&q->order, x->s, x->how, x->step.at + p->from,
                             p->to - p->from, p->first, limit);
}

/* Nobody's begin and commit are on two sides of the place that this returns: near
 * `at`, those who have begun commit before it. */
static uint32_t cut_at(struct search *x, uint32_t at)
{
    const uint32_t n = (uint32_t)x->step.len;
    uint32_t *const step = x->step.at;
    uint8_t *open = x->how.split ? INS_NEW0(uint8_t, x->s->h->n_txns) : NULL;
    uint32_t left = 0, cut = at;
    if (!open)
        return x->how.split ? n : at;
    for (uint32_t i = 0; i < at; i++) {
        open[step[i] >> 1] ^= 1;
        left += step[i] & 1 ? UINT32_MAX : 1;
    }
    for (uint32_t i = at; left && i < n; i++) {
        if (!(step[i] & 1) || !open[step[i] >> 1])
            continue;
        const uint32_t commit = step[i];
        memmove(step + cut + 1, step + cut, (i - cut) * sizeof *step);
        step[cut++] = commit;
        left--;
    }
    ins_free(open);
    return cut;
}

/* Mend the beginning at one heat: how many of its reads miss then.  UINT32_MAX: all
 * melts. */
static uint32_t try_heat(struct mend *q, uint32_t n, double heat)
{
    enum { LOOKS = 4, MELTED = 12 };
    ins_sequence_reset(&q->order);
    ins_sequence_watch(&q->order, n);
    q->heat = heat;
    for (uint32_t i = 0; i < LOOKS; i++)
        if (mend_some(q, (uint64_t)TRIAL_MENDS * n / LOOKS))
            return 0;
        else if (q->stop || q->order.n_miss > q->order.turn[n + 1].use / MELTED)
            return UINT32_MAX;
    return q->order.n_miss;
}

/* Find the heat at which the fewest reads of the beginning miss: from a likely one up,
 * or down, as long as it gets better.  False: they are too many. */
static bool try_heats(struct search *x, struct mend *q, uint32_t n)
{
    uint32_t at = LIKELY_HEAT, best = try_heat(q, n, heats[at]);
    if (x->sure && best > n / HARDLY)
        return false;
    for (int down = 0; down < 2 && best > ENOUGH; down++)
        for (uint32_t i = at; best > ENOUGH && (down ? i > 0 : i + 1 < N_HEATS);) {
            i = down ? i - 1 : i + 1;
            const uint32_t miss = try_heat(q, n, heats[i]);
            if (miss >= best && best != UINT32_MAX)
                break;
            best = miss;
            at = i;
        }
    x->heat = heats[at];
    if (best <= ENOUGH && x->mends < PER_TURN)
        x->mends = PER_TURN;
    return best != UINT32_MAX &&
           (best <= ENOUGH || (!x->sure && best * UINT64_C(1000) * PER_TURN <=
                                               (uint64_t)TOO_MANY * x->mends * n));
}

static bool is_promising(struct search *x)
{
    const uint32_t all = (uint32_t)x->step.len;
    const uint32_t round = x->s->h->n_sessions << x->how.split;
    const uint32_t n = TRIAL_ROUNDS * round < TRIAL ? TRIAL : TRIAL_ROUNDS * round;
    struct mend q;
    const uint32_t to = n + n / 2 < all ? cut_at(x, n + n / 2) : all;
    const struct part p = {.to = to, .first = x->s->initial};
    const bool ok = begin(x, &q, &p, x->limit) && try_heats(x, &q, n < to ? n : to);
    ins_sequence_release(&q.order);
    return ok;
}

static void cancel(struct search *x, uint32_t part)
{
    for (uint32_t i = 0; i < x->n_parts * x->n_twins; i++)
        if (part == ALL_PARTS || i / x->n_twins == part)
            ins_limit_cancel(&x->part[i].limit);
}

static void mend_part(void *context, unsigned i)
{
    struct search *const x = context;
    struct part *const p = &x->part[i];
    struct mend *const q = &p->q;
    p->hopeless = !p->first || !begin(x, q, p, &p->limit);
    if (!p->hopeless && x->n_parts == 1 && x->joined)
        ins_sequence_watch(&q->order, q->order.n);
    else if (!p->hopeless)
        p->hopeless = !go_on(q, q->order.n, x->stride, x->mends);
    if (p->hopeless)
        cancel(x, ALL_PARTS);
    else if (end_well(q, x->patience, x->n_parts > 1 || x->sure ? IN_PART : GIVE_UP))
        cancel(x, i / x->n_twins);
}

/* Where the parts begin, and with which values. */
static void cut_parts(struct search *x)
{
    const struct ins_script *s = x->s;
    const uint32_t n = (uint32_t)x->step.len;
    uint32_t *const value = INS_NEW(uint32_t, s->h->n_keys);
    uint32_t at = 0;
    if (value)
        memcpy(value, s->initial, s->h->n_keys * sizeof *value);
    for (uint32_t i = 0; i < x->n_parts; i++) {
        const uint32_t end = (uint32_t)((uint64_t)n * (i + 1) / x->n_parts), from = at;
        const uint32_t to = i + 1 == x->n_parts ? n : end > at ? cut_at(x, end) : at;
        for (uint32_t j = 0; j < x->n_twins; j++) {
            struct part *const p = &x->part[i * x->n_twins + j];
            *p = (struct part){.from = from, .to = to, .twin = j};
            p->first = value ? INS_NEW(uint32_t, s->h->n_keys) : NULL;
            ins_limit_within(&p->limit, x->limit);
            if (p->first)
                memcpy(p->first, value, s->h->n_keys * sizeof *value);
        }
        for (; value && at < to; at++) {
            const ins_txn t = x->step.at[at] >> 1;
            for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
                if (!x->how.split || x->step.at[at] & 1)
                    value[s->write[w].key] = s->write[w].value;
        }
    }
    ins_free(value);
}

/* Add what came of a part: the twin with the fewest that miss.  How many that is;
 * UINT32_MAX: none was ready. */
static uint32_t write_part(struct search *x, uint32_t part)
{
    const struct part *best = NULL;
    for (uint32_t i = 0; i < x->n_twins; i++) {
        const struct part *p = &x->part[part * x->n_twins + i];
        if (!p->hopeless && !p->q.stop &&
            (!best || p->q.order.n_miss < best->q.order.n_miss))
            best = p;
    }
    if (!best)
        return UINT32_MAX;
    const struct ins_turn *turn = best->q.order.turn;
    for (uint32_t t = turn[0].after; t; t = turn[t].after)
        ins_vec_u32_push(&x->step, turn[t].step);
    return best->q.order.n_miss;
}

/* Mend so many parts beside each other, and write down what came of it.  The most that
 * miss in one; UINT32_MAX: nothing came of it. */
static uint32_t mend_parts(struct search *x, uint32_t n_parts)
{
    uint32_t most = 0;
    x->n_parts = n_parts;
    x->n_twins = x->threads > n_parts ? x->threads / n_parts : 1;
    cut_parts(x);
    ins_parallel(x->n_parts * x->n_twins, mend_part, x);
    x->step.len = 0;
    for (uint32_t i = 0; i < x->n_parts; i++) {
        const uint32_t miss = write_part(x, i);
        most = miss > most ? miss : most;
    }
    for (uint32_t i = 0; i < x->n_parts * x->n_twins; i++) {
        ins_sequence_release(&x->part[i].q.order);
        ins_free(x->part[i].first);
    }
    return x->step.failed ? UINT32_MAX : most;
}

/* Each part is as it should be, or nearly so, and now they are one. */
static bool mend_seams(struct search *x, uint32_t may_miss)
{
    x->joined = true;
    const uint32_t miss = mend_parts(x, 1);
    x->joined = false;
    return miss != UINT32_MAX && miss <= may_miss;
}

/* From an order that is as good as any to one in which all are mended that can be. */
static bool mend_all(struct search *x, uint32_t may_miss)
{
    const uint32_t n = (uint32_t)x->step.len;
    const uint32_t round = x->s->h->n_sessions << x->how.split;
    const uint32_t parts = n / PART < x->threads ? n / PART : x->threads;
    const uint32_t mends = x->patience->all / (n + 1) < x->patience->most
                               ? x->patience->all / (n + 1)
                               : x->patience->most;
    if (!n)
        return true;
    x->stride = ROUNDS * round < STRIDE ? STRIDE : ROUNDS * round;
    x->mends = mends < x->patience->least ? x->patience->least : mends;
    if (!is_promising(x))
        return false;
    const uint32_t miss = mend_parts(x, parts ? parts : 1);
    if (miss == UINT32_MAX)
        return false;
    return parts > 1 ? mend_seams(x, may_miss) : miss <= may_miss;
}

/* Where begin and commit are two steps: at first as if they were one, if that nearly
 * works out, and then with both. */
static bool mend_serially(struct search *x, uint32_t may_miss)
{
    const struct ins_steps how = x->how;
    const bool sure = x->sure;
    x->how = (struct ins_steps){0};
    x->sure = true;
    bool ok =
        ins_sequence_steps(x->s, x->how, x->limit, &x->step) && mend_all(x, UINT32_MAX);
    x->sure = sure;
    x->how = how;
    struct ins_vec_u32 serial = x->step;
    x->step = (struct ins_vec_u32){0};
    ok = ok && ins_script_split(&serial, &x->step);
    ins_vec_u32_release(&serial);
    return ok && mend_seams(x, may_miss);
}

bool ins_mend_search(const struct ins_script *s, struct ins_steps how,
                     struct ins_mending m, struct ins_limit *limit,
                     struct ins_vec_u32 *step)
{
    struct search x = {.s = s,
                       .how = how,
                       .limit = limit,
                       .sure = m.sure,
                       .threads = m.threads < MOST_PARTS ? m.threads : MOST_PARTS,
                       .patience = m.brief ? &quick : &patient};
    step->len = 0;
    bool found = !how.real_time && how.split && mend_serially(&x, m.may_miss);
    if (!found && !how.real_time) {
        x.step.len = 0;
        found = ins_sequence_steps(s, how, limit, &x.step) && mend_all(&x, m.may_miss);
    }
    for (size_t i = 0; found && i < x.step.len; i++)
        ins_vec_u32_push(step, x.step.at[i]);
    found = found && !step->failed &&
            (m.may_miss || ins_script_runs(s, how, step->at, step->len));
    ins_vec_u32_release(&x.step);
    return found;
}

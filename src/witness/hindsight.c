/* hindsight.c - guess times by what was read.
 *
 * Time is counted in transactions of the whole history.  For each transaction there is
 * a place in time and how uncertain that is.  Each session in turn is placed anew
 * against the others, taken to be where they are believed to be: the chance that a key
 * has a value at some time follows from who may have written it by then, and the place
 * of a transaction is as likely as what it read is there, and as what it wrote is to
 * those who read the key afterwards.  From one transaction of a session to the next
 * time goes on by one round of all sessions, more or less.  That is a hidden Markov
 * chain, and its forward and backward sums give the places (Rabiner 1989).
 *
 * At the beginning all sessions are together.  So the places are found from there on,
 * in a scene that moves along: at first at some distance behind what is known, where
 * sessions have not drifted far; then once more with a wider look, to find sessions
 * that were lost.
 *
 * Nothing depends on the guess being right: a run that is found by it is held against
 * the history as any other. */
#include "hindsight.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

enum {
    MOST_CELLS = 8 << 20, /* bins of all values of a scene */
    LEAST_TOLD = 30,      /* reads that a session should have in a scene */
    SHORTEST = 40,        /* transactions of a session in a scene */
    LONGEST = 160,
    REACH = 40,   /* of another look, to both sides, in rounds of all sessions */
    LENGTH = 200, /* and of its scenes */
    FEWEST = 8,   /* transactions of a session, below which nothing is told */
    BEYOND = 10,  /* transactions of each session that are taken along, unplaced */
};

static const float pace_sd = 0.6f;  /* of a round, between transactions of a session */
static const float stray = 0.05f;   /* share of reads that tell nothing */
static const float readers = 0.7f;  /* weight of who reads what was written */
static const float hardly = 1e-6f;  /* a chance */
static const float memory_of = 4.f; /* writes of a key, after which nothing is left */

/* A session in a scene. */
struct part {
    uint32_t from, to, seen; /* placed: from .. to - 1; taken along: up to seen - 1 */
    double before;           /* when the one before the first ran */
    float sd;
};

struct search {
    const struct ins_script *s;
    struct ins_limit *limit;
    uint32_t n_sessions, n; /* n: transactions */
    uint32_t *lane;         /* by session, + 1: where its transactions begin in txn */
    ins_txn *txn;           /* those that count or may count, by session */
    double *at;             /* by place in txn */
    float *sd;
    uint8_t *tells;       /* by read: it is not of the session's own last write */
    uint32_t *key_values; /* by key: how many values it takes */
    /* the scene: bins of time, and in each how much is written and read of each
     * value, and of each key */
    double origin;
    float bin, rate; /* in transactions: of a bin, of a round */
    uint32_t n_bins, n_cols;
    float *wrote, *read, *key_wrote, *key_read;
    float *key_half; /* share that outlives half a bin; by key, when it is asked for */
    uint32_t *half_stamp, sweep;
    size_t cells, key_cells; /* that there is room for */
    uint32_t *col, *col_stamp, stamp;
    struct part *part;
    /* of one session: bins by transaction */
    float *chance, *forth, *back;
    size_t room;
    uint32_t *low, *high, n_low;
    struct ins_vec_u32 past;
    float *step; /* chances of so many bins from one transaction to the next */
    uint32_t step_low, step_high, n_step;
    float *weight; /* of a transaction, by bin */
};

/* e to the x, about, where x is small; it grows more slowly, and not beyond all bounds.
 */
static float soft_exp(float x)
{
    float y = 1 + (x < 80 ? x : 80) * (1.f / 64);
    y = y > 0 ? y : 0;
    for (int i = 0; i < 6; i++)
        y *= y;
    return y;
}

/* e to the -x, about. */
static float decay(float x)
{
    return 1 / (1 + x + .5f * x * x + x * x * x * (1.f / 6));
}

static float not_negative(float x)
{
    return x > 0 ? x : 0;
}

static uint32_t bin_of(const struct search *q, double at)
{
    const double b = (at - q->origin) / (double)q->bin;
    return b <= 0 ? 0 : b >= q->n_bins - 1 ? q->n_bins - 1 : (uint32_t)b;
}

static double time_of(const struct search *q, uint32_t bin)
{
    return q->origin + (bin + .5) * (double)q->bin;
}

/* ---- who may be where ---- */

/* Add to the bins from lo on what a transaction does there. */
static void add_to(float *value, float *key, const float *weight, uint32_t lo,
                   uint32_t hi)
{
    for (uint32_t b = lo; b <= hi; b++) {
        value[b] += weight[b - lo];
        key[b] += weight[b - lo];
    }
}

/* Put the transaction at place i of txn into the scene, or with -1 take it out. */
static void put(struct search *q, uint32_t i, float sign)
{
    const struct ins_script *s = q->s;
    const ins_txn t = q->txn[i];
    const float sd = q->sd[i] > q->bin / 2 ? q->sd[i] : q->bin / 2;
    const uint32_t lo = bin_of(q, q->at[i] - 3 * (double)sd);
    const uint32_t hi = bin_of(q, q->at[i] + 3 * (double)sd);
    float sum = 0;
    for (uint32_t b = lo; b <= hi; b++) {
        const float z = (float)(time_of(q, b) - q->at[i]) / sd;
        sum += q->weight[b - lo] = soft_exp(-z * z / 2) + 1e-6f;
    }
    for (uint32_t b = lo; b <= hi; b++)
        q->weight[b - lo] *= sign / sum;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        add_to(q->wrote + (size_t)q->col[s->write[w].value] * q->n_bins,
               q->key_wrote + (size_t)s->write[w].key * q->n_bins, q->weight, lo, hi);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        add_to(q->read + (size_t)q->col[s->read[r].value] * q->n_bins,
               q->key_read + (size_t)s->read[r].key * q->n_bins, q->weight, lo, hi);
}

static void number_value(struct search *q, uint32_t value)
{
    if (q->col_stamp[value] != q->stamp) {
        q->col_stamp[value] = q->stamp;
        q->col[value] = q->n_cols++;
    }
}

static void number_values(struct search *q, uint32_t i)
{
    const struct ins_script *s = q->s;
    const ins_txn t = q->txn[i];
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        number_value(q, s->write[w].value);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        number_value(q, s->read[r].value);
}

/* Room for so many arrays of n; not where that is much of the memory there may be. */
static bool grow(const struct search *q, float **at, size_t *room, size_t n,
                 uint32_t arrays)
{
    const uint64_t most = q->limit ? q->limit->memory_bytes / 8 : 0;
    if (*at && n <= *room)
        return true;
    if (n > MOST_CELLS || (most && n * arrays * sizeof **at > most))
        return false;
    ins_free(*at);
    *at = INS_NEW(float, n *arrays);
    *room = *at ? n : 0;
    return *at != NULL;
}

/* Room for the bins of all values in the scene, empty. */
static bool clear_scene(struct search *q)
{
    const size_t cells = (size_t)q->n_cols * q->n_bins;
    const size_t key_cells = (size_t)q->s->h->n_keys * q->n_bins;
    if (!grow(q, &q->wrote, &q->cells, cells, 2) ||
        !grow(q, &q->key_wrote, &q->key_cells, key_cells, 3) || !q->wrote)
        return false;
    q->read = q->wrote + cells;
    q->key_read = q->key_wrote + key_cells;
    q->key_half = q->key_read + key_cells;
    memset(q->wrote, 0, 2 * cells * sizeof *q->wrote);
    memset(q->key_wrote, 0, 2 * key_cells * sizeof *q->key_wrote);
    return true;
}

/* The scene from `origin` on, with q->part; everybody is put where he is believed to
 * be. */
static bool set_scene(struct search *q, double origin, double end)
{
    q->origin = origin;
    q->n_bins = (uint32_t)((end - origin) / (double)q->bin) + 2;
    q->n_cols = 0;
    q->past.len = 0;
    q->stamp++;
    for (uint32_t i = 0; i < q->n_sessions; i++) {
        const struct part *p = &q->part[i];
        for (uint32_t x = p->from; x-- > q->lane[i] && q->at[x] > origin;)
            ins_vec_u32_push(&q->past, x);
        for (uint32_t x = p->from; x < p->seen; x++)
            number_values(q, x);
    }
    for (size_t i = 0; i < q->past.len; i++)
        number_values(q, q->past.at[i]);
    ins_free(q->weight);
    q->weight = INS_NEW(float, q->n_bins);
    if (q->past.failed || !q->weight || !clear_scene(q))
        return false;
    for (size_t i = 0; i < q->past.len; i++)
        put(q, q->past.at[i], 1);
    for (uint32_t i = 0; i < q->n_sessions; i++)
        for (uint32_t x = q->part[i].from; x < q->part[i].seen; x++)
            put(q, x, 1);
    return true;
}

/* ---- how well does a transaction fit? ---- */

/* What is written of a key hardly changes within a sweep. */
static const float *half_of(struct search *q, ins_key k)
{
    float *half = q->key_half + (size_t)k * q->n_bins;
    const float *all = q->key_wrote + (size_t)k * q->n_bins;
    if (q->half_stamp[k] != q->sweep) {
        q->half_stamp[k] = q->sweep;
        for (uint32_t b = 0; b < q->n_bins; b++)
            half[b] = decay(not_negative(all[b]) / 2);
    }
    return half;
}

/* Multiply the chances by that of a value being the current one of its key. */
static void fit_read(struct search *q, struct ins_access a, float *chance, uint32_t lo,
                     uint32_t hi)
{
    const float *wrote = q->wrote + (size_t)q->col[a.value] * q->n_bins;
    const float *all = q->key_wrote + (size_t)a.key * q->n_bins;
    const float *half = half_of(q, a.key);
    const float even = 1.f / (float)q->key_values[a.key];
    float p = even, writes = 0;
    uint32_t b = lo;
    while (b > 0 && writes < memory_of)
        writes += all[--b];
    for (; b <= hi; b++) {
        const float share = all[b] > 1e-6f ? not_negative(wrote[b]) / all[b] : even;
        const float mid = share + (p - share) * half[b];
        if (b >= lo)
            chance[b] *= stray * even + (1 - stray) * mid;
        p = share + (mid - share) * half[b];
    }
}

/* Add to the logarithms of chances what those say who read the key until it is
 * overwritten. */
static void fit_write(struct search *q, struct ins_access a, float *log_chance,
                      uint32_t lo, uint32_t hi)
{
    const float *mine = q->read + (size_t)q->col[a.value] * q->n_bins;
    const float *reads = q->key_read + (size_t)a.key * q->n_bins;
    const float *all = q->key_wrote + (size_t)a.key * q->n_bins;
    const float *half = half_of(q, a.key);
    const float even = 1.f / (float)q->key_values[a.key];
    const float unit = readers * logf((float)q->key_values[a.key]) / 2;
    float sum = 0, writes = 0;
    uint32_t b = hi;
    while (b + 1 < q->n_bins && writes < memory_of)
        writes += all[++b];
    for (b++; b-- > lo;) {
        const float here = unit * (mine[b] - reads[b] * even);
        sum = sum * half[b] * half[b] + here;
        if (b <= hi)
            log_chance[b] += sum;
        sum += here;
    }
}

/* The chances of the transaction at place i in the bins lo to hi, the best being 1. */
static void fit(struct search *q, uint32_t i, float *chance, uint32_t lo, uint32_t hi)
{
    const struct ins_script *s = q->s;
    const ins_txn t = q->txn[i];
    for (uint32_t b = lo; b <= hi; b++)
        chance[b] = 0;
    for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++)
        fit_write(q, s->write[w], chance, lo, hi);
    for (uint32_t b = lo; b <= hi; b++)
        chance[b] = soft_exp(chance[b]);
    for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
        if (q->tells[r])
            fit_read(q, s->read[r], chance, lo, hi);
    float most = 1e-30f;
    for (uint32_t b = lo; b <= hi; b++)
        most = chance[b] > most ? chance[b] : most;
    for (uint32_t b = lo; b <= hi; b++)
        chance[b] /= most;
}

/* ---- one session against the others ---- */

/* Chances sum up to 1, or are even where nothing is left of them. */
static void balance(float *chance, uint32_t lo, uint32_t hi)
{
    float sum = 0;
    for (uint32_t b = lo; b <= hi; b++)
        sum += chance[b];
    for (uint32_t b = lo; b <= hi; b++)
        chance[b] = sum > 1e-30f ? chance[b] / sum : 1 / (float)(hi - lo + 1);
}

/* Where each transaction of the part is looked for: around where the pace brings it,
 * or with `reach` around where it is believed to be. */
static void set_bounds(struct search *q, const struct part *p, float reach)
{
    const float sd = pace_sd * (float)q->n_sessions;
    for (uint32_t i = 0; i < p->to - p->from; i++) {
        const float n = (float)(i + 1);
        const double wide =
            (double)(reach > 0
                         ? reach
                         : 3.2f * sqrtf(p->sd * p->sd + n * sd * sd) + 2 * q->bin);
        const double around =
            reach > 0 ? q->at[p->from + i] : p->before + (double)(q->rate * n);
        q->low[i] = bin_of(q, around - wide);
        q->high[i] = bin_of(q, around + wide);
        if (i > 0 && q->low[i] < q->low[i - 1])
            q->low[i] = q->low[i - 1];
        if (q->high[i] < q->low[i])
            q->high[i] = q->low[i];
    }
}

static float *row(const struct search *q, float *all, uint32_t i)
{
    return all + (size_t)i * q->n_bins;
}

/* Where the transaction number i of the part may be, by those before it. */
static void predict(struct search *q, const struct part *p, uint32_t i)
{
    const float round = pace_sd * (float)q->n_sessions;
    const float sd = sqrtf(p->sd * p->sd + round * round);
    const uint32_t lo = q->low[i], hi = q->high[i];
    float *to = row(q, q->forth, i);
    memset(to + lo, 0, (hi - lo + 1) * sizeof *to);
    for (uint32_t b = lo; !i && b <= hi; b++) {
        const float z = (float)(time_of(q, b) - p->before - (double)q->rate) / sd;
        to[b] = soft_exp(-z * z / 2) + 1e-5f;
    }
    for (uint32_t b = i ? q->low[i - 1] : 1; i && b <= q->high[i - 1]; b++) {
        const float from = row(q, q->forth, i - 1)[b];
        uint32_t x = b + q->step_low > lo ? b + q->step_low : lo;
        for (; from > hardly && x <= hi && x <= b + q->step_high; x++)
            to[x] += from * q->step[x - b - q->step_low];
    }
}

/* Leave out bins at both ends where nobody is. */
static void narrow(struct search *q, uint32_t i)
{
    const float *to = row(q, q->forth, i);
    float most = 0;
    for (uint32_t b = q->low[i]; b <= q->high[i]; b++)
        most = to[b] > most ? to[b] : most;
    while (q->low[i] < q->high[i] && to[q->low[i]] <= most * hardly)
        q->low[i]++;
    while (q->low[i] < q->high[i] && to[q->high[i]] <= most * hardly)
        q->high[i]--;
}

static void go_forth(struct search *q, const struct part *p)
{
    for (uint32_t i = 0; i < p->to - p->from; i++) {
        float *to = row(q, q->forth, i), *chance = row(q, q->chance, i);
        predict(q, p, i);
        narrow(q, i);
        fit(q, p->from + i, chance, q->low[i], q->high[i]);
        for (uint32_t b = q->low[i]; b <= q->high[i]; b++)
            to[b] *= chance[b];
        balance(to, q->low[i], q->high[i]);
    }
}

static void go_back(struct search *q, uint32_t n)
{
    for (uint32_t b = q->low[n - 1]; b <= q->high[n - 1]; b++)
        row(q, q->back, n - 1)[b] = 1;
    for (uint32_t i = n - 1; i-- > 0;) {
        const float *forth = row(q, q->forth, i), *from = row(q, q->back, i + 1);
        float *to = row(q, q->back, i);
        float *chance = row(q, q->chance, i + 1);
        for (uint32_t x = q->low[i + 1]; x <= q->high[i + 1]; x++)
            chance[x] *= from[x];
        for (uint32_t b = q->low[i]; b <= q->high[i]; b++) {
            uint32_t x = b + q->step_low;
            x = x > q->low[i + 1] ? x : q->low[i + 1];
            float sum = 0;
            for (; forth[b] > hardly && x <= q->high[i + 1] && x <= b + q->step_high;
                 x++)
                sum += chance[x] * q->step[x - b - q->step_low];
            to[b] = sum;
        }
        balance(to, q->low[i], q->high[i]);
    }
}

/* Mean and spread of where the transactions are. */
static void settle(struct search *q, const struct part *p)
{
    for (uint32_t i = 0; i < p->to - p->from; i++) {
        const float *forth = row(q, q->forth, i), *back = row(q, q->back, i);
        double sum = 0, first = 0, second = 0;
        for (uint32_t b = q->low[i]; b <= q->high[i]; b++) {
            const double w = (double)(forth[b] * back[b]), x = b - q->low[i] + .5;
            sum += w;
            first += w * x;
            second += w * x * x;
        }
        if (!(sum > 0))
            continue;
        const double mean = first / sum, square = second / sum - mean * mean;
        q->at[p->from + i] = q->origin + (q->low[i] + mean) * (double)q->bin;
        q->sd[p->from + i] =
            q->bin * sqrtf((float)(square > 0 ? square : 0) + 1.f / 12);
    }
}

/* From place `from` on, as the pace has it. */
static void extrapolate(struct search *q, uint32_t from, uint32_t to, double at,
                        float sd)
{
    const float round = pace_sd * (float)q->n_sessions;
    for (uint32_t i = from; i < to; i++) {
        q->at[i] = at += (double)q->rate;
        q->sd[i] = sd = sqrtf(sd * sd + round * round);
    }
}

static void place(struct search *q, const struct part *p, float reach)
{
    const uint32_t n = p->to - p->from;
    for (uint32_t i = p->from; i < p->seen; i++)
        put(q, i, -1);
    set_bounds(q, p, reach);
    go_forth(q, p);
    go_back(q, n);
    settle(q, p);
    if (reach <= 0)
        extrapolate(q, p->to, p->seen, q->at[p->to - 1], q->sd[p->to - 1]);
    for (uint32_t i = p->from; i < p->seen; i++)
        put(q, i, 1);
}

/* Room for the bins of the longest part. */
static bool make_room(struct search *q)
{
    uint32_t longest = 1;
    for (uint32_t i = 0; i < q->n_sessions; i++)
        if (q->part[i].to - q->part[i].from > longest)
            longest = q->part[i].to - q->part[i].from;
    const size_t n = (size_t)longest * q->n_bins;
    if (longest > q->n_low) {
        ins_free(q->low);
        q->low = INS_NEW(uint32_t, 2 * (size_t)longest);
        q->n_low = q->low ? longest : 0;
    }
    if (!q->low || !grow(q, &q->chance, &q->room, n, 3))
        return false;
    q->high = q->low + q->n_low;
    q->forth = q->chance + n;
    q->back = q->forth + n;
    return true;
}

/* How far time goes on from one transaction of a session to the next. */
static bool set_steps(struct search *q)
{
    const float sd = pace_sd * (float)q->n_sessions;
    const float low = (q->rate - 3 * sd) / q->bin, high = (q->rate + 4 * sd) / q->bin;
    q->step_low = low > 1 ? (uint32_t)low : 1;
    q->step_high = (uint32_t)high + 1;
    const uint32_t n = q->step_high - q->step_low + 1;
    if (n > q->n_step) {
        ins_free(q->step);
        q->step = INS_NEW(float, n);
        q->n_step = q->step ? n : 0;
    }
    for (uint32_t i = 0; q->step && i < n; i++) {
        const float z = ((float)(q->step_low + i) * q->bin - q->rate) / sd;
        q->step[i] = soft_exp(-z * z / 2);
    }
    return q->step;
}

/* Transactions of a session are one after another. */
static void keep_order(struct search *q)
{
    for (uint32_t i = 0; i < q->n_sessions; i++)
        for (uint32_t x = q->part[i].from + 1; x < q->lane[i + 1]; x++)
            if (q->at[x] < q->at[x - 1] + .01)
                q->at[x] = q->at[x - 1] + .01;
            else if (x >= q->part[i].seen)
                break;
}

static bool place_all(struct search *q, float reach, uint32_t sweeps)
{
    if (!make_room(q) || !set_steps(q))
        return false;
    for (uint32_t i = 0; i < sweeps * q->n_sessions; i++) {
        const uint32_t n = i % q->n_sessions;
        const uint32_t session = i / q->n_sessions % 2 ? q->n_sessions - 1 - n : n;
        const struct part *p = &q->part[session];
        q->sweep += n == 0;
        if (p->to > p->from)
            place(q, p, reach);
        if (ins_limit_hit(q->limit))
            return false;
    }
    keep_order(q);
    return true;
}

/* ---- the whole ---- */

/* So many transactions of each session that they have read enough. */
static double scene_length(const struct search *q)
{
    const double reads = (double)q->s->read_off[q->s->h->n_txns] / q->n;
    const double n = LEAST_TOLD / (reads + 1e-3);
    return n < SHORTEST ? SHORTEST : n > LONGEST ? LONGEST : n;
}

/* The first look: sessions go on from where they are known to be. */
static bool track(struct search *q)
{
    const double length = scene_length(q) * q->n_sessions;
    uint32_t left = q->n_sessions;
    q->bin = q->n_sessions > 2 ? (float)q->n_sessions / 2.5f : 1;
    for (uint32_t i = 0; i < q->n_sessions; i++)
        q->part[i] = (struct part){.from = q->lane[i],
                                   .before = -.5 * q->n_sessions,
                                   .sd = .3f * (float)q->n_sessions};
    for (double now = 0; left; now += .6 * length) {
        left = 0;
        for (uint32_t i = 0; i < q->n_sessions; i++)
            left += q->part[i].from < q->lane[i + 1];
        q->rate = (float)left;
        for (uint32_t i = 0; left && i < q->n_sessions; i++) {
            struct part *p = &q->part[i];
            const double n = (now + length - p->before) / left;
            const uint32_t rest = q->lane[i + 1] - p->from;
            p->to = p->from + (n <= 0 ? 0 : n < rest ? (uint32_t)n : rest);
            p->seen = p->to + BEYOND < q->lane[i + 1] ? p->to + BEYOND : q->lane[i + 1];
            extrapolate(q, p->from, p->seen, p->before, p->sd);
        }
        if (left && (!set_scene(q, now - .5 * length, now + 1.5 * length) ||
                     !place_all(q, 0, 2)))
            return false;
        for (uint32_t i = 0; i < q->n_sessions; i++)
            for (struct part *p = &q->part[i];
                 p->from < p->to && q->at[p->from] < now + .6 * length; p->from++) {
                p->before = q->at[p->from];
                p->sd = q->sd[p->from];
            }
    }
    return true;
}

/* The first of a session at that time or later. */
static uint32_t first_at(const struct search *q, uint32_t session, double time)
{
    uint32_t lo = q->lane[session], hi = q->lane[session + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (q->at[mid] < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Another look at all sessions, from where they are believed to be. */
static bool look_again(struct search *q)
{
    const double round = q->n_sessions;
    const double reach = REACH * round, length = LENGTH * round;
    double end = 0;
    for (uint32_t i = 0; i < q->n; i++)
        end = q->at[i] > end ? q->at[i] : end;
    q->rate = (float)round;
    q->bin = round > 2 ? (float)round / 2 : 1;
    for (uint32_t k = 0; (double)k * length / 2 < end; k++) {
        const double now = (double)k * length / 2;
        for (uint32_t i = 0; i < q->n_sessions; i++) {
            struct part *p = &q->part[i];
            p->from = first_at(q, i, now);
            p->to = first_at(q, i, now + length);
            p->seen = first_at(q, i, now + length + reach + BEYOND * round);
            const bool first = p->from == q->lane[i];
            p->before = first             ? -.5 * round
                        : p->from < p->to ? q->at[p->from] - round
                                          : 0;
            p->sd = (float)(first ? .3 * round : reach / 3);
        }
        const double margin = reach + 2 * BEYOND * round;
        if (!set_scene(q, now - margin, now + length + margin) ||
            !place_all(q, (float)reach, 1))
            return false;
    }
    return true;
}

/* Which reads tell something: not those of what the session itself wrote last. */
static bool mark_telling(struct search *q)
{
    const struct ins_script *s = q->s;
    uint32_t *mine = INS_NEW(uint32_t, s->h->n_keys);
    uint32_t *since = INS_NEW0(uint32_t, s->h->n_keys);
    for (uint32_t i = 0; mine && since && i < q->n_sessions; i++)
        for (uint32_t x = q->lane[i]; x < q->lane[i + 1]; x++) {
            const ins_txn t = q->txn[x];
            for (uint32_t r = s->read_off[t]; r < s->read_off[t + 1]; r++)
                q->tells[r] = since[s->read[r].key] != i + 1 ||
                              mine[s->read[r].key] != s->read[r].value;
            for (uint32_t w = s->write_off[t]; w < s->write_off[t + 1]; w++) {
                since[s->write[w].key] = i + 1;
                mine[s->write[w].key] = s->write[w].value;
            }
        }
    ins_free(mine);
    ins_free(since);
    return mine && since;
}

static void count_value(struct search *q, struct ins_access a, uint8_t *seen)
{
    q->key_values[a.key] += !seen[a.value];
    seen[a.value] = 1;
}

static bool count_values(struct search *q)
{
    const struct ins_script *s = q->s;
    uint8_t *seen = INS_NEW0(uint8_t, s->n_values);
    for (ins_key k = 0; seen && k < s->h->n_keys; k++)
        q->key_values[k] = 1;
    for (uint32_t r = 0; seen && r < s->read_off[s->h->n_txns]; r++)
        count_value(q, s->read[r], seen);
    for (uint32_t w = 0; seen && w < s->write_off[s->h->n_txns]; w++)
        count_value(q, s->write[w], seen);
    ins_free(seen);
    return seen;
}

static bool init(struct search *q)
{
    const struct ins_script *s = q->s;
    const struct ins_history *h = s->h;
    const uint32_t n_reads = s->read_off[h->n_txns];
    q->n_sessions = h->n_sessions;
    q->lane = INS_NEW(uint32_t, (size_t)h->n_sessions + 1);
    q->txn = INS_NEW(ins_txn, h->n_txns);
    q->at = INS_NEW0(double, h->n_txns);
    q->sd = INS_NEW0(float, h->n_txns);
    q->tells = INS_NEW0(uint8_t, n_reads);
    q->key_values = INS_NEW(uint32_t, h->n_keys);
    q->col = INS_NEW(uint32_t, s->n_values);
    q->col_stamp = INS_NEW0(uint32_t, s->n_values);
    q->part = INS_NEW0(struct part, h->n_sessions);
    q->half_stamp = INS_NEW0(uint32_t, h->n_keys);
    if (!q->lane || !q->txn || !q->at || !q->sd || !q->tells || !q->key_values ||
        !q->col || !q->col_stamp || !q->part || !q->half_stamp)
        return false;
    for (uint32_t i = 0; i < h->n_sessions; i++) {
        q->lane[i] = q->n;
        for (ins_txn t = ins_script_next(s, i, h->session_first[i]);
             t < h->session_first[i + 1]; t = ins_script_next(s, i, t + 1))
            q->txn[q->n++] = t;
    }
    q->lane[h->n_sessions] = q->n;
    return q->n > 0 && mark_telling(q) && count_values(q);
}

static void release(struct search *q)
{
    void *all[] = {q->lane,      q->txn,    q->at,         q->sd,
                   q->tells,     q->wrote,  q->col,        q->col_stamp,
                   q->key_wrote, q->part,   q->chance,     q->low,
                   q->step,      q->weight, q->key_values, q->half_stamp};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ins_free(all[i]);
    ins_vec_u32_release(&q->past);
}

/* Everybody ran around his place, half a round to both sides and apart from others of
 * his session; in thousandths. */
static void write_times(const struct search *q, struct ins_hindsight *g)
{
    for (ins_txn t = 0; t < q->s->h->n_txns; t++)
        g->begin[t] = g->end[t] = INS_NO_TIME;
    for (uint32_t i = 0; i < q->n_sessions; i++)
        for (uint32_t x = q->lane[i]; x < q->lane[i + 1]; x++) {
            const double at = q->at[x];
            double before = q->n_sessions, after = q->n_sessions;
            if (x > q->lane[i] && at - q->at[x - 1] < before)
                before = at - q->at[x - 1];
            if (x + 1 < q->lane[i + 1] && q->at[x + 1] - at < after)
                after = q->at[x + 1] - at;
            g->begin[q->txn[x]] = (int64_t)(1000 * (at - before / 2)) + 1;
            g->end[q->txn[x]] = (int64_t)(1000 * (at + after / 2));
        }
}

static void guess(struct ins_hindsight *g, const struct ins_script *s,
                  struct ins_limit *limit)
{
    struct search q = {.s = s, .limit = limit};
    g->begin = INS_NEW(int64_t, s->h->n_txns);
    g->end = INS_NEW(int64_t, s->h->n_txns);
    if (g->begin && g->end && init(&q) && track(&q) && look_again(&q)) {
        write_times(&q, g);
        g->history = *s->h;
        g->history.txn_begin = g->begin;
        g->history.txn_end = g->end;
        g->history.has_times = true;
    } else {
        ins_hindsight_release(g);
    }
    release(&q);
}

bool ins_hindsight_date(struct ins_hindsight *g, const struct ins_script *s,
                        struct ins_script *dated, struct ins_limit *limit)
{
    const uint32_t sessions = s->h->n_sessions;
    if (!g->tried && !s->h->has_times && sessions > 1 &&
        s->h->n_txns / sessions >= FEWEST)
        guess(g, s, limit);
    g->tried = true;
    if (!g->begin)
        return false;
    *dated = *s;
    dated->h = &g->history;
    dated->undated = s;
    return true;
}

void ins_hindsight_release(struct ins_hindsight *g)
{
    ins_free(g->begin);
    ins_free(g->end);
    g->begin = g->end = NULL;
}

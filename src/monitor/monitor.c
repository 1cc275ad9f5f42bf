#include "monitor/monitor.h"

#include "monitor/kept.h"
#include "monitor/reseed.h"

#include "base/mem.h"

/* How a guess may explain a stream, strong before weak. */
static const struct {
    struct ins_guess_mode mode;
    enum ins_base_level proves;
} modes[] = {
    {{.real_time = true}, INS_BASE_SER},
    {{0}, INS_BASE_SER},
    {{.split = true, .apart = true, .real_time = true}, INS_BASE_SI},
    {{.split = true, .apart = true}, INS_BASE_SI},
    {{.split = true, .real_time = true}, INS_BASE_PC},
    {{.split = true}, INS_BASE_PC},
    {{.statements = true, .real_time = true}, INS_BASE_RC},
    {{.statements = true}, INS_BASE_RC},
};
enum { N_MODES = sizeof modes / sizeof *modes };

enum {
    PATIENCE = 7,     /* times what is held */
    LONG_LIFE = 2000, /* arrivals that a guess lived through */
    SHORTEST_PAUSE = 64,
    RESEED_S = 5,       /* time to find an order */
    WINDOW = 2000,      /* transactions in the smallest check */
    SHALLOW = 16000,    /* in the largest that takes no time to speak of */
    LOOK_EVERY = 500,   /* arrivals, while something is open */
    WHOLE_AT_ONCE = 500 /* up to so many are checked whole whenever something breaks */
};

enum ins_status ins_monitor_init(struct ins_monitor *m,
                                 const struct ins_monitor_options *o,
                                 struct ins_error *err)
{
    *m = (struct ins_monitor){.o = *o,
                              .low = INS_NO_TIME,
                              .latest = INS_NO_TIME,
                              .plain = true,
                              .looked_at = UINT64_MAX};
    if (!m->o.levels)
        m->o.levels = ins_levels_default();
    if (!m->o.keep)
        m->o.keep = 500000;
    if (!m->o.hold)
        m->o.hold = 4096;
    if (m->o.keep < 2 * m->o.hold)
        m->o.keep = 2 * m->o.hold;
    if (m->o.check_s <= 0)
        m->o.check_s = 60;
    if (!ins_stream_init(&m->stream))
        return ins_nomem(err, "the monitor");
    ins_guess_init(&m->guess, &m->stream, modes[0].mode);
    m->guess.horizon = m->o.horizon_s > 0;
    m->guess.patience = PATIENCE * m->o.hold;
    (void)snprintf(m->within, sizeof m->within, "within %g s", m->o.horizon_s);
    return INS_OK;
}

void ins_monitor_release(struct ins_monitor *m)
{
    ins_result_free(m->result);
    ins_history_free(m->history);
    ins_guess_release(&m->guess);
    ins_stream_release(&m->stream);
    *m = (struct ins_monitor){0};
}

/* ---- what starts ---- */

void ins_monitor_initial(struct ins_monitor *m, struct ins_lit value)
{
    m->stream.default_initial = ins_stream_word(&m->stream, value);
    m->stream.has_default = true;
    for (size_t k = 0; k < m->stream.key.len; k++)
        if (!m->stream.key.at[k].stamp) {
            m->stream.key.at[k].initial = m->stream.default_initial;
            m->stream.key.at[k].has_initial = true;
        }
}

/* A key that a later default does not touch. */
static struct ins_stream_key *stated_key(struct ins_monitor *m, struct ins_lit key)
{
    const uint32_t k = ins_stream_key(&m->stream, key);
    if (k == INS_NONE)
        return NULL;
    m->stream.key.at[k].stamp = UINT64_MAX;
    return &m->stream.key.at[k];
}

void ins_monitor_initial_key(struct ins_monitor *m, struct ins_lit key,
                             struct ins_lit value)
{
    const uint64_t word = ins_stream_word(&m->stream, value);
    struct ins_stream_key *k = stated_key(m, key);
    if (!k)
        return;
    k->initial = word;
    k->has_initial = true;
}

void ins_monitor_initial_none(struct ins_monitor *m, struct ins_lit key)
{
    struct ins_stream_key *k = stated_key(m, key);
    if (k)
        k->has_initial = false;
}

bool ins_monitor_kind(struct ins_monitor *m, uint32_t key, bool list)
{
    struct ins_stream_key *k = &m->stream.key.at[key];
    const uint8_t kind = list ? INS_STREAM_LIST : INS_STREAM_REGISTER;
    if (k->kind == INS_STREAM_EITHER)
        k->kind = kind;
    return k->kind == kind;
}

/* ---- what is decided ---- */

/* The level that a mode proves. */
static enum ins_level level_of(const struct ins_monitor *m, unsigned mode)
{
    const bool strong = modes[mode].mode.real_time && m->stream.has_times;
    const ins_levels of =
        ins_levels_of(INS_BASE(SER) | INS_BASE(SI) | INS_BASE(PC) | INS_BASE(RC),
                      strong ? INS_WITH_TIME : INS_AS_IS);
    INS_EACH_LEVEL(l, of)
        if (ins_level_table[l].base == modes[mode].proves)
            return l;
    return INS_N_LEVELS;
}

static ins_levels proved_by(const struct ins_monitor *m, unsigned mode)
{
    return mode >= N_MODES || !m->plain ? 0 : ins_level_below(level_of(m, mode));
}

static bool guess_holds(const struct ins_monitor *m)
{
    return m->mode < N_MODES && !m->guess.broken && !m->guess.waiting &&
           !m->guess.pending.len && m->plain;
}

/* The levels that hold so far. */
static ins_levels holding(const struct ins_monitor *m)
{
    ins_levels set = guess_holds(m) ? proved_by(m, m->mode) : 0;
    if (m->passed_at == m->stream.arrived)
        set |= m->passed;
    return set & m->o.levels & ~m->violated;
}

enum ins_so_far ins_monitor_verdict(const struct ins_monitor *m, enum ins_level level,
                                    const char **why)
{
    static const char *none;
    const char **reason = why ? why : &none;
    const ins_levels bit = INS_LEVEL_BIT(level);
    *reason = "";
    if (m->violated & bit)
        return INS_SO_FAR_VIOLATED;
    if (holding(m) & bit) {
        if (m->stream.left_out)
            *reason = m->within;
        return INS_SO_FAR_HOLDS;
    }
    *reason = m->guess.waiting && proved_by(m, m->mode) & bit
                  ? "a value was read whose write has not arrived"
              : !m->plain ? m->why_not_plain
              : ins_level_table[level].variant == INS_REAL_TIME && !m->stream.has_times
                  ? "no transaction has a begin and an end"
              : m->finished && !m->stream.complete
                  ? "what is needed to decide it was not kept"
              : m->stream.repeats || m->o.repeats
                  ? "values repeat: decided from everything in the end"
                  : "no order was found that explains it; decided from everything in "
                    "the end";
    return INS_SO_FAR_OPEN;
}

/* ---- checks ---- */

static ins_levels undecided(const struct ins_monitor *m)
{
    return m->o.levels & ~m->violated & ~holding(m);
}

/* Levels that are not violated, and that the guess will not prove. */
static ins_levels unproved(const struct ins_monitor *m)
{
    const ins_levels soon = m->guess.broken ? 0 : proved_by(m, m->mode);
    return m->o.levels & ~m->violated & ~soon;
}

/* Keep the result of a check as the evidence. */
static void keep_result(struct ins_monitor *m, struct ins_history *h,
                        struct ins_result *r)
{
    ins_result_free(m->result);
    ins_history_free(m->history);
    m->history = h;
    m->result = r;
}

/* Levels that imply one that is violated are, too. */
static void violate(struct ins_monitor *m, ins_levels set)
{
    INS_EACH_LEVEL(l, set)
        m->violated |= ins_level_above(l) & m->o.levels;
    m->violated_at = m->stream.arrived;
}

/* Judge what was kept.  `exact`: passes count too, and so do violations if `last`. */
static enum ins_status check(struct ins_monitor *m, const struct ins_kept_options *how,
                             bool last, struct ins_error *err)
{
    struct ins_history *h = NULL;
    struct ins_result *r = NULL;
    struct ins_limit limit;
    ins_limit_init(&limit, m->o.check_s, 0);
    const ins_levels wanted = m->o.levels & ~m->violated;
    const struct ins_check_options o = {.levels = wanted,
                                        .threads = 1,
                                        .certificate = m->o.certificate,
                                        .limit = &limit};
    m->checks++;
    enum ins_status st = ins_kept_history(&m->stream, how, &h, err);
    if (st == INS_OK)
        st = ins_check(h, &o, &r, err);
    if (st != INS_OK) {
        ins_history_free(h);
        return st;
    }
    const ins_levels failed = ins_result_with(r, INS_FAIL) & wanted;
    if (how->exact) {
        m->passed = ins_result_with(r, INS_PASS);
        m->passed_at = m->stream.arrived;
    }
    if (failed && (last || !how->exact)) {
        violate(m, failed);
        keep_result(m, h, r);
        return INS_OK;
    }
    if (last && !m->result) {
        keep_result(m, h, r);
        return INS_OK;
    }
    ins_result_free(r);
    ins_history_free(h);
    return INS_OK;
}

/* Look for violations in the last transactions, and with `all` in more and more of
 * what was kept until one is found.  After a look at so many that it takes seconds
 * there is no other one until as many have arrived. */
static enum ins_status look(struct ins_monitor *m, bool all, struct ins_error *err)
{
    const uint64_t n = m->stream.arrived;
    const ins_levels before = m->violated;
    enum ins_status st = INS_OK;
    if (m->o.repeats || m->stream.repeats || !m->plain || !(m->o.levels & ~m->violated))
        return INS_OK;
    const uint64_t oldest = m->stream.oldest ? m->stream.oldest->number : 0;
    const bool deep = n >= m->next_deep;
    if (all)
        m->looked_at = n;
    for (uint64_t w = WINDOW; st == INS_OK; w *= 8) {
        const bool whole = w >= n - oldest;
        if (w > SHALLOW && !deep)
            break;
        if (w > SHALLOW)
            m->next_deep = n + (whole ? n - oldest : w);
        st = check(m,
                   &(struct ins_kept_options){.from = whole ? 0 : n - w, .low = m->low},
                   false, err);
        if (whole || !all || m->violated != before)
            break;
    }
    return st;
}

static enum ins_status check_whole(struct ins_monitor *m, struct ins_error *err)
{
    m->next_whole = 2 * m->stream.arrived;
    if (!m->stream.complete || !m->plain || !undecided(m))
        return INS_OK;
    return check(m, &(struct ins_kept_options){.exact = true, .low = m->low}, false,
                 err);
}

/* ---- the guess ---- */

/* The first mode from `mode` on that could prove something that is not violated. */
static unsigned useful_mode(const struct ins_monitor *m, unsigned mode)
{
    for (; mode < N_MODES; mode++) {
        if (!m->stream.has_times && modes[mode].mode.real_time)
            continue;
        if (proved_by(m, mode) & m->o.levels & ~m->violated)
            return mode;
    }
    return N_MODES;
}

/* A guess that breaks again and again, as when transactions arrive in quite another
 * order than they committed in, is made again less and less often. */
static void plan_pause(struct ins_monitor *m)
{
    if (m->stream.arrived > m->next_guess + LONG_LIFE)
        m->pause = 0;
    else
        m->pause = m->pause ? 2 * m->pause : SHORTEST_PAUSE;
    if (m->pause > m->o.hold)
        m->pause = m->o.hold;
    m->next_guess = m->stream.arrived + m->pause;
}

/* With everything that has arrived: from an order that a checker finds, where it finds
 * orders of the kind that the mode needs. */
static void guess_again(struct ins_monitor *m)
{
    const struct ins_guess_mode mode = modes[m->mode].mode;
    plan_pause(m);
    if (mode.statements) {
        ins_guess_restart(&m->guess, mode);
        return;
    }
    struct ins_limit limit;
    ins_limit_init(&limit, m->o.check_s < RESEED_S ? m->o.check_s : RESEED_S, 0);
    m->checks++;
    (void)ins_guess_reseed(&m->guess, mode, level_of(m, m->mode), &limit);
}

/* The guess is broken: is a level?  Then go on with what may still be proved. */
static enum ins_status recover(struct ins_monitor *m, struct ins_error *err)
{
    enum ins_status st = INS_OK;
    if (m->stream.arrived < m->next_guess)
        return INS_OK;
    guess_again(m);
    /* What was found is to be heard of before more is looked for. */
    const ins_levels before = m->violated;
    while (m->guess.broken && m->mode < N_MODES && st == INS_OK &&
           m->violated == before) {
        if (m->looked_at != m->stream.arrived)
            st = look(m, true, err);
        m->mode = useful_mode(m, m->mode + 1);
        if (m->mode < N_MODES)
            guess_again(m);
    }
    if (m->stream.failed)
        return ins_nomem(err, "the monitor");
    if (st == INS_OK && undecided(m) && m->stream.arrived <= WHOLE_AT_ONCE)
        st = check_whole(m, err);
    m->next_look = m->stream.arrived + LOOK_EVERY;
    return st;
}

/* ---- forgetting ---- */

/* What ended before this is beyond the horizon, or there is none. */
static int64_t horizon_of(const struct ins_monitor *m)
{
    const double ns = m->o.horizon_s * 1e9;
    if (!m->guess.horizon || m->latest == INS_NO_TIME)
        return INT64_MAX;
    return (double)m->latest - ns < (double)INT64_MIN / 2 ? INT64_MIN
                                                          : m->latest - (int64_t)ns;
}

static void forget(struct ins_monitor *m)
{
    struct ins_stream *s = &m->stream;
    /* A guess that rests needs them, too. */
    const bool guessing = m->mode < N_MODES;
    if (guessing && !m->guess.broken && s->arrived > m->o.hold) {
        const uint64_t before = s->arrived - m->o.hold;
        const int64_t limit = horizon_of(m);
        if (m->guess.horizon && m->guess.waiting)
            ins_guess_stop_waiting(&m->guess, before, limit);
        ins_guess_fold(&m->guess, before, limit);
        ins_stream_pass_folded(s, before);
    }
    for (struct ins_arrival *a = s->oldest, *next; a && s->kept > m->o.keep; a = next) {
        next = a->newer;
        if (a->number + m->o.keep >= s->arrived)
            break;
        if (a->status == INS_INDETERMINATE && a->in_order != INS_FOLDED)
            continue;
        if (a->status == INS_COMMITTED && guessing && a->in_order != INS_FOLDED)
            continue;
        ins_guess_forget(&m->guess, a);
        ins_stream_forget(s, a);
    }
}

/* ---- the stream ---- */

struct ins_arrival *ins_monitor_room(uint32_t n_ops)
{
    struct ins_arrival *a = ins_alloc0(
        1, sizeof(struct ins_arrival) + (size_t)n_ops * sizeof(struct ins_stream_op));
    if (a) {
        a->n_ops = n_ops;
        a->begin = a->end = INS_NO_TIME;
    }
    return a;
}

enum ins_status ins_monitor_push(struct ins_monitor *m, struct ins_arrival *a,
                                 struct ins_error *err)
{
    struct ins_stream *s = &m->stream;
    if (s->failed || m->finished) {
        ins_arrival_free(a);
        return s->failed ? ins_nomem(err, "the monitor")
                         : ins_fail(err, INS_E_USAGE, 0, "the monitor has finished");
    }
    if (a->begin != INS_NO_TIME && a->end != INS_NO_TIME && a->end < a->begin) {
        a->end = INS_NO_TIME;
        s->backwards++;
    }
    if (a->end != INS_NO_TIME && (m->latest == INS_NO_TIME || a->end > m->latest))
        m->latest = a->end;
    s->has_times |= a->status != INS_INDETERMINATE && a->begin != INS_NO_TIME &&
                    a->end != INS_NO_TIME;
    a->counted = a->status == INS_COMMITTED;
    const bool repeated = s->repeats;
    ins_stream_append(s, a);
    if (m->mode < N_MODES && m->plain && (m->o.levels & ~m->violated))
        ins_guess_add(&m->guess, a);
    if (s->failed)
        return ins_nomem(err, "the monitor");
    if (s->repeats && !repeated && !m->o.repeats && m->violated)
        return ins_fail(err, INS_E_INPUT, a->line,
                        "a value was written a second time, after a violation had been "
                        "reported that rests on every value being written once");
    enum ins_status st = INS_OK;
    if (m->guess.broken && m->mode < N_MODES && s->arrived >= m->next_guess)
        st = recover(m, err);
    else if (s->arrived >= m->next_look && unproved(m)) {
        st = look(m, false, err);
        if (st == INS_OK && s->arrived >= m->next_whole)
            st = check_whole(m, err);
        m->next_look = s->arrived + LOOK_EVERY;
    }
    if (s->arrived % 64 == 0)
        forget(m);
    return st;
}

enum ins_status ins_monitor_flush(struct ins_monitor *m, struct ins_error *err)
{
    if (m->mode >= N_MODES || m->finished)
        return INS_OK;
    ins_guess_flush(&m->guess);
    if (m->stream.failed)
        return ins_nomem(err, "the monitor");
    return m->guess.broken ? recover(m, err) : INS_OK;
}

/* Is there a read that waits for a write, and none can come any more? */
static bool waits_in_vain(const struct ins_monitor *m)
{
    if (!m->guess.waiting || !m->stream.complete)
        return false;
    for (const struct ins_arrival *a = m->stream.newest; a; a = a->older)
        if (a->waits && ins_arrival_has_end(a) && a->end < m->low)
            return true;
    return false;
}

enum ins_status ins_monitor_advance(struct ins_monitor *m, int64_t low,
                                    struct ins_error *err)
{
    if (low == INS_NO_TIME || (m->low != INS_NO_TIME && low <= m->low))
        return INS_OK;
    m->low = low;
    if (m->guess.waiting) {
        const enum ins_status st = ins_monitor_flush(m, err);
        if (st != INS_OK)
            return st;
    }
    if (m->looked_at == m->stream.arrived || !waits_in_vain(m))
        return INS_OK;
    return look(m, true, err);
}

enum ins_status ins_monitor_finish(struct ins_monitor *m, struct ins_error *err)
{
    if (m->finished)
        return INS_OK;
    enum ins_status st;
    do {
        m->next_guess = 0;
        st = ins_monitor_flush(m, err);
    } while (st == INS_OK && m->guess.broken && m->mode < N_MODES);
    if (st != INS_OK)
        return st;
    m->finished = true;
    if (!undecided(m) || !m->stream.complete || !m->plain)
        return INS_OK;
    return check(m, &(struct ins_kept_options){.exact = true}, true, err);
}

#include "monitor/kept.h"

#include "history/builder.h"

#include <stdlib.h>

/* A value of a key. */
struct pair {
    uint64_t value;
    uint32_t key;
};
INS_VEC(pair, struct pair);

struct maker {
    const struct ins_stream *s;
    const struct ins_kept_options *o;
    struct ins_builder *b;
    struct ins_vec_pair written, wanted; /* sorted */
    bool window;                         /* see ins_kept_window */
    uint8_t *wanted_key; /* 1: some value of it is wanted, 2: and was found */
};

static int compare(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void sort(struct ins_vec_pair *v)
{
    if (v->len)
        qsort(v->at, v->len, sizeof *v->at, compare);
}

static bool has(const struct ins_vec_pair *v, uint32_t key, uint64_t value)
{
    const struct pair x = {value, key};
    return v->len && bsearch(&x, v->at, v->len, sizeof *v->at, compare);
}

/* How many elements of a list stand before what is looked at. */
static uint32_t folded_len(const struct maker *m, uint32_t key)
{
    const uint32_t base = m->s->key.at[key].base;
    return m->window && base != INS_NO_VERSION ? m->s->version.at[base].upto : 0;
}

static bool is_list(const struct maker *m, uint32_t key)
{
    return m->s->key.at[key].kind == INS_STREAM_LIST;
}

/* ---- which values are there ---- */

static void note_writes(struct maker *m, const struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_word_writes(a->op[i].word))
            ins_vec_pair_push(&m->written, (struct pair){a->op[i].value,
                                                         ins_word_key(a->op[i].word)});
}

static void note_initial(struct maker *m)
{
    for (uint32_t k = 0; k < m->s->key.len; k++)
        if (m->s->key.at[k].has_initial && !is_list(m, k))
            ins_vec_pair_push(&m->written, (struct pair){m->s->key.at[k].initial, k});
}

/* What a has read and nobody so far has written. */
static void note_wanted(struct maker *m, const struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const uint32_t key = ins_word_key(a->op[i].word);
        if (ins_word_kind(a->op[i].word) != INS_OP_READ)
            continue;
        const bool list = is_list(m, key);
        for (uint32_t j = 0; j < (list ? a->op[i].len : 1); j++) {
            const uint64_t value = list ? a->op[i].list[j] : a->op[i].value;
            if (!has(&m->written, key, value))
                ins_vec_pair_push(&m->wanted, (struct pair){value, key});
        }
    }
}

/* Is write i of an older transaction to be there? */
static bool takes_write(const struct maker *m, const struct ins_arrival *a, uint32_t i)
{
    const uint32_t key = ins_word_key(a->op[i].word);
    if (!ins_word_writes(a->op[i].word) || !m->wanted_key[key])
        return false;
    if (m->wanted_key[key] == 2)
        return true;
    for (uint32_t j = 0; j < a->n_ops; j++)
        if (a->op[j].word == a->op[i].word && has(&m->wanted, key, a->op[j].value)) {
            m->wanted_key[key] = 2;
            return true;
        }
    return false;
}

/* ---- building ---- */

static struct ins_lit lit(const struct maker *m, uint64_t word)
{
    return ins_stream_lit(m->s, word);
}

static struct ins_lit key_name(const struct maker *m, uint32_t key)
{
    return lit(m, m->s->key.at[key].name);
}

/* Can it be judged whom this read is from? */
static bool is_closed(const struct maker *m, const struct ins_arrival *a, uint32_t i)
{
    const struct ins_stream_op *r = &a->op[i];
    const uint32_t key = ins_word_key(r->word);
    if (m->o->exact || (m->s->complete && m->o->low != INS_NO_TIME &&
                        ins_arrival_has_end(a) && a->end < m->o->low))
        return true;
    const bool list = is_list(m, key);
    for (uint32_t j = list ? folded_len(m, key) : 0; j < (list ? r->len : 1); j++)
        if (!has(&m->written, key, list ? r->list[j] : r->value))
            return false;
    return true;
}

static void add_read(struct maker *m, uint32_t t, const struct ins_arrival *a,
                     uint32_t i)
{
    const struct ins_stream_op *r = &a->op[i];
    const uint32_t key = ins_word_key(r->word);
    const bool list = is_list(m, key);
    if (ins_word_kind(r->word) == INS_OP_READ_UNKNOWN || !is_closed(m, a, i)) {
        ins_builder_read_unknown(m->b, t, key_name(m, key), list);
        return;
    }
    if (!list) {
        ins_builder_read(m->b, t, key_name(m, key), lit(m, r->value));
        return;
    }
    const struct ins_list_words *const at = ins_builder_list(m->b);
    for (uint32_t j = folded_len(m, key); j < r->len; j++)
        ins_builder_list_add(m->b, at, lit(m, r->list[j]));
    ins_builder_list_end(m->b, t, key_name(m, key));
}

static void add_write(struct maker *m, uint32_t t, const struct ins_stream_op *w)
{
    const uint32_t key = ins_word_key(w->word);
    if (is_list(m, key))
        ins_builder_append(m->b, t, key_name(m, key), lit(m, w->value));
    else
        ins_builder_write(m->b, t, key_name(m, key), lit(m, w->value));
}

static uint32_t begin_txn(struct maker *m, const struct ins_arrival *a)
{
    const uint32_t s =
        ins_builder_session(m->b, lit(m, m->s->session.at[a->session].name));
    const uint32_t t = a->named ? ins_builder_begin(m->b, s, lit(m, a->name), a->line)
                                : ins_builder_begin_unnamed(m->b, s, a->line);
    if (a->begin != INS_NO_TIME || a->end != INS_NO_TIME)
        ins_builder_times(m->b, t, a->begin, a->end);
    ins_builder_end(m->b, t, (enum ins_txn_status)a->status);
    return t;
}

static void add_operations(struct maker *m, uint32_t t, const struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (ins_word_writes(a->op[i].word))
            add_write(m, t, &a->op[i]);
        else
            add_read(m, t, a, i);
}

static void add_whole(struct maker *m, const struct ins_arrival *a)
{
    add_operations(m, begin_txn(m, a), a);
}

/* Those writes of an older transaction that matter. */
static void add_part(struct maker *m, const struct ins_arrival *a)
{
    uint32_t t = INS_NONE;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        if (!takes_write(m, a, i))
            continue;
        if (t == INS_NONE)
            t = begin_txn(m, a);
        add_write(m, t, &a->op[i]);
        ins_vec_pair_push(&m->written,
                          (struct pair){a->op[i].value, ins_word_key(a->op[i].word)});
    }
}

static void add_initial(struct maker *m)
{
    const struct ins_stream *s = m->s;
    if (s->has_default)
        ins_builder_init_default(m->b, lit(m, s->default_initial));
    for (uint32_t k = 0; k < s->key.len; k++) {
        const struct ins_stream_key *x = &s->key.at[k];
        if (x->kind == INS_STREAM_LIST)
            continue;
        if (!x->has_initial && s->has_default)
            ins_builder_init_none(m->b, key_name(m, k));
        else if (x->has_initial &&
                 !(s->has_default && x->initial == s->default_initial))
            ins_builder_init_key(m->b, key_name(m, k), lit(m, x->initial));
    }
}

/* The first one with this number or a greater one. */
static const struct ins_arrival *first_of(const struct ins_stream *s, uint64_t from)
{
    const struct ins_arrival *a = from ? s->newest : s->oldest;
    if (!from || !a || a->number < from)
        return from ? NULL : a;
    while (a->older && a->older->number >= from)
        a = a->older;
    return a;
}

static bool collect(struct maker *m)
{
    const struct ins_arrival *const first = first_of(m->s, m->o->from), *a;
    for (a = first; a; a = a->newer)
        note_writes(m, a);
    note_initial(m);
    sort(&m->written);
    for (a = first; a && m->o->from; a = a->newer)
        note_wanted(m, a);
    sort(&m->wanted);
    m->wanted_key = INS_NEW0(uint8_t, m->s->key.len + 1);
    if (!m->wanted_key || m->written.failed || m->wanted.failed)
        return false;
    for (size_t i = 0; i < m->wanted.len; i++)
        m->wanted_key[m->wanted.at[i].key] = 1;
    return true;
}

enum ins_status ins_kept_history(const struct ins_stream *s,
                                 const struct ins_kept_options *o,
                                 struct ins_history **out, struct ins_error *err)
{
    struct maker m = {.s = s, .o = o, .b = ins_builder_new()};
    enum ins_status st = INS_OK;
    if (!m.b || !collect(&m)) {
        st = ins_nomem(err, "what was kept");
    } else {
        add_initial(&m);
        const struct ins_arrival *a;
        for (a = m.wanted.len ? s->oldest : NULL; a && a->number < o->from;
             a = a->newer)
            add_part(&m, a);
        sort(&m.written);
        for (a = first_of(s, o->from); a; a = a->newer)
            add_whole(&m, a);
        if (m.written.failed)
            st = ins_nomem(err, "what was kept");
        else
            st = ins_builder_finish(m.b, 1, out, err);
    }
    ins_builder_free(m.b);
    ins_vec_pair_release(&m.written);
    ins_vec_pair_release(&m.wanted);
    ins_free(m.wanted_key);
    return st;
}

/* ---- the window of a guess ---- */

/* What the key starts with there, if anything. */
static bool window_initial(const struct ins_stream *s, uint32_t key, uint64_t *value)
{
    const struct ins_stream_key *k = &s->key.at[key];
    if (k->kind == INS_STREAM_LIST || (!k->folded && !k->has_initial))
        return false;
    *value = k->folded ? s->version.at[k->base].value : k->initial;
    return true;
}

/* Note who is there, and state what the keys that they use start with. */
static bool collect_window(struct maker *m, struct ins_vec_arrival *txn)
{
    uint8_t *seen = INS_NEW0(uint8_t, m->s->key.len + 1);
    if (!seen)
        return false;
    for (struct ins_arrival *a = m->s->unfolded; a; a = a->newer) {
        if (a->in_order == INS_FOLDED)
            continue;
        ins_vec_arrival_push(txn, a);
        note_writes(m, a);
        for (uint32_t i = 0; i < a->n_ops; i++) {
            const uint32_t key = ins_word_key(a->op[i].word);
            uint64_t value;
            if (seen[key] || !window_initial(m->s, key, &value))
                continue;
            seen[key] = 1;
            ins_builder_init_key(m->b, key_name(m, key), lit(m, value));
            ins_vec_pair_push(&m->written, (struct pair){value, key});
        }
    }
    ins_free(seen);
    sort(&m->written);
    return !txn->failed && !m->written.failed;
}

static void add_to_window(struct maker *m, const struct ins_arrival *a, uint64_t line)
{
    const uint32_t s =
        ins_builder_session(m->b, lit(m, m->s->session.at[a->session].name));
    const uint32_t t = ins_builder_begin_unnamed(m->b, s, line);
    if (a->begin != INS_NO_TIME || a->end != INS_NO_TIME)
        ins_builder_times(m->b, t, a->begin, a->end);
    ins_builder_end(m->b, t, (enum ins_txn_status)a->status);
    add_operations(m, t, a);
}

enum ins_status ins_kept_window(const struct ins_stream *s, struct ins_vec_arrival *txn,
                                struct ins_history **out, struct ins_error *err)
{
    const struct ins_kept_options o = {.low = INS_NO_TIME};
    struct maker m = {.s = s, .o = &o, .b = ins_builder_new(), .window = true};
    enum ins_status st = INS_OK;
    if (!m.b || !collect_window(&m, txn)) {
        st = ins_nomem(err, "what was kept");
    } else {
        for (size_t i = 0; i < txn->len; i++)
            add_to_window(&m, txn->at[i], i + 1);
        st = ins_builder_finish(m.b, 1, out, err);
    }
    ins_builder_free(m.b);
    ins_vec_pair_release(&m.written);
    return st;
}

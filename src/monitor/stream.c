#include "monitor/stream.h"

#include "base/mem.h"

#define INTERNED (UINT64_C(1) << 63)

bool ins_stream_init(struct ins_stream *s)
{
    *s = (struct ins_stream){.free_version = INS_NO_VERSION,
                             .free_reader = INS_NO_VERSION,
                             .complete = true,
                             .slots = 1024};
    s->slot = INS_NEW(struct ins_slot, s->slots);
    if (!s->slot)
        return false;
    memset(s->slot, 0xff, s->slots * sizeof *s->slot);
    return true;
}

void ins_arrival_free(struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (a->op[i].len)
            ins_free(a->op[i].list);
    ins_free(a);
}

void ins_stream_release(struct ins_stream *s)
{
    for (struct ins_arrival *a = s->oldest, *next; a; a = next) {
        next = a->newer;
        ins_arrival_free(a);
    }
    for (size_t k = 0; k < s->key.len; k++)
        ins_vec_u64_release(&s->key.at[k].seq);
    ins_string_map_release(&s->literals.map);
    ins_number_map_release(&s->key_map);
    ins_number_map_release(&s->session_map);
    ins_vec_stream_key_release(&s->key);
    ins_vec_stream_session_release(&s->session);
    ins_vec_version_release(&s->version);
    ins_vec_reader_release(&s->reader);
    ins_free(s->slot);
    *s = (struct ins_stream){0};
}

/* ---- names ---- */

uint64_t ins_stream_word(struct ins_stream *s, struct ins_lit lit)
{
    if (lit.kind == INS_LIT_UINT && lit.number < INTERNED)
        return lit.number;
    const uint32_t id = ins_literals_add(&s->literals, lit);
    s->failed |= id == INS_NONE;
    return INTERNED | id;
}

struct ins_lit ins_stream_lit(const struct ins_stream *s, uint64_t word)
{
    return word & INTERNED ? ins_literals_at(&s->literals, (uint32_t)word)
                           : ins_lit_u64(word);
}

uint32_t ins_stream_key(struct ins_stream *s, struct ins_lit name)
{
    const uint64_t word = ins_stream_word(s, name);
    const uint32_t k = ins_number_map_add(&s->key_map, word);
    if (k == s->key.len)
        ins_vec_stream_key_push(&s->key,
                                (struct ins_stream_key){.name = word,
                                                        .base = INS_NO_VERSION,
                                                        .first = INS_NO_VERSION,
                                                        .last = INS_NO_VERSION,
                                                        .kind = INS_STREAM_EITHER,
                                                        .initial = s->default_initial,
                                                        .has_initial = s->has_default});
    s->failed |= k >= s->key.len || k >= INS_MOST_KEYS;
    return s->failed ? INS_NONE : k;
}

uint32_t ins_stream_session(struct ins_stream *s, struct ins_lit name)
{
    const uint64_t word = ins_stream_word(s, name);
    const uint32_t i = ins_number_map_add(&s->session_map, word);
    if (i == s->session.len)
        ins_vec_stream_session_push(&s->session,
                                    (struct ins_stream_session){.name = word});
    s->failed |= i >= s->session.len;
    return s->failed ? INS_NONE : i;
}

/* ---- the table of versions ---- */

static uint64_t hash_of(uint32_t key, uint64_t value)
{
    return ins_mix64(value + (uint64_t)key * 0x9E3779B97F4A7C15u);
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint64_t slot_of(const struct ins_stream *s, uint32_t key, uint64_t value)
{
    const uint64_t hash = hash_of(key, value);
    uint64_t i = hash & (s->slots - 1);
    for (;; i = (i + 1) & (s->slots - 1)) {
        const uint32_t v = s->slot[i].version;
        if (v == INS_NO_VERSION ||
            (s->slot[i].tag == tag_of(hash) && s->version.at[v].key == key &&
             s->version.at[v].value == value))
            return i;
    }
}

uint32_t ins_version_find(const struct ins_stream *s, uint32_t key, uint64_t value)
{
    return s->slot[slot_of(s, key, value)].version;
}

uint32_t ins_version_of_value(const struct ins_stream *s, struct ins_stream_op *op)
{
    const uint32_t key = ins_word_key(op->word);
    if (op->version < s->version.len) {
        const struct ins_version *x = &s->version.at[op->version];
        if (x->found && x->key == key && x->value == op->value)
            return op->version;
    }
    return op->version = ins_version_find(s, key, op->value);
}

void ins_version_expect(const struct ins_stream *s, const struct ins_arrival *a)
{
    for (uint32_t i = 0; i < a->n_ops; i++)
        if (!a->op[i].len)
            __builtin_prefetch(
                &s->slot[hash_of(ins_word_key(a->op[i].word), a->op[i].value) &
                         (s->slots - 1)]);
}

static bool grow_table(struct ins_stream *s)
{
    const uint64_t old = s->slots;
    struct ins_slot *was = s->slot, *slot = INS_NEW(struct ins_slot, 2 * old);
    if (!slot)
        return false;
    memset(slot, 0xff, 2 * old * sizeof *slot);
    s->slot = slot;
    s->slots = 2 * old;
    for (uint64_t i = 0; i < old; i++)
        if (was[i].version != INS_NO_VERSION) {
            const struct ins_version *v = &s->version.at[was[i].version];
            s->slot[slot_of(s, v->key, v->value)] = was[i];
        }
    ins_free(was);
    return true;
}

/* Close the gap that leaving slot i free makes (Knuth, vol. 3, 6.4, algorithm R). */
static void free_slot(struct ins_stream *s, uint64_t i)
{
    const uint64_t mask = s->slots - 1;
    for (uint64_t j = (i + 1) & mask; s->slot[j].version != INS_NO_VERSION;
         j = (j + 1) & mask) {
        const struct ins_version *v = &s->version.at[s->slot[j].version];
        const uint64_t home = hash_of(v->key, v->value) & mask;
        if (((j - home) & mask) < ((j - i) & mask))
            continue;
        s->slot[i] = s->slot[j];
        i = j;
    }
    s->slot[i].version = INS_NO_VERSION;
    s->used--;
}

/* A version that the table does not lead to. */
static uint32_t new_version(struct ins_stream *s, struct ins_version x)
{
    uint32_t v = s->free_version;
    if (v != INS_NO_VERSION) {
        s->free_version = s->version.at[v].next;
    } else {
        v = (uint32_t)s->version.len;
        ins_vec_version_push(&s->version, x);
        if (s->version.failed || v == INS_NO_VERSION - 1) {
            s->failed = true;
            return INS_NO_VERSION;
        }
    }
    x.prev = x.next = x.readers = INS_NO_VERSION;
    s->version.at[v] = x;
    return v;
}

uint32_t ins_version_add(struct ins_stream *s, uint32_t key, uint64_t value,
                         enum ins_version_state state, struct ins_arrival *writer)
{
    if (2 * s->used >= s->slots && !grow_table(s)) {
        s->failed = true;
        return INS_NO_VERSION;
    }
    const uint32_t v = new_version(
        s, (struct ins_version){
               .value = value, .writer = writer, .key = key, .state = (uint8_t)state});
    if (v == INS_NO_VERSION)
        return v;
    const uint64_t i = slot_of(s, key, value);
    if (s->slot[i].version == INS_NO_VERSION)
        s->used++;
    else
        s->version.at[s->slot[i].version].found = false;
    s->slot[i] = (struct ins_slot){v, tag_of(hash_of(key, value))};
    s->version.at[v].found = true;
    return v;
}

uint32_t ins_version_base(struct ins_stream *s, uint32_t key)
{
    struct ins_stream_key *k = &s->key.at[key];
    if (k->base == INS_NO_VERSION && k->kind == INS_STREAM_REGISTER && k->has_initial)
        k->base = ins_version_add(s, key, k->initial, INS_V_BASE, NULL);
    else if (k->base == INS_NO_VERSION)
        k->base = new_version(s, (struct ins_version){.key = key, .state = INS_V_BASE});
    if (k->base != INS_NO_VERSION)
        s->version.at[k->base].read = true;
    return k->base;
}

void ins_version_free(struct ins_stream *s, uint32_t v)
{
    struct ins_version *x = &s->version.at[v];
    ins_version_drop_readers(s, v);
    if (x->found)
        free_slot(s, slot_of(s, x->key, x->value));
    x->found = false;
    x->next = s->free_version;
    s->free_version = v;
}

void ins_version_add_reader(struct ins_stream *s, uint32_t v, struct ins_reader r)
{
    uint32_t c = s->free_reader;
    if (c != INS_NO_VERSION) {
        s->free_reader = s->reader.at[c].next;
    } else {
        c = (uint32_t)s->reader.len;
        ins_vec_reader_push(&s->reader, r);
        if (s->reader.failed) {
            s->failed = true;
            return;
        }
    }
    struct ins_version *x = &s->version.at[v];
    r.next = x->readers;
    s->reader.at[c] = r;
    x->readers = c;
    x->n_readers++;
}

void ins_version_drop_readers(struct ins_stream *s, uint32_t v)
{
    struct ins_version *x = &s->version.at[v];
    while (x->readers != INS_NO_VERSION) {
        const uint32_t c = x->readers;
        x->readers = s->reader.at[c].next;
        s->reader.at[c].next = s->free_reader;
        s->free_reader = c;
    }
    x->n_readers = x->pruned = 0;
}

void ins_version_drop_reader(struct ins_stream *s, uint32_t v, uint32_t cell)
{
    uint32_t *link = &s->version.at[v].readers;
    while (*link != cell)
        link = &s->reader.at[*link].next;
    *link = s->reader.at[cell].next;
    s->reader.at[cell].next = s->free_reader;
    s->free_reader = cell;
    s->version.at[v].n_readers--;
}

/* ---- transactions ---- */

void ins_stream_append(struct ins_stream *s, struct ins_arrival *a)
{
    struct ins_stream_session *in = &s->session.at[a->session];
    a->number = s->arrived++;
    a->older = s->newest;
    a->newer = NULL;
    *(s->newest ? &s->newest->newer : &s->oldest) = a;
    s->newest = a;
    if (!s->unfolded)
        s->unfolded = a;
    s->kept++;
    a->before = a->behind = NULL;
    if (a->status == INS_ABORTED)
        return;
    a->before = in->last;
    if (in->last && ins_arrival_has_end(in->last) && a->begin != INS_NO_TIME)
        s->overlapping += a->begin < in->last->end;
    if (in->last)
        in->last->behind = a;
    in->last = a;
}

void ins_stream_pass_folded(struct ins_stream *s, uint64_t before)
{
    struct ins_arrival *a = s->unfolded;
    for (; a && a->number < before; a = a->newer) {
        if (a->status == INS_ABORTED)
            a->in_order = INS_FOLDED;
        if (a->in_order != INS_FOLDED)
            break;
    }
    s->unfolded = a;
}

void ins_stream_forget(struct ins_stream *s, struct ins_arrival *a)
{
    *(a->older ? &a->older->newer : &s->oldest) = a->newer;
    *(a->newer ? &a->newer->older : &s->newest) = a->older;
    if (s->unfolded == a)
        s->unfolded = a->newer;
    if (a->before)
        a->before->behind = a->behind;
    if (a->behind)
        a->behind->before = a->before;
    if (s->session.at[a->session].last == a)
        s->session.at[a->session].last = a->before;
    s->kept--;
    s->complete = false;
    ins_arrival_free(a);
}

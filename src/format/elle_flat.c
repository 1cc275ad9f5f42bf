/* elle_flat.c - workloads of Jepsen and elle-cli whose events are single operations.
 *
 * Their :f says what is done and :value holds the arguments and the result:
 *
 *  register    :read v, :write v, :cas [old new] of one register; with independent
 *              keys :read [k v], :write [k v], :cas [k [old new]]
 *  sequential  :write k inserts the subkeys k_0, k_1, ... one after the other, and
 *              :read [k [... k_1 k_0]] reads them from the last to the first, nil where
 *              there was none; each insert and each read is a transaction
 *
 * These are transactions on registers.  A :cas that was :ok is a read of old and a
 * write of new.  One that failed may have seen another value or may never have reached
 * the register: it is aborted, and what it did not see is not judged.  A :write of
 * several subkeys that failed may have inserted some of them: it is indeterminate.
 *
 * Other workloads are refused by name.  Which one a file has is found out by a pass
 * over all events, the survey. */
#include "format/elle_read.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the survey ---- */

enum {
    SAW_SCALAR = 1,
    SAW_PAIR = 2,        /* [a b] */
    SAW_PAIR_VECTOR = 4, /* [a [...]] */
    SAW_VECTOR = 8,      /* of another length */
    SAW_SET = 16,
    SAW_MAP = 32,
    SAW_PAIR_SET = 64 /* [a #{...}] */
};

static bool is_vector(const struct ins_elle_lex *x)
{
    return x->p < x->end && (*x->p == '[' || (*x->p == '(' && !x->json));
}

static bool is_set(const struct ins_elle_lex *x)
{
    return x->end - x->p > 1 && x->p[0] == '#' && x->p[1] == '{';
}

/* Past the vector at p.  `second` may be NULL; else it is where the second element
 * begins, if there is one. */
static bool measure(struct ins_elle_lex *x, uint32_t *len, const char **second)
{
    const char close = (char)(*x->p++ == '(' ? ')' : ']');
    *len = 0;
    for (bool first = true; ins_elle_next(x, close, first); first = false) {
        if (second && *len == 1)
            *second = x->p;
        if (!ins_elle_skip_form(x))
            return false;
        ++*len;
    }
    return x->st == INS_OK;
}

/* The shape of the vector at p. */
static uint8_t look_at_vector(struct ins_elle_reader *r)
{
    struct ins_elle_lex *const x = &r->x;
    struct ins_elle_seen *const s = &r->seen;
    const char *second = NULL;
    uint32_t len, inner;
    if (!measure(x, &len, &second))
        return 0;
    if (len != 2)
        return SAW_VECTOR;
    x->p = second;
    if (is_set(x))
        return SAW_PAIR_SET;
    if (!is_vector(x))
        return SAW_PAIR;
    if (!measure(x, &inner, NULL))
        return 0;
    s->subkeys = inner > s->subkeys ? inner : s->subkeys;
    return SAW_PAIR_VECTOR;
}

/* What the value looks like, as a bit; 0 when it cannot be read. */
static uint8_t look_at(struct ins_elle_reader *r, const char *value)
{
    struct ins_elle_lex *const x = &r->x;
    const char *const back = x->p;
    uint8_t saw = SAW_SCALAR;
    x->p = value;
    if (!x->json && !ins_elle_skip_tags(x))
        return 0;
    if (is_vector(x)) {
        saw = look_at_vector(r);
    } else if (x->p < x->end && *x->p == '{') {
        saw = SAW_MAP;
    } else if (is_set(x)) {
        saw = SAW_SET;
    }
    x->p = back;
    return saw;
}

bool ins_elle_survey(struct ins_elle_reader *r, const struct ins_elle_event *e)
{
    struct ins_elle_seen *const s = &r->seen;
    if (e->value && (e->f <= ELLE_F_TXN || ins_elle_is_operations(r, e->value))) {
        s->operations = true;
        return r->x.st == INS_OK;
    }
    if (r->x.st != INS_OK)
        return false;
    if (e->f <= ELLE_F_TXN || (e->named && e->type == ELLE_INFO))
        return true;
    if (e->f == ELLE_F_OTHER ? e->value && !s->other.at : e->value && !s->flat.at)
        *(e->f == ELLE_F_OTHER ? &s->other : &s->flat) = *e;
    s->f |= 1u << e->f;
    if (!s->first.at)
        s->first = *e;
    if (!e->value || (e->f == ELLE_F_READ && e->type != ELLE_OK))
        return true;
    const uint8_t saw = look_at(r, e->value);
    if (e->f == ELLE_F_READ)
        s->read |= saw;
    else if (e->f == ELLE_F_WRITE)
        s->write |= saw;
    else if (e->f == ELLE_F_CAS)
        s->cas |= saw;
    else if (e->f == ELLE_F_ADD)
        s->add |= saw;
    return saw != 0;
}

/* ---- which workload it is ---- */

static bool refuse_model(struct ins_elle_reader *r, const struct ins_elle_event *e,
                         const char *model, const char *instead)
{
    r->x.p = e->at;
    if (r->x.st == INS_OK)
        r->x.st = ins_fail(r->x.err, INS_E_INPUT, ins_elle_line(&r->x, e->at),
                           "this looks like the %s workload, which is not made of "
                           "transactions on registers or lists; %s",
                           model, instead);
    return false;
}

#define BIT(f) (1u << (f))

/* elle-cli writes :add for :write here. */
static bool is_sequential(const struct ins_elle_seen *s)
{
    return s->read == SAW_PAIR_VECTOR && !s->cas && (s->write | s->add) == SAW_SCALAR;
}

/* Workloads that are known and not read. */
static bool refuse_known(struct ins_elle_reader *r)
{
    const struct ins_elle_seen *const s = &r->seen;
    const struct ins_elle_event *const e = &s->first;
    if (s->f & BIT(ELLE_F_TRANSFER))
        return refuse_model(r, e, "bank",
                            "record each transfer as the reads and writes of its two "
                            "accounts, or run insula test --workload mini");
    if (s->f & (BIT(ELLE_F_ACQUIRE) | BIT(ELLE_F_RELEASE)))
        return refuse_model(r, e, "mutex",
                            "record the lock as a register and :acquire, :release as "
                            ":cas [nil owner], [owner nil]");
    if (s->f & BIT(ELLE_F_QUEUE))
        return refuse_model(r, e, "queue",
                            "record :append and :r of a list instead, or run insula "
                            "test --workload append");
    if (is_sequential(s))
        return true;
    if ((s->f & BIT(ELLE_F_ADD)) && s->read && !(s->read & ~SAW_SCALAR))
        return refuse_model(
            r, e, "counter",
            "record each increment as a read and a write of a register, "
            "or run insula test --workload mini");
    if (s->f & BIT(ELLE_F_ADD))
        return refuse_model(r, e, "set or set-full",
                            "record transactions of [:add key element] and [:r key "
                            "#{...}], or [:append key element] and [:r key [...]]");
    return true;
}

/* What the values of :read, :write and :cas say.  FLAT_NONE: nothing that is known. */
static enum ins_elle_flat flat_of(const struct ins_elle_seen *s)
{
    const unsigned pairs = SAW_PAIR | SAW_PAIR_VECTOR;
    if (is_sequential(s))
        return FLAT_SEQUENTIAL;
    if (s->write & SAW_SCALAR) {
        if (!s->cas && (s->read & ~(s->write | SAW_SCALAR)))
            return FLAT_NONE; /* values that nobody can have written */
        return s->cas & ~(unsigned)SAW_PAIR ? FLAT_NONE : FLAT_REGISTER;
    }
    if (!((s->read | s->write) & ~pairs) && !(s->cas & ~SAW_PAIR_VECTOR) &&
        (s->read | s->write | s->cas))
        return FLAT_KEYED;
    /* Values that nobody can have written. */
    if (!s->cas && (s->read & ~(s->write | SAW_SCALAR)))
        return FLAT_NONE;
    return s->cas & ~(unsigned)SAW_PAIR ? FLAT_NONE : FLAT_REGISTER;
}

bool ins_elle_decide(struct ins_elle_reader *r)
{
    const struct ins_elle_seen *const s = &r->seen;
    r->wants_survey = false;
    if (s->operations && !s->flat.at && !s->other.at) {
        r->no_flat = true; /* events without any value */
        return true;
    }
    if (s->operations)
        return ins_elle_refuse(r, s->flat.at ? &s->flat : &s->other,
                               "operations as the value of every client's event");
    if (!refuse_known(r))
        return false;
    if (s->other.at)
        return ins_elle_refuse(
            r, &s->other,
            "operations as the value, such as [[:r 1 nil] [:w 2 3]], "
            "or :f :read, :write or :cas");
    if (!s->cas &&
        (((s->write & SAW_SCALAR) && (s->read & (SAW_SET | SAW_VECTOR | SAW_PAIR))) ||
         (s->read & SAW_PAIR_SET)))
        return refuse_model(r, &s->first, "comments",
                            "record transactions of [:w id 1] and [:r id value]");
    r->flat = flat_of(s);
    if (r->flat == FLAT_NONE)
        return ins_elle_refuse(r, s->flat.at ? &s->flat : &s->first,
                               ":cas [old new], or with independent keys [key [old "
                               "new]], :read [key value] and :write [key value]");
    r->kinds = KINDS_REGISTERS;
    return true;
}

/* ---- transactions ---- */

/* The two elements of the pair at p; with `inner` the second is not read. */
static bool take_pair(struct ins_elle_lex *x, struct ins_lit *a, struct ins_lit *b,
                      bool inner)
{
    if (!x->json && !ins_elle_skip_tags(x))
        return false;
    if (x->p == x->end || (*x->p != '[' && *x->p != '('))
        return ins_elle_expected(x, "a pair [a b]");
    const char close = (char)(*x->p++ == '(' ? ')' : ']');
    if (!ins_elle_next(x, close, true) || !ins_elle_literal(x, "a value", a) ||
        !ins_elle_next(x, close, false))
        return ins_elle_expected(x, "a pair [a b]");
    if (inner)
        return true;
    if (!ins_elle_literal(x, "a value", b) || ins_elle_next(x, close, false))
        return ins_elle_expected(x, "a pair [a b]");
    return x->st == INS_OK;
}

static bool is_pair(struct ins_elle_reader *r, const char *value)
{
    return (look_at(r, value) & (SAW_PAIR | SAW_PAIR_VECTOR)) != 0;
}

static void add_read(struct ins_elle_reader *r, const struct ins_elle_event *e,
                     struct ins_lit key, const struct ins_lit *value)
{
    if (e->type == ELLE_OK && value)
        ins_builder_read(r->b, e->txn, key, *value);
    else
        ins_builder_read_unknown(r->b, e->txn, key, false);
}

/* The operation of a register, p being at its value. */
static bool take_register(struct ins_elle_reader *r, struct ins_elle_event *e)
{
    struct ins_elle_lex *const x = &r->x;
    struct ins_lit key = ins_lit_text(INS_LIT_STRING, "register", 8);
    struct ins_lit a = {0}, b = {0};
    const bool keyed = r->flat == FLAT_KEYED;
    if (e->f == ELLE_F_CAS) {
        if ((keyed && !take_pair(x, &key, &b, true)) || !take_pair(x, &a, &b, false))
            return false;
        if (e->type == ELLE_FAIL)
            r->failed_cas++;
        else
            ins_builder_read(r->b, e->txn, key, a);
        ins_builder_write(r->b, e->txn, key, b);
        return true;
    }
    if (keyed ? !take_pair(x, &key, &a, false) : !ins_elle_literal(x, "a value", &a))
        return false;
    if (e->f == ELLE_F_WRITE)
        ins_builder_write(r->b, e->txn, key, a);
    else
        add_read(r, e, key, &a);
    return true;
}

/* Subkey i of k: k_i. */
static bool subkey(struct ins_elle_reader *r, struct ins_lit k, uint32_t i,
                   struct ins_lit *out)
{
    char number[48];
    int n = 0;
    if (k.kind == INS_LIT_UINT)
        n = snprintf(number, sizeof number, "%" PRIu64, k.number);
    else if (k.kind == INS_LIT_NEG)
        n = snprintf(number, sizeof number, "%" PRId64, (int64_t)k.number);
    else if (k.kind == INS_LIT_NIL)
        return ins_elle_expected(&r->x, "a key");
    const char *const text = n > 0 ? number : k.text;
    const size_t len = n > 0 ? (size_t)n : k.len;
    char *const name = INS_ARENA_NEW(&r->x.scratch, char, len + 12);
    if (!name) {
        r->x.st = ins_nomem(r->x.err, "a key");
        return false;
    }
    if (len)
        memcpy(name, text, len);
    const int more = snprintf(name + len, 12, "_%" PRIu32, i);
    *out = ins_lit_text(INS_LIT_STRING, name, len + (more > 0 ? (size_t)more : 0));
    return true;
}

/* :write k, p being at k: one transaction after the other. */
static bool take_inserts(struct ins_elle_reader *r, struct ins_elle_event *e,
                         int64_t end)
{
    struct ins_lit k = {0}, key = {0};
    if (!ins_elle_literal(&r->x, "a key", &k))
        return false;
    for (uint32_t i = 0; i < r->seen.subkeys; i++) {
        if (!subkey(r, k, i, &key))
            return false;
        ins_elle_begin_part(r, e, i, end);
        ins_builder_write(r->b, e->txn, key, key);
    }
    return true;
}

/* :read [k [... k_1 k_0]], p being at it. */
static bool take_lookups(struct ins_elle_reader *r, struct ins_elle_event *e,
                         int64_t end)
{
    struct ins_elle_lex *const x = &r->x;
    struct ins_lit k = {0}, key = {0}, value = {0};
    if (e->type != ELLE_OK)
        return true;
    if (!take_pair(x, &k, &value, true))
        return false;
    if (x->p == x->end || (*x->p != '[' && *x->p != '('))
        return ins_elle_expected(x, "the subkeys that were read");
    const char close = (char)(*x->p++ == '(' ? ')' : ']');
    uint32_t i = 0;
    for (; ins_elle_next(x, close, !i); i++) {
        if (i == r->seen.subkeys || !ins_elle_literal(x, "a subkey", &value) ||
            !subkey(r, k, r->seen.subkeys - 1 - i, &key))
            return false;
        ins_elle_begin_part(r, e, i, end);
        ins_builder_read(r->b, e->txn, key, value);
    }
    return x->st == INS_OK &&
           (i == r->seen.subkeys || ins_elle_expected(x, "as many subkeys everywhere"));
}

bool ins_elle_flat_txn(struct ins_elle_reader *r, struct ins_elle_event *e,
                       const char *value, int64_t end)
{
    struct ins_elle_lex *const x = &r->x;
    const char *const back = x->p;
    bool good = true;
    if (r->flat == FLAT_SEQUENTIAL) {
        x->p = value ? value : x->p;
        if (value && e->f != ELLE_F_READ && e->type == ELLE_FAIL)
            e->type = ELLE_INFO;
        if (value)
            good =
                e->f == ELLE_F_READ ? take_lookups(r, e, end) : take_inserts(r, e, end);
    } else {
        ins_elle_begin_part(r, e, INS_NONE, end);
        /* A read that has not returned, or the initial value of a register. */
        const bool none = !value || (r->flat == FLAT_KEYED && !is_pair(r, value));
        const struct ins_lit nil = ins_lit_nil();
        x->p = value ? value : x->p;
        if (!none)
            good = take_register(r, e);
        else if (e->f == ELLE_F_READ && r->flat == FLAT_REGISTER)
            add_read(r, e, ins_lit_text(INS_LIT_STRING, "register", 8), &nil);
    }
    x->p = back;
    return good;
}

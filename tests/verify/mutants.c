/* Certificates that were changed, and proofs made up at random: whatever the verifier
 * accepts is true.  The oracle, which tries everything, says what is.
 *
 *     mutants [COUNT [SEED]]       that many histories, each with some hundred mutants
 *     mutants --cases COUNT SEED   print cases with the verifier's verdict, for `agree`
 */
#include "certificate/certificate.h"
#include "check/check.h"
#include "oracle.h"
#include "tiny.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 1 << 16, MAX_LINES = 1 << 12, GROWN = 150, PROOFS = 6, ORDERS = 24 };

static const char *const bases[] = {"pl2", "rc", "ra", "cc", "psi",
                                    "pc",  "si", "rr", "ser"};
enum { N_BASES = sizeof bases / sizeof *bases, N_NAMES = 3 * N_BASES + 1 };

struct text {
    char at[MAX_TEXT];
    size_t len;
};

struct run {
    struct ins_rng rng;
    struct tiny_history tiny;
    struct ins_history *h;
    uint32_t holds; /* the oracle's levels */
    struct text cert, other;
    uint64_t histories, mutants, accepted, grown, steps;
    bool cases;
    struct text bad; /* the one that proves something false */
    const char *wrong;
};

/* ---- names and truth ---- */

static void level_name(unsigned i, char name[16])
{
    static const char *const prefix[] = {"free-", "", "strong-"};
    if (i == N_NAMES - 1)
        (void)snprintf(name, 16, "ci");
    else if (i % 3 == 2 && !strcmp(bases[i / 3], "ser"))
        (void)snprintf(name, 16, "sser");
    else
        (void)snprintf(name, 16, "%s%s", prefix[i % 3], bases[i / 3]);
}

static bool holds(const struct run *q, const char *name)
{
    return q->holds >> oracle_find(name) & 1;
}

/* Is everything that the head claims true? */
static bool claims_hold(const struct run *q, const struct text *t)
{
    const char *at = strstr(t->at, "\nclaims ");
    char claim[32];
    int n;
    for (at += 8; sscanf(at, "%31[^ \n]%n", claim, &n) == 1; at += n + (at[n] == ' ')) {
        char *is = strrchr(claim, '=');
        *is = '\0';
        if (holds(q, claim) != !strcmp(is + 1, "pass"))
            return false;
        if (at[n] == '\n')
            break;
    }
    return true;
}

/* ---- text ---- */

static void put(struct text *t, const char *s, size_t n)
{
    if (t->len + n >= MAX_TEXT)
        n = 0;
    memcpy(t->at + t->len, s, n);
    t->len += n;
    t->at[t->len] = '\0';
}

static void put_word(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

/* The head for these blocks. */
static void put_head(const struct run *q, struct text *t, const char *blocks)
{
    char head[96];
    (void)snprintf(head, sizeof head, "insula-certificate 2\nhistory %u %u %u\nclaims",
                   q->h->n_sessions, q->h->n_txns, q->h->n_ops);
    t->len = 0;
    put_word(t, head);
    for (const char *at = blocks; *at;) {
        const size_t n = strcspn(at, "\n");
        char name[24], verdict[8], claim[40];
        char line[64];
        (void)snprintf(line, sizeof line, "%.*s", n < 60 ? (int)n : 0, at);
        if (sscanf(line, "level %23s %7s", name, verdict) == 2) {
            (void)snprintf(claim, sizeof claim, " %s=%s", name, verdict);
            put_word(t, claim);
        }
        at += n + (at[n] == '\n');
    }
    put_word(t, "\n");
}

/* ---- judging ---- */

/* 0: proved; 1: not; 2: nothing is wrong with it but that its proof has no end. */
static void print_case(const struct run *q, const struct text *t, int verdict)
{
    printf("@case %d\ninsula 1\n", verdict);
    tiny_write(&q->tiny, stdout);
    printf("@certificate\n%.*s@end\n", (int)t->len, t->at);
}

/* Does the verifier take it?  Then it must be true.  *open when it is a proof that
 * lacks nothing but its end. */
static bool judge(struct run *q, const struct text *t, bool *open)
{
    struct ins_error err = {0};
    const bool ok = ins_verify(q->h, t->at, t->len, NULL, &err) == INS_OK;
    q->mutants++;
    q->accepted += ok;
    const bool ends = !ok && !strcmp(err.text, "the proof ends before a contradiction");
    if (open)
        *open = ends;
    if (q->cases && (ok || ins_rng_below(&q->rng, ends ? 3 : 8) == 0))
        print_case(q, t, ok ? 0 : ends ? 2 : 1);
    if (ok && !q->wrong && !claims_hold(q, t)) {
        q->wrong = "a certificate proves something false";
        q->bad = *t;
    }
    return ok;
}

/* Blocks with a head for them. */
static void judge_blocks(struct run *q, const char *blocks)
{
    static struct text t;
    put_head(q, &t, blocks);
    put_word(&t, blocks);
    (void)judge(q, &t, NULL);
}

/* ---- changed certificates ---- */

struct lines {
    const char *at[MAX_LINES + 1];
    size_t n;
};

static void split(const char *text, struct lines *l)
{
    l->n = 0;
    while (*text && l->n < MAX_LINES) {
        l->at[l->n++] = text;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    l->at[l->n] = text;
}

static void put_lines(struct text *t, const struct lines *l, size_t from, size_t to)
{
    if (from < to)
        put(t, l->at[from], (size_t)(l->at[to] - l->at[from]));
}

/* Every line left out, doubled, and swapped with the next; cut behind it. */
static void change_lines(struct run *q, const struct lines *l)
{
    static struct text t;
    for (size_t i = 0; i < l->n; i++) {
        for (int how = 0; how < 4; how++) {
            if (how == 2 && i + 2 > l->n - 1)
                continue;
            t.len = 0;
            put_lines(&t, l, 0, i);
            if (how == 1)
                put_lines(&t, l, i, i + 1);
            if (how == 2)
                put_lines(&t, l, i + 1, i + 2);
            if (how == 1 || how == 2)
                put_lines(&t, l, i, i + 1);
            if (how != 3)
                put_lines(&t, l, i + (how == 2 ? 2 : 1), l->n);
            judge_blocks(q, t.at);
        }
    }
}

/* The text with its bytes from..to replaced. */
static void judge_replaced(struct run *q, const char *blocks, size_t from, size_t to,
                           const char *with)
{
    static struct text t;
    t.len = 0;
    put(&t, blocks, from);
    put_word(&t, with);
    put_word(&t, blocks + to);
    judge_blocks(q, t.at);
}

/* Every number one less, one more, and some other one; every other token left out. */
static void change_tokens(struct run *q, const char *blocks)
{
    for (size_t i = 0; blocks[i];) {
        const size_t n = strcspn(blocks + i, " \n");
        size_t digits = 0;
        while (digits < n && strchr("bc-", blocks[i + digits]))
            digits++;
        char number[24];
        if (digits < n && blocks[i + digits] >= '0' && blocks[i + digits] <= '9') {
            const long x = strtol(blocks + i + digits, NULL, 10);
            const long to[] = {x - 1, x + 1, (long)ins_rng_below(&q->rng, 12)};
            for (int j = 0; j < 3; j++) {
                (void)snprintf(number, sizeof number, "%ld", to[j]);
                judge_replaced(q, blocks, i + digits, i + n, number);
            }
            if (blocks[i] == 'b' || blocks[i] == 'c')
                judge_replaced(q, blocks, i, i + 1, blocks[i] == 'b' ? "c" : "b");
            if (blocks[i] == '-')
                judge_replaced(q, blocks, i, i + 1, "");
        } else if (n) {
            judge_replaced(q, blocks, i, i + n, "");
        }
        i += n;
        i += blocks[i] != '\0';
    }
}

/* Levels renamed, in heads and in what they are implied by; verdicts turned round. */
static void change_levels(struct run *q, const char *blocks, const struct lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const bool head = !strncmp(l->at[i], "level ", 6);
        if (!head && strncmp(l->at[i], "implied ", 8) != 0)
            continue;
        const size_t from = (size_t)(l->at[i] - blocks) + (head ? 6 : 8);
        const size_t to = from + strcspn(blocks + from, " \n");
        const char *turned = strncmp(blocks + to, " pass", 5) == 0 ? " fail" : " pass";
        for (unsigned j = 0; j < N_NAMES; j++) {
            char name[32];
            level_name(j, name);
            judge_replaced(q, blocks, from, to, name);
            if (!head)
                continue;
            (void)strncat(name, turned, 6);
            judge_replaced(q, blocks, from, to + 5, name);
        }
        if (head)
            judge_replaced(q, blocks, to, to + 5, turned);
    }
}

/* Two blocks swapped, one left out, one put twice. */
static void change_blocks(struct run *q, const struct lines *l)
{
    static struct text t;
    size_t start[64], n = 0;
    for (size_t i = 0; i < l->n && n < 63; i++)
        if (!strncmp(l->at[i], "level ", 6))
            start[n++] = i;
    start[n] = l->n;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b <= n; b++) {
            t.len = 0;
            put_lines(&t, l, 0, start[a]);
            if (b < n)
                put_lines(&t, l, start[b], start[b + 1]);
            put_lines(&t, l, start[a + 1], start[b]);
            if (b < n) {
                put_lines(&t, l, start[a], start[a + 1]);
                put_lines(&t, l, start[b + 1], start[n]);
            }
            judge_blocks(q, t.at);
        }
}

static const char *blocks_of(const struct text *t)
{
    const char *at = strstr(t->at, "\nlevel ");
    return at ? at + 1 : t->at + t->len;
}

static void change(struct run *q)
{
    static struct lines l;
    const char *blocks = blocks_of(&q->cert);
    split(blocks, &l);
    change_lines(q, &l);
    change_tokens(q, blocks);
    change_levels(q, blocks, &l);
    change_blocks(q, &l);
    if (q->other.len)
        judge_blocks(q, blocks_of(&q->other));
    q->other = q->cert;
}

/* ---- proofs made up at random ---- */

struct proof {
    char level[16];
    bool split;
    unsigned n_vars;
    struct text lines;
};

static unsigned below(struct run *q, unsigned n)
{
    return n ? ins_rng_below(&q->rng, n) : 0;
}

static void put_number(struct text *t, long x)
{
    char word[24];
    (void)snprintf(word, sizeof word, " %ld", x);
    put_word(t, word);
}

static void put_op(struct run *q, struct text *t)
{
    put_number(t, below(q, q->h->n_ops));
}

static void put_txn(struct run *q, struct text *t)
{
    put_number(t, below(q, q->h->n_txns));
}

static void put_node(const struct proof *p, struct text *t, unsigned txn, bool commit)
{
    put_word(t, p->split ? commit ? " c" : " b" : " ");
    char word[16];
    (void)snprintf(word, sizeof word, "%u", txn);
    put_word(t, word);
}

static void put_nodes(struct run *q, const struct proof *p, struct text *t, unsigned n,
                      bool closed)
{
    unsigned first = 0, txn = 0, commit = 0, from = 0;
    for (unsigned i = 0; i < n; i++) {
        txn = 1 + below(q, q->h->n_txns - 1);
        commit = below(q, 2);
        if (i == 0) {
            first = txn;
            from = commit;
        }
        put_node(p, t, txn, commit);
    }
    if (closed)
        put_node(p, t, first, from);
}

static void put_lits(struct run *q, const struct proof *p, struct text *t, unsigned n)
{
    for (unsigned i = 0; p->n_vars && i < n; i++)
        put_number(t, (below(q, 3) ? -1L : 1L) * (1 + (long)below(q, p->n_vars)));
}

/* One line with operands at random; *var when it makes a variable. */
static void put_line(struct run *q, const struct proof *p, struct text *t, bool *var)
{
    /* o: operation, t: transaction, n: walk, c: closed walk, l: literals, d: a denied
     * literal, v: the next variable, e: two nodes, p: a small number, the rest as it is
     */
    static const char *const form[] = {
        "list o t t :",       "list o t t :",   "anti o t : n",
        "anti o t :",         "over o t : n",   "pair o t t : n",
        "drop o t : n",       "drop o t t : n", "from o t :",
        "nobody o",           "misread o",      "differ o o",
        "mono o o",           "beside o o",     "causal o t : n",
        "before o t t : n",   "cycle c",        "cycle c",
        "loop : n",           "loop l : n",     "order-var v o t t",
        "from-var v o t",     "count-var v t",  "edge-var v e",
        "place-var v o t p",  "one o : l",      "need : d l",
        "imply : l",          "rup l",          "rup",
        "show o p : l",       "fits o : l",     "apart : d d",
        "after o : l",        "mono o o : l",   "beside o o : l",
        "causal o t : n : l", "loop l : n",     "imply : l",
        "one o : l"};
    const char *f = form[below(q, sizeof form / sizeof *form)];
    const size_t word = strcspn(f, " ");
    put(t, f, word);
    *var = strstr(f, "-var") != NULL;
    for (f += word; *f; f++)
        switch (*f) {
        case 'o':
            put_op(q, t);
            break;
        case 't':
            put_txn(q, t);
            break;
        case 'n':
            put_nodes(q, p, t, 1 + below(q, 3) + below(q, 2), false);
            break;
        case 'c':
            put_nodes(q, p, t, 1 + below(q, 4), true);
            break;
        case 'e':
            put_nodes(q, p, t, 2, false);
            break;
        case 'l':
            put_lits(q, p, t, below(q, 4));
            break;
        case 'd':
            if (p->n_vars)
                put_number(t, -1L - (long)below(q, p->n_vars));
            break;
        case 'v':
            put_number(t, (long)p->n_vars + 1);
            break;
        case 'p':
            put_number(t, below(q, 5));
            break;
        case ':':
            put_word(t, " :");
            break;
        default:
            break;
        }
    put_word(t, "\n");
}

static void wrap(const struct run *q, const struct proof *p, const char *verdict,
                 struct text *t)
{
    static struct text blocks;
    blocks.len = 0;
    put_word(&blocks, "level ");
    put_word(&blocks, p->level);
    put_word(&blocks, verdict);
    put(&blocks, p->lines.at, p->lines.len);
    put_word(&blocks, "end\n");
    put_head(q, t, blocks.at);
    put(t, blocks.at, blocks.len);
}

/* Mostly one of which the claim would be false. */
static void choose_level(struct run *q, struct proof *p, bool pass)
{
    for (int i = 0; i < 8; i++) {
        level_name(below(q, N_NAMES), p->level);
        if (holds(q, p->level) != pass || below(q, 6) == 0)
            break;
    }
    const char *base = strchr(p->level, '-') ? strchr(p->level, '-') + 1 : p->level;
    p->split = !strcmp(base, "pc") || !strcmp(base, "si");
    p->n_vars = 0;
    p->lines.len = 0;
    p->lines.at[0] = '\0';
}

/* Lines that hold are kept, so that proofs get long. */
static void grow(struct run *q)
{
    static struct proof p;
    static struct text t;
    choose_level(q, &p, false);
    for (int i = 0; i < GROWN && !q->wrong; i++) {
        const size_t len = p.lines.len;
        bool var, open;
        put_line(q, &p, &p.lines, &var);
        wrap(q, &p, " fail\n", &t);
        if (judge(q, &t, &open))
            q->grown++;
        else if (open) {
            q->steps++;
            p.n_vars += var;
            continue;
        }
        p.lines.len = len;
        p.lines.at[len] = '\0';
    }
}

/* Orders at random. */
static void shuffle(struct run *q)
{
    static struct proof p;
    static struct text t;
    const unsigned n = q->h->n_txns - 1;
    unsigned order[2 * TINY_TXNS] = {0};
    choose_level(q, &p, true);
    while (below(q, 3) == 0) {
        put_word(&p.lines, "choose");
        put_op(q, &p.lines);
        put_txn(q, &p.lines);
        put_word(&p.lines, "\n");
    }
    put_word(&p.lines, "order");
    const unsigned nodes = p.split ? 2 * n : n;
    for (unsigned i = 0; i < nodes; i++) {
        const unsigned j = below(q, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    /* mostly begins and commits side by side, without those that aborted */
    const bool apart = below(q, 2);
    for (unsigned i = 0; i < nodes; i++) {
        const unsigned txn = 1 + (p.split ? order[i] / 2 : order[i]);
        if (q->h->txn_status[txn] == INS_ABORTED || (p.split && !apart && order[i] % 2))
            continue;
        put_node(&p, &p.lines, txn, apart && order[i] % 2);
        if (p.split && !apart)
            put_node(&p, &p.lines, txn, true);
    }
    put_word(&p.lines, "\n");
    wrap(q, &p, " pass\n", &t);
    (void)judge(q, &t, NULL);
}

/* ---- all of it ---- */

static bool certify(struct run *q)
{
    struct ins_error err = {0};
    struct ins_result *r = NULL;
    const struct ins_check_options o = {
        .levels = ins_levels_decided(), .threads = 1, .certificate = true};
    q->cert.len = 0;
    const bool ok = ins_check(q->h, &o, &r, &err) == INS_OK && r->certificate;
    if (ok && r->certificate->text.len < MAX_TEXT / 2)
        put(&q->cert, r->certificate->text.at, r->certificate->text.len);
    ins_result_free(r);
    return ok;
}

static void one_history(struct run *q)
{
    struct ins_error err = {0};
    tiny_random(&q->tiny, &tiny_profiles[below(q, tiny_n_profiles)], &q->rng);
    if (tiny_build(&q->tiny, &q->h, &err) != INS_OK) {
        q->wrong = "the history cannot be built";
        return;
    }
    q->holds = oracle_check(&q->tiny);
    q->histories++;
    if (!certify(q))
        q->wrong = "no certificate";
    else if (!judge(q, &q->cert, NULL) && !q->wrong) {
        q->wrong = "a certificate does not verify";
        q->bad = q->cert;
    }
    if (!q->wrong && (!q->cases || below(q, 4) == 0))
        change(q);
    for (int i = 0; i < PROOFS && !q->wrong; i++)
        grow(q);
    for (int i = 0; i < ORDERS && !q->wrong; i++)
        shuffle(q);
    ins_history_free(q->h);
}

int main(int argc, char **argv)
{
    static struct run q;
    q.cases = argc > 1 && !strcmp(argv[1], "--cases");
    const int first = q.cases ? 2 : 1;
    const unsigned count =
        argc > first ? (unsigned)strtoul(argv[first], NULL, 10) : 120;
    const uint64_t seed = argc > first + 1 ? strtoull(argv[first + 1], NULL, 10) : 1;
    q.rng.state = seed;
    for (unsigned i = 0; i < count && !q.wrong; i++)
        one_history(&q);
    if (q.cases)
        return q.wrong != NULL;
    printf("1..2\n# seed %" PRIu64 "\n", seed);
    printf("# %" PRIu64 " histories, %" PRIu64 " mutants, %" PRIu64
           " of them accepted and true, %" PRIu64 " by proofs made up of %" PRIu64
           " lines that hold\n",
           q.histories, q.mutants, q.accepted, q.grown, q.steps);
    if (q.wrong) {
        printf("# %s\n# ", q.wrong);
        tiny_line(&q.tiny, stdout);
        printf("\n%.*s", (int)q.bad.len, q.bad.at);
    }
    printf("%s 1 - nothing false is proved\n", q.wrong ? "not ok" : "ok");
    const bool varied = q.accepted > q.histories && q.grown > q.histories / 20;
    printf("%s 2 - mutants were accepted too\n", varied ? "ok" : "not ok");
    return q.wrong || !varied;
}

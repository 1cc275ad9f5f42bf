/* Jepsen's and Elle's files as they are: what each form of event means, told in our own
 * text, or why it is refused; and what the user is told about it. */
#include "canon.h"
#include "tap.h"

#include "base/mem.h"
#include "base/rng.h"
#include "format/format.h"

#include <string.h>

static const struct {
    const char *rule, *format, *order, *input, *meaning, *note;
} cases[] = {
    /* ---- processes ---- */
    {"processes that are strings or keywords are sessions", "edn", NULL,
     "{:type :ok :process \"a\" :f :txn :value [[:w 1 2]]}\n"
     "{:type :ok :process :b :f :txn :value [[:r 1 2]]}\n"
     "{:type :ok :process 3 :f :txn :value [[:r 1 2]]}\n",
     "insula 1 transactions 3\ninitial nil\na: w(1)=2\n:b: r(1)=2\n3: r(1)=2\n", ""},
    {"so they are in JSON", "json", NULL,
     "{\"type\":\"ok\",\"process\":\"c1\",\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}",
     "insula 1 transactions 1\ninitial nil\nc1: w(x)=1\n", ""},
    {"a process may be any form", "edn", NULL,
     "{:type :ok :process [1 :a] :f :txn :value [[:w 1 2]]}",
     "insula 1 transactions 1\ninitial nil\nedn\"[1 :a]\": w(1)=2\n", ""},
    {"what is passed over is counted", "edn", NULL,
     "{:type :info :process :nemesis :f :kill :value nil}\n"
     "{:type :invoke :process 0 :f :wait :value nil}\n"
     "{:type :ok :process 0 :f :wait :value nil}\n"
     "{:type :info :process :logger :f :note :value [\"n1\"]}\n"
     "{:type :ok :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :info :process :nemesis :f :start :value {:n1 :ok}}\n",
     "insula 1 transactions 1\ninitial nil\n0: w(1)=2\n",
     "2 events of the nemesis passed over; 3 events without operations passed over"},
    {"two open invocations of one process are refused with both lines", "edn", NULL,
     "{:type :invoke :process :p :f :txn :value [[:w 1 2]]}\n\n"
     "{:type :invoke :process :p :f :txn :value [[:w 1 3]]}\n",
     "line 3: expected the completion of what this process invoked on line 1 before it "
     "invokes again",
     NULL},

    /* ---- real time ---- */
    {"without times the order of events is real time", "edn", NULL,
     "{:type :invoke :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :ok :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :invoke :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :invoke :process 2 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :process 2 :f :txn :value [[:r 1 nil]]}\n",
     "insula 1 transactions 3\ninitial nil\n0 @0..0: w(1)=2\n1 @1..1: r(1)=nil\n"
     "2 @1..1: r(1)=nil\n",
     ""},
    {"equal times are moved apart, where the order of events says so", "edn", NULL,
     "{:type :invoke :time 5 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :ok :time 5 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :invoke :time 5 :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :time 4 :process 1 :f :txn :value [[:r 1 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0 @5..5: w(1)=2\n1 @6..6: r(1)=nil\n", ""},
    {"late clocks too", "edn", NULL,
     "{:type :invoke :time 10 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :ok :time 90 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :invoke :time 50 :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :time 95 :process 1 :f :txn :value [[:r 1 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0 @10..90: w(1)=2\n1 @91..95: r(1)=nil\n",
     ""},
    {"--order times goes by the clock", "edn", "times",
     "{:type :invoke :time 10 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :ok :time 90 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :invoke :time 50 :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :process 1 :f :txn :value [[:r 1 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0 @10..90: w(1)=2\n1 @50..: r(1)=nil\n",
     ""},
    {"what did not commit never ends and moves nobody", "edn", NULL,
     "{:type :invoke :time 10 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :info :time 90 :process 0 :f :txn :value [[:w 1 2]]}\n"
     "{:type :invoke :time 50 :process 1 :f :txn :value [[:r 1 nil]]}\n"
     "{:type :ok :time 60 :process 1 :f :txn :value [[:r 1 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0 @10..90: w(1)=2 unknown\n"
     "1 @50..60: r(1)=nil\n",
     ""},
    {"times may be fractions", "json", NULL,
     "[{\"type\":\"invoke\",\"time\":1.5e3,\"process\":0,\"value\":[[\"w\",1,2]]},"
     "{\"type\":\"ok\",\"time\":2000.75,\"process\":0,\"value\":[[\"w\",1,2]]}]",
     "insula 1 transactions 1\ninitial nil\n0 @1500..2000: w(1)=2\n", ""},

    /* ---- operations ---- */
    {"operations count under any :f", "edn", NULL,
     "{:type :ok :process 0 :f :write :value [[:w 1 2]]}\n"
     "{:type :ok :process 1 :f :read :value [[:r 1 2] [:r 2 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0: w(1)=2\n1: r(1)=2 r(2)=nil\n", ""},
    {"a read without value has no result", "edn", NULL,
     "{:type :invoke :process 0 :f :txn :value [[:r :x] [:w 2 3]]}\n"
     "{:type :info :process 0 :f :txn}\n"
     "{:type :ok :process 1 :f :txn :value [[:r :x]]}\n",
     "insula 1 transactions 2\ninitial nil\n0: r(:x)=? w(2)=3 unknown\n"
     "1: r(:x)=?\n",
     ""},
    {"an :ok without value took place, its reads are not known", "edn", NULL,
     "{:type :invoke :process 0 :f :txn :value [[:r :x nil] [:w 2 3]]}\n"
     "{:type :ok :process 0 :f :txn :value nil}\n",
     "insula 1 transactions 1\ninitial nil\n0 @0..0: r(:x)=? w(2)=3\n", ""},
    {"keys are any form, compared by value", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:w [1 :a] 1] [:w {:b 2, :a 1} 2] "
     "[:w 2.50 3] [:w \\c 4] [:w sym 5] [:w #inst \"2020\" 6]]}\n"
     "{:type :ok :process 1 :f :txn :value [[:r (1 :a) 1] [:r {:a 1 :b 2} 2] "
     "[:r 25e-1 3] [:r \\u0063 4] [:r ^:m sym 5]]}\n",
     "insula 1 transactions 2\ninitial nil\n"
     "0: w(edn\"[1 :a]\")=1 w(edn\"{:a 1 :b 2}\")=2 w(edn\"2.5\")=3 w(edn\"\\\\c\")=4 "
     "w(edn\"sym\")=5 w(edn\"#inst \\\"2020\\\"\")=6\n"
     "1: r(edn\"[1 :a]\")=1 r(edn\"{:a 1 :b 2}\")=2 r(edn\"2.5\")=3 r(edn\"\\\\c\")=4 "
     "r(edn\"sym\")=5\n",
     ""},
    {"values too", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:w 1 true] [:w 2 1.5] [:w 3 [1 [2]]] "
     "[:w 4 {:a #{2 1}}] [:r 3 (1 (2))] [:w 5 12345678901234567890123] [:w 6 1e30]]}",
     "insula 1 transactions 1\ninitial nil\n0: w(1)=edn\"true\" w(2)=edn\"1.5\" "
     "w(3)=edn\"[1 [2]]\" w(4)=edn\"{:a #{1 2}}\" r(3)=edn\"[1 [2]]\" "
     "w(5)=edn\"12345678901234567890123\" "
     "w(6)=edn\"1000000000000000000000000000000\"\n",
     ""},
    {"and in JSON", "json", NULL,
     "{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",[1,\"a\"],{\"b\":"
     "null,\"a\":[true]}],[\"r\",[1.0,\"a\"],{\"a\":[true],\"b\":null}]]}",
     "insula 1 transactions 1\ninitial nil\n0: w(edn\"[1 \\\"a\\\"]\")=edn\"{\\\"a\\\" "
     "[true] \\\"b\\\" nil}\" r(edn\"[1 \\\"a\\\"]\")=edn\"{\\\"a\\\" [true] \\\"b\\\" "
     "nil}\"\n",
     ""},
    {"numbers are what they amount to", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:w 1 1.0] [:w 2 1N] [:w 3 10e-1] [:w 4 "
     "-0.0] [:w 5 1.0M] [:w 6 0.00000001] [:w 7 -25E+1]]}",
     "insula 1 transactions 1\ninitial nil\n0: w(1)=1 w(2)=1 w(3)=1 w(4)=0 w(5)=1 "
     "w(6)=edn\"1E-8\" w(7)=-250\n",
     ""},
    {"elements of lists are any form", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:append 1 [2 3]] [:r 1 [true [2 3]]]]}",
     "insula 1 transactions 1\n0: a(1)=edn\"[2 3]\" r(1)=[edn\"true\" edn\"[2 3]\"]\n",
     ""},
    {"a list among lists may hold vectors; a register's vector is a value", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:append 1 2] [:w 2 [5]]]}\n"
     "{:type :ok :process 1 :f :txn :value [[:r 1 [2]] [:r 2 [5]]]}\n",
     "insula 1 transactions 2\ninitial nil\n0: a(1)=2 w(2)=edn\"[5]\"\n"
     "1: r(1)=[2] r(2)=edn\"[5]\"\n",
     ""},
    {"independent keys are part of the keys", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [7 [[:w :x 1] [:r :y nil]]]}\n"
     "{:type :ok :process 0 :f :txn :value [[8 9] [[:r :x 1]]]}\n"
     "{:type :fail :process 0 :f :txn :value [7 []]}\n",
     "insula 1 transactions 3\ninitial nil\n0: w(edn\"[7 :x]\")=1 r(edn\"[7 "
     ":y]\")=nil\n"
     "0: r(edn\"[[8 9] :x]\")=1\n0: abort\n",
     ""},
    {"a set is a register an element", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:append :x 1] [:append :l 5]]}\n"
     "{:type :ok :process 1 :f :txn :value [[:r :x #{1 7}] [:r :l [5]]]}\n"
     "{:type :ok :process 2 :f :txn :value [[:r :x nil] [:add :x 2]]}\n"
     "{:type :info :process 2 :f :txn :value [[:r :x nil]]}\n",
     "insula 1 transactions 4\ninitial nil\n"
     "0: w(edn\"[:x 1]\")=edn\"true\" a(:l)=5\n"
     "1: r(edn\"[:x 2]\")=nil r(edn\"[:x 1]\")=edn\"true\" "
     "r(edn\"[:x 7]\")=edn\"true\" r(:l)=[5]\n"
     "2: r(edn\"[:x 1]\")=nil r(edn\"[:x 2]\")=nil w(edn\"[:x 2]\")=edn\"true\"\n"
     "2: unknown\n",
     ""},
    {"metadata and tags in front of an event or a value mean nothing", "edn", NULL,
     "^{:doc 1} #jepsen.history.Op{:type :ok :process 0 :f :txn :value ^:v [^:o [:w "
     "^:k "
     "1 ^{:a 1} 2]]}",
     "insula 1 transactions 1\ninitial nil\n0: w(1)=2\n", ""},

    /* ---- workloads ---- */
    {"long-fork is made of transactions", "edn", NULL,
     "{:type :ok :process 0 :f :write :value [[:w 3 1]]}\n"
     "{:type :ok :process 1 :f :read :value [[:r 3 nil] [:r 4 1]]}\n",
     "insula 1 transactions 2\ninitial nil\n0: w(3)=1\n1: r(3)=nil r(4)=1\n", ""},
    {"cas-register: a success reads and writes, a failure writes nothing", "edn", NULL,
     "{:type :invoke :process 0 :f :read :value nil}\n"
     "{:type :ok :process 0 :f :read :value nil}\n"
     "{:type :ok :process 0 :f :write :value 3}\n"
     "{:type :ok :process 1 :f :cas :value [3 4]}\n"
     "{:type :fail :process 1 :f :cas :value [3 5]}\n"
     "{:type :info :process 1 :f :cas :value [4 6]}\n"
     "{:type :info :process 2 :f :read :value nil}\n",
     "insula 1 transactions 6\ninitial nil\n0 @0..0: r(register)=nil\n"
     "0 @..0: w(register)=3\n"
     "1 @..0: r(register)=3 w(register)=4\n1: w(register)=5 abort\n"
     "1: r(register)=4 w(register)=6 unknown\n2: r(register)=? unknown\n",
     "read as transactions on one register; of 1 compare-and-sets that failed it is "
     "not "
     "judged what they saw"},
    {"the same with independent keys", "json", NULL,
     "[{\"type\":\"ok\",\"process\":0,\"f\":\"write\",\"value\":[1,2]},"
     "{\"type\":\"ok\",\"process\":0,\"f\":\"cas\",\"value\":[1,[2,3]]},"
     "{\"type\":\"ok\",\"process\":0,\"f\":\"read\",\"value\":[1,3]},"
     "{\"type\":\"info\",\"process\":0,\"f\":\"read\",\"value\":[4,null]}]",
     "insula 1 transactions 4\ninitial nil\n0: w(1)=2\n0: r(1)=2 w(1)=3\n0: r(1)=3\n"
     "0: r(4)=? unknown\n",
     "read as transactions on registers"},
    {"sequential: a transaction a subkey, in the order of the client", "edn", NULL,
     "{:type :ok :index 1 :process 0 :f :write :value 5}\n"
     "{:type :ok :index 2 :process 1 :f :read :value [5 [\"5_1\" nil]]}\n"
     "{:type :fail :index 3 :process 2 :f :write :value 6}\n",
     "insula 1 transactions 6\ninitial nil\n0 \"1.0\": w(\"5_0\")=\"5_0\"\n"
     "0 \"1.1\": w(\"5_1\")=\"5_1\"\n1 \"2.0\": r(\"5_1\")=\"5_1\"\n"
     "1 \"2.1\": r(\"5_0\")=nil\n2 \"3.0\": w(\"6_0\")=\"6_0\" unknown\n"
     "2 \"3.1\": w(\"6_1\")=\"6_1\" unknown\n",
     "each subkey is a register, inserted and read by transactions of its own"},
    {"bank is named", "edn", NULL,
     "{:type :invoke :process 0 :f :read}\n"
     "{:type :invoke :process 1 :f :transfer :value {:from 1 :to 2 :amount 3}}\n",
     "line 1: this looks like the bank workload", NULL},
    {"counter is named", "edn", NULL,
     "{:type :ok :process 0 :f :add :value 1}{:type :ok :process 0 :f :read :value 1}",
     "line 1: this looks like the counter workload", NULL},
    {"set is named", "edn", NULL,
     "{:type :ok :process 0 :f :add :value 1}{:type :ok :process 0 :f :read :value "
     "[1]}",
     "line 1: this looks like the set or set-full workload", NULL},
    {"set-full with independent keys is named", "edn", NULL,
     "{:type :ok :process 0 :f :add :value [0 1]}"
     "{:type :ok :process 0 :f :read :value [0 [1]]}",
     "line 1: this looks like the set or set-full workload", NULL},
    {"comments is named", "edn", NULL,
     "{:type :ok :process 0 :f :write :value 1}{:type :ok :f :read :value #{1 2}}",
     "line 1: this looks like the comments workload", NULL},
    {"mutex is named, though its events have no values", "edn", NULL,
     "{:type :invoke :process 0 :f :acquire}\n{:type :ok :process 0 :f :acquire}\n",
     "line 1: this looks like the mutex workload", NULL},
    {"a queue is named", "edn", NULL, "{:type :invoke :process 0 :f :enqueue :value 3}",
     "line 1: this looks like the queue workload", NULL},
    {"another value is refused", "edn", NULL,
     "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n"
     "{:type :ok :process 0 :f :frob :value 3}\n",
     "line 2: expected operations as the value of every client's event", NULL},
    {"also behind keys of two kinds", "edn", NULL,
     "{:type :ok :process 0 :value [[:w 1 2]]}\n"
     "{:type :ok :process 1 :value [[:r 2 [3]]]}\n"
     "{:type :ok :process 1 :f :frob :value 5}\n",
     "line 3: expected operations as the value of every client's event", NULL},
    {"events without values behind keys of two kinds are passed over", "edn", NULL,
     "{:type :ok :process 0 :value [[:w 1 2]]}\n"
     "{:type :ok :process 1 :value [[:r 2 [3]]]}\n"
     "{:type :ok :process 1 :f :read}\n"
     "{:type :ok :process 1 :value [[:w 1 7]]}\n",
     "insula 1 transactions 3\ninitial nil\n0: w(1)=2\n1: r(2)=[3]\n1: w(1)=7\n",
     "1 event without operations passed over"},
    {"values that nobody can have written are refused", "edn", NULL,
     "{:type :ok :process 0 :f :read :value {1 2}}\n", "line 1: expected", NULL},
};

/* The history as text or the error; the note goes to *note. */
static char *told(size_t i, char *note, size_t size)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    struct ins_history *h = NULL;
    const struct ins_read_options o = {.threads = 1, .order = cases[i].order};
    const struct ins_input in = {.data = cases[i].input,
                                 .size = strlen(cases[i].input)};
    const enum ins_status st =
        ins_format_read(ins_format_find(cases[i].format, NULL), &in, &o, &h, &err);
    note[0] = '\0';
    if (st != INS_OK) {
        ins_buf_fmt(&out, "line %llu: %s", (unsigned long long)err.line, err.text);
    } else {
        (void)snprintf(note, size, "%s", h->note);
        (void)ins_format_find("insula", NULL)->write(h, &out, &err);
    }
    ins_history_free(h);
    ins_buf_char(&out, '\0');
    return out.at;
}

/* Does a history come back from its own format? */
static bool comes_back(size_t i)
{
    struct ins_error err = {0};
    struct ins_buf out = {0};
    struct ins_history *h = NULL, *again = NULL;
    const struct ins_read_options o = {.threads = 1, .order = cases[i].order};
    const struct ins_format *const f = ins_format_find(cases[i].format, NULL);
    const struct ins_input in = {.data = cases[i].input,
                                 .size = strlen(cases[i].input)};
    bool same = ins_format_read(f, &in, &o, &h, &err) == INS_OK;
    if (same && ins_format_can_express(f, h, &err) == INS_OK) {
        (void)f->write(h, &out, &err);
        const struct ins_input back = {.data = out.at, .size = out.len};
        same = ins_format_read(f, &back, &o, &again, &err) == INS_OK;
    }
    if (again) {
        char *const left = canon(h, canon_flags(f->id));
        char *const right = canon(again, canon_flags(f->id));
        same = !strcmp(left, right);
        if (!same)
            printf("# was %s\n# is %s\n", left, right);
        ins_free(left);
        ins_free(right);
    }
    ins_history_free(h);
    ins_history_free(again);
    ins_buf_release(&out);
    return same;
}

enum { PROCESSES = 4, STEPS = 30, RUNS = 400 };

/* Random events: where each transaction was invoked and completed, by its index, which
 * is the number of its completion.  -1: it was not. */
struct random_run {
    int began[STEPS], ended[STEPS];
    bool committed[STEPS];
};

static void put_random(struct ins_buf *out, struct ins_rng *rng, struct random_run *run)
{
    static const char *const types[] = {"ok", "ok", "ok", "fail", "info"};
    int open[PROCESSES] = {-1, -1, -1, -1};
    const uint32_t timed = ins_rng_below(rng, 3); /* never, sometimes, always */
    for (int i = 0; i < STEPS; i++) {
        const uint32_t p = ins_rng_below(rng, PROCESSES);
        const bool invoke = open[p] < 0 && ins_rng_below(rng, 8);
        const uint32_t type = ins_rng_below(rng, 5);
        run->began[i] = invoke ? -1 : open[p];
        run->ended[i] = invoke ? -1 : i;
        run->committed[i] = !invoke && type < 3;
        open[p] = invoke ? i : -1;
        ins_buf_fmt(out, "{:index %d :process %u :type :%s :value [[:w 1 %d]]", i, p,
                    invoke ? "invoke" : types[type], i);
        if (timed == 2 || (timed && ins_rng_below(rng, 2)))
            ins_buf_fmt(out, " :time %d", (int)ins_rng_below(rng, 40));
        ins_buf_text(out, "}\n");
    }
}

/* Is a before b in real time exactly when its completion stands before the invocation
 * of b? */
static bool order_is_kept(const struct ins_history *h, const struct random_run *run)
{
    for (ins_txn a = 1; a < h->n_txns; a++)
        for (ins_txn b = 1; b < h->n_txns; b++) {
            const uint64_t i = ins_history_txn_lit(h, a).number;
            const uint64_t j = ins_history_txn_lit(h, b).number;
            if (!run->committed[i] || run->ended[j] < 0)
                continue; /* without an end, or named by its invocation */
            const bool before = run->began[j] >= 0 && run->ended[i] < run->began[j];
            const bool found = h->txn_begin && h->txn_end[a] != INS_NO_TIME &&
                               h->txn_begin[b] != INS_NO_TIME &&
                               h->txn_end[a] < h->txn_begin[b];
            /* Before the first invocation an end without a time is none. */
            const bool early =
                run->began[i] < 0 && (!h->txn_end || h->txn_end[a] == INS_NO_TIME);
            if (before != found && !(early && !found))
                return false;
        }
    return true;
}

static unsigned disagreements(struct ins_rng *rng)
{
    unsigned bad = 0;
    for (int i = 0; i < RUNS; i++) {
        struct random_run run;
        struct ins_buf out = {0};
        struct ins_error err = {0};
        struct ins_history *h = NULL;
        const struct ins_read_options o = {.threads = 1};
        put_random(&out, rng, &run);
        const struct ins_input in = {.data = out.at, .size = out.len};
        if (ins_format_read(ins_format_find("edn", NULL), &in, &o, &h, &err) !=
                INS_OK ||
            !order_is_kept(h, &run)) {
            bad++;
            printf("# %s\n%.*s", err.text, (int)out.len, out.at);
        }
        ins_history_free(h);
        ins_buf_release(&out);
    }
    return bad;
}

int main(void)
{
    struct tap tap = {0};
    struct ins_rng rng = {7};
    (void)tap_ok(&tap, !disagreements(&rng), "real time is the order of random events");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char note[512];
        char *const text = told(i, note, sizeof note);
        const bool refused = !cases[i].note;
        const bool right =
            refused ? !strncmp(text, cases[i].meaning, strlen(cases[i].meaning))
                    : !strcmp(text, cases[i].meaning);
        if (!tap_ok(&tap, right, "%s", cases[i].rule))
            printf("# expected: %s\n# found: %s\n", cases[i].meaning, text);
        if (!refused && !tap_ok(&tap, !strcmp(note, cases[i].note), "its note"))
            printf("# expected: %s\n# found: %s\n", cases[i].note, note);
        if (!refused)
            (void)tap_ok(&tap, comes_back(i), "it comes back from its own format");
        ins_free(text);
    }
    return tap_end(&tap);
}

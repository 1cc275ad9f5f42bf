#include "texts.h"

#define EXAMPLE(comment_, ...)                                            \
    {                                                                     \
        .txn = (const struct ins_example_txn[]){__VA_ARGS__},             \
        .n_txns = sizeof((const struct ins_example_txn[]){__VA_ARGS__}) / \
                  sizeof(struct ins_example_txn),                         \
        .comment = (comment_)                                             \
    }

#define PLUME                                                               \
    "Liu et al., Plume: Efficient and Complete Black-Box Checking of Weak " \
    "Isolation Levels, OOPSLA 2024"
#define ADYA "Adya, Weak Consistency, PhD thesis, MIT 1999"
#define ELLE                                                          \
    "Kingsbury and Alvaro, Elle: Inferring Isolation Anomalies from " \
    "Experimental Observations, VLDB 2020"
#define CRITIQUE "Berenson et al., A Critique of ANSI SQL Isolation Levels, SIGMOD 1995"

#define BY_LISTS \
    "Where lists show the version order, every level from rc on forbids it."
#define NOBODY "No level of any common database permits it: it is a bug."

const struct ins_example ins_stale_example = {
    .txn = (const struct ins_example_txn[]){{1, 1, 'c', "r(x)=0 w(x)=1"},
                                            {1, 2, 'c', "r(x)=1 w(x)=2"},
                                            {2, 3, 'c', "r(x)=1"}},
    .n_txns = 3,
    .timed = true,
    .comment = "t2 had committed before t3 began, and t3 does not see it.",
};

const struct ins_example ins_phantom_example = {
    .txn = (const struct ins_example_txn[]){{1, 1, 'c', "q(v=1)={} insert(5)=1"},
                                            {2, 2, 'c', "q(v=1)={} insert(6)=1"}},
    .n_txns = 2,
    .comment = "Both ask for all rows with v=1, find none and insert one. Whichever "
               "came second must have found the other's.",
};

const struct ins_kind_text ins_kind_texts[INS_N_KINDS] = {
    [INS_THIN_AIR_READ] =
        {
            .title = "read out of thin air",
            .meaning =
                "A value came back that no client ever wrote: the data is corrupt, or "
                "the recording is incomplete.",
            .definition =
                "A read returns a value that no transaction wrote to that key.",
            .databases = NOBODY,
            .references = PLUME " (a)",
            .example = EXAMPLE("Nobody wrote 7.", {1, 1, 'c', "w(x)=1"},
                               {2, 2, 'c', "r(x)=7"}, {3, 2, 'c', "r(x)=1"}),
        },
    [INS_ABORTED_READ] =
        {
            .title = "aborted read",
            .meaning = "A transaction acted on data that was rolled back and so never "
                       "existed.",
            .definition = "A committed transaction reads a value that only an aborted "
                          "transaction wrote (Adya's G1a).",
            .databases =
                "READ UNCOMMITTED where it is honoured: MySQL, MariaDB, SQL Server.",
            .references = PLUME " (b); " ADYA " (G1a)",
            .example =
                EXAMPLE("t1 rolled back, and t2 saw its write.", {1, 1, 'a', "w(x)=1"},
                        {2, 2, 'c', "r(x)=1"}, {3, 2, 'c', "r(x)=0"}),
        },
    [INS_FUTURE_READ] =
        {
            .title = "future read",
            .meaning = "A transaction read what it had not yet written.",
            .definition = "A read returns a value that its own transaction writes only "
                          "afterwards.",
            .databases = NOBODY,
            .references = PLUME " (c)",
            .example = EXAMPLE("t1 reads 1 first and writes it later.",
                               {1, 1, 'c', "r(x)=1 w(x)=1"}, {2, 2, 'c', "r(x)=1"},
                               {3, 1, 'c', "r(x)=0"}),
        },
    [INS_NOT_MY_OWN_WRITE] =
        {
            .title = "not my own write",
            .meaning = "A transaction did not see its own write, but somebody else's.",
            .definition = "A transaction writes a key and then reads it from another "
                          "transaction.",
            .databases =
                NOBODY " Autocommitted statements that were taken for one transaction "
                       "look like it.",
            .references = PLUME " (d)",
            .example = EXAMPLE("t2 wrote 2 and read 1.", {1, 1, 'c', "w(x)=1"},
                               {2, 2, 'c', "w(x)=2 r(x)=1"}, {3, 3, 'c', "r(x)=2"}),
        },
    [INS_NOT_MY_LAST_WRITE] =
        {
            .title = "not my last write",
            .meaning =
                "A transaction saw an own write that it had already overwritten.",
            .definition =
                "A transaction writes a key twice and then reads the earlier value.",
            .databases = NOBODY,
            .references = PLUME " (e)",
            .example = EXAMPLE("t1 wrote 2 over 1 and then read 1.",
                               {1, 1, 'c', "w(x)=1 w(x)=2 r(x)=1"},
                               {2, 2, 'c', "r(x)=2"}, {3, 1, 'c', "r(x)=0"}),
        },
    [INS_INTERMEDIATE_READ] =
        {
            .title = "intermediate read",
            .meaning =
                "A transaction saw the unfinished state of another one, a value that "
                "was never meant to be committed.",
            .definition = "A read returns a value that its writer overwrote before it "
                          "committed (Adya's G1b).",
            .databases =
                "READ UNCOMMITTED where it is honoured: MySQL, MariaDB, SQL Server.",
            .references = PLUME " (f); " ADYA " (G1b)",
            .example = EXAMPLE("1 was never committed: t1 wrote 2 over it.",
                               {1, 1, 'c', "w(x)=1 w(x)=2"}, {2, 2, 'c', "r(x)=1"},
                               {3, 2, 'c', "r(x)=2"}),
        },
    [INS_CYCLIC_CO] =
        {
            .title = "circular information flow",
            .meaning =
                "Each of the transactions must have come after the one before it, so "
                "none of them can have been the first.",
            .definition = "Session order and reads-from together have a cycle.",
            .databases = NOBODY,
            .references = PLUME " (g); " ADYA " (G1c)",
            .example =
                EXAMPLE("Each reads what the one before it wrote, in a circle.",
                        {1, 1, 'c', "r(z)=1 w(x)=1"}, {2, 1, 'c', "r(x)=1 w(y)=1"},
                        {3, 1, 'c', "r(y)=1 w(z)=1"}),
        },
    [INS_NON_MONO_READ_CO] =
        {
            .title = "non-monotonic read",
            .meaning = "Within one transaction time went backwards: after seeing a "
                       "transaction's write it read a version older than another one.",
            .definition =
                "t3 reads from t2 and later reads a key, which t2 also wrote, from t1, "
                "though t1 comes before t2 by session order and reads-from.",
            .databases =
                NOBODY " READ COMMITTED on replicas that apply a transaction piece by "
                       "piece shows it.",
            .references = PLUME " (h); Biswas and Enea, OOPSLA 2019",
            .example =
                EXAMPLE("After y=2 of t2, t3 still reads x=1, which t2 overwrote.",
                        {1, 1, 'c', "w(x)=1"}, {1, 2, 'c', "w(x)=2 w(y)=2"},
                        {2, 3, 'c', "r(y)=2 r(x)=1"}),
        },
    [INS_NON_MONO_READ_CM] =
        {
            .title = "non-monotonic read, by inference",
            .meaning =
                "Reads went backwards in time whichever of the writers came first.",
            .definition =
                "The commit order that monotonic reads ask for has a cycle that is not "
                "one of session order and reads-from alone.",
            .databases = NOBODY,
            .references = PLUME " (i)",
            .example =
                EXAMPLE("x=1 then y=2 puts t1 first, y=2 then x=1 puts t2 first.",
                        {1, 1, 'c', "w(x)=1 w(y)=1"}, {2, 1, 'c', "w(x)=2 w(y)=2"},
                        {3, 2, 'c', "r(x)=1 r(y)=2 r(x)=1"}),
        },
    [INS_NON_REPEATABLE_READ] =
        {
            .title = "non-repeatable read",
            .meaning =
                "A transaction looked twice at the same thing and saw a change that it "
                "had not made.",
            .definition =
                "Two reads of a key in one transaction, with no own write of it "
                "before, return different values.",
            .databases = "READ COMMITTED everywhere.",
            .references = PLUME " (j); " CRITIQUE " (P2)",
            .example =
                EXAMPLE("t2 sees x change under its feet.", {1, 1, 'c', "w(x)=1"},
                        {2, 1, 'c', "r(x)=0 r(x)=1"}, {3, 2, 'c', "r(x)=1"}),
        },
    [INS_FRACTURED_READ_CO] =
        {
            .title = "fractured read",
            .meaning = "A transaction read from another one, or came after it in its "
                       "session, and yet missed a write of it: invariants between keys "
                       "look broken.",
            .definition =
                "t3 reads a key from t1 although t2, which overwrote it and comes "
                "after t1 by session order and reads-from, is read by t3 or before "
                "t3 in its session.",
            .databases = "READ COMMITTED everywhere.",
            .references = PLUME " (k); Bailis et al., RAMP, SIGMOD 2014",
            .example = EXAMPLE("t3 has y from t2, but x from before t2.",
                               {1, 1, 'c', "w(x)=1 w(y)=1"},
                               {2, 2, 'c', "r(x)=1 w(x)=2 w(y)=2"},
                               {3, 3, 'c', "r(x)=1 r(y)=2"}),
        },
    [INS_FRACTURED_READ_CM] =
        {
            .title = "fractured read, by inference",
            .meaning =
                "Transactions were seen in part: whichever came first, somebody missed "
                "half of the other.",
            .definition = "The commit order that atomic visibility asks for has a "
                          "cycle that is not "
                          "one of session order and reads-from alone.",
            .databases = "READ COMMITTED everywhere.",
            .references = PLUME " (l)",
            .example =
                EXAMPLE("By x, t2 is the older one; by y, t1 is.",
                        {1, 1, 'c', "w(x)=1 w(y)=1"}, {2, 1, 'c', "w(x)=2 w(y)=2"},
                        {3, 2, 'c', "r(x)=1 r(y)=2"}),
        },
    [INS_CO_CONFLICT_CM] =
        {
            .title = "causality violation",
            .meaning =
                "A transaction saw an effect but not its cause: it read a version that "
                "something it depends on had already overwritten.",
            .definition = "t3 reads a key from t1 although t2, which also wrote it and "
                          "comes after "
                          "t1, reaches t3 by session order and reads-from.",
            .databases = "READ COMMITTED everywhere; replicated stores without causal "
                         "sessions.",
            .references =
                PLUME " (m); Bouajjani et al., POPL 2017 (CyclicCO, WriteCORead)",
            .example = EXAMPLE("t3 sees t2, which had seen t1, but misses t1.",
                               {1, 1, 'c', "w(x)=1"}, {2, 2, 'c', "r(x)=1 w(y)=1"},
                               {3, 3, 'c', "r(y)=1 r(x)=0"}),
        },
    [INS_CONFLICT_CM] =
        {
            .title = "causality violation, by inference",
            .meaning =
                "Two clients saw two writes in opposite orders, and each had a reason "
                "to see them in its own.",
            .definition =
                "The commit order that causality asks for has a cycle that is not "
                "one of session order and reads-from alone.",
            .databases =
                "READ COMMITTED everywhere; stores that let replicas order concurrent "
                "writes differently.",
            .references = PLUME " (n); Bouajjani et al., POPL 2017 (CyclicCF)",
            .example =
                EXAMPLE("t4 knows t2 and reads x=1; t5 knows t1 and reads x=2.",
                        {1, 1, 'c', "w(x)=1"}, {2, 1, 'c', "w(x)=2"},
                        {2, 2, 'c', "w(z)=1"}, {3, 3, 'c', "r(z)=1 r(x)=1 w(y)=1"},
                        {4, 4, 'c', "r(y)=1 r(x)=2"}),
        },
    [INS_DUPLICATE_ELEMENTS] =
        {
            .title = "duplicate elements",
            .meaning =
                "An append took effect twice, as when a client or a server retries.",
            .definition =
                "A list read shows an element more often than it was appended.",
            .databases = NOBODY,
            .references = ELLE,
            .example = EXAMPLE("1 was appended once and is there twice.",
                               {1, 1, 'c', "append(x)=1"}, {2, 2, 'c', "r(x)=[1,1]"},
                               {3, 2, 'c', "append(x)=2"}),
        },
    [INS_INCOMPATIBLE_ORDER] =
        {
            .title = "incompatible orders",
            .meaning =
                "A list showed appends in an order that another list, or the "
                "transaction that made them, contradicts: there were two versions of "
                "the truth.",
            .definition =
                "Of two list reads of one key neither is a prefix of the other.",
            .databases = NOBODY,
            .references = ELLE,
            .example = EXAMPLE("One read says 1 came first, the other 2.",
                               {1, 1, 'c', "append(x)=1"}, {2, 1, 'c', "append(x)=2"},
                               {3, 2, 'c', "r(x)=[1,2]"}, {4, 2, 'c', "r(x)=[2,1]"}),
        },
    [INS_PREDICATE_MISMATCH] =
        {
            .title = "a row that was not asked for",
            .meaning = "The result of a query has a row that the query's condition "
                       "does not allow, a row twice, or more rows than its limit.",
            .definition = "A row of the result does not satisfy the condition, is "
                          "there a second time, or is one too many.",
            .databases = NOBODY,
            .references = "Adya, PhD thesis, MIT 1999 (predicate reads)",
            .example = EXAMPLE("x was never 2.", {1, 1, 'c', "update(x)=1"},
                               {2, 2, 'c', "q(v=2)={x=1}"}),
        },
    [INS_PREDICATE_READ_MISS] =
        {
            .title = "a missed row",
            .meaning = "A query lacks a row that it asked for and that was there all "
                       "the time: nobody could have read past it.",
            .definition = "The result of a query lacks a key of which every version, "
                          "the initial one among them, satisfies the condition.",
            .databases = NOBODY,
            .references = "Adya, PhD thesis, MIT 1999 (predicate reads)",
            .example =
                EXAMPLE("x is 0 at first and then 1; the query asks for all rows.",
                        {1, 1, 'c', "update(x)=1"}, {2, 2, 'c', "q()={}"}),
        },
    [INS_G0] =
        {
            .title = "dirty write",
            .meaning =
                "The writes of the transactions stand in an order in which the "
                "transactions themselves cannot have come: what is left may be a "
                "mixture of them.",
            .definition = "A cycle of version order (WW) alone. " BY_LISTS,
            .databases = NOBODY,
            .references = ADYA " (G0); " ELLE,
            .example = EXAMPLE("t1 is first on x and second on y.",
                               {1, 1, 'c', "append(x)=1 append(y)=1"},
                               {2, 1, 'c', "append(x)=2 append(y)=2"},
                               {3, 2, 'c', "r(x)=[1,2]"}, {4, 2, 'c', "r(y)=[2,1]"}),
        },
    [INS_G1C] =
        {
            .title = "circular information flow",
            .meaning = "Each of the transactions read or overwrote something of the "
                       "one before "
                       "it, in a circle: none can have been the first.",
            .definition =
                "A cycle of version order (WW) and reads-from (WR). " BY_LISTS,
            .databases = NOBODY,
            .references = ADYA " (G1c); " ELLE,
            .example =
                EXAMPLE("t1 read from t2, whose append to x comes after its own.",
                        {1, 1, 'c', "append(x)=1 r(y)=[2]"},
                        {2, 1, 'c', "append(x)=2 append(y)=2"},
                        {3, 2, 'c', "r(x)=[1,2]"}),
        },
    [INS_LOST_UPDATE] =
        {
            .title = "lost update",
            .meaning =
                "Two transactions read the same version and both wrote over it: the "
                "work of one of them has vanished.",
            .definition =
                "Two transactions read one version of a key and both write that key.",
            .databases =
                "READ COMMITTED everywhere, without SELECT ... FOR UPDATE; MySQL and "
                "MariaDB REPEATABLE READ.",
            .references = CRITIQUE " (P4); " ELLE,
            .example = EXAMPLE("t1 and t2 both add to 0; the increment of t1 is gone.",
                               {1, 1, 'c', "r(x)=0 w(x)=1"},
                               {2, 1, 'c', "r(x)=0 w(x)=2"}, {3, 2, 'c', "r(x)=2"}),
        },
    [INS_G_SINGLE] =
        {
            .title = "read skew",
            .meaning = "A transaction missed a write that came before it: it fits "
                       "nowhere in an order of all of them.",
            .definition =
                "A cycle with exactly one anti-dependency (RW). Prefix consistency "
                "forbids it only where session order or reads-from leads to it, "
                "not version order.",
            .databases = "READ COMMITTED everywhere.",
            .references = ADYA " (G-single); " CRITIQUE " (A5A); " ELLE,
            .example =
                EXAMPLE("t3 sees t2, which follows t1 on z, but misses t1.",
                        {1, 1, 'c', "append(x)=1 append(z)=1"},
                        {2, 2, 'c', "append(z)=2 append(y)=1"},
                        {3, 3, 'c', "r(x)=[] r(y)=[1]"}, {4, 3, 'c', "r(z)=[1,2]"}),
        },
    [INS_LONG_FORK] =
        {
            .title = "long fork",
            .meaning = "Two readers saw two independent writes in opposite orders: "
                       "there is no "
                       "single history behind what they saw.",
            .definition =
                "Two reads-from and two anti-dependencies (RW), alternating, make a "
                "cycle: one reader sees t1 and not t2, another t2 and not t1.",
            .databases =
                "READ COMMITTED; parallel snapshot isolation and causal stores; "
                "replicas that apply commits in different orders.",
            .references =
                "Sovran et al., Transactional Storage for Geo-Replicated Systems, "
                "SOSP 2011",
            .example =
                EXAMPLE("t3 says x came first, t4 says y did.", {1, 1, 'c', "w(x)=1"},
                        {2, 1, 'c', "w(y)=1"}, {3, 2, 'c', "r(x)=1 r(y)=0"},
                        {4, 2, 'c', "r(x)=0 r(y)=1"}),
        },
    [INS_G_NONADJACENT] =
        {
            .title = "non-adjacent anti-dependencies",
            .meaning = "Several transactions each missed a write, and no snapshots "
                       "explain all "
                       "of them.",
            .definition =
                "A cycle with two or more anti-dependencies (RW), no two of them in "
                "a row.",
            .databases = "READ COMMITTED everywhere.",
            .references = ELLE "; Cerone and Gotsman, JACM 2018",
            .example =
                EXAMPLE("On a t1 is before t2. x: t2 before t3. b: t3 before t4. y: "
                        "t4 before t1.",
                        {1, 1, 'c', "append(a)=1 append(y)=1"},
                        {2, 2, 'c', "append(a)=2 r(x)=[]"},
                        {3, 1, 'c', "append(b)=1 append(x)=1"},
                        {4, 2, 'c', "append(b)=2 r(y)=[]"},
                        {5, 3, 'c', "r(a)=[1,2] r(b)=[1,2]"}),
        },
    [INS_G2_ITEM] =
        {
            .title = "write skew",
            .meaning =
                "Some of them missed what others wrote, and none can have come first: "
                "a "
                "rule that each transaction obeys by itself can be broken by all of "
                "them together.",
            .definition =
                "A cycle with two or more anti-dependencies (RW), at least two of "
                "them in a row.",
            .databases =
                "Snapshot isolation: PostgreSQL REPEATABLE READ, Oracle SERIALIZABLE, "
                "SQL Server SNAPSHOT; and every weaker level.",
            .references = ADYA " (G2-item); " CRITIQUE " (A5B)",
            .example =
                EXAMPLE("Neither saw the other; one after the other, one would have.",
                        {1, 1, 'c', "r(x)=0 r(y)=0 w(x)=1"},
                        {2, 1, 'c', "r(x)=0 r(y)=0 w(y)=1"},
                        {3, 2, 'c', "r(x)=1 r(y)=1"}),
        },
    [INS_NO_ORDER] =
        {
            .title = "no version order",
            .meaning =
                "For each way to order the writes of the keys involved, some "
                "transactions contradict one another; there is no single cycle to "
                "point at, but one for every case.",
            .definition =
                "Every choice of version orders, and of writers where values repeat, "
                "closes a cycle that the level forbids.",
            .databases = "Whatever permits the cycles of its cases.",
            .references =
                "Huang et al., PolySI, VLDB 2023; Tan et al., Cobra, OSDI 2020",
        },
};

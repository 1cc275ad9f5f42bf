#include "texts.h"

/* Definitions follow the axioms of the strong and weak levels as the checkers decide
 * them; "version order" is the order in which the writes of one key took effect. */

const struct ins_level_text ins_level_texts[INS_N_LEVELS] = {
    [INS_CI] =
        {
            .definition = "All reads of one key in one transaction, before the "
                          "transaction writes that "
                          "key itself, return the same value.",
            .meaning =
                "A transaction that looks twice sees the same thing twice. Nothing is "
                "said "
                "about different keys, nor about whether the value was ever committed.",
            .databases =
                "Given by every level that reads from a snapshot: PostgreSQL and MySQL "
                "REPEATABLE READ and up, Oracle SERIALIZABLE. Not given by READ "
                "COMMITTED "
                "anywhere.",
            .references = "Bailis et al., Highly Available Transactions: Virtues and "
                          "Limitations, VLDB 2013 (item cut isolation)",
            .forbids = INS_NON_REPEATABLE_READ,
            .permits = INS_ABORTED_READ,
        },
    [INS_RC] =
        {
            .definition =
                "Every read returns the last write of a committed transaction, or the "
                "reader's own latest write. And there is a commit order, containing "
                "session "
                "order and reads-from, such that a transaction that has read from t2 "
                "and "
                "later reads a key, which t2 also wrote, from t1, finds t2 before t1 "
                "in it.",
            .meaning = "No dirty, rolled back or half-finished data is ever seen, and "
                       "within a "
                       "transaction reads do not go back in time. Two reads of a key "
                       "may still "
                       "differ, and updates may be lost.",
            .databases = "The default of PostgreSQL, Oracle and SQL Server; READ "
                         "COMMITTED in MySQL, "
                         "MariaDB and CockroachDB.",
            .references =
                "Biswas and Enea, On the Complexity of Checking Transactional "
                "Consistency, OOPSLA 2019; Adya, Weak Consistency, PhD thesis, MIT "
                "1999 (PL-2)",
            .forbids = INS_NON_MONO_READ_CO,
            .permits = INS_NON_REPEATABLE_READ,
        },
    [INS_RA] =
        {
            .definition = "Read committed, repeated reads agree, and there is a commit "
                          "order, containing "
                          "session order and reads-from, such that whenever t3 reads a "
                          "key from t1 "
                          "while t2, which also wrote that key, comes before t3 in its "
                          "session or is "
                          "read by t3, t2 is before t1 in it.",
            .meaning =
                "A transaction is seen whole or not at all: whoever sees one of its "
                "writes sees all the others, or newer ones.",
            .databases =
                "RAMP stores and RAMP-TAO offer it as such; in common databases it "
                "comes with snapshot reads.",
            .references =
                "Bailis et al., Scalable Atomic Visibility with RAMP Transactions, "
                "SIGMOD 2014; Biswas and Enea, OOPSLA 2019",
            .forbids = INS_FRACTURED_READ_CO,
            .permits = INS_CO_CONFLICT_CM,
        },
    [INS_CC] =
        {
            .definition =
                "Read atomic, where \"before\" is transitive: whenever t3 reads a key "
                "from "
                "t1, and t2, which also wrote that key, reaches t3 by steps of session "
                "order and reads-from, t2 is before t1 in the commit order.",
            .meaning =
                "Whoever sees an effect also sees its causes. Writes that know nothing "
                "of one another may be seen in different orders by different clients.",
            .databases =
                "MongoDB sessions with causal consistency and majority concerns; "
                "Antidote; COPS and its descendants.",
            .references =
                "Ahamad et al., Causal Memory, Distributed Computing 1995; Bouajjani "
                "et al., On Verifying Causal Consistency, POPL 2017; Biswas and "
                "Enea, OOPSLA 2019",
            .forbids = INS_CO_CONFLICT_CM,
            .permits = INS_LONG_FORK,
        },
    [INS_PC] =
        {
            .definition = "Read committed's conditions on single reads, and there are "
                          "version orders "
                          "WW, with the anti-dependencies RW that they give, such that "
                          "(SO ∪ WR);RW? ∪ WW has no cycle.",
            .meaning =
                "Every transaction reads from a prefix of one history of commits that "
                "is the "
                "same for everybody. Two transactions may still start from the same "
                "prefix and overwrite one another.",
            .databases =
                "Snapshot reads without a check for conflicting writes: MySQL and "
                "MariaDB "
                "REPEATABLE READ come near it, as their writes go past the snapshot.",
            .references =
                "Burckhardt et al., Global Sequence Protocol, ECOOP 2015; Biswas and "
                "Enea, OOPSLA 2019",
            .forbids = INS_LONG_FORK,
            .permits = INS_LOST_UPDATE,
        },
    [INS_SI] =
        {
            .definition =
                "There are version orders WW, with the anti-dependencies RW that "
                "they give, such that (SO ∪ WR ∪ WW);RW? has no cycle.",
            .meaning =
                "Every transaction reads from a snapshot taken when it began, and of "
                "two "
                "concurrent transactions that write the same key only one commits. Two "
                "that write different keys may each overlook what the other wrote.",
            .databases =
                "PostgreSQL REPEATABLE READ, Oracle SERIALIZABLE, SQL Server SNAPSHOT, "
                "YugabyteDB REPEATABLE READ.",
            .references =
                "Berenson et al., A Critique of ANSI SQL Isolation Levels, SIGMOD "
                "1995; Cerone and Gotsman, Analysing Snapshot Isolation, JACM 2018",
            .forbids = INS_LOST_UPDATE,
            .permits = INS_G2_ITEM,
        },
    [INS_SER] =
        {
            .definition =
                "There are version orders WW, with the anti-dependencies RW that "
                "they give, such that SO ∪ WR ∪ WW ∪ RW has no cycle.",
            .meaning = "Everything looks as if the transactions had run one after "
                       "another, each "
                       "client's in its own order. That order need not be the order of "
                       "the clock "
                       "across clients.",
            .databases =
                "PostgreSQL SERIALIZABLE, MySQL and MariaDB SERIALIZABLE, SQL Server "
                "SERIALIZABLE, SQLite, CockroachDB, YugabyteDB SERIALIZABLE.",
            .references = "Papadimitriou, The Serializability of Concurrent Database "
                          "Updates, JACM "
                          "1979; Adya, PhD thesis, MIT 1999 (PL-3)",
            .forbids = INS_G2_ITEM,
            .permits = -1,
        },
    [INS_SSER] =
        {
            .definition =
                "Serializability with real time added: SO ∪ WR ∪ WW ∪ RW ∪ RT has no "
                "cycle, where RT orders a transaction that ended before another "
                "one began.",
            .meaning =
                "As if there were one copy of the data and one transaction at a time, "
                "on the clock everybody shares: once a commit is reported, everybody "
                "sees it.",
            .databases =
                "Spanner, FoundationDB, FaunaDB; single servers with strict two-phase "
                "locking.",
            .references = "Herlihy and Wing, Linearizability, TOPLAS 1990; Corbett et "
                          "al., Spanner, "
                          "OSDI 2012",
            .forbids = INS_G_SINGLE,
            .permits = -1,
        },
};

const char *const ins_suffix_texts[INS_N_SUFFIXES] = {
    [INS_PROCESS] =
        "The suffix -process says that the cycle needs session order to close: "
        "transactions of one client were reordered.",
    [INS_REALTIME] = "The suffix -realtime says that the cycle needs real time to "
                     "close: a transaction "
                     "that had already ended was overlooked. Only strict "
                     "serializability forbids it.",
};

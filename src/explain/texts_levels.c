#include "texts.h"

/* Definitions follow the axioms of the strong and weak levels as the checkers decide
 * them; "version order" is the order in which the writes of one key took effect. */

static const struct ins_level_text text_CI = {
    .definition = "All reads of one key in one transaction, before the "
                  "transaction writes that "
                  "key itself, return the same value.",
    .meaning = "A transaction that looks twice sees the same thing twice. Nothing is "
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
};

static const struct ins_level_text text_PL2 = {
    .definition = "Every read returns the last write of a committed transaction to the "
                  "key, or a write of the reader itself that came before; and "
                  "reads-from together with the version orders that lists show has no "
                  "cycle. Session order plays no part.",
    .meaning = "No dirty, rolled back or half-finished data is ever seen, and that is "
               "all: within a transaction, reads may go back in time.",
    .databases = "READ COMMITTED everywhere gives at least this.",
    .references = "Adya, Weak Consistency, PhD thesis, MIT 1999 (PL-2); Kingsbury and "
                  "Alvaro, Elle, VLDB 2020, where it is called read committed",
    .forbids = INS_ABORTED_READ,
    .permits = INS_NON_MONO_READ_CO,
};

static const struct ins_level_text text_RC = {
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
    .references = "Biswas and Enea, On the Complexity of Checking Transactional "
                  "Consistency, OOPSLA 2019; Adya, Weak Consistency, PhD thesis, MIT "
                  "1999 (PL-2)",
    .forbids = INS_NON_MONO_READ_CO,
    .permits = INS_NON_REPEATABLE_READ,
};

static const struct ins_level_text text_RA = {
    .definition = "Read committed, repeated reads agree, and there is a commit "
                  "order, containing "
                  "session order and reads-from, such that whenever t3 reads a "
                  "key from t1 "
                  "while t2, which also wrote that key, comes before t3 in its "
                  "session or is "
                  "read by t3, t2 is before t1 in it.",
    .meaning = "A transaction is seen whole or not at all: whoever sees one of its "
               "writes sees all the others, or newer ones.",
    .databases = "RAMP stores and RAMP-TAO offer it as such; in common databases it "
                 "comes with snapshot reads.",
    .references = "Bailis et al., Scalable Atomic Visibility with RAMP Transactions, "
                  "SIGMOD 2014; Biswas and Enea, OOPSLA 2019",
    .forbids = INS_FRACTURED_READ_CO,
    .permits = INS_CO_CONFLICT_CM,
};

static const struct ins_level_text text_CC = {
    .definition =
        "Read atomic, where \"before\" is transitive: whenever t3 reads a key "
        "from "
        "t1, and t2, which also wrote that key, reaches t3 by steps of session "
        "order and reads-from, t2 is before t1 in the commit order.",
    .meaning = "Whoever sees an effect also sees its causes. Writes that know nothing "
               "of one another may be seen in different orders by different clients.",
    .databases = "MongoDB sessions with causal consistency and majority concerns; "
                 "Antidote; COPS and its descendants.",
    .references = "Ahamad et al., Causal Memory, Distributed Computing 1995; Bouajjani "
                  "et al., On Verifying Causal Consistency, POPL 2017; Biswas and "
                  "Enea, OOPSLA 2019",
    .forbids = INS_CO_CONFLICT_CM,
    .permits = INS_LONG_FORK,
};

static const struct ins_level_text text_PSI = {
    .definition =
        "Read committed's conditions on single reads, repeated reads agree, "
        "and there are version orders WW, with the anti-dependencies RW that "
        "they give, such that SO ∪ WR ∪ WW has no cycle and no path of them is "
        "closed by one RW.",
    .meaning = "Every transaction reads from a snapshot that its site had when it "
               "began, and of two concurrent transactions that write the same key only "
               "one commits. Sites may learn of unrelated commits in different orders.",
    .databases = "Walter and other stores that replicate snapshots between sites; "
                 "Galera clusters come near it.",
    .references =
        "Sovran et al., Transactional Storage for Geo-replicated Systems, "
        "SOSP 2011; Cerone, Bernardi and Gotsman, A Framework for "
        "Transactional Consistency Models with Atomic Visibility, CONCUR 2015",
    .forbids = INS_LOST_UPDATE,
    .permits = INS_LONG_FORK,
};

static const struct ins_level_text text_PC = {
    .definition = "Read committed's conditions on single reads, and there are "
                  "version orders "
                  "WW, with the anti-dependencies RW that they give, such that "
                  "(SO ∪ WR);RW? ∪ WW has no cycle.",
    .meaning = "Every transaction reads from a prefix of one history of commits that "
               "is the "
               "same for everybody. Two transactions may still start from the same "
               "prefix and overwrite one another.",
    .databases = "Snapshot reads without a check for conflicting writes: MySQL and "
                 "MariaDB "
                 "REPEATABLE READ come near it, as their writes go past the snapshot.",
    .references = "Burckhardt et al., Global Sequence Protocol, ECOOP 2015; Biswas and "
                  "Enea, OOPSLA 2019",
    .forbids = INS_LONG_FORK,
    .permits = INS_LOST_UPDATE,
};

static const struct ins_level_text text_SI = {
    .definition = "There are version orders WW, with the anti-dependencies RW that "
                  "they give, such that (SO ∪ WR ∪ WW);RW? has no cycle.",
    .meaning = "Every transaction reads from a snapshot taken when it began, and of "
               "two "
               "concurrent transactions that write the same key only one commits. Two "
               "that write different keys may each overlook what the other wrote.",
    .databases =
        "PostgreSQL REPEATABLE READ, Oracle SERIALIZABLE, SQL Server SNAPSHOT, "
        "YugabyteDB REPEATABLE READ.",
    .references = "Berenson et al., A Critique of ANSI SQL Isolation Levels, SIGMOD "
                  "1995; Cerone and Gotsman, Analysing Snapshot Isolation, JACM 2018",
    .forbids = INS_LOST_UPDATE,
    .permits = INS_G2_ITEM,
};

static const struct ins_level_text text_RR = {
    .definition = "Serializability without the anti-dependencies of predicate reads: "
                  "there are version orders WW such that SO ∪ WR ∪ WW ∪ RW has no "
                  "cycle, where RW comes from reads of single keys.",
    .meaning = "As if the transactions had run one after another, but a search by "
               "condition may miss rows that others add. Where nothing is searched by "
               "condition it is serializability.",
    .databases = "Locking databases at REPEATABLE READ, as the standard has it: Db2 "
                 "read stability, SQL Server REPEATABLE READ.",
    .references = "Adya, Weak Consistency, PhD thesis, MIT 1999 (PL-2.99)",
    .forbids = INS_G2_ITEM,
    .permits = -1,
};

static const struct ins_level_text text_SSER = {
    .definition = "Serializability with real time added: SO ∪ WR ∪ WW ∪ RW ∪ RT has no "
                  "cycle, where RT orders a transaction that ended before another "
                  "one began.",
    .meaning = "As if there were one copy of the data and one transaction at a time, "
               "on the clock everybody shares: once a commit is reported, everybody "
               "sees it.",
    .databases = "Spanner, FoundationDB, FaunaDB; single servers with strict two-phase "
                 "locking.",
    .references = "Herlihy and Wing, Linearizability, TOPLAS 1990; Corbett et "
                  "al., Spanner, "
                  "OSDI 2012",
    .forbids = INS_G_SINGLE,
    .permits = -1,
};

static const struct ins_level_text text_SER = {
    .definition = "There are version orders WW, with the anti-dependencies RW that "
                  "they give, such that SO ∪ WR ∪ WW ∪ RW has no cycle.",
    .meaning = "Everything looks as if the transactions had run one after "
               "another, each "
               "client's in its own order. That order need not be the order of "
               "the clock "
               "across clients.",
    .databases = "PostgreSQL SERIALIZABLE, MySQL and MariaDB SERIALIZABLE, SQL Server "
                 "SERIALIZABLE, SQLite, CockroachDB, YugabyteDB SERIALIZABLE.",
    .references = "Papadimitriou, The Serializability of Concurrent Database "
                  "Updates, JACM "
                  "1979; Adya, PhD thesis, MIT 1999 (PL-3)",
    .forbids = INS_G2_ITEM,
    .permits = -1,
    .strong = &text_SSER,
};

#ifdef INS_EXTRA_TEXTS
#include INS_EXTRA_TEXTS
#endif

/* A row without a text does not compile. */
static const struct ins_level_text *const level_texts[INS_N_BASES] = {
#define FIXED(NAME, ...) [INS_BASE_##NAME] = &text_##NAME,
#define LEVEL(NAME, ...) [INS_BASE_##NAME] = &text_##NAME,
#include "level/levels.def"
#undef FIXED
#undef LEVEL
};

const struct ins_level_text *ins_level_text(enum ins_level level)
{
    const struct ins_level_info *info = &ins_level_table[level];
    const struct ins_level_text *t = level_texts[info->base];
    return info->variant == INS_REAL_TIME && t->strong ? t->strong : t;
}

const char *ins_variant_text(enum ins_level level)
{
    static const char *const text[INS_N_VARIANTS] = {
        [INS_FREE_SESSIONS] = "Session order is left out: every transaction counts as "
                              "a session of its own.",
        [INS_REAL_TIME] = "Real time is added to session order: a transaction that "
                          "ended before another began comes before it.",
    };
    const struct ins_level_info *info = &ins_level_table[level];
    const bool own = info->variant == INS_REAL_TIME && level_texts[info->base]->strong;
    return own ? NULL : text[info->variant];
}

const char ins_lost_text[] =
    "A commit that was acknowledged, and whose keys were read by transactions that "
    "began "
    "later, none of which can have seen it, is a lost commit: the report says when it "
    "was, who missed it first, and what fault came in between.";

const char ins_count_text[] =
    "Reads that are wrong by themselves are counted one by one, lost updates by pairs "
    "of "
    "transactions that read one version and both wrote its key, lost commits one by "
    "one "
    "among G-single-realtime, and all other cycles once for each group of transactions "
    "that are tied together by cycles (a strongly connected component).";

const char *const ins_suffix_texts[INS_N_SUFFIXES] = {
    [INS_PREDICATE] =
        "The suffix -predicate says that the cycle needs a row that a query missed: a "
        "phantom. The query's condition asked for the row, and the query saw no "
        "version of it that the condition allows.",
    [INS_PREDICATE_PROCESS] =
        "The suffix -predicate-process says that the cycle needs both to close: a row "
        "that a query missed, a phantom, and session order.",
    [INS_PREDICATE_REALTIME] =
        "The suffix -predicate-realtime says that the cycle needs both to close: a row "
        "that a query missed, a phantom, and real time.",
    [INS_PROCESS] =
        "The suffix -process says that session order is part of what closes the cycle: "
        "the rest contradicts the order in which a client ran its transactions.",
    [INS_REALTIME] =
        "The suffix -realtime says that real time is part of what closes the cycle: "
        "the "
        "rest contradicts that a transaction had ended before another one began. Only "
        "levels that ask for real time, such as strict serializability, forbid it.",
};

# test --nemesis: a server that is killed or stopped still keeps its promise, and
# transactions of unknown outcome raise no alarm.
load common

seeds() {
    seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${RUNS:-1} - 1))
}

# survives LEVEL FAULT OPTION...: every run passes LEVEL, was hit at least once, and for
# a kill some run has transactions of unknown outcome.
survives() {
    local level=$1 fault=$2 seed unknown=0
    shift 2
    for seed in $(seeds) $(seq 1001 1012); do
        # Where a kill hits does not follow from the seed.
        [ "$seed" -lt 1001 ] || [ "$fault $unknown" = "kill 0" ] || break
        "$INSULA" test -q --seed "$seed" --nemesis "$fault" --nemesis-interval 0.7 \
            --time-limit 2.5 --rate 1000 "$@" >out 2>&1 || true
        expect "$level" pass || { echo "seed $seed: $*"; cat out; return 1; }
        grep -q "\"event\": \"$fault\"" store/latest/log.jsonl
        unknown=$((unknown + $(jq .histories[0].transactions.indeterminate store/latest/result.json)))
    done
    echo "# $fault $*: $unknown transactions of unknown outcome" >&3
    [ "$fault" = pause ] || [ "$unknown" -gt 0 ]
}

@test "PostgreSQL: SIGKILL and restart" {
    need_postgres
    survives ser kill --db postgres: --keys 1000 --ops 2 --rate 100000
    nothing_is_left
}

@test "PostgreSQL with fsync=off: SIGKILL and restart" {
    # Nothing may be lost here either: what the killed server had written is with the
    # operating system.  Only a crash of that would lose it, and no test here does that.
    need_postgres
    survives ser kill --db "postgres:?fsync=off" --keys 1000 --ops 2 --rate 100000
}

@test "PostgreSQL: SIGSTOP and SIGCONT" {
    need_postgres
    survives ser pause --db postgres: --keys 100
    nothing_is_left
}

@test "MariaDB: SIGKILL and restart" {
    need_mariadb
    survives ser kill --db mariadb: --keys 100
    nothing_is_left
}

@test "MariaDB: SIGSTOP and SIGCONT" {
    need_mariadb
    survives ser pause --db mariadb: --keys 100
    nothing_is_left
}

# forgets OPTION...: a server that answers before its log is written loses what it has
# confirmed, and the check sees it and says so.  Proves that the runs above could have
# failed.
forgets() {
    local seed seen=0 runs=0
    for seed in $(seeds); do
        "$INSULA" test -q --seed "$seed" --nemesis kill --nemesis-interval 0.7 \
            --time-limit 2.5 --workload mini "$@" >out 2>&1 || true
        runs=$((runs + 1))
        expect si fail >why 2>&1 && jq -e '.histories[0].lost_commits > 0 and
            any(.histories[0].anomalies[]; .lost_commit.faults | any(.[]?; .event == "kill"))' \
            store/latest/result.json >>why 2>&1 && seen=$((seen + 1))
    done
    echo "# kill $*: lost commits seen in $seen of $runs runs" >&3
    [ "$seen" -gt 0 ] || { cat why; return 1; }
    ! grep -q "acknowledged and then lost" out || grep -q "acknowledged and then lost (.*documentation" <(tr -s ' \n' ' ' <out)
}

@test "PostgreSQL with synchronous_commit=off forgets commits when it is killed" {
    need_postgres
    forgets --db "postgres:?synchronous_commit=off&fsync=off"
}

@test "MariaDB with innodb_flush_log_at_trx_commit=0 forgets commits when it is killed" {
    need_mariadb
    forgets --db "mariadb:?innodb_flush_log_at_trx_commit=0"
}

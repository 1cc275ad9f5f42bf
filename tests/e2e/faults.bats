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
    for seed in $(seeds); do
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
    survives ser kill --db postgres: --keys 100
    nothing_is_left
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

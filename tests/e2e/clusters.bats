# Clusters: what is known to happen between nodes is found and named, and what is
# promised holds.  RUNS says how many seeds.
load common

seeds() {
    seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${RUNS:-1} - 1))
}

need_galera() {
    need_mariadb
    ls /usr/lib*/galera*/libgalera*smm.so >/dev/null 2>&1 || skip "Galera is not installed"
    command -v rsync >/dev/null || skip "rsync is not installed"
}

# each_seed OPTION...: run it with every seed and leave the results in seed-N.json.
each_seed() {
    local seed
    for seed in $(seeds); do
        "$INSULA" test -q --seed "$seed" "$@" >out 2>&1 || [ $? -lt 3 ] || { cat out; return 1; }
        cp store/latest/result.json "seed-$seed.json"
    done
}

# all_are LEVEL VERDICT [ANOMALY]: in every run, and every failure has that name.
all_are() {
    local seed got
    for seed in $(seeds); do
        got=$(verdict "seed-$seed.json" "$1")
        [ "$got" = "$2" ] || { echo "seed $seed: $1 is $got, expected $2"; return 1; }
        [ -z "${3:-}" ] || jq -e ".histories[0].counts[\"$3\"] > 0" "seed-$seed.json" >/dev/null ||
            { echo "seed $seed: no $3"; jq -c .histories[0].counts "seed-$seed.json"; return 1; }
    done
}

fork="--db postgres:?standbys=1 --isolation repeatable-read --workload fork --sessions 12"

@test "PostgreSQL: readers on primary and standby see a long fork" {
    need_postgres
    each_seed $fork --time-limit "${SECONDS_EACH:-3}"
    all_are cc pass
    all_are si fail LongFork
    "$INSULA" check -l si store/latest/history.insulab >out || true
    grep -q "ran on primary, standby" out || grep -q "ran on standby, primary" out
    grep -q "session .* on standby" out
    nothing_is_left
}

@test "PostgreSQL: readers on the primary alone see one order" {
    need_postgres
    each_seed $fork --time-limit "${SECONDS_EACH:-2}" --read-from primary
    all_are sser pass
}

@test "PostgreSQL: readers on the standby alone see one order, late" {
    need_postgres
    each_seed $fork --time-limit "${SECONDS_EACH:-2}" --read-from standby
    all_are ser pass
    all_are sser fail G-single-realtime
}

@test "PostgreSQL: what a synchronous standby must apply first is seen there" {
    need_postgres
    each_seed --db 'postgres:?standbys=2&sync=2&standby2.work_mem=5MB' --workload rmw \
        --isolation repeatable-read --sessions 8 --time-limit 2 --final-read \
        --session-setting synchronous_commit=remote_apply
    all_are rc pass
    [ "$("$INSULA" convert -t insula store/latest/history.insulab - | grep -c 'on standby2')" -gt 0 ]
    nothing_is_left
}

@test "Galera: updates are lost without innodb_snapshot_isolation" {
    need_galera
    each_seed --db galera: --isolation repeatable-read --workload rmw --time-limit "${SECONDS_EACH:-3}"
    all_are si fail LostUpdate
    nothing_is_left
}

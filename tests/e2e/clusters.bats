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
    all_are si fail
    local seed
    for seed in $(seeds); do
        jq -e '.histories[0].counts["LostUpdate"] > 0' "seed-$seed.json"
    done
    nothing_is_left
}

# An abort may come between a row and the end of its result: the client must look.
@test "Galera: what is aborted in the middle of a result is aborted" {
    need_galera
    each_seed --db 'galera:?innodb_snapshot_isolation=ON' --isolation repeatable-read --workload append \
        --sessions 12 --keys 30 --time-limit "${SECONDS_EACH:-8}"
    all_are si pass
    nothing_is_left
}

@test "Galera: stale reads without wsrep_sync_wait, none with it" {
    need_galera
    each_seed --db 'galera:?wsrep_sync_wait=0' --isolation repeatable-read --workload fork \
        --sessions 9 --time-limit "${SECONDS_EACH:-3}"
    all_are sser fail
    each_seed --db 'galera:?wsrep_sync_wait=7' --isolation repeatable-read --workload fork \
        --sessions 9 --time-limit "${SECONDS_EACH:-3}"
    all_are sser pass
}

# A kill of all nodes loses what they had not written; the recording keeps what was
# acknowledged, so that what is missing is told as lost.
kill_all() {
    each_seed --db "galera:?innodb_flush_log_at_trx_commit=$1&wsrep_sync_wait=7" --workload fork \
        --isolation repeatable-read --sessions 9 --time-limit 6 --nemesis kill-all \
        --nemesis-interval 3 --final-read
    grep -q '"event": "kill"' store/latest/log.jsonl
}

@test "Galera: a kill of all nodes loses nothing that was flushed" {
    need_galera
    kill_all 1
    all_are sser pass
    nothing_is_left
}

@test "Galera: a kill of all nodes loses commits with innodb_flush_log_at_trx_commit=0" {
    need_galera
    [ "${RUNS:-1}" -ge 10 ] || skip "takes ten runs"
    kill_all 0
    local seed lost=0
    for seed in $(seeds); do
        ! jq -e '.histories[0].lost_commits > 0' "seed-$seed.json" >/dev/null || lost=$((lost + 1))
    done
    echo "# lost in $lost of $RUNS runs" >&3
    [ "$lost" -ge 5 ]
}

need_network() {
    [ "$(id -u)" = 0 ] || skip "only root makes network namespaces"
    command -v ip >/dev/null && { command -v nft || [ -x /usr/sbin/nft ]; } >/dev/null ||
        skip "ip or nft is not installed"
}

# Names of links and namespaces that a run could leave behind.
networks() {
    ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/\1/' | sort
    ip netns list
}

@test "Galera: partitions, loss and isolation are healed and leave nothing behind" {
    need_galera
    need_network
    networks >before
    each_seed --db 'galera:?innodb_snapshot_isolation=ON' --isolation repeatable-read --workload rmw \
        --sessions 9 --time-limit 10 --nemesis partition,isolate,loss --nemesis-interval 1.5 --final-read
    all_are si pass
    grep -q '"event": "final-read"' store/latest/log.jsonl
    networks | diff before -
    nothing_is_left
}

@test "Galera: SIGKILL of insula in the middle of a partition leaves nothing behind" {
    need_galera
    need_network
    networks >before
    "$INSULA" record -q --db galera: --workload rmw --time-limit 60 --nemesis partition:1:30 \
        --nemesis-interval 0.5 -o h.insulab >out 2>&1 3>&- &
    recorder=$!
    for tries in $(seq 300); do
        grep -q '"event": "partition"' h.insulab.run/log.jsonl 2>/dev/null && break
        sleep 0.1
    done
    grep -q '"event": "partition"' h.insulab.run/log.jsonl
    kill -9 "$recorder"
    nothing_is_left
    networks | diff before -
    "$INSULA" record -q --recover h.insulab.run -o h.insulab
}

@test "PostgreSQL: what a run left that was killed with its keeper is removed by the next" {
    need_postgres
    "$INSULA" record -q --db 'postgres:?standbys=1' --workload rmw --time-limit 60 -o h.insulab \
        >out 2>&1 3>&- &
    recorder=$!
    wait_for_journal h.insulab.run 50
    kill -STOP "$recorder"
    pkill -9 -P "$recorder"
    kill -9 "$recorder"
    ls -d "$TMPDIR"/insula-?????? >/dev/null
    "$INSULA" record -q --db postgres: --txns 50 -o next.insulab
    nothing_is_left
}

@test "a replica and a primary of one's own; commands as faults" {
    need_postgres
    "$INSULA" record -q --db 'postgres:?standbys=1' --workload rmw --time-limit 60 -o h.insulab \
        >out 2>&1 3>&- &
    recorder=$!
    wait_for_journal h.insulab.run 50
    local primary standby dir
    for dir in "$TMPDIR"/insula-??????; do
        if [ -e "$dir/data/standby.signal" ]; then standby=$dir; else primary=$dir; fi
    done
    "$INSULA" test -q --db "primary=postgres:///postgres?host=$primary&user=insula" \
        --db "replica=postgres:///postgres?host=$standby&user=insula" --table mine \
        --isolation repeatable-read --workload fork --time-limit 2 --nemesis touch:1:0.2 \
        --nemesis-interval 0.3 --fault-command "touch=echo {node} >>$PWD/done" \
        --heal-command "touch=echo heal {node} >>$PWD/done" >out2 2>&1 || { cat out2; false; }
    expect cc pass
    grep -q "^heal" done
    [ "$("$INSULA" convert -t insula store/latest/history.insulab - | grep -c 'on replica')" -gt 0 ]
    # A node that does not come back costs the final read, not the verdicts.
    "$INSULA" test --db "primary=postgres:///postgres?host=$primary&user=insula" \
        --db "replica=postgres:///postgres?host=$standby&user=insula" --table mine \
        --isolation repeatable-read --workload fork --time-limit 2 --nemesis down --nemesis-interval 0.3 --final-read \
        --fault-command "down=kill -9 \$(head -n 1 $standby/data/postmaster.pid)" \
        --heal-command "down=true" >out2 2>&1 || { cat out2; false; }
    expect cc pass
    grep -q "no final read" out2
    kill -INT "$recorder"
    wait "$recorder" || true
    nothing_is_left
}

@test "PostgreSQL: sessions that wander are at both nodes, and write at the primary" {
    need_postgres
    each_seed --db 'postgres:?standbys=1' --isolation repeatable-read --workload rmw --route wander \
        --sessions 4 --time-limit 1
    all_are rc pass
    "$INSULA" convert -t insula store/latest/history.insulab h.insula
    grep -qE '^0 .* on primary: .* a\(' h.insula
    # rmw writes in every transaction, so that all of them are at the primary; fork's
    # readers are at both.
    ! grep -q 'on standby: .* a(' h.insula
    each_seed --db 'postgres:?standbys=1' --isolation repeatable-read --workload fork --route wander \
        --sessions 4 --time-limit 1
    "$INSULA" convert -t insula store/latest/history.insulab h.insula
    grep -qE '^3 .* on primary: ' h.insula
    grep -qE '^3 .* on standby: ' h.insula
}

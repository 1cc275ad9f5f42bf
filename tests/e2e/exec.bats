# --db exec: clients of the user's.  RUNS is how many times the servers are tried.
bats_require_minimum_version 1.5.0
load common

examples=$BATS_TEST_DIRNAME/../../examples/exec
runs=${RUNS:-1}

need_python() {
    command -v python3 >/dev/null || skip "python3 is not installed"
}

# Record with a client; the rest are options.
client() {
    local command=$1
    shift
    # A busy machine takes its time to start a client.
    run --separate-stderr "$INSULA" test --answer-timeout 300 --db "exec:$command" "$@"
}

# A run whose client lies in this way, of few rows on which the lie shows.
liar() {
    local how=$1
    shift
    rm -f liar.db*
    client "$BATS_TEST_DIRNAME/liar.py $how liar.db" --sessions 2 --keys 20 --ops 4 --txns 250 \
        --workload mini --seed 1 --promise sser -q "$@"
}

# A client that breaks the protocol: no verdict, and the line that broke it.
breaks() {
    liar "$1"
    [ "$status" = 3 ] || { echo "$1: exit status $status"; echo "$output$stderr"; return 1; }
    [ -z "$output" ]
    [[ $stderr == *"broke the protocol: line "*"$2"* ]] || { echo "$1: $stderr"; return 1; }
    [ ! -e store/latest/result.json ]
}

redis_start() {
    command -v redis-server >/dev/null || skip "redis-server is not installed"
    redis-server --port 0 --unixsocket "$TMPDIR/redis" --save "" --dir "$TMPDIR" >"$TMPDIR/redis.log" &
    recorder=$!
    local tries
    for tries in $(seq 100); do
        [ -S "$TMPDIR/redis" ] && return 0
        sleep 0.05
    done
    cat "$TMPDIR/redis.log"
    return 1
}

etcd_start() {
    command -v etcd >/dev/null || skip "etcd is not installed"
    local tries
    for tries in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 12000))
        # No sync to the disk: nothing is killed here.
        etcd --data-dir "$TMPDIR/etcd" --listen-client-urls "http://127.0.0.1:$port" \
            --advertise-client-urls "http://127.0.0.1:$port" --unsafe-no-fsync \
            --listen-peer-urls "http://127.0.0.1:$((port + 1))" >"$TMPDIR/etcd.log" 2>&1 &
        recorder=$!
        for _ in $(seq 100); do
            python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null &&
                return 0
            kill -0 "$recorder" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$recorder" 2>/dev/null || true
        rm -rf "$TMPDIR/etcd"
    done
    tail -3 "$TMPDIR/etcd.log"
    return 1
}

@test "the template runs every workload and keeps what SQLite promises" {
    need_python
    for workload in ${WORKLOADS:-general append fork}; do
        client "$examples/template.py t.db" --workload "$workload" --keys 8 --txns 60 --sessions 3 --seed 1 \
            --promise sser -q
        [ "$status" = 0 ] || { echo "$workload: $output$stderr"; return 1; }
        [[ $output == "Promise kept: asked for serializable, SQLite"*"promises strict"* ]]
        expect sser pass
    done
    # What it says on standard error is kept, and its table is dropped.
    [ -e store/latest/client.log ]
    [ "$(python3 -c 'import sqlite3; print(sqlite3.connect("t.db").execute("select count(*) from sqlite_master").fetchone()[0])')" = 0 ]
    [ "$(grep -vc '^#\|^"""\|"""$\|^$' "$examples/template.py")" -le 30 ]
}

@test "a promise that is not kept is BROKEN, without one nothing is promised" {
    need_python
    client "$BATS_TEST_DIRNAME/liar.py drops x.db" --sessions 3 --keys 20 --workload mini --txns 400 --seed 1 -q
    [ "$status" = 0 ]
    [[ $output != *BROKEN* ]]
    run "$INSULA" test --promise nonsense
    [ "$status" = 3 ]
    [[ $output == *"unknown level 'nonsense'"* ]]
}

@test "writes that are dropped and values out of thin air are found out" {
    need_python
    for how in drops thin-air; do
        liar $how
        [ "$status" = 1 ] || { echo "$how: $status $output$stderr"; return 1; }
        [[ $output == *BROKEN* ]]
    done
    found_one_of ThinAirRead
}

@test "a client that dies, hangs or does not know leaves the outcome open" {
    need_python
    for how in dies commits-and-dies commits-early-and-dies does-not-know fails-and-commits; do
        liar $how
        [ "$status" = 0 ] || { echo "$how: $status $output$stderr"; return 1; }
        [ "$(stat_of store/latest/history.insulab .transactions.indeterminate)" -gt 0 ]
        grep -q '"lost"' store/latest/log.jsonl
    done
    liar hangs --txns 100 --answer-timeout 4
    [ "$status" = 0 ] || { echo "hangs: $status $output$stderr"; return 1; }
    grep -q 'has not answered in 4 s' store/latest/log.jsonl
    # None of them is left.
    run ! pgrep -f "$BATS_TEST_DIRNAME/liar.py hangs liar.db"
}

@test "what breaks the protocol ends the run with the line that broke it" {
    need_python
    breaks garbage "expected an object, got 'Traceback (most recent call last):'"
    breaks bytes "expected an object, got '?"
    breaks text "expected a whole number, got '{\"id\": "
    breaks fraction "expected a whole number"
    breaks huge "expected a number of at most 18 digits"
    breaks list "expected a whole number"
    breaks no-value 'expected "value"'
    breaks both 'expected either "ok" or "error"'
    breaks twice "expected "
    breaks echo 'expected the "id" of the request'
    breaks stranger "expected no member of this name here, got '{\"id\": "
    breaks error "expected the error to be conflict, refused, failed or unknown"
}

@test "a client that does not come up is reported with its last words" {
    need_python
    liar version
    [ "$status" = 3 ] && [[ $stderr == *"speaks version 2 of the protocol, expected 1"* ]]
    liar no-name
    [ "$status" = 3 ] && [[ $stderr == *'expected "insula" and "name"'* ]]
    liar refuses
    [ "$status" = 3 ] && [[ $stderr == *"refused: no such server"* ]]
    liar silent --answer-timeout 1
    [ "$status" = 3 ] && [[ $stderr == *"has not answered in 1 s"* ]]
    client "./is-not-there"
    [ "$status" = 3 ] && [[ $stderr == *"has ended: exit status 127: "*"not found"* ]]
    client "echo oops >&2; exit 4"
    [ "$status" = 3 ] && [[ $stderr == *"has ended: exit status 4: oops"* ]]
    client ""
    [ "$status" = 3 ] && [[ $stderr == *"expected a command, as in exec:./client"* ]]
}

@test "when nothing commits there is no verdict" {
    need_python
    client "$BATS_TEST_DIRNAME/liar.py serves x.db" --abort 1 --txns 20 --seed 1 -q
    [ "$status" = 3 ]
    [[ $stderr == *"no transaction has committed"* ]]
    [ -z "$output" ]
}

@test "Redis with WATCH is strictly serializable; without it updates are lost" {
    need_python
    redis_start
    for seed in $(seq "$runs"); do
        for workload in rmw general; do
            client "$examples/redis_client.py --socket $TMPDIR/redis" --workload $workload --keys 10 \
                --txns 1000 --sessions 6 --seed "$seed" --promise sser -q
            [ "$status" = 0 ] || { echo "$output$stderr"; return 1; }
            expect sser pass
        done
        client "$examples/redis_client.py --no-watch --socket $TMPDIR/redis" --workload rmw --keys 10 \
            --txns 1000 --sessions 6 --seed "$seed" --promise si -q
        [ "$status" = 1 ]
        found_one_of LostUpdate
    done
}

@test "Redis that stops and goes on, by a fault command" {
    need_python
    redis_start
    client "$examples/redis_client.py --socket $TMPDIR/redis" --workload rmw --keys 10 --time-limit 3 \
        --sessions 4 --seed 1 --promise sser -q --nemesis pause:1:0.3 --nemesis-interval 0.5 \
        --fault-command "pause=kill -STOP $recorder" --heal-command "pause=kill -CONT $recorder"
    [ "$status" = 0 ] || { echo "$output$stderr"; return 1; }
    expect sser pass
    grep -q '"pause"' store/latest/log.jsonl
}

@test "etcd is strictly serializable" {
    need_python
    etcd_start
    for seed in $(seq "$runs"); do
        for workload in rmw general; do
            client "$examples/etcd_client.py --url http://127.0.0.1:$port" --workload $workload --keys 10 \
                --txns 400 --sessions 5 --seed "$seed" --promise sser -q
            [ "$status" = 0 ] || { echo "$output$stderr"; return 1; }
            expect sser pass
        done
    done
}

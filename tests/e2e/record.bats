# record: what reaches the disk, whatever happens.
bats_require_minimum_version 1.5.0
load common

@test "SQLite: as many transactions as asked for, each with its times" {
    "$INSULA" record --txns 500 --sessions 4 --seed 1 -q -o h.insula
    [ "$(stat_of h.insula '.transactions | .committed + .aborted + .indeterminate')" = 500 ]
    [ "$(stat_of h.insula .sessions)" = 4 ]
    [ "$(grep -c '@[0-9]*\.\.' h.insula)" -ge 450 ]
    [ ! -e h.insula.run ]
}

@test "the same seed asks for the same transactions" {
    # What a session plans does not depend on the others: compare the keys it touches.
    keys() { grep '^0 ' "$1" | grep -v abort | grep -o '[rw]([0-9]*)' | head -200; }
    "$INSULA" record --txns 200 --sessions 1 --seed 7 -q -o a.insula
    "$INSULA" record --txns 200 --sessions 1 --seed 7 -q -o b.insula
    "$INSULA" record --txns 200 --sessions 1 --seed 8 -q -o c.insula
    [ "$(keys a.insula)" = "$(keys b.insula)" ]
    [ "$(keys a.insula)" != "$(keys c.insula)" ]
}

@test "values are unique unless duplicates are asked for" {
    "$INSULA" record --txns 500 --seed 1 -q -o u.insula
    [ -z "$(grep -o 'w([0-9]*)=[0-9]*' u.insula | sort | uniq -d | head -1)" ]
    "$INSULA" record --txns 500 --seed 1 --dup 0.5 --dup-values 5 -q -o d.insula
    [ -n "$(grep -o 'w([0-9]*)=[0-9]*' d.insula | sort | uniq -d | head -1)" ]
}

@test "every workload runs on SQLite" {
    for workload in general blindw blindw-rh blindw-wh mini append tpcc rubis twitter; do
        "$INSULA" record --workload $workload --sessions 3 --txns 200 --seed 1 -q -o $workload.insula
        [ "$(stat_of $workload.insula '.transactions.committed')" -gt 20 ]
    done
}

@test "a client's rollback is recorded as aborted" {
    "$INSULA" record --txns 400 --sessions 1 --abort 0.5 --seed 1 -q -o h.insula
    aborted=$(stat_of h.insula .transactions.aborted)
    [ "$aborted" -gt 120 ] && [ "$aborted" -lt 280 ]
}

@test "a rate and a time limit are kept" {
    run --separate-stderr "$INSULA" record --rate 200 --time-limit 1 --seed 1 -o h.insula
    [ "$status" = 0 ]
    n=$(stat_of h.insula '.transactions | .committed + .aborted + .indeterminate')
    [ "$n" -gt 50 ] && [ "$n" -le 210 ]
}

@test "--help lists the databases and workloads" {
    run "$INSULA" record --help
    [[ $output == *sqlite:* && $output == *postgres:* && $output == *mariadb:* ]]
    [[ $output == *tpcc* && $output == *append* ]]
}

@test "unknown names are refused with what would do" {
    run "$INSULA" record --workload nope -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"unknown workload 'nope': expected one of general"* ]]
    run "$INSULA" record --db oracle: -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"unknown database 'oracle:'"* ]]
    run "$INSULA" record --db nothing -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"expected a database URL"* ]]
    run "$INSULA" record --db sqlite: --nemesis kill -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"needs a throw-away server"* ]]
    [ ! -e h.insula ] && [ ! -e h.insula.run ]
}

@test "a server that is not installed is named with its package" {
    need_driver postgres
    run "$INSULA" record --db "postgres:?bin=/nonexistent" -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"PostgreSQL is not installed"*"package postgresql"* ]]
    need_driver mariadb
    run "$INSULA" record --db "mariadb:?bin=/nonexistent" -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"MariaDB is not installed"*"package mariadb-server"* ]]
    [ ! -e h.insula.run ]
}

@test "a bad setting shows what the server says, and leaves nothing" {
    need_postgres
    run "$INSULA" record --db "postgres:?no_such_setting=1" -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"server ended"*"no_such_setting"* ]]
    nothing_is_left
}

@test "a table that exists is not touched" {
    "$INSULA" record --db sqlite:f.db --txns 50 --seed 1 -q -o h.insula
    "$INSULA" record --db sqlite:f.db --txns 50 --seed 1 -q -o h.insula
    sqlite3 f.db "CREATE TABLE insula (x); INSERT INTO insula VALUES (42)" || skip "no sqlite3"
    run "$INSULA" record --db sqlite:f.db --txns 50 -o i.insula
    [ "$status" = 3 ]
    [[ $output == *'table "insula" exists already in f.db'*--table* ]]
    [ "$(sqlite3 f.db 'SELECT x FROM insula')" = 42 ]
    "$INSULA" record --db sqlite:f.db --table other --txns 50 --seed 1 -q -o i.insula
}

@test "a full disk is said, and what was recorded before can be recovered" {
    [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=3m none small ||
        skip "cannot mount a small file system"
    run "$INSULA" record --txns 100000 --seed 1 -o small/h.insula
    # The embedded database has gone by now, so there is room for the history.
    cp small/h.insula full.insula 2>/dev/null ||
        "$INSULA" record --recover small/h.insula.run -o full.insula
    umount small
    [ "$status" = 3 ]
    [[ $output == *"No space left"* || $output == *"disk"*"full"* ]]
    [ "$(stat_of full.insula .transactions.committed)" -gt 10 ]
}

@test "Ctrl-C ends the run in order: history saved, checked and reported, no process left" {
    need_postgres
    "$INSULA" test --db postgres: --time-limit 60 --seed 1 >out 2>&1 3>&- &
    recorder=$!
    sleep 0.5
    wait_for_journal "$(echo store/postgres-*)" 200
    kill -INT $recorder
    wait $recorder && status=0 || status=$?
    [ "$status" = 0 ]
    nothing_is_left
    grep -q "stopped; now what was recorded is checked, the history is store/" out
    grep -q "^Promise kept: asked for serializable, PostgreSQL" out
    [ "$(jq .histories[0].stopped store/latest/result.json)" = true ]
    [ -s store/latest/report.html ]
    [ "$(stat_of store/latest/history.* .transactions.committed)" -gt 10 ]
}

@test "kill -9 of the recorder: the server goes, the journals tell the history" {
    need_mariadb
    "$INSULA" record --db mariadb: --time-limit 60 --seed 1 -o h.insula >out 2>&1 3>&- &
    recorder=$!
    wait_for_journal h.insula.run 400
    pgrep -f "$TMPDIR/insula-" >/dev/null
    kill -9 $recorder
    wait $recorder || true
    nothing_is_left
    "$INSULA" record --recover h.insula.run -o h.insula
    [ "$(stat_of h.insula .transactions.committed)" -gt 10 ]
    # Each session had a transaction on its way.
    [ "$(stat_of h.insula .transactions.indeterminate)" -ge 1 ]
}

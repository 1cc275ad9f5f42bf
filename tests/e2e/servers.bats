# A server of one's own: the table is made and dropped, errors are told.
load common
load servers

@test "PostgreSQL by URL: password, table exists, table dropped" {
    start_postgres
    trap stop_postgres EXIT
    run "$INSULA" record --db "postgres://me:wrong@/postgres?host=$TMPDIR" --txns 10 -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"password authentication failed for user \"me\""* ]]
    url="postgres://me:secret@/postgres?host=$TMPDIR"
    "$INSULA" record --db "$url" --txns 100 --seed 1 -q -o h.insula
    "$INSULA" record --db "$url" --txns 100 --seed 1 -q -o h.insula
    export PGPASSWORD=secret
    psql -q -h "$TMPDIR" -U me postgres -c "CREATE TABLE insula (x int)"
    run "$INSULA" record --db "$url" --txns 10 -o i.insula
    [ "$status" = 3 ]
    [[ $output == *'table "insula" exists already'*--table* ]]
    [ ! -e i.insula ] && [ ! -e i.insula.run ]
    "$INSULA" record --db "$url" --table other --txns 100 --seed 1 -q -o h.insula
    [ "$(psql -At -h "$TMPDIR" -U me postgres -c "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")" = 1 ]
    run "$INSULA" record --db "postgres://me:secret@/nodb?host=$TMPDIR" --txns 10 -o i.insula
    [ "$status" = 3 ]
    [[ $output == *'database "nodb" does not exist'* ]]
    # Deadlocks are noticed soon where the user may ask for it; otherwise a hint says so.
    busy="--table other --isolation read-committed --reads 0 --keys 10 --ops 6 --txns 1000 --time-limit 2 --seed 1"
    # shellcheck disable=SC2086
    run "$INSULA" record --db "$url" $busy -o h.insula
    [ "$status" = 0 ]
    [[ $output != *deadlock_timeout* ]]
    psql -q -h "$TMPDIR" -U me postgres -c "CREATE ROLE low LOGIN PASSWORD 'secret';
        GRANT ALL ON SCHEMA public TO low"
    # shellcheck disable=SC2086
    run "$INSULA" record --db "postgres://low:secret@/postgres?host=$TMPDIR" $busy -o h.insula
    [ "$status" = 0 ]
    [[ $output == *"most of the time was spent waiting"*"deadlock after 1s"*"GRANT SET ON PARAMETER"* ]]
    stop_postgres
}

@test "a server that does not answer is named" {
    need_driver mariadb
    run "$INSULA" record --db "mariadb://me@127.0.0.1:1/test" --txns 10 -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"mariadb: Can't connect"*"127.0.0.1"* ]]
    need_driver postgres
    run "$INSULA" record --db "postgres://me@127.0.0.1:1/test" --txns 10 -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"postgres: connection to server at \"127.0.0.1\", port 1 failed"* ]]
}

@test "MariaDB by URL: password, table exists, table dropped" {
    start_mariadb
    trap stop_mariadb EXIT
    run "$INSULA" record --db "mariadb://me:wrong@/test?socket=$TMPDIR/s" --txns 10 -o h.insula
    [ "$status" = 3 ]
    [[ $output == *"mariadb: Access denied for user 'me'"* ]]
    url="mariadb://me:secret@/test?socket=$TMPDIR/s&innodb_lock_wait_timeout=5"
    "$INSULA" record --db "$url" --txns 100 --seed 1 -q -o h.insula
    "$INSULA" record --db "$url" --workload append --txns 100 --seed 1 -q -o h.insula
    sql() { mariadb --no-defaults -ume -psecret -S "$TMPDIR/s" -N test -e "$1"; }
    [ -z "$(sql 'SHOW TABLES')" ]
    sql "CREATE TABLE insula (x int)"
    run "$INSULA" record --db "$url" --txns 10 -o i.insula
    [ "$status" = 3 ]
    [[ $output == *'table "insula" exists already'*--table* ]]
    [ "$(sql 'SHOW TABLES')" = insula ]
    stop_mariadb
}

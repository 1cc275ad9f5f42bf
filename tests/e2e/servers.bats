# A server of one's own: the table is made and dropped, errors are told.
load common

start_postgres() {
    need_postgres
    command -v psql >/dev/null || skip "no psql"
    bin=$(dirname "$(command -v initdb || find /usr/lib/postgresql -name initdb | sort -V | tail -1)")
    as=""
    if [ "$(id -u)" = 0 ]; then
        chown postgres "$TMPDIR"
        as="setpriv --reuid=postgres --regid=postgres --clear-groups"
    fi
    echo secret >"$TMPDIR/pw" && chmod 644 "$TMPDIR/pw"
    $as "$bin/initdb" -D "$TMPDIR/data" --no-sync -A scram-sha-256 -U me --locale=C \
        --pwfile="$TMPDIR/pw" >/dev/null
    $as "$bin/pg_ctl" -D "$TMPDIR/data" -w -l "$TMPDIR/log" \
        -o "-k $TMPDIR -c listen_addresses= -c fsync=off" start >/dev/null 3>&-
}

stop_postgres() {
    $as "$bin/pg_ctl" -D "$TMPDIR/data" -m immediate -w stop >/dev/null 2>&1 || true
}

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

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

start_mariadb() {
    need_mariadb
    command -v mariadb-install-db >/dev/null && command -v mariadb >/dev/null ||
        skip "no mariadb-install-db or no mariadb"
    as=""
    if [ "$(id -u)" = 0 ]; then
        chown mysql "$TMPDIR"
        as="setpriv --reuid=mysql --regid=mysql --clear-groups"
    fi
    $as mariadb-install-db --no-defaults --datadir="$TMPDIR/data" --skip-test-db \
        --auth-root-authentication-method=normal >/dev/null 2>&1
    $as "$(command -v mariadbd || echo /usr/sbin/mariadbd)" --no-defaults \
        --datadir="$TMPDIR/data" --socket="$TMPDIR/s" --pid-file="$TMPDIR/pid" \
        --skip-networking >"$TMPDIR/log" 2>&1 3>&- &
    server=$!
    for _ in $(seq 100); do
        mariadb --no-defaults -uroot -S "$TMPDIR/s" -e "SELECT 1" >/dev/null 2>&1 && break
        sleep 0.1
    done
    mariadb --no-defaults -uroot -S "$TMPDIR/s" -e "CREATE DATABASE test;
        CREATE USER me IDENTIFIED BY 'secret'; GRANT ALL ON test.* TO me"
}

stop_mariadb() {
    kill -9 "$server" 2>/dev/null || true
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

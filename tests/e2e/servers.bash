# Servers as a user has them, in $TMPDIR: PostgreSQL with user me and password secret, MariaDB
# with the same and a database test.

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

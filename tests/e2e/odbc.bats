# --db odbc: gives the verdicts that the native drivers give, in the same runs.
bats_require_minimum_version 1.5.0
load common
load servers

need_odbc() {
    need_driver odbc
    grep -qs "^\[$1\]" /etc/odbcinst.ini || skip "the ODBC driver '$1' is not installed"
}

# The same run through both: both keep the promise, and say what it is.
both() {
    local native=$1 odbc=$2
    shift 2
    for db in "$native" "$odbc"; do
        run --separate-stderr "$INSULA" test -q --db "$db" --sessions 4 --txns 600 --seed 1 "$@"
        [ "$status" = 0 ] || { echo "$db $*: $status $output$stderr"; return 1; }
        [[ $output == "Promise kept"* ]]
        committed=$(jq '.histories[0].transactions.committed' store/latest/result.json)
        [ "$committed" -gt 100 ] || { echo "$db $*: only $committed committed"; return 1; }
        jq -r '.histories[0].promise.source' store/latest/result.json >>sources
    done
    [ "$(sort -u sources | wc -l)" = 1 ] || { cat sources; return 1; }
    rm sources
}

# An anomaly that the level allows shows up through both.
both_show() {
    local native=$1 odbc=$2 names=$3
    shift 3
    for db in "$native" "$odbc"; do
        "$INSULA" test -q --db "$db" --sessions 6 --txns 1500 --seed 1 "$@" >/dev/null || [ $? = 1 ]
        # shellcheck disable=SC2086 # words are wanted
        found_one_of $names || { echo "$db"; return 1; }
    done
}

@test "ODBC, SQLite: the same as embedded" {
    need_driver sqlite
    need_odbc SQLite3
    odbc="odbc:Driver=SQLite3;Database=$PWD/o.db;Timeout=5000;SyncPragma=OFF"
    both "sqlite:?synchronous=off" "$odbc" --workload general
    both "sqlite:?synchronous=off" "$odbc" --workload append
}

@test "ODBC, PostgreSQL: the same as libpq" {
    need_odbc "PostgreSQL Unicode"
    start_postgres
    trap stop_postgres EXIT
    native="postgres://me:secret@/postgres?host=$TMPDIR"
    odbc="odbc:Driver={PostgreSQL Unicode};Servername=$TMPDIR;Database=postgres;UID=me;PWD=secret"
    both "$native" "$odbc" --workload general --isolation serializable
    both "$native" "$odbc" --workload append --isolation repeatable-read
    both "$native" "$odbc" --workload fork --isolation repeatable-read
    both_show "$native" "$odbc" "LostUpdate" --workload rmw --isolation read-committed
    both_show "$native" "$odbc" "G2-item" --workload general --keys 20 --isolation repeatable-read
    # Wrong passwords and tables that exist are reported.
    run "$INSULA" record --db "${odbc/secret/wrong}" --txns 10 -o h.insula
    [ "$status" = 3 ] && [[ $output == *"odbc: "*"password authentication failed"* ]]
    stop_postgres
}

@test "ODBC, MariaDB: the same as libmariadb" {
    need_odbc "MariaDB Unicode"
    start_mariadb
    trap stop_mariadb EXIT
    native="mariadb://me:secret@/test?socket=$TMPDIR/s"
    odbc="odbc:Driver={MariaDB Unicode};Socket=$TMPDIR/s;Database=test;UID=me;PWD=secret"
    both "$native" "$odbc" --workload general --isolation serializable
    both "$native" "$odbc" --workload append --isolation repeatable-read
    both_show "$native" "$odbc" "LostUpdate" --workload rmw --isolation repeatable-read
    run "$INSULA" record --db "odbc:is-no-source" --txns 10 -o h.insula
    [ "$status" = 3 ] && [[ $output == *"odbc: IM002"* ]]
    stop_mariadb
}

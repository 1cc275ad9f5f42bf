# Every workload runs on every driver, and what it records converts to every format that
# can express it; a format that cannot says so.
load common

all="general blindw-rw blindw-rh blindw-wh mini append rmw fork tpcc rubis twitter rows oncall booking"

walk() {
    local db=$1 workload format
    for workload in ${WORKLOADS:-$all}; do
        "$INSULA" record --db "$db" --workload "$workload" --keys 200 --sessions 4 --txns 300 --seed 1 -q \
            -o "$workload.insula"
        [ "$(stat_of "$workload.insula" .transactions.committed)" -gt 20 ]
        for format in plume dbcop cobra edn json awdit insula insulab; do
            convert_there_and_back "$workload" "$format"
        done
    done
}

# Either it converts and the copy has the same committed operations, or it is refused
# with a reason and converts with --lossy.
convert_there_and_back() {
    local from=$1.insula to=$1.$2
    run "$INSULA" convert -q -t "$2" "$from" "$to"
    if [ "$status" = 0 ]; then
        [ "$(stat_of "$to" .committed_writes)" = "$(stat_of "$from" .committed_writes)" ]
        [ "$(stat_of "$to" .committed_reads)" = "$(stat_of "$from" .committed_reads)" ]
        return
    fi
    [ "$status" = 3 ]
    [[ $output == *--lossy* ]] || { echo "$1 to $2: $output"; return 1; }
    run "$INSULA" convert -q --lossy -t "$2" "$from" "$to"
    [ "$status" = 0 ] || [[ $output == *cannot* || $output == *list* ]] ||
        { echo "$1 to $2 with --lossy: $output"; return 1; }
}

@test "SQLite" {
    need_driver sqlite
    walk sqlite:
}

@test "PostgreSQL" {
    need_postgres
    walk "postgres:?fsync=off"
}

@test "MariaDB" {
    need_mariadb
    walk mariadb:
}

# test: what each database promises holds, and what it does not promise can be seen.
# RUNS seeded runs of each (1 by default, 20 in `make e2e`), none of which may raise a
# false alarm; FIRST_SEED moves them.
load common

seeds() {
    seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${RUNS:-1} - 1))
}

# The verdicts on the last run stand up to a second look by other code.
proved() {
    local history
    history=$(echo store/latest/history.*)
    "$INSULA" check -q -l pc,si,ser,sser --certificate certificate "$history" >checked 2>&1 || true
    "$INSULA" verify "$history" certificate >verified 2>&1 || { cat verified; return 1; }
}

# Every run passes LEVEL: holds LEVEL OPTION...
holds() {
    local level=$1 seed
    shift
    for seed in $(seeds); do
        "$INSULA" test -q --seed "$seed" "$@" >out 2>&1 || true
        expect "$level" pass || { echo "seed $seed: $*"; cat out; return 1; }
        [ "$level" = rc ] || proved || { echo "seed $seed: $*"; return 1; }
    done
}

# Every run passes LEVEL, and at least one of them (with EVERY: all) fails HIGHER with one
# of the named anomalies: shows LEVEL HIGHER "ANOMALY..." OPTION...  What the clients do follows
# from the seed, how they meet does not: if no run shows it, a few more are tried.
shows() {
    local level=$1 higher=$2 names=$3 seed seen=0 runs=0
    shift 3
    for seed in $(seeds) 1001 1002 1003 1004; do
        [ "$seed" -lt 1001 ] || [ "$seen" = 0 ] || break
        "$INSULA" test -q --seed "$seed" "$@" >out 2>&1 || true
        [ "$level" = none ] || expect "$level" pass || { echo "seed $seed: $*"; return 1; }
        runs=$((runs + 1))
        # shellcheck disable=SC2086
        if expect "$higher" fail >why 2>&1 && found_one_of $names >>why 2>&1; then
            seen=$((seen + 1))
            [ "$higher" != ser ] || proved || { echo "seed $seed: $*"; return 1; }
        fi
    done
    echo "# $*: $seen of $runs runs show it" >&3
    local least=1
    [ -z "${EVERY:-}" ] || least=$runs
    [ "$seen" -ge "$least" ] || { cat why; return 1; }
}

small="--keys 20 --ops 4 --txns 1500"

@test "SQLite with a write-ahead log is strictly serializable" {
    need_driver sqlite
    # shellcheck disable=SC2086
    holds sser $small
    # shellcheck disable=SC2086
    holds ser $small --dup 0.5 --dup-values 5
}

@test "SQLite with a rollback journal is strictly serializable" {
    need_driver sqlite
    # shellcheck disable=SC2086
    holds sser --db "sqlite:?journal=delete" $small
}

@test "SQLite with a shared cache and read_uncommitted shows dirty reads" {
    need_driver sqlite
    shows none rc "AbortedRead IntermediateRead" --isolation read-uncommitted --keys 10 --ops 8 \
        --txns 2000 --abort 0.2
}

@test "PostgreSQL serializable is serializable" {
    need_postgres
    # shellcheck disable=SC2086
    holds ser --db "postgres:?fsync=off" $small
    # shellcheck disable=SC2086
    holds ser --db "postgres:?fsync=off" $small --dup 0.5 --dup-values 5
}

@test "PostgreSQL repeatable read is snapshot isolation, with write skew" {
    need_postgres
    # shellcheck disable=SC2086
    shows si ser G2-item --db "postgres:?fsync=off" --isolation repeatable-read \
        --workload mini --keys 10 --txns 1500
}

@test "PostgreSQL read committed loses updates" {
    need_postgres
    # shellcheck disable=SC2086
    shows rc si "LostUpdate G-single" --db "postgres:?fsync=off" --isolation read-committed \
        --workload mini --ops 2 --keys 10 --txns 1500
}

@test "MariaDB read uncommitted shows dirty reads" {
    need_mariadb
    # shellcheck disable=SC2086
    shows none rc "AbortedRead IntermediateRead" --db mariadb: --isolation read-uncommitted \
        $small --abort 0.2
}

@test "MariaDB read committed keeps read committed" {
    need_mariadb
    # shellcheck disable=SC2086
    holds rc --db mariadb: --isolation read-committed $small
}

@test "MariaDB repeatable read loses updates unless innodb_snapshot_isolation is on" {
    need_mariadb
    shows pc si LostUpdate --db "mariadb:?innodb_snapshot_isolation=OFF" \
        --isolation repeatable-read --workload mini --keys 10 --txns 1500
    holds si --db "mariadb:?innodb_snapshot_isolation=ON" \
        --isolation repeatable-read --workload mini --keys 10 --txns 1500
    # A value that is there already is written all the same (see mariadb.c).
    holds si --db "mariadb:?innodb_snapshot_isolation=ON" \
        --isolation repeatable-read --keys 10 --ops 4 --txns 1500 --dup 0.7 --dup-values 3
    # shellcheck disable=SC2086
    holds pc --db "mariadb:?innodb_snapshot_isolation=OFF" \
        --isolation repeatable-read $small --dup 0.5 --dup-values 5
}

@test "MariaDB serializable is serializable, duplicate values included" {
    need_mariadb
    # shellcheck disable=SC2086
    holds ser --db mariadb: $small
    # shellcheck disable=SC2086
    holds ser --db mariadb: $small --dup 0.5 --dup-values 5
}

# Workloads on rows, with and without an index on the values.
rows_hold() {
    local level=$1 workload index
    shift
    for workload in ${WORKLOADS:-oncall booking rows}; do
        for index in ${INDEX:-yes no}; do
            holds "$level" "$@" --workload "$workload" --index "$index" || return 1
        done
    done
}

@test "SQLite keeps rows that come and go strictly serializable" {
    need_driver sqlite
    rows_hold sser --txns 1000
}

@test "PostgreSQL serializable has no phantoms" {
    need_postgres
    local all=${WORKLOADS:-oncall}
    # rows: an insert that finds the row is no read, see docs/hunting.md
    WORKLOADS=${all/ rows/} INDEX=${INDEX:-yes} rows_hold ser --db "postgres:?fsync=off" --txns 1500
}

@test "PostgreSQL serializable: an insert that finds the row takes no predicate lock" {
    need_postgres
    [ "${RUNS:-1}" -ge 10 ] || skip "takes ten runs"
    shows si ser "G2-item G2-item-process G2-item-predicate G2-item-predicate-process" --db "postgres:?fsync=off" \
        --isolation serializable --workload rows --sessions 8 --txns 10000
}

@test "PostgreSQL repeatable read is snapshot isolation with phantom write skew" {
    need_postgres
    local workload index
    for workload in oncall booking; do
        for index in ${INDEX:-yes}; do
            EVERY=yes shows si ser G2-item-predicate --db "postgres:?fsync=off" \
                --isolation repeatable-read --workload "$workload" --index "$index" --txns 3000
        done
    done
}

@test "PostgreSQL repeatable read returns a key twice that is inserted again" {
    need_postgres
    shows none pl2 PredicateMismatch --db "postgres:?fsync=off" --isolation repeatable-read \
        --workload rows --txns 2000 -l pl2
}

@test "MariaDB: row counts are of the newest rows unless innodb_snapshot_isolation is on" {
    need_mariadb
    shows pl2 ra "NonRepeatableRead NonMonoReadCO FracturedReadCO" --db mariadb: \
        --isolation repeatable-read --workload booking --txns 1000
    holds si --db "mariadb:?innodb_snapshot_isolation=ON" --isolation repeatable-read \
        --workload rows --ops 4 --txns 1000
}

@test "MariaDB serializable has no phantoms" {
    need_mariadb
    WORKLOADS=${WORKLOADS:-oncall} INDEX=${INDEX:-yes} rows_hold ser --db mariadb: --txns 1000
}

@test "lists: SQLite, PostgreSQL and MariaDB keep what they promise" {
    need_driver sqlite
    holds sser --workload append --keys 10 --ops 4 --txns 1000
    need_postgres
    holds ser --db "postgres:?fsync=off" --workload append --keys 10 --ops 4 --txns 1000
    need_mariadb
    holds ser --db mariadb: --workload append --keys 10 --ops 4 --txns 1000
}

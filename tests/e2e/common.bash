# What the end-to-end tests share.  INSULA is the program under test.

setup() {
    INSULA=${INSULA:-$BATS_TEST_DIRNAME/../../build/cli/insula}
    cd "$BATS_TEST_TMPDIR" || return 1
    # Throw-away servers live here, so that what they leave can be seen.  Short, because
    # of the limit on the length of a socket's path.
    TMPDIR=$(mktemp -d /tmp/insula-e2e-XXXXXX)
    chmod 755 "$TMPDIR"
    export TMPDIR
}

teardown() {
    # Even a test that failed leaves no server behind.
    [ -z "${recorder:-}" ] || kill -9 "$recorder" 2>/dev/null || true
    rm -rf "$TMPDIR"
}

need_postgres() {
    command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
        skip "PostgreSQL is not installed"
    need_driver postgres
}

need_mariadb() {
    command -v mariadbd >/dev/null || [ -x /usr/sbin/mariadbd ] ||
        skip "MariaDB is not installed"
    need_driver mariadb
}

# A driver that this build has.
need_driver() {
    ! "$INSULA" record --help | grep -q "^  $1: left out" || skip "$1: was left out of the build"
}

# No process and no directory of a throw-away server is left.
nothing_is_left() {
    local tries
    for tries in $(seq 50); do
        if ! pgrep -f "$TMPDIR/insula-" >/dev/null && ! ls -d "$TMPDIR"/insula-* >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    pgrep -af "$TMPDIR/insula-"
    ls -d "$TMPDIR"/insula-*
    return 1
}

# Wait until the last run of the store in the current directory has a journal with
# at least this many lines.
wait_for_journal() {
    local tries
    for tries in $(seq 200); do
        [ "$(cat "$1"/journal/* 2>/dev/null | wc -l)" -ge "$2" ] && return 0
        sleep 0.05
    done
    return 1
}

# value of a field in the statistics of a history: stat FILE .transactions.committed
stat_of() {
    "$INSULA" stats --json "$1" | jq "$2"
}

# verdict of a level in a result of check --json or test: verdict FILE LEVEL
verdict() {
    jq -r --arg l "$2" '.histories[0].levels[] | select(.level == $l) | .verdict' "$1"
}

# Run `insula test` quietly and leave its result in result.json; prints what it says
# when a level is not what was expected.
expect() {
    local level=$1 wanted=$2 got
    got=$(verdict store/latest/result.json "$level")
    [ "$got" = "$wanted" ] && return 0
    echo "$level: $got, expected $wanted"
    jq -c '.histories[0] | {strongest, counts}' store/latest/result.json
    cat store/latest/log.jsonl | head -3
    return 1
}

# Did this anomaly, or one of these, appear?  A cycle that is closed by session order or
# real time has a name that says so behind it.
found_one_of() {
    local name
    for name in "$@"; do
        jq -e --arg n "$name" '.histories[0].counts | keys |
            any(ltrimstr($n) | . == "" or . == "-process" or . == "-realtime")' \
            store/latest/result.json >/dev/null && return 0
    done
    echo "none of $*:"
    jq -c '.histories[0].counts' store/latest/result.json
    return 1
}

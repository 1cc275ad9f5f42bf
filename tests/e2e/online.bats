# test --online: the run ends at the first violation, and what is said in the end is
# what a check of the whole says.
bats_require_minimum_version 1.5.0
load common

log_time() { # of the first such event of the last run, in milliseconds
    jq -r "select(.event == \"$1\") | .time / 1000000 | floor" store/latest/log.jsonl | head -1
}

# The run was stopped by a violation of this level, soon after it was seen, and a check
# of the history fails it, too.
stopped_for() {
    [ "$status" = 1 ]
    [[ $stderr == *"$1 was violated after "*"stopped there"* ]]
    [ -n "$(log_time violated)" ]
    [ $(($(log_time end) - $(log_time violated))) -lt 1000 ]
    [ "$(log_time end)" -lt 15000 ]
    run "$INSULA" check -q -l "$1" store/latest/history.insulab
    [ "$status" = 1 ]
}

@test "PostgreSQL, repeatable read: write skew ends the run" {
    need_postgres
    run --separate-stderr "$INSULA" test --db postgres: --isolation repeatable-read -l ser \
        --online --time-limit 20 --sessions 8 --keys 50
    stopped_for ser
}

@test "SQLite, read uncommitted: the run ends at a read that was not committed" {
    need_driver sqlite
    run --separate-stderr "$INSULA" test --db sqlite: --isolation read-uncommitted -l rc \
        --online --time-limit 20 --sessions 8 --keys 20
    stopped_for rc
}

@test "PostgreSQL with a standby: the long fork ends the run" {
    need_postgres
    run --separate-stderr "$INSULA" test --db 'postgres:?standbys=1' --isolation repeatable-read \
        --workload fork --sessions 12 -l pc --online --time-limit 20
    stopped_for pc
}

@test "without levels only a broken promise ends the run" {
    need_postgres
    run --separate-stderr "$INSULA" test --db postgres: --isolation repeatable-read \
        --online --time-limit 2 --sessions 8 --keys 50 --json
    [ "$status" = 0 ]
    [[ $stderr != *"stopped there"* ]]
    [ "$(log_time end)" -ge 1900 ]
    # It saw what the check of the whole sees: what was violated fails.
    for level in $(jq -r 'select(.event == "violated") | .message | split(" ")[0]' store/latest/log.jsonl); do
        [ "$(jq -r ".histories[0].levels[] | select(.level == \"$level\") | .verdict" <<<"$output")" = fail ]
    done
}

@test "--keep-going: the run goes on to its end" {
    need_driver sqlite
    run --separate-stderr "$INSULA" test --db sqlite: --isolation read-uncommitted -l rc \
        --online --keep-going --time-limit 2 --sessions 8 --keys 20
    [ "$status" = 1 ]
    [[ $stderr != *"stopped there"* ]]
    [ "$(log_time end)" -ge 1900 ]
}

@test "what holds is not disturbed: SQLite, every level, verdicts as without --online" {
    need_driver sqlite
    for workload in general append blindw; do
        run --separate-stderr "$INSULA" test --db sqlite: --online --workload $workload \
            --txns 3000 --sessions 6 --json
        [ "$status" = 0 ]
        [[ $stderr != *violated* ]]
        [ "$(jq -r '.histories[0].levels[] | select(.level == "ser") | .verdict' <<<"$output")" = pass ]
    done
}

@test "values that repeat and statements on rows are judged in the end" {
    need_driver sqlite
    run --separate-stderr "$INSULA" test --db sqlite: --online --dup 0.5 --dup-values 50 \
        --txns 1000 --sessions 4
    [ "$status" = 0 ]
    run --separate-stderr "$INSULA" test --db sqlite: --online --workload rows \
        --txns 1000 --sessions 4
    [ "$status" = 0 ]
    [[ $stderr == *"statements on rows are judged in the end"* ]]
}

@test "the live line as JSON has what was checked, how late and the verdicts" {
    need_driver sqlite
    run --separate-stderr "$INSULA" test --db sqlite: --online --progress json \
        --time-limit 1 --sessions 4
    [ "$status" = 0 ]
    last=$(grep '"phase": "record"' <<<"$stderr" | tail -1)
    [ "$(jq '.checked > 0' <<<"$last")" = true ]
    [ "$(jq '.lag_s < 1' <<<"$last")" = true ]
    [[ $(jq -r .so_far <<<"$last") == *ser* ]]
}

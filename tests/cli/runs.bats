# runs: list, show, compare, remove; the page of the store.
bats_require_minimum_version 1.5.0
load common

# A run as `insula test` leaves it: run NAME JSON-MEMBERS
fake() {
    mkdir -p "store/$1"
    : >"store/$1/log.jsonl"
    printf '{"insula": "0.1.0", "histories": [{%s, "path": "x", "strongest": ["rc"], "anomalies": [{"cut' "$2" \
        >"store/$1/result.json"
}

three() {
    fake postgres-20260101T000000 '"promise": {"verdict": "broken", "level": "ser"}, "database": "PostgreSQL 15.1",
        "isolation": "serializable", "workload": "append", "seed": 7, "settings": {"fsync": "off"},
        "started": "2026-01-01T00:00:00Z", "command": ["insula", "test", "--db", "postgres:?a=1&b"],
        "options": {"sessions": "10", "nemesis": "kill"},
        "outcomes": {"committed": 1200, "aborted": 30, "indeterminate": 4, "errors": 0},
        "levels": [{"level": "ser", "verdict": "fail", "anomalies": ["G2-item"]}], "counts": {"G2-item": 3}'
    fake sqlite-20260201T000000 '"promise": {"verdict": "kept", "level": "sser"}, "database": "SQLite 3.40.1",
        "isolation": "serializable", "workload": "general", "seed": 8, "settings": {},
        "started": "2026-02-01T00:00:00Z", "options": {"sessions": "4"},
        "outcomes": {"committed": 5, "aborted": 0, "indeterminate": 0, "errors": 0},
        "levels": [{"level": "ser", "verdict": "pass"}], "counts": {}'
    mkdir -p store/mariadb-20260301T000000
    : >store/mariadb-20260301T000000/log.jsonl
    mkdir -p store/other # no run
    ln -s sqlite-20260201T000000 store/latest
}

@test "no store, and an empty one" {
    run -0 --separate-stderr "$INSULA" runs
    [ -z "$output" ]
    [[ $stderr == *"no runs in 'store'"* ]]
    mkdir store
    run -0 "$INSULA" runs --json
    jq -e '.runs == []' <<<"$output"
}

@test "runs are listed, the latest first" {
    three
    run -0 "$INSULA" runs
    [ ${#lines[@]} = 4 ]
    [[ ${lines[1]} == *mariadb*unfinished* ]]
    [[ ${lines[2]} == *"SQLite 3.40.1"*" 8 "*"sser kept"* ]]
    [[ ${lines[3]} == *"PostgreSQL 15.1"*append*kill*1,234*"ser broken"*"G2-item 3"* ]]
}

@test "filters" {
    three
    run -0 "$INSULA" runs --json --verdict broken
    jq -e '[.runs[].run] == ["postgres-20260101T000000"] and .runs[0].levels.ser == "fail" and
           .runs[0].promise.level == "ser" and .runs[0].seed == 7' <<<"$output"
    run -0 "$INSULA" runs --json --db SQLITE
    jq -e '[.runs[].run] == ["sqlite-20260201T000000"]' <<<"$output"
    run -0 "$INSULA" runs --json --since 2026-02-01
    jq -e '.runs | length == 2' <<<"$output"
    run -0 "$INSULA" runs --json --verdict unfinished
    jq -e '.runs | length == 1' <<<"$output"
    run -3 "$INSULA" runs --since yesterday
    [[ $output == *"--since takes a date"* ]]
}

@test "show gives the command that makes it again" {
    three
    run -0 "$INSULA" runs show postgres-20260101T000000
    [[ $output == *"insula test --db 'postgres:?a=1&b' --seed 7"* ]]
    run -0 "$INSULA" runs show store/latest/
    [[ ${lines[0]} == sqlite-20260201T000000 ]]
    run -3 "$INSULA" runs show mariadb-20260301T000000
    [[ $output == *"not finished"* ]]
}

@test "compare shows what differs" {
    three
    run -0 "$INSULA" runs compare postgres-20260101T000000 latest
    [[ $output == *"* sessions "*10*4* ]]
    [[ $output == *"* ser "*fail*pass* ]]
    [[ $output == *"* G2-item "*3* ]]
    [[ $output == *"* fsync "*off* ]]
    run -0 "$INSULA" runs compare --json postgres-20260101T000000 latest
    jq -e '.rows[] | select(.name == "committed") | .values == ["1200", "5"] and .differs' <<<"$output"
    run -3 "$INSULA" runs compare latest
    [[ $output == *"two runs or more"* ]]
}

@test "rm removes runs and nothing else" {
    three
    mkdir outside && : >outside/log.jsonl
    for bad in ../outside other . .. '' /tmp nothing; do
        run -3 "$INSULA" runs rm "$bad"
    done
    [ -e outside/log.jsonl ] && [ -e store/other ]
    run -0 "$INSULA" runs rm latest postgres-20260101T000000
    [ ! -e store/sqlite-20260201T000000 ] && [ ! -L store/latest ]
    run -0 "$INSULA" runs --json
    jq -e '[.runs[].run] == ["mariadb-20260301T000000"]' <<<"$output"
    grep -q 'mariadb-20260301T000000' store/index.html
}

@test "damaged results and strange names do no harm" {
    three
    for text in '' '{' '[1' '{"histories": 3}' '{"histories": [{"a": "\' '{"histories": [{"database": "\u0007</script><b>"}]}'; do
        printf '%s' "$text" >store/mariadb-20260301T000000/result.json
        run -0 "$INSULA" runs
        run -0 "$INSULA" runs --json
        jq -e '.runs | length == 3' <<<"$output"
    done
    run -0 "$INSULA" runs
    [[ $output != *$'\a'* ]]
    run -0 "$INSULA" runs rm latest
    ! grep -q '</script><b>' store/index.html
}

@test "a run has all that is needed to look again" {
    run -0 "$INSULA" test -q --txns 200 --sessions 3 --seed 5
    jq -e '.histories[0] | .seed == 5 and .command[1:] == ["test", "-q", "--txns", "200", "--sessions", "3", "--seed", "5"] and
           .options.sessions == "3" and .options.db == "sqlite:" and .duration_s > 0 and
           .latency.committed.count == .outcomes.committed and
           .latency.committed.p50_s <= .latency.committed.max_s and (.started | test("^20"))' store/latest/result.json
    grep -q "$(readlink store/latest)" store/index.html
    "$INSULA" schema >schema.json
}

@test "passwords are not written down" {
    run "$INSULA" test -q --db 'postgres://me:s3cret@127.0.0.1:1/x?password=s3cret' --time-limit 1
    ! grep -rq s3cret store 2>/dev/null
}

@test "ten thousand runs are listed at once" {
    three
    mkdir many
    seq -f 'many/p-%.0f' 1 10000 | xargs mkdir
    awk '{ for (i = 1; i <= 10000; i++) { f = "many/p-" i "/result.json"; print > f; close(f) } }' RS='\001' \
        store/postgres-20260101T000000/result.json
    # The time of the processor: others use this machine too.
    TIMEFORMAT='%U %S'
    took=$({ time "$INSULA" runs --store many >list; } 2>&1)
    [ "$(wc -l <list)" -gt 10000 ]
    awk -v t="$took" 'BEGIN { split(t, p, " "); exit !(p[1] + p[2] < 0.5) }'
}

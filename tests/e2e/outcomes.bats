# What a run says of its transactions and faults: refused commits are aborts, the
# nemesis waits for the server, Ctrl-C is no loss.
load common

@test "PostgreSQL: a COMMIT that is refused is an abort, not an open outcome" {
    need_postgres
    # Serializable transactions that conflict are refused at COMMIT time and again.
    "$INSULA" test -q --db "postgres:?fsync=off" --keys 10 --ops 4 --txns 1500 --seed 1 >out 2>&1
    [ "$(jq .histories[0].transactions.indeterminate store/latest/result.json)" = 0 ]
    [ "$(jq .histories[0].transactions.aborted store/latest/result.json)" -gt 20 ]
    expect ser pass
}

@test "the next fault waits until the server answers" {
    need_postgres
    "$INSULA" test -q --db "postgres:?fsync=off" --nemesis kill --nemesis-interval 0.05 \
        --time-limit 3 --keys 50 --seed 1 >out 2>&1
    jq -r 'select(.event == "kill" or .event == "up") | .event' store/latest/log.jsonl >events
    [ "$(grep -c kill events)" -ge 2 ]
    # They take turns.
    [ -z "$(uniq -d events)" ]
    [ "$(jq .histories[0].transactions.committed store/latest/result.json)" -gt 50 ]
}

@test "a run says first whether the promise was kept, in every report" {
    need_driver sqlite
    "$INSULA" test --db "sqlite:?journal=wal&synchronous=off" --txns 800 --keys 20 --seed 3 --junit j.xml \
        --certificate c --counterexample no.txt >out 2>err
    [[ $(head -1 out) == "Promise kept: asked for serializable, SQLite"* ]]
    jq -e '.histories[0] | .promise.verdict == "kept" and .promise.level == "sser" and
        .settings == {"journal": "wal", "synchronous": "off"} and .seed == 3 and .workload == "general" and
        .isolation == "serializable" and .faults == [] and (.database | startswith("SQLite")) and
        .outcomes.committed == .transactions.committed and .power.overlapped > 100' store/latest/result.json
    "$INSULA" verify store/latest/history.* c
    grep -q 'failures="0"' j.xml && grep -q 'name="promise"' j.xml
    [ ! -e no.txt ] && grep -q "no counterexample: the promise is not broken" err
    grep -q '"line":"Promise kept' store/latest/report.html
    # The document of --json is the same, but for what was measured.
    "$INSULA" test --json -q --txns 200 --seed 1 >doc
    jq -e '.histories[0].promise.verdict == "kept"' doc
}

@test "what a kept promise leaves open is not promised, a line each" {
    need_postgres
    "$INSULA" test --db "postgres:?fsync=off" --isolation read-committed --workload mini --ops 2 \
        --keys 10 --txns 1500 --seed 1 >out 2>err
    [[ $(head -1 out) == "Promise kept: asked for read-committed, PostgreSQL"* ]]
    grep -q "not promised: " out
    grep -q "^Beyond the promise:" out
    [ "$(grep -c "Forbidden by" out)" = 0 ]
    [ "$(grep -c FAIL out)" = 0 ]
}

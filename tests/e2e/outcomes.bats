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

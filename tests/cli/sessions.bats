# Many sessions with little in each: what they cost is what is there.
bats_require_minimum_version 1.5.0
load common

# $1 transactions, one a session, of the kind $2.
many() {
    awk -v n="$1" -v kind="$2" 'BEGIN {
        print "insula 1"
        for (i = 0; i < n; i++) {
            if (kind == "own")
                printf "s%d: w(%d)=1\n", i, i
            else if (kind == "same")
                printf "s%d: w(x)=%d\n", i, i
            else if (i % 2)
                printf "s%d: r(x)=%d w(%d)=1\n", i, i - 1, i
            else
                printf "s%d: w(x)=%d\n", i, i
        }
    }' >"$2"
}

@test "60,000 sessions are decided at every level in little memory" {
    for kind in own same hot; do
        many 60000 $kind
        "$INSULA" check -q --timeout 60 --memory-limit 400M $kind
    done
}

@test "400,000 sessions are decided at cc" {
    many 400000 own
    "$INSULA" check -q -l rc,ra,cc --timeout 60 --memory-limit 400M own
}

@test "anomalies among many sessions are found" {
    many 20000 hot
    # Both are before the reader, one before the other.
    printf '%s\n' 'a: w(y)=1' 'a: w(y)=2 w(z)=1' 'b: r(y)=1 r(z)=1' >>hot
    run -1 "$INSULA" check --json -l rc,ra,cc --timeout 60 hot
    [ "$(jq -c '[.histories[0].levels[] | .verdict]' <<<"$output")" = '["pass","fail","fail"]' ] ||
        { jq -c '.histories[0].levels' <<<"$output"; false; }
}

@test "without session order a history is decided whose sessions are in disorder" {
    for level in ser si; do
        "$INSULA" gen -q --seed 5 --level $level --sessions 20 --txns 3000 --ops 12 \
            --keys 1500 --no-times -t plume -o straight
        # The transactions of the file from the last to the first.
        awk -F '[,)]' '{ if ($4 != last) n++; last = $4; text[n] = text[n] $0 "\n" }
            END { for (i = n; i > 0; i--) printf "%s", text[i] }' straight >backwards
        run -1 "$INSULA" check --json -l $level,free-$level --timeout 60 \
            --memory-limit 400M --certificate proof backwards
        [ "$(jq -c '[.histories[0].levels[] | .verdict]' <<<"$output")" = '["pass","fail"]' ] ||
            { jq -c '.histories[0].levels' <<<"$output"; false; }
        "$INSULA" verify -q backwards proof
    done
}

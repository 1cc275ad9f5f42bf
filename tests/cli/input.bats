# What files come with that is not the history itself, and what happens to them while
# they are read.
bats_require_minimum_version 1.5.0
load common

@test "a byte order mark in front of text is passed over" {
    "$INSULA" gen --no-times --txns 50 --seed 1 -o h.insula
    for format in insula plume edn json awdit; do
        "$INSULA" convert -q --lossy -t $format h.insula plain
        { printf '\xef\xbb\xbf'; cat plain; } >marked
        "$INSULA" stats --json plain | jq -c 'del(.path)' >expected
        "$INSULA" stats --json marked | jq -c 'del(.path)' | cmp - expected
        "$INSULA" stats --json -f $format marked | jq -c 'del(.path)' | cmp - expected
    done
}

@test "gzip that is padded with zeros is read, other bytes behind it are refused" {
    "$INSULA" gen --no-times --txns 50 --seed 1 -o h.insula
    gzip -c h.insula >padded.gz
    head -c 1000 /dev/zero >>padded.gz
    "$INSULA" convert -q -t insula padded.gz - | cmp - h.insula
    # Several members, and zeros over more than one piece.
    { gzip -c h.insula; gzip -c /dev/null; head -c 3000000 /dev/zero; } >more.gz
    "$INSULA" convert -q -t insula more.gz - | cmp - h.insula
    { gzip -c h.insula; head -c 100 /dev/zero; printf x; } >bad.gz
    run -3 "$INSULA" stats bad.gz
    [[ $output == *"damaged gzip data"* ]]
}

# A check that takes long: starts it, sends signal $1 after $3 seconds, sets status.
# With "ignored" as $2 the program is started with that signal ignored.
interrupted_after() {
    "$INSULA" gen -q --level ser --dup 1 --dup-values 3 --keys 10 --txns 3000 --no-times --seed 1 -o h.insula
    (
        limit=60
        default=(env "--default-signal=$1") # whoever runs the tests may ignore it
        [ "${2:-}" != ignored ] || { default=() limit=$((2 + $3)); trap '' "$1"; }
        exec "${default[@]}" "$INSULA" check -q -l ser --timeout "$limit" h.insula >out 2>err
    ) &
    local pid=$!
    sleep "$3"
    kill "-$1" "$pid"
    status=0
    wait "$pid" || status=$?
}

# The machine may be busy: before the check begins, a signal ends all.
interrupted_by() {
    for seconds in 1 4 12; do
        interrupted_after "$1" "${2:-}" $seconds
        [ "$status" -gt 128 ] || return 0
    done
}

@test "SIGTERM and SIGHUP end a check as Ctrl-C does, with what is known" {
    for signal in TERM HUP; do
        interrupted_by $signal
        [ "$status" -eq 2 ]
        grep -q "cancelled" out
        ! grep -qi "out of memory" out err
    done
}

@test "a SIGHUP that is ignored, as by nohup, stays ignored" {
    interrupted_by HUP ignored
    [ "$status" -eq 2 ]
    grep -q "time limit" out
}

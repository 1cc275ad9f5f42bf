# gen: what is written, and that the seed decides it.
bats_require_minimum_version 1.5.0
load common

@test "the same seed gives the same bytes, another seed others" {
    for level in rc ra cc pc si ser sser; do
        "$INSULA" gen --level $level --seed 5 -q -o a.insula
        "$INSULA" gen --level $level --seed 5 -q -o b.insula
        "$INSULA" gen --level $level --seed 6 -q -o c.insula
        cmp a.insula b.insula
        ! cmp -s a.insula c.insula
    done
}

@test "a seed that was not given is printed and replays" {
    run -0 --separate-stderr "$INSULA" gen --txns 50 -o a.insula
    [[ $stderr =~ ^insula:\ seed\ ([0-9]+)$ ]]
    "$INSULA" gen --txns 50 --seed "${BASH_REMATCH[1]}" -o b.insula
    cmp a.insula b.insula
}

@test "the ending of the name chooses the format" {
    "$INSULA" gen --txns 50 --seed 1 -o h.edn
    [ "$("$INSULA" stats --json h.edn | jq -r .format)" = edn ]
    "$INSULA" gen --txns 50 --seed 1 --no-times -o h.bincode
    [ "$("$INSULA" stats --json h.bincode | jq -r .format)" = dbcop ]
    "$INSULA" gen --txns 50 --seed 1 --no-times -t plume -o h.txt
    [ "$("$INSULA" stats --json h.txt | jq -r .format)" = plume ]
}

@test "counts and shares are as asked for" {
    "$INSULA" gen --txns 2000 --sessions 7 --ops 5 --keys 50 --reads 0.8 --abort 0.25 \
        --info 0.25 --seed 1 -o h.insula
    run -0 "$INSULA" stats --json h.insula
    jq -e '.sessions == 7 and .operations == 10000 and .keys == 50 and
           (.read_share - 0.8 | fabs) < 0.02 and
           (.transactions.aborted / 2000 - 0.25 | fabs) < 0.04 and
           (.transactions.indeterminate / 2000 - 0.25 | fabs) < 0.04 and
           .times and (.every_write_follows_read | not)' <<<"$output"
}

@test "--mini, --list and --dup" {
    "$INSULA" gen --mini --seed 1 -o m.insula
    "$INSULA" stats --json m.insula | jq -e '.every_write_follows_read and .writes > 1000'
    "$INSULA" gen --list --seed 1 -o l.edn
    "$INSULA" stats --json l.edn | jq -e '.lists and (.registers | not)'
    "$INSULA" gen --dup 0.5 --dup-values 5 --keys 50 --seed 1 -o d.insula
    "$INSULA" stats --json d.insula | jq -e '.duplicate_writes > 1000'
    run -3 "$INSULA" gen --list --dup 0.5 --seed 1 -o x.insula
    [ "$output" = "insula: elements of lists are unique, duplicates are for registers" ]
}

@test "what a format cannot express is refused, and nothing is left behind" {
    run -3 "$INSULA" gen --seed 1 -t plume -o h.txt
    [[ $output == *"would lose: begin and end times"*"(--lossy drops it)" ]]
    [ ! -e h.txt ]
    "$INSULA" gen --seed 1 -t plume --lossy -o h.txt
    [ -s h.txt ]
}

@test "an anomaly for the wrong kind of keys" {
    run -3 "$INSULA" gen --inject G0 --seed 1 -o x.insula
    [ "$output" = "insula: 'G0' cannot be shown with registers, only with lists" ]
    run -3 "$INSULA" gen --list --inject ConflictCM --seed 1 -o x.insula
    [ "$output" = "insula: 'ConflictCM' cannot be shown with lists, only with registers" ]
}

@test "a level without a store, a wrong distribution, no output" {
    run -3 "$INSULA" gen --level ci --seed 1 -o x.insula
    [[ $output == "insula: cannot simulate level 'ci', expected rc, ra, cc, psi, pc, si, ser or sser"* ]]
    run -3 "$INSULA" gen --dist zpif --seed 1 -o x.insula
    [[ $output == "insula: unknown distribution 'zpif', expected uniform"* ]]
    run -3 "$INSULA" gen --seed 1
    [ "$output" = "insula: missing -o HISTORY, - for standard output" ]
}

@test "what cannot be planted is named, with what can" {
    run -3 "$INSULA" gen --inject NoVersionOrder --seed 1 -o x.insula
    [[ $output == *"'NoVersionOrder' cannot be planted; what can: ThinAirRead, "*"LostUpdate"*"G-single-realtime"* ]]
    run -3 "$INSULA" gen --inject Nonsense --seed 1 -o x.insula
    [[ $output == *"unknown anomaly 'Nonsense'; what can be planted: ThinAirRead, "* ]]
    [ ! -e x.insula ]
}

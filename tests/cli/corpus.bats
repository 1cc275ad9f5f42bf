# Real histories that come with the project: what stats counts in them.
bats_require_minimum_version 1.5.0
load common

corpus="$BATS_TEST_DIRNAME/../../../shared/histories"

@test "stats agrees with counts.tsv" {
    [ -e "$corpus/counts.tsv" ] || skip "no $corpus/counts.tsv"
    tail -n +2 "$corpus/counts.tsv" >rows
    while IFS=$'\t' read -r path format counts; do
        got=$("$INSULA" stats -q --json "$corpus/$path" | jq -r '[.sessions,
            .transactions.committed, .transactions.aborted, .committed_reads,
            .committed_writes, .committed_keys] | @tsv')
        [ "$got" = "$counts" ] || echo "$path: $got, expected $counts"
    done <rows >differences
    cat differences
    [ ! -s differences ]
}

@test "every history loads" {
    [ -e "$corpus/expected.tsv" ] || skip "no $corpus/expected.tsv"
    tail -n +2 "$corpus/expected.tsv" | cut -f1 | sort -u | sed "s|^|$corpus/|" >paths
    xargs -d '\n' "$INSULA" stats -q --json <paths >counts
    [ "$(jq -s length counts)" = "$(wc -l <paths)" ]
}

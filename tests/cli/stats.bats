# stats: text and JSON.
bats_require_minimum_version 1.5.0
load common

small() {
    printf 'r(1,0,0,0)\nw(1,1,0,0)\nw(2,1,0,0)\nr(1,1,1,1)\nw(1,5,0,-1)\n' >"$1"
}

@test "counts of a small history" {
    small h.txt
    run -0 "$INSULA" stats --json h.txt
    jq -e '.format == "plume" and .sessions == 2 and .transactions.committed == 2 and
           .transactions.aborted == 1 and .operations == 5 and .reads == 2 and
           .writes == 3 and .keys == 2 and .blind_writes == 2 and
           .duplicate_writes == 0 and (.times | not) and
           .transactions.read_only == 1 and .skew.hottest_key == 1 and
           .skew.hottest_accesses == 4 and
           .operations_per_transaction.max == 3' <<<"$output"
}

@test "the text says the same" {
    small h.txt
    run -0 "$INSULA" stats h.txt
    [ "${lines[0]}" = "h.txt" ]
    [[ $output == *"transactions    3: 2 committed, 1 aborted, 0 indeterminate"* ]]
    [[ $output == *"operations      5: 2 reads (40.0 %), 3 writes"* ]]
    [[ $output == *"hottest key     1, 4 operations"* ]]
}

@test "several histories, one of them missing" {
    small a.txt
    small b.txt
    run -3 --separate-stderr "$INSULA" stats --json a.txt missing.txt b.txt
    [ "$(jq -r .path <<<"$output" | tr '\n' ' ')" = "a.txt b.txt " ]
    [[ $stderr == "insula: missing.txt: "* ]]
}

@test "-v says how long loading took" {
    small h.txt
    run -0 --separate-stderr "$INSULA" stats -v h.txt
    [[ $stderr =~ "insula: h.txt: loaded in "[0-9.]+" s" ]]
}

@test "statements on rows are counted" {
    printf 'insula 1\na: insert(1)=5 q(v=5)={1=5} delete(2)!\nb: insert(3)=5\n' >h.insula
    run -0 "$INSULA" stats h.insula
    [[ $output == *"2 inserts, 1 deletes, 0 updates, 0 compare-and-set, 1 queries, 1 rows missed"* ]]
    run -0 "$INSULA" stats --json h.insula
    [ "$(jq -c .statements <<<"$output")" = \
        '{"inserts":2,"deletes":1,"updates":0,"compare_and_sets":0,"queries":1,"missed_rows":1}' ]
}

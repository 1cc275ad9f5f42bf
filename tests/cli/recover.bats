# record --recover: journals that are missing, empty or cut anywhere give no false alarm.
bats_require_minimum_version 1.5.0
load common

# A run of three sessions that is serializable: each reads what the one before it wrote.
journals() {
    rm -rf run
    mkdir -p run/journal
    for s in 0 1 2; do
        echo "insula-journal 1 $1" >run/journal/$s
    done
    local t=1 v
    for v in $(seq 1 30); do
        local s=$((v % 3))
        if [ "$1" = registers ]; then
            echo "b $t r0 w0=$v w1=$v"
            echo "c $((t + 1)) 3 $((v - 1))"
        else
            echo "b $t l0 a0=$v"
            echo "c $((t + 1)) 2 [$(seq -s , 1 $((v - 1)))]"
        fi >>run/journal/$s
        t=$((t + 2))
    done
}

# What is left is recovered without a failure, and something is said.
recovers() {
    run -0 --separate-stderr "$INSULA" record --recover run -o h.insula
    said=$stderr
    "$INSULA" check -q --timeout 20 h.insula || [ $? -eq 2 ]
}

@test "whole journals are recovered without a word" {
    for kind in registers lists; do
        journals $kind
        recovers
        [ -z "$said" ]
        "$INSULA" stats --json h.insula | jq -e '.transactions.committed == 30 and .transactions.indeterminate == 0'
    done
}

@test "a missing journal, the first, one in the middle or the last" {
    for kind in registers lists; do
        for lost in 0 1 2; do
            journals $kind
            rm run/journal/$lost
            recovers
            [[ $lost == 2 || $said == *"journal $lost is missing"* ]]
            [[ $said == *"10 values were read that no journal has written"* ||
                $lost == 0 && $said == *"values were read that no journal has written"* ]]
        done
    done
}

@test "an empty journal" {
    for kind in registers lists; do
        for lost in 0 1 2; do
            journals $kind
            : >run/journal/$lost
            recovers
            [[ $said == *"journal $lost is empty"* ]]
        done
    done
}

@test "a journal that is cut, at any byte" {
    for kind in registers lists; do
        journals $kind
        cp -r run whole
        size=$(stat -c %s run/journal/1)
        for keep in $(seq 1 37 $((size - 1))) $((size / 2)) $((size - 1)); do
            head -c "$keep" whole/journal/1 >run/journal/1
            recovers
            [ -n "$said" ]
        done
        rm -r whole
    done
}

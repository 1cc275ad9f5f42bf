# Files that are written: never over what is read, whole or not at all.
bats_require_minimum_version 1.5.0
load common

history() {
    "$INSULA" gen -q --level rc --txns 200 --keys 10 --no-times --seed 3 -o h.insula
    cp h.insula kept
}

@test "a history is never the output, under whatever name" {
    history
    ln h.insula hard
    ln -s h.insula soft
    for name in h.insula ./h.insula hard soft; do
        for option in html dot svg junit counterexample certificate; do
            run -3 "$INSULA" check "--$option" $name h.insula
            [[ $output == *"h.insula' is read, it cannot be written"* ]]
            cmp h.insula kept
        done
    done
    run -3 "$INSULA" check --html h.insula - <h.insula
    run -3 "$INSULA" convert -t insulab h.insula h.insula
    [[ $output == *"is read, it cannot be written"* ]]
    run -3 "$INSULA" convert -t insulab soft hard
    run -3 "$INSULA" convert -t insulab - h.insula <soft
    cmp h.insula kept
    # With several histories, any of them.
    "$INSULA" gen -q --txns 10 --seed 1 -o other
    run -3 "$INSULA" check --junit h.insula other h.insula
    cmp h.insula kept
}

@test "two outputs are two files" {
    history
    run -3 "$INSULA" check --html out --junit out h.insula
    [[ $output == *"--html and --junit are both to be 'out'"* ]]
    [ ! -e out ]
    "$INSULA" check -q --html /dev/null --junit /dev/null h.insula || [ $? -eq 1 ]
}

@test "an output that cannot be written does not cost the verdicts" {
    history
    verdicts() { grep -oE '^  [a-z].*  (pass|fail|unknown)'; }
    "$INSULA" check -q h.insula | verdicts >expected
    for option in html dot svg junit counterexample certificate; do
        run -3 --separate-stderr "$INSULA" check -q "--$option" /dev/full h.insula
        [[ $stderr == *"/dev/full"* ]]
        verdicts <<<"$output" | cmp - expected
    done
}

@test "what cannot be written whole leaves what was there, and nothing beside it" {
    history
    mkdir out
    for option in html dot svg junit counterexample certificate; do
        echo "as before" >out/file
        # No byte may be written to any file.
        run -3 bash -c "ulimit -f 0; trap '' XFSZ; exec \"$INSULA\" check -q --$option out/file h.insula 2>&1 >/dev/null"
        [[ $output == *"out/file"* ]]
        [ "$(cat out/file)" = "as before" ]
        [ "$(ls -A out)" = file ]
    done
    for format in insula insulab plume edn json dbcop; do
        run -3 bash -c "ulimit -f 0; trap '' XFSZ; exec \"$INSULA\" convert -q --lossy -t $format h.insula out/file 2>&1 >/dev/null"
        [ "$(cat out/file)" = "as before" ]
        [ "$(ls -A out)" = file ]
        run -3 bash -c "ulimit -f 0; trap '' XFSZ; exec \"$INSULA\" gen -q --lossy --seed 1 -t $format -o out/new 2>&1 >/dev/null"
        [ "$(ls -A out)" = file ]
    done
}

@test "a file keeps its mode, and a link stays a link" {
    history
    echo old >target
    chmod 640 target
    ln -s target link
    "$INSULA" check -q --html link h.insula >/dev/null || [ $? -eq 1 ]
    [ -L link ]
    [ "$(stat -c %a target)" = 640 ]
    grep -q "<html" target
    (umask 027; "$INSULA" check -q --html new h.insula >/dev/null || [ $? -eq 1 ])
    [ "$(stat -c %a new)" = 640 ]
}

@test "a signal while a file is written leaves nothing" {
    mkdir out
    "$INSULA" gen -q --txns 1000000 --seed 1 -o out/h.insula &
    pid=$!
    sleep 1
    kill -TERM "$pid" || true
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || [ "$status" -eq 0 ] || [ "$status" -eq 143 ]
    [ -z "$(ls -A out | grep -v '^h.insula$')" ]
}

@test "a counterexample that its format cannot hold is beside it, and the verdict stays" {
    printf 'insula 1\ninitial 0\na: r(x)=0 w(x)=1\nb: r(x)=0 w(x)=2\n' >h.txt
    run -1 "$INSULA" check -q --counterexample small.edn h.txt
    [[ $output == *"would lose: "*"the counterexample is in small.edn.txt"* ]]
    [ ! -e small.edn ]
    run -1 "$INSULA" check -q -l si small.edn.txt
}

@test "what a format cannot hold of a workload is said before it is recorded" {
    for workload in rows oncall booking; do
        run -3 "$INSULA" record --db sqlite: --workload $workload --txns 20 -o h.edn
        [[ $output == *"h.edn: format 'edn' would lose: "* ]]
        [ ! -e h.edn.run ]
    done
    run -3 "$INSULA" record --db sqlite: --workload append --txns 20 -o h.plume
    [[ $output == *"lists"* ]]
    run -0 "$INSULA" record --db sqlite: --workload append --txns 20 -o h.edn
}

@test "a counterexample keeps the writers of the rows that a query returned" {
    printf '%s\n' 'insula 1' 'a: insert(1)=10 insert(2)=20 insert(5)=1' 'c: update(5)=2' \
        'b: q(k>=1 k<=3)={1=10 2=20 2=20} q(k=5)={5=2}' >h.txt
    run -1 "$INSULA" check -l rc --counterexample small.txt h.txt
    grep -q 'insert(2)=20' small.txt
    run -1 "$INSULA" check --json small.txt
    [ "$(jq -c '.histories[0].counts' <<<"$output")" = '{"PredicateMismatch":1}' ]
}

@test "long names that differ stay different" {
    long=urn:example:tenant:production:region-eu-central-1:order
    printf '%s\n' 'insula 1' 'initial 0' "1 \"$long/a\": r(x)=0 w(x)=1" "2 \"$long/b\": r(x)=0 w(x)=2" >h.txt
    run -1 "$INSULA" check --json h.txt
    [ "$(jq -c '[.histories[0].anomalies[0].transactions[].id]' <<<"$output")" = "[\"$long/a\",\"$long/b\"]" ]
    run -1 "$INSULA" check h.txt
    [[ $output == *order/a* && $output == *order/b* ]]
}

@test "HTML does not say that a query read the row that it missed" {
    printf '%s\n' 'insula 1' 'a t1: insert(3)=55' 'b t2: insert(4)=1' 'c t3: q(k>=3 k<=12)={4=1} r(3)=55' >h.txt
    run -1 "$INSULA" check --html h.html h.txt
    grep -q 't3 read 3=55, which t1 wrote' h.html
    run ! grep -q 'missed by q([^)]*), which t1 wrote' h.html
}

# check: verdicts, exit statuses, many histories, limits.
bats_require_minimum_version 1.5.0
load common

good() {
    printf 'w(1,1,0,0)\nr(1,1,1,1)\n' >"$1"
}

# An aborted read: rc and everything above fails.
bad() {
    printf 'w(1,1,0,-1)\nr(1,1,1,1)\n' >"$1"
}

@test "0 when every level passes, 1 when one fails" {
    good g.txt
    bad b.txt
    run -0 "$INSULA" check -l rc,ser g.txt
    run -1 "$INSULA" check b.txt
    [[ $output == *AbortedRead* ]]
    run -0 "$INSULA" check -l ci b.txt
}

@test "2 when none fails and one is unknown: no times for sser" {
    good g.txt
    run -2 "$INSULA" check -l ser,sser g.txt
    [[ $output == *unknown* ]]
    # all: what the history can decide
    run -0 "$INSULA" check g.txt
}

@test "3 when nothing can be read" {
    printf 'w(1,1,0,0)\nnonsense\n' >m.txt
    run -3 --separate-stderr "$INSULA" check m.txt
    [ -z "$output" ]
    [[ $stderr == "insula: m.txt:2: "* ]]
}

@test "several histories: output in argument order, one status" {
    good g.txt
    bad b.txt
    printf 'w(1,1,0,0)\nnonsense\n' >m.txt
    run -1 --separate-stderr "$INSULA" check --json g.txt m.txt b.txt g.txt
    [ "$(jq -r '[.histories[].path] | join(" ")' <<<"$output")" = "g.txt m.txt b.txt g.txt" ]
    [[ $stderr == *"insula: m.txt:2: "* ]]
    # Half of it could be checked, and nothing failed.
    run -2 "$INSULA" check g.txt m.txt
    run -3 "$INSULA" check m.txt m.txt
}

@test "-l adds up, takes aliases and all" {
    bad b.txt
    run -1 --separate-stderr "$INSULA" check --json -l si -l Serializable,ci b.txt
    jq -e '[.histories[0].levels[].level] == ["ci", "si", "ser"]' <<<"$output"
    run -1 --separate-stderr "$INSULA" check --json -l sser -l all b.txt
    jq -e '[.histories[0].levels[].level] | contains(["ci", "rc", "si", "sser"])' <<<"$output"
    run -3 "$INSULA" check -l si -l nosuch b.txt
    [[ $output == *"unknown level 'nosuch'"* ]]
}

@test "the strongest levels are a set" {
    printf 'w(1,1,0,0)\nr(1,0,1,1)\nr(1,1,1,1)\n' >two.txt
    run -1 --separate-stderr "$INSULA" check --json -f plume two.txt
    jq -e '.histories[0].strongest == ["rc"]' <<<"$output"
    printf 'w(1,1,0,0)\nw(2,1,0,0)\nr(2,0,1,1)\nr(1,1,1,1)\n' >two.txt
    run -1 --separate-stderr "$INSULA" check -f plume two.txt
    [[ $output == *"The strongest levels that hold are cut isolation (ci) and read committed (rc)."* ]]
}

@test "a level that session order alone breaks is told" {
    "$INSULA" explain free-ser >/dev/null 2>&1 || skip "levels without sessions are not there"
    printf 'w(1,1,0,0)\nr(1,0,0,1)\n' >s.txt
    run -1 --separate-stderr "$INSULA" check -f plume s.txt
    [[ $output == *"And serializability (ser) holds when sessions are ignored."* ]]
    run -1 --separate-stderr "$INSULA" check --json -f plume s.txt
    jq -e '[.histories[0].levels[] | select(.holds_without_sessions) | .level] |
           contains(["ra", "si", "ser"])' <<<"$output"
    # a read of what nobody wrote needs no session
    printf 'w(1,1,0,0)\nr(1,7,0,1)\n' >s.txt
    run -1 --separate-stderr "$INSULA" check -f plume s.txt
    [[ $output != *"sessions are ignored"* ]]
}

@test "--json is one document with the fields of the specification" {
    bad b.txt
    run -1 --separate-stderr "$INSULA" check --json b.txt
    jq -e '.insula and (.histories | length) == 1 and
           (.histories[0] | .path == "b.txt" and .format == "plume" and .sessions == 2 and
            .transactions.committed == 1 and .transactions.aborted == 1 and
            .operations == 2 and .keys == 1 and .strongest == ["ci"] and
            .counts.AbortedRead == 1 and (.levels | length) >= 7 and
            (.levels[] | select(.level == "rc") | .verdict == "fail") and
            (.anomalies[0].name == "AbortedRead") and .stages.parse_s >= 0 and
            .peak_rss_bytes > 0)' <<<"$output"
}

@test "reports go where they are asked to" {
    bad b.txt
    run -1 "$INSULA" check -q --html r.html --dot r.dot --junit r.xml --svg r.svg b.txt
    grep -qi '<!doctype html>' r.html
    grep -q digraph r.dot
    grep -q '<testcase' r.xml
    grep -q '<svg' r.svg
}

@test "a certificate is for one history, and so is a counterexample" {
    good g.txt
    run -3 "$INSULA" check --certificate c g.txt g.txt
    [[ $output == "insula: --counterexample and --certificate are for one history, 2 given" ]]
}

@test "colour: never by default in a pipe, always when asked, NO_COLOR only stops auto" {
    bad b.txt
    run -1 "$INSULA" check b.txt
    [[ $output != *$'\033['* ]]
    run -1 "$INSULA" check --color always b.txt
    [[ $output == *$'\033['* ]]
    NO_COLOR=1 run -1 "$INSULA" check --color always b.txt
    [[ $output == *$'\033['* ]]
}

@test "-v says on standard error what took how long" {
    good g.txt
    run -0 --separate-stderr "$INSULA" check -v g.txt
    [[ $stderr =~ "insula: g.txt: load "[0-9.]+" s, check "[0-9.]+" s" ]]
}

@test "--timeout gives unknown and 2, soon" {
    "$INSULA" gen --level ser --txns 100000 --seed 1 -t insulab -q -o h.insulab
    SECONDS=0
    run -2 "$INSULA" check -l ser --timeout 0.05 h.insulab
    [ $SECONDS -le 5 ]
}

@test "Ctrl-C ends a check with what it has, or the program" {
    "$INSULA" gen --level ser --txns 200000 --ops 20 --seed 1 -t insulab -q -o h.insulab
    "$INSULA" check h.insulab >out 2>err &
    pid=$!
    sleep 0.4
    kill -INT $pid
    status=0
    wait $pid || status=$?
    # 130 while loading; 2 with unknown verdicts, or 0 when it had just finished.
    [ $status = 130 ] || [ $status = 2 ] || [ $status = 0 ]
}

# What inject plants is found under its name, at its level, and not below.
@test "every planted anomaly is found and named" {
    names="ThinAirRead:rc AbortedRead:rc FutureRead:rc NotMyOwnWrite:rc NotMyLastWrite:rc
        IntermediateRead:rc CyclicCO:rc NonMonoReadCO:rc NonMonoReadCM:rc
        NonRepeatableRead:ra FracturedReadCO:ra FracturedReadCM:ra COConflictCM:cc
        ConflictCM:cc LostUpdate:si G-single:pc LongFork:pc G-nonadjacent:si G2-item:ser
        G-single-process:pc G-nonadjacent-process:pc G2-item-process:ser G0-realtime:sser
        G1c-realtime:sser G-single-realtime:sser G2-item-realtime:sser"
    lists="ThinAirRead:rc AbortedRead:rc FutureRead:rc NotMyOwnWrite:rc NotMyLastWrite:rc
        IntermediateRead:rc CyclicCO:rc NonMonoReadCO:rc NonRepeatableRead:ra
        FracturedReadCO:ra COConflictCM:cc duplicate-elements:rc incompatible-order:rc G0:rc
        G1c:rc LostUpdate:si G-single:pc LongFork:pc G-nonadjacent:si G2-item:ser
        G-single-process:pc G-nonadjacent-process:pc G2-item-process:ser G0-realtime:sser
        G1c-realtime:sser G-single-realtime:sser G2-item-realtime:sser"
    for kind in "" --list; do
        [ -n "$kind" ] && names=$lists
        for pair in $names; do
            name=${pair%:*} level=${pair#*:}
            "$INSULA" gen $kind --inject "$name" --txns 2000 --seed 3 -q -o h.insula
            "$INSULA" check --json h.insula 2>/dev/null | jq -e --arg n "$name" --arg l "$level" '
                .histories[0].levels as $all |
                ["rc", "ra", "cc", "pc", "si", "ser", "sser"] as $chain |
                ($chain | index($l)) as $at |
                ($all | map({(.level): .}) | add) as $by |
                $by[$l].verdict == "fail" and
                ($by[$l].anomalies | index($n) != null) and
                ($by[$l].anomalies | length) == 1 and
                all($chain[:$at][]; $by[.].verdict == "pass")' >/dev/null ||
                echo "$kind $name at $level"
        done
    done >wrong
    cat wrong
    [ ! -s wrong ]
}

@test "one violation is counted once, however many levels it breaks" {
    "$INSULA" gen --inject LongFork --seed 7 -q -o h.edn
    run -1 --separate-stderr "$INSULA" check --json h.edn
    jq -e '.histories[0] | .counts == {"LongFork": 1} and (.anomalies | length) == 1 and
           .anomalies[0].breaks == "pc"' <<<"$output"
}

@test "nothing is said about levels that were not asked for" {
    "$INSULA" gen --inject LostUpdate --txns 50 --seed 7 -o h.edn 2>/dev/null
    run -1 "$INSULA" check -l cc,ser h.edn
    [[ $output == *"Of these levels the strongest that holds is causal consistency (cc)."* ]]
    run -1 "$INSULA" check -l ser --html h.html h.edn
    [[ $output == *"None of these levels holds."* ]]
    ! grep -q "nothing else holds" h.html
}

@test "the sentence about write skew is true of whoever only wrote" {
    # t1 only appends: it read nothing, and yet it is on the cycle.
    cat >h.insula <<'END'
insula 1
a t1: a(x)=1 a(y)=1
b t2: r(x)=[] a(z)=1
c t3: r(y)=[1] r(z)=[]
END
    run -1 "$INSULA" check -l ser h.insula
    [[ $output != *"each read something"* ]]
    [[ $output == *"missed"* ]]
}

@test "a level keeps its reason when another level has a weaker one" {
    cat >h.insula <<'END'
insula 1
initial x = 0
initial y = 0
s1 t1: w(x)=1
s0 t2: w(y)=2
s0 t3: r(y)=2 r(x)=1
s2 t4: w(x)=2 w(y)=4
s0 t5: r(y)=4 r(x)=1 w(x)=3
s0 t6: r(x)=3 r(y)=4
END
    run -1 "$INSULA" check --json -l free-psi,free-pc,free-si,free-ser,psi,pc,si,ser h.insula
    [ "$(jq -r '.histories[0].levels[] | select(.level == "psi").anomalies[]' <<<"$output")" = G-single-process ]
}

# The transactions of each session in random order, so that sessions say nothing.
mix_sessions() {
    awk -F'[,)]' 'BEGIN { srand(1) }
        { t = $3 "," $4; if (!(t in at)) at[t] = rand(); print $3, at[t], NR, $0 }' |
        sort -k1,1n -k2,2g -k3,3n | cut -d' ' -f4
}

@test "without sessions: short transactions over many keys are decided" {
    for level in ser si; do
        "$INSULA" gen -q -t plume --no-times --level $level --txns 4000 --sessions 50 --ops 4 \
            --keys 2000 --seed 4 -o - | mix_sessions >h.plume
        run -0 "$INSULA" check -q --timeout 20 -l free-$level --certificate h.cert h.plume
        run -0 "$INSULA" verify h.plume h.cert
    done
}

@test "without sessions: what snapshot isolation lets pass is refuted at free-ser" {
    "$INSULA" gen -q -t plume --no-times --level si --txns 4000 --sessions 50 --ops 16 \
        --keys 2000 --seed 4 -o - | mix_sessions >h.plume
    run -1 "$INSULA" check -q --timeout 20 -l free-ser --certificate h.cert h.plume
    run -0 "$INSULA" verify -l free-ser=fail h.plume h.cert
    run -0 "$INSULA" check -q --timeout 20 -l free-si --certificate h.cert h.plume
    run -0 "$INSULA" verify -l free-si=pass h.plume h.cert
}

@test "strong levels: the same certificate for any number of threads" {
    "$INSULA" gen -q --level ser --txns 5000 --sessions 20 --keys 500 --seed 1 -o h.insulab
    for level in ser si sser; do
        for n in 1 2 3 8; do
            "$INSULA" check -q -l $level --threads $n --certificate $level-$n.cert h.insulab \
                >$level-$n.txt || [ $? -eq 1 ]
            sed -i -E "s/[0-9.]+ m?s( |\$) *//" $level-$n.txt
            cmp $level-1.cert $level-$n.cert
            cmp $level-1.txt $level-$n.txt
        done
        run -0 "$INSULA" verify h.insulab $level-8.cert
    done
}

@test "times of a transaction of unknown outcome are no real time" {
    printf '%s\n' 'insula 1' 'a: a(x)=1' 'b: r(x)=[1]' 'c @4..5: a(x)=2 unknown' >h.txt
    run -2 "$INSULA" check -l sser,strong-pl2 h.txt
    [ "$(grep -c unknown <<<"$output")" -ge 2 ]
}

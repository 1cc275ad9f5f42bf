# Findings on clusters, rebuilt as histories of a simulated one, and many anomalies of
# several kinds at once: each is counted and named.
bats_require_minimum_version 1.5.0
load common

# result FILE FILTER
result() {
    "$INSULA" check --json "$1" | jq -c ".histories[0] | $2"
}

# Pairs of sessions skew their writes all the while.  All nodes are killed, and the last
# commit on each of some accounts is gone: every node is read, and life goes on from
# what was there before.
lost_beside_skew() {
    awk -v skews="$1" -v lost="$2" 'BEGIN {
        print "insula 1"
        print "initial 0"
        t = 1000000000
        for (i = 0; i < skews; i++) {
            t += 10000000
            printf "a @%d..%d on n1: r(p%d)=0 r(q%d)=0 w(p%d)=1\n", t, t + 5000000, i, i, i
            printf "b @%d..%d on n2: r(p%d)=0 r(q%d)=0 w(q%d)=1\n", t, t + 5000000, i, i, i
        }
        for (i = 0; i < lost; i++) {
            t += 10000000
            printf "c @%d..%d on n1: r(k%d)=0 w(k%d)=1\n", t, t + 1000000, i, i
            printf "c @%d..%d on n1: r(k%d)=1 w(k%d)=2\n", t + 2000000, t + 3000000, i, i
        }
        for (i = 0; i < lost; i++) {
            t += 10000000
            for (n = 1; n <= 3; n++) printf "d%d @%d..%d on n%d: r(k%d)=1\n", n, t + n * 1000, t + 1000000, n, i
            printf "e @%d..%d on n3: r(k%d)=1 w(k%d)=3\n", t + 2000000, t + 3000000, i, i
            printf "f @%d..%d on n1: r(k%d)=3\n", t + 4000000, t + 5000000, i
        }
    }'
}

@test "lost commits beside write skew: both are told, each is counted" {
    lost_beside_skew 40 25 >h.txt
    run -1 "$INSULA" check --json h.txt
    h='.histories[0]'
    [ "$(jq "$h.counts[\"G2-item\"]" <<<"$output")" = 40 ]
    [ "$(jq "$h.lost_commits" <<<"$output")" = 25 ]
    [ "$(jq "[$h.anomalies[] | select(.lost_commit)] | length" <<<"$output")" = 25 ]
    jq -e "[$h.anomalies[] | select(.lost_commit) | .name] | unique == [\"G-single-realtime\"]" <<<"$output"
    # the commit of t82, at 1.413 s, was missed first at 1.660001 s
    jq -e "any($h.anomalies[]; .lost_commit.transaction == \"t82\" and .lost_commit.committed_s == 1.413 and
        .lost_commit.missed_by == \"t131\" and .lost_commit.missed_s == 1.660001 and .lost_commit.misses == 4 and
        (.story | startswith(\"Lost commit: t131 began after t82 had ended, and yet it missed its k0=2.\")))" <<<"$output"
    run -1 "$INSULA" check --all h.txt
    grep -q '^25 commits were lost: acknowledged, and not there for those who came later\.$' <<<"$output"
    [ "$(grep -c 'G-single-realtime: lost commit' <<<"$output")" = 25 ]
}

@test "a counterexample shows the lost commit, not a stale read beside it" {
    printf '%s\n' 'insula 1' 'initial 0' 'a @10..20: w(s)=1' 'b @30..40: r(s)=0' 'b @50..60: r(s)=1' \
        'e @1..2: w(k)=5' 'c @70..80: r(k)=5 w(k)=1' 'd @90..95: r(k)=5' >h.txt
    run -1 "$INSULA" check -l sser --counterexample small.insula h.txt
    grep -q 'w(k)=1' small.insula
    ! grep -q '(s)' small.insula
}

@test "what is planted among thousands of transactions on rows is shown by a few" {
    for kind in G2-item-predicate G-single-predicate PredicateReadMiss PredicateMismatch; do
        "$INSULA" gen -q --rows --level ser --txns 3000 --sessions 8 --keys 200 --inject $kind --seed 3 -o h.insulab
        run -1 "$INSULA" check -l ser --counterexample small.insula h.insulab
        n=$(sed -n 's/^insula 1 transactions //p' small.insula)
        [ "$n" -le 6 ] || { echo "$kind: $n transactions"; return 1; }
        run -1 "$INSULA" check small.insula
        grep -q "$kind" <<<"$output"
    done
}

@test "a write skew alone loses no commit" {
    lost_beside_skew 40 0 >h.txt
    [ "$(result h.txt '[.counts, .lost_commits]')" = '[{"G2-item":40},null]' ]
}

@test "thousands of long forks between a primary and its standby are counted" {
    awk 'BEGIN {
        print "insula 1"
        print "initial 0"
        for (i = 0; i < 2432; i++) {
            t += 1000
            printf "w1 @%d..%d on primary: w(x%d)=1\n", t, t + 100, i
            printf "w2 @%d..%d on primary: w(y%d)=1\n", t, t + 100, i
            printf "p @%d..%d on primary: r(x%d)=1 r(y%d)=0\n", t + 50, t + 500, i, i
            printf "s @%d..%d on standby: r(x%d)=0 r(y%d)=1\n", t + 50, t + 500, i, i
        }
    }' >h.txt
    [ "$(result h.txt .counts)" = '{"LongFork":2432}' ]
    [ "$(result h.txt '[.anomalies[].transactions[].node] | unique')" = '["primary","standby"]' ]
    [ "$(result h.txt '.anomalies | length')" = 100 ]
    [ "$(result h.txt '[.levels[] | select(.verdict == "fail") | .level]')" = '["pc","si","ser","sser"]' ]
    run -1 "$INSULA" check h.txt
    grep -q 'LongFork ×2,432' <<<"$output"
    tr -s '\n ' ' ' <<<"$output" | grep -q 'The four transactions ran on primary, standby\.'
}

# planted FORKS SKEWS UPDATES READ_SKEWS STALE: so many of each kind, on keys of their
# own, in sessions of their own, one after the other.
planted() {
    awk -v forks="$1" -v skews="$2" -v updates="$3" -v reads="$4" -v stale="$5" '
    function put(session, ops) { printf "%s%d @%d..%d: %s\n", session, ++s, t, t + 50, ops }
    BEGIN {
        print "insula 1"
        print "initial 0"
        for (i = 0; i < forks; i++) {
            t += 100
            put("f", "w(fx" i ")=1"); put("f", "w(fy" i ")=1")
            put("f", "r(fx" i ")=1 r(fy" i ")=0"); put("f", "r(fx" i ")=0 r(fy" i ")=1")
        }
        for (i = 0; i < skews; i++) {
            t += 100
            put("k", "r(kx" i ")=0 r(ky" i ")=0 w(kx" i ")=1")
            put("k", "r(kx" i ")=0 r(ky" i ")=0 w(ky" i ")=1")
        }
        for (i = 0; i < updates; i++) {
            t += 100
            put("u", "r(u" i ")=0 w(u" i ")=1"); put("u", "r(u" i ")=0 w(u" i ")=2")
        }
        for (i = 0; i < reads; i++) {
            t += 100
            put("g", "r(gx" i ")=0 w(gx" i ")=1 w(gy" i ")=1"); put("g", "r(gx" i ")=1 w(gx" i ")=2 r(gz" i ")=0 w(gz" i ")=1")
            put("g", "r(gz" i ")=1 r(gy" i ")=0")
        }
        for (i = 0; i < stale; i++) {
            t += 100
            put("s", "w(s" i ")=1")
            t += 100
            put("s", "r(s" i ")=0")
            t += 100
            put("s", "r(s" i ")=1")
        }
    }'
}

@test "one to a hundred anomalies of several kinds at once: all are counted and named" {
    for n in "1 0 0 0 0" "0 1 0 0 0" "0 0 1 0 0" "0 0 0 1 0" "0 0 0 0 1" "1 1 1 1 1" "2 3 5 7 11" \
        "10 0 20 0 30" "0 25 0 25 25" "20 20 20 20 20" "100 100 100 100 100"; do
        read -r forks skews updates reads stale <<<"$n"
        planted $n >h.txt
        want=$(jq -cn "{COConflictCM: $reads, LostUpdate: $updates, LongFork: $forks, \"G2-item\": $skews, \"G-single-realtime\": $stale}
            | with_entries(select(.value > 0))" | jq -cS .)
        got=$(result h.txt '.counts' | jq -cS .)
        [ "$got" = "$want" ] || { echo "$n: $got, not $want"; return 1; }
        [ "$(result h.txt '[.anomalies[].name] | group_by(.) | map({key: .[0], value: length}) | from_entries' | jq -cS .)" = "$want" ]
        [ "$(result h.txt .lost_commits)" = null ]
    done
}

@test "readers that disagree about two blind writes are not called a dirty write" {
    printf '%s\n' 'insula 1' 'initial 0' 'a t1: w(x)=1' 'b t2: w(x)=2' 'c t3: r(x)=1' 'c t4: r(x)=2' \
        'd t5: r(x)=2' 'd t6: r(x)=1' >h.txt
    for level in psi pc si ser; do
        run -1 "$INSULA" check -l $level h.txt
        grep -q 'readers disagree about the order of two writes' <<<"$output"
        grep -q 't4 and t6 disagree about the order of two writes' <<<"$output"
        ! grep -q 'G0\|dirty write' <<<"$output"
    done
}

@test "of a stale read among thousands of transactions two edges are told" {
    # one key after the other is read and appended to; one read is a thousand appends late
    awk 'BEGIN {
        print "insula 1"
        for (i = 1; i <= 5000; i++) {
            k = i % 40; t += 10
            if (i == 4200) {
                printf "late @%d..%d: r(k%d)=[%s]\n", t, t + 5, k, early[k]
                continue
            }
            printf "s%d @%d..%d: r(k%d)=[%s] a(k%d)=%d\n", i % 8, t, t + 5 + i % 37, (k + 7) % 40, list[(k + 7) % 40], k, i
            list[k] = list[k] (list[k] == "" ? "" : " ") i
            if (i < 3000) early[k] = list[k]
        }
    }' >h.txt
    run -1 "$INSULA" check --json -l sser h.txt
    jq -e '.histories[0].anomalies | any(.[]; .name == "G-single-realtime" and ([.edges[].type] | sort) == ["rt", "rw"])' <<<"$output"
}

@test "a read that is late on another node is stale, and no commit is lost by it" {
    printf '%s\n' 'insula 1' 'initial 0' 'a t1 @1..2 on primary: w(x)=1' 'b t2 @3..4 on standby: r(x)=0' \
        'a t3 @5..6 on primary: w(y)=1' >late.txt
    [ "$(result late.txt '[.counts["G-single-realtime"], .lost_commits]')" = '[1,null]' ]
    # the primary is gone, or was asked itself
    grep -v t3 late.txt >gone.txt
    [ "$(result gone.txt .lost_commits)" = 1 ]
    sed 's/standby/primary/' late.txt >asked.txt
    [ "$(result asked.txt .lost_commits)" = 1 ]
}

@test "a wrong read, a fractured one or a dirty write hides nothing" {
    planted 2 3 5 0 7 >h.txt
    {
        cat h.txt
        echo 'z1 @1..2: r(nobody)=7'
        echo 'z2 @1..2: w(fa)=1 w(fb)=1'
        echo 'z3 @3..4: r(fa)=1 w(fa)=2 w(fb)=2'
        echo 'z4 @5..6: r(fa)=1 r(fb)=2'
        echo 'z5 @1..9: a(la)=1 a(lb)=1'
        echo 'z6 @1..9: a(la)=2 a(lb)=2'
        echo 'z7 @10..11: r(la)=[1 2] r(lb)=[2 1]'
    } >all.txt
    result all.txt .counts | jq -e '.ThinAirRead == 1 and .FracturedReadCO == 1 and .G0 == 1 and .LongFork == 2 and
        .["G2-item"] == 3 and .LostUpdate == 5 and .["G-single-realtime"] >= 7'
}

@test "what breaks ra and, with queries, rr is told once, at both" {
    printf '%s\n' 'insula 1' 'a t1: w(x)=1 w(y)=1' 'b t2: r(y)=nil r(x)=1 q(v=7)={}' >h.txt
    [ "$(result h.txt '[.anomalies[].name]')" = '["FracturedReadCO"]' ]
    [ "$(result h.txt '[.levels[] | select(.level == "ra", .level == "rr") | .anomalies[]]')" = \
        '["FracturedReadCO","FracturedReadCO"]' ]
    # A row that a query missed breaks ra, but not rr.
    printf '%s\n' 'insula 1' 'a t1: insert(x)=7 w(y)=1' 'b t2: q(v=7)={} r(y)=1' >p.txt
    [ "$(result p.txt '[.levels[] | select(.level == "ra", .level == "rr") | .verdict]')" = \
        '["fail","pass"]' ]
}

@test "write skew of plain reads beside queries is told once" {
    printf '%s\n' 'insula 1' 'a t1: r(x)=nil w(y)=1 q(v=7)={}' 'b t2: r(y)=nil w(x)=1' >h.txt
    [ "$(result h.txt '[.anomalies[].name]')" = '["G2-item"]' ]
    [ "$(result h.txt '.anomalies[0].breaks')" = '"rr"' ]
}

@test "a commit that a query missed is a lost one, and a phantom" {
    printf '%s\n' 'insula 1' 'a t1 @1..2: insert(x)=7' 'b t2 @3..4: q(v=7)={}' 'b t3 @5..6: q(v=7)={}' >h.txt
    [ "$(result h.txt '[.lost_commits, .anomalies[].name]')" = '[1,"G-single-predicate-realtime"]' ]
}

@test "a phantom is explained by its name, and pages show the statement and what it missed" {
    "$INSULA" explain Phantom >out
    grep -q '^G2-item-predicate: phantom' out
    printf '%s\n' 'insula 1' 'ward t0: insert(3)=2' 'alice t1: q(v=2)={3=2} insert(5)=2' \
        'bob t2: q(v=2)={3=2} insert(6)=2' >h.txt
    run -1 "$INSULA" check --html h.html h.txt
    [[ $output == *"G2-item-predicate: phantom: write skew"* ]]
    [[ $output == *"asked for all rows with v=2 and got {3}; it missed row 6"* ]]
    grep -q 'q(v=2)={3} without 6' h.html
    grep -q 'asked for all rows with v=2 and got {3}; it missed row 6' h.html
}

# A cycle that rc tells against session order may be all that a level without sessions has.
@test "what breaks rr and a level without sessions is listed beside what breaks rc" {
    printf 'insula 1\ns0 t1: r(z)=[] a(z)=1\ns0 t2: r(z)=[] a(y)=1 r(x)=[]\ns0 t3: a(z)=2 r(z)=[2]\ns0 t4: a(x)=2 r(y)=[]\n' >h.txt
    run -1 --separate-stderr "$INSULA" check --json -l rc,ra,rr,psi,free-psi,free-si,free-rr h.txt
    [ "$(jq -c '[.histories[0].levels[] | select(.verdict == "fail" and (.anomalies | length) == 0)]' <<<"$output")" = "[]" ]
    [ "$(jq -c '.histories[0].levels[] | select(.level == "free-psi").anomalies' <<<"$output")" = '["G-single"]' ]
}

counts() {
    "$INSULA" check --json "$@" 2>/dev/null | jq -cS '.histories[0].counts'
}

@test "a read of a set is one read: who shows half of it breaks ra, not rc" {
    cat >h.edn <<'EOF'
{:type :ok :process 0 :f :txn :value [[:add :x 1] [:add :x 2]]}
{:type :ok :process 1 :f :txn :value [[:r :x #{1}]]}
{:type :ok :process 2 :f :txn :value [[:r :x #{2}]]}
EOF
    run -0 "$INSULA" check -q -l rc h.edn
    run -1 "$INSULA" check -q -l ra h.edn
    [ "$(counts h.edn)" = '{"FracturedReadCO":2}' ]
}

@test "independent tuples with their tag are tuples in flat workloads, too" {
    for tag in '' '#jepsen.independent/tuple '; do
        cat >h.edn <<EOF
{:type :invoke :process 0 :f :write :value ${tag}[0 1]}
{:type :ok :process 0 :f :write :value ${tag}[0 1]}
{:type :invoke :process 0 :f :cas :value ${tag}[1 [nil 2]]}
{:type :ok :process 0 :f :cas :value ${tag}[1 [nil 2]]}
{:type :invoke :process 1 :f :read :value ${tag}[0 nil]}
{:type :ok :process 1 :f :read :value ${tag}[0 1]}
EOF
        run -0 "$INSULA" check -q -l sser h.edn
        [ "$("$INSULA" stats --json h.edn | jq .keys)" = 2 ]
    done
}

@test "comments with independent keys are refused by name" {
    cat >h.edn <<'EOF'
{:type :invoke :process 0 :f :write :value [3 0]}
{:type :ok :process 0 :f :write :value [3 0]}
{:type :invoke :process 1 :f :read :value [3 nil]}
{:type :ok :process 1 :f :read :value [3 #{0}]}
EOF
    run -3 "$INSULA" check h.edn
    [[ $output == *"this looks like the comments workload"* ]]
}

@test "a blind append and who missed it: told once each, whatever else failed" {
    one() { printf 'a%s: a(%s)=1\nb%s: r(%s)=[] a(%s)=2\nc%s: r(%s)=[1 2]\n' $1 $1 $1 $1 $1 $1 $1; }
    { echo "insula 1"; one x; } >one.insula
    { echo "insula 1"; one x; one y; } >two.insula
    { echo "insula 1"; one x; echo 'd: r(z)=[77]'; } >beside.insula
    [ "$(counts one.insula)" = '{"G-single":1}' ]
    [ "$(counts two.insula)" = '{"G-single":2}' ]
    [ "$(counts beside.insula)" = '{"G-single":1,"ThinAirRead":1}' ]
}

@test "a strong level alone tells every fractured read, also beside a faulty one" {
    one() { printf 'a%s: w(x%s)=1 w(y%s)=1\nb%s: r(y%s)=0 r(x%s)=1\n' $1 $1 $1 $1 $1 $1; }
    { printf 'insula 1\ninitial 0\n'; one 1; one 2; } >two.insula
    { cat two.insula; echo 'c: r(z)=77'; } >beside.insula
    for level in ser si psi pc free-ser pc,ser rc,ser; do
        [ "$(counts -l $level two.insula)" = '{"G-single":2}' ]
        [ "$(counts -l $level beside.insula)" = '{"G-single":2,"ThinAirRead":1}' ]
    done
    for level in ra,ser cc,ser all; do
        [ "$(counts -l $level two.insula)" = '{"FracturedReadCO":2}' ]
    done
}

@test "the suffix says what closes a cycle, also where a reason needs it" {
    printf 'insula 1\ninitial 0\na: w(x)=1\na: r(z)=0 w(x)=2\nd: r(x)=1 w(z)=1\n' >so.insula
    [ "$(counts -l ser so.insula)" = '{"G2-item-process":1}' ]
    run -0 "$INSULA" check -q -l free-ser so.insula
    printf 'insula 1\ninitial 0\na @1..2: w(x)=1\nb @3..10: r(z)=0 w(x)=2\nd @3..11: r(x)=1 w(z)=1\n' >rt.insula
    [ "$(counts -l sser rt.insula)" = '{"G2-item-realtime":1}' ]
    run -0 "$INSULA" check -q -l ser rt.insula
}

# forced SESSIONS: a write skew that only an order of blind writes by their session
# closes, for each of them.
forced() {
    for i in "$@"; do
        printf 'a%s: w(x%s)=1\na%s: r(z%s)=0 w(x%s)=2\nd%s: r(x%s)=1 w(z%s)=1\n' $i $i $i $i $i $i $i $i
    done
}

@test "cycles of orders that are forced are told apart from each other and the rest" {
    { printf 'insula 1\ninitial 0\n'; forced 1 2 3; } >three.insula
    [ "$(counts three.insula)" = '{"G2-item-process":3}' ]
    { cat three.insula; echo 'e: r(q)=77'; } >read.insula
    [ "$(counts read.insula)" = '{"G2-item-process":3,"ThinAirRead":1}' ]
    { cat three.insula; printf 'f: r(u)=0 w(u)=1\ng: r(u)=0 w(u)=2\n'; } >update.insula
    [ "$(counts update.insula)" = '{"G2-item-process":3,"LostUpdate":1}' ]
    # Of a level that was asked alone, too, and the anomalies pass their certificate.
    [ "$(counts -l ser read.insula)" = '{"G2-item-process":3,"ThinAirRead":1}' ]
    run -1 "$INSULA" check -q --certificate c update.insula
    run -0 "$INSULA" verify update.insula c
}

# events TYPE... on standard input are lines "TYPE PROCESS OPERATIONS"
events() {
    awk '{ type = $1; process = $2; sub(/^[^ ]+ [^ ]+ /, "")
        printf "{:type :%s :process %s :f :txn :value [%s]}\n", type, process, $0 }'
}

names() {
    result "$1" '[.anomalies[] | {name, of: [.edges[:2][] | .from]}] | map("\(.name) \(.of | join(" "))") | sort | .[]' | tr -d '"'
}

@test "real time within a session is session order, and hides no stale read of another" {
    events >h.edn <<'E2'
invoke 0 [:append x 1]
ok 0 [:append x 1]
invoke 0 [:r x nil]
ok 0 [:r x []]
invoke 1 [:r x nil]
ok 1 [:r x []]
invoke 2 [:r x nil]
ok 2 [:r x [1]]
E2
    [ "$(result h.edn .counts)" = '{"FracturedReadCO":1,"G-single-realtime":1}' ]
    [[ $(names h.edn) == *"G-single-realtime t3 t1"* ]]
    sed -n 1,4p h.edn >one.edn # nothing but a session that missed its own write
    [ "$(result one.edn .counts)" = '{"FracturedReadCO":1}' ]
    run -1 "$INSULA" check one.edn
    [[ $output == *"t2 comes after t1 of its own session"* ]]
    [[ $output != *"t2 saw t1"* ]]
}

@test "lists that end in own appends show an order: what follows from it is told" {
    events >wr.edn <<'E2'
invoke 0 [:append x 1] [:r x nil] [:append y 1]
ok 0 [:append x 1] [:r x [2 1]] [:append y 1]
invoke 0 [:append x 2] [:r y nil]
ok 0 [:append x 2] [:r y [1]]
E2
    [ "$(result wr.edn .counts)" = '{"G0-process":1,"G1c":1}' ]
    events >rt.edn <<'E2'
invoke 0 [:append x 2] [:r x nil] [:r y nil]
ok 0 [:append x 2] [:r x [1 2]] [:r y []]
invoke 1 [:append x 1] [:append y 1]
ok 1 [:append x 1] [:append y 1]
E2
    [ "$(result rt.edn .counts)" = '{"G0-realtime":1,"G-single":1}' ]
    events >stale.edn <<'E2'
invoke 0 [:append x 1] [:r x nil]
ok 0 [:append x 1] [:r x [2 1]]
invoke 1 [:append x 2]
ok 1 [:append x 2]
invoke 0 [:r x nil]
ok 0 [:r x []]
E2
    [ "$(result stale.edn '.counts | keys | map(select(startswith("G0")))')" = '["G0-realtime"]' ]
}

@test "n updates of one version are as many lost updates as there are pairs" {
    for n in 2 4 7; do
        {
            for i in $(seq "$n"); do echo "invoke $i [:r x nil] [:w x $i]"; done
            for i in $(seq "$n"); do echo "ok $i [:r x nil] [:w x $i]"; done
        } | events >h.edn
        [ "$(result h.edn .counts)" = "{\"LostUpdate\":$((n * (n - 1) / 2))}" ]
    done
}

@test "a suffix that a reason does not need is not told" {
    cat >h.txt <<'E2'
insula 1
initial 0
a t1: w(x)=1 r(y)=1
a t2: r(z)=5 w(x)=2 w(y)=2
b t3: w(z)=5
c t4: w(y)=1 r(x)=0
c t5: r(x)=1 r(z)=5 w(z)=6
E2
    [ "$(result h.txt .counts)" = '{"G2-item":1}' ]
}

@test "what breaks no level that was asked for is not told" {
    events >h.edn <<'E2'
ok 0 [:w x 1]
ok 1 [:r x nil] [:r x 1]
E2
    run -0 "$INSULA" check --json -l rc h.edn
    [ "$(jq -c '.histories[0] | [.counts, .anomalies]' <<<"$output")" = '[{},[]]' ]
    run -1 "$INSULA" check --json -l ra h.edn
    [ "$(jq -c '.histories[0].counts' <<<"$output")" = '{"NonRepeatableRead":1}' ]
}

@test "a list that its reader appends to later shows an order all the same" {
    printf '%s\n' 'insula 1' 'a t1: a(x)=6 r(x)=[1 4 6] a(y)=4 a(x)=7' 'b t5: a(x)=1 a(y)=1' \
        'b t9: a(x)=4' 'c t7: r(y)=[4 1]' >h.txt
    [ "$(result h.txt .counts)" = '{"G0":1,"G0-process":1}' ]
}

@test "of two lost appends the list says which one was first" {
    printf '%s\n' 'insula 1' 'a t1: r(x)=[] a(x)=1' 'b t2: r(x)=[] a(x)=2' 'c t3: r(x)=[1 2]' >h.txt
    run -1 "$INSULA" check h.txt
    [[ $output == *"t1 comes before t2: x=1 is the older version"* ]]
    [[ $output != *"x=2 is the older"* ]]
}

@test "a lost commit that its own session missed is told, whichever level is asked" {
    printf '%s\n' 'insula 1' 'a t1 @0..10: w(y)=3 r(z)=nil' 'a t2 @20..30: w(z)=1 r(y)=nil' >h.txt
    for level in si ser sser; do
        run -1 "$INSULA" check --json -l $level h.txt
        jq -e '.histories[0] | .lost_commits == 1 and any(.anomalies[]; .name == "G-single-process")' <<<"$output"
    done
}

@test "a single anti-dependency breaks psi and pc: both forbid it" {
    printf '%s\n' 'insula 1' 'a t1: a(x)=1 r(z)=nil' 'a t2: r(x)=[]' >h.txt
    for levels in psi,pc psi pc; do
        run -1 "$INSULA" check -l $levels h.txt
        [[ $output == *"Forbidden by psi, pc, si, ser, sser;"* ]]
    done
}

@test "session order that data says, too, makes no anomaly of its own" {
    printf '%s\n' 'insula 1' 'a t1: a(y)=3' 'b t2: r(y)=[] a(y)=4' 'a t3: a(y)=1 r(y)=[3 1]' >h.txt
    [ "$(result h.txt .counts)" = '{"G-single":1}' ]
}

@test "a lost update does not hide that its reader was stale" {
    printf '%s\n' 'insula 1' 'a t1 @0..10: r(x)=nil w(x)=1' 'c t3 @12..15: r(x)=1' \
        'b t2 @20..30: r(x)=nil w(x)=2' >h.txt
    [ "$(result h.txt .counts)" = '{"LostUpdate":1,"G-single-realtime":1}' ]
}

@test "a list against its session does not hide a read that went back" {
    printf '%s\n' 'insula 1' 'a t1: a(x)=1' 'a t2: a(x)=2' 'b t3: r(x)=[2 1]' 'b t4: r(x)=[2]' >h.txt
    [ "$(result h.txt .counts)" = '{"G0-process":1,"G-single-process":1}' ]
    run -1 "$INSULA" check -l rc,ser h.txt
    [[ ${output//$'\n    '/ } == *"monotonic reads: what a session has seen"* ]]
}

@test "a missed write is no anti-dependency where a list or a read says the order" {
    printf '%s\n' 'insula 1' 'a t1 @0..1: a(x)=1' 'b t2 @2..3: a(x)=2' 'c t3 @4..5: r(x)=[] a(x)=3' \
        'd t4 @6..7: r(x)=[1 2 3]' >h.txt
    [ "$(result h.txt .counts)" = '{"G-single":1}' ]
    printf '%s\n' 'insula 1' 'a t1: a(x)=1' 'b t2: r(x)=[1] a(x)=2' 'c t3: r(x)=[] a(x)=3' \
        'd t4: r(x)=[1 2 3]' >h.txt
    [ "$(result h.txt .counts)" = '{"G-single":1}' ]
    printf '%s\n' 'insula 1' 'a t1: r(x)=[] a(y)=1' 'b t2: r(y)=[1] a(x)=1' 'b t3: r(y)=[]' >h.txt
    [ "$(result h.txt .counts)" = '{"COConflictCM":1}' ]
}

@test "a list at odds with what came later does not hide that a commit was lost" {
    printf '%s\n' 'insula 1' 'a t1 @0..10: a(x)=0' 'a t2 @20..30: a(x)=1' 'b t3 @40..50: r(x)=[0 1]' \
        'c t4 @100..110: r(x)=[0]' 'd t5 @120..130: r(x)=[0]' >h.txt
    [ "$(result h.txt .lost_commits)" = 1 ]
    printf '%s\n' 'c t6 @140..150: a(x)=2' 'd t7 @160..170: r(x)=[0 2]' 'c t8 @180..190: a(x)=3' \
        'd t9 @200..210: r(x)=[0 2 3]' >>h.txt
    [ "$(result h.txt .lost_commits)" = 1 ]
}

@test "a level that fails says by what, whichever is asked alone" {
    printf '%s\n' 'insula 1' 'b t2: r(x)=[1] r(x)=[]' 'a t1: a(x)=1' >h.txt
    for level in rr strong-rr ser; do
        run -1 "$INSULA" check --json -l "$level" h.txt
        jq -e '.histories[0] | .counts == {"NonRepeatableRead":1} and (.anomalies | length == 1)' <<<"$output"
    done
    printf '%s\n' 'insula 1' 'a: insert(1)=10' 'b: q(k=1)={} q(k=1)={1=10}' >h.txt
    run -0 "$INSULA" check -l rr h.txt
    printf '%s\n' 'insula 1' 'a t1: a(x)=1 a(x)=1' 'c t3: r(x)=[1]' >h.txt
    for level in pl2 rc ra cc free-rc strong-cc; do
        run -1 "$INSULA" check --json -l "$level" h.txt
        jq -e '.histories[0] | (.counts | length > 0) and (.anomalies | length > 0)' <<<"$output"
    done
}

@test "rr does not list what needs a missed row" {
    printf '%s\n' 'insula 1' 'a: q(v>=10 v<=19)={} insert(1)=10' 'b: q(v>=10 v<=19)={} insert(2)=11' \
        'c: insert(100)=100 insert(101)=100' 'd: q(k=100)={100=100} q(k=101)={101=100} update(100)=101' \
        'e: q(k=100)={100=100} q(k=101)={101=100} update(101)=102' >h.txt
    run -1 "$INSULA" check --json h.txt
    jq -e '.histories[0].levels[] | select(.level == "rr") | .anomalies == ["G2-item"]' <<<"$output"
}

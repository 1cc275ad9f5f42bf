#!/usr/bin/env bats
# insula watch: verdicts while a history grows.

load common

history() {
    printf 'insula 1\ninitial 0\n'
    printf 'a t1 @1..5: r(x)=0 w(x)=1\n'
    printf 'b t2 @6..9: r(x)=1 w(x)=2\n'
}

@test "a file that holds: exit status 0 and a verdict a level" {
    history >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"2 transactions"* ]]
    [[ "$output" == *"sser  holds"* ]]
}

@test "a pipe: the violation is reported before the pipe ends" {
    mkfifo p
    (history; printf 'a t3 @10..12: r(x)=1 w(x)=3\n'; sleep 20) >p 3>&- &
    writer=$!
    run timeout 15 "$INSULA" watch -l si,rc --counterexample small.insula p
    kill "$writer" || true
    [ "$status" -eq 1 ]
    [[ "$output" == *"Violated after 3 transactions"* ]]
    [[ "$output" == *LostUpdate* ]]
    run "$INSULA" check -q small.insula
    [ "$status" -eq 1 ]
}

@test "a file that grows is followed" {
    history >h.insula
    timeout 15 "$INSULA" watch --json h.insula >out 3>&- &
    watcher=$!
    sleep 0.5
    printf 'a t3 @10..12: r(x)=1 w(x)' >>h.insula
    sleep 0.3
    printf '=3\n' >>h.insula
    status=0
    wait "$watcher" || status=$?
    [ "$status" -eq 1 ]
    grep -q '"level": "si", "verdict": "violated"' out
    grep -q '"level": "rc", "verdict": "holds"' out
}

@test "--keep-going goes on, and the exit status still is 1" {
    (history; printf 'a t3: r(x)=1 w(x)=3\nb t4: r(x)=3\n') >h.insula
    run "$INSULA" watch --final --keep-going h.insula
    [ "$status" -eq 1 ]
    [[ "$output" == *"4 transactions"* ]]
    [[ "$output" == *"si    violated"* ]]
    [[ "$output" == *"cc    "* ]]
}

@test "the verdicts are those of check, in all three formats" {
    for level in sser si; do
        for format in insula edn json; do
            for list in "" --list; do
                "$INSULA" gen -q --level $level $list --txns 150 --keys 20 --seed 5 \
                    -t $format -o h.$format
                offline=0
                "$INSULA" check -q h.$format >offline || offline=$?
                online=0
                "$INSULA" watch --final --keep-going --json h.$format >online || online=$?
                echo "$level $format $list: $offline $online"
                [ "$offline" -eq "$online" ]
                for l in ci rc ra cc psi pc si ser sser; do
                    if grep -Eq "^ *$l .*pass" offline; then
                        tail -1 online | grep -q "\"$l\": \"holds\""
                    elif grep -Eq "^ *$l .*FAIL" offline; then
                        tail -1 online | grep -q "\"$l\": \"violated\""
                    fi
                done
            done
        done
    done
}

@test "values that repeat: decided in the end, as by check" {
    printf 'insula 1\na: w(x)=1\nb: w(x)=1\nc: r(x)=1\n' >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    run "$INSULA" watch --final --repeats h.insula
    [ "$status" -eq 0 ]
}

@test "a last line that is cut short is said, and nothing before it is lost" {
    (history; printf 'a t3: r(x)=1 w(') >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"h.insula: 5: the last line is cut short"* ]] ||
        [[ "$output" == *"cut short"* ]]
    [[ "$output" == *"2 transactions"* ]]
}

@test "what was left out, or is still to come, is no violation" {
    printf 'insula 1\na: r(x)=1\nb: w(x)=1' >h.insula # the last line may be cut
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 2 ]
    [[ "$output" != *violated* ]] && [[ "$output" != *FAIL* ]]
    printf 'insula 1\na: r(x)=1\nc: w(x\nb: w(x)=1\n' >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 3 ]
    [[ "$output" != *violated* ]] && [[ "$output" != *holds* ]]
    printf 'insula 1\na: r(x)=1\n' >h.insula
    "$INSULA" watch h.insula >out 2>&1 &
    sleep 1
    kill -INT $!
    wait $! || [ $? -eq 2 ]
    ! grep -q violated out
    grep -q "rc *open" out
}

@test "malformed lines name their line and end with status 3" {
    (history; printf 'a t3: r(x=1\n') >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 3 ]
    [[ "$output" == *5* ]]
    printf 'nothing of ours\n' >other
    run "$INSULA" watch --final other
    [ "$status" -eq 3 ]
    run "$INSULA" watch --final nowhere
    [ "$status" -eq 3 ]
    run "$INSULA" watch --final -f plume h.insula
    [ "$status" -eq 3 ]
}

@test "a clock that goes backwards: an end before its begin is no end" {
    printf 'insula 1\ninitial 0\na @9..5: w(x)=1\nb @10..12: r(x)=1\n' >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    run "$INSULA" check -q h.insula
    [ "$status" -eq 0 ]
}

@test "killed in the middle, started again: the same verdict" {
    "$INSULA" gen -q --level si --txns 3000 --keys 30 --seed 8 -o h.insula
    "$INSULA" watch h.insula >/dev/null 2>&1 3>&- &
    pid=$!
    sleep 0.1
    kill -9 "$pid" || true
    run "$INSULA" watch --final --json --keep-going h.insula
    [ "$status" -eq 1 ]
    [[ "$output" == *'"ser": "violated"'* ]]
}

@test "--spool keeps what came through a pipe" {
    run bash -c "$(declare -f history); history | '$INSULA' watch --spool all.insula -"
    [ "$status" -eq 0 ]
    history | cmp - all.insula
}

@test "events piece by piece: transactions go on from one part to the next" {
    "$INSULA" gen -q --level sser --txns 60 --keys 5 --sessions 4 --seed 2 -t edn -o h.edn
    run bash -c "while read -r l; do printf '%s\\n' \"\$l\"; sleep 0.01; done <h.edn |
        '$INSULA' watch --json -"
    [ "$status" -eq 0 ]
    [[ "$output" == *'"transactions": 60, "levels"'* ]]
    [[ "$output" == *'"sser": "holds"'* ]]
}

@test "events whose times go back are left to the end" {
    printf '%s\n' '{:type :invoke, :f :txn, :process 0, :time 10, :value [[:w 1 1]]}' >h.edn
    printf '%s\n' '{:type :ok, :f :txn, :process 0, :time 20, :value [[:w 1 1]]}' >>h.edn
    printf '%s\n' '{:type :invoke, :f :txn, :process 1, :time 5, :value [[:r 1 nil]]}' >more
    printf '%s\n' '{:type :ok, :f :txn, :process 1, :time 30, :value [[:r 1 nil]]}' >>more
    run bash -c "(cat h.edn; sleep 1; cat more) | '$INSULA' watch -l sser -"
    [ "$status" -eq 2 ]
    [[ "$output" == *"times that go back"* ]]
}

@test "a violation comes with a report, a certificate and what it is about" {
    "$INSULA" gen -q --level si --txns 2000 --keys 30 --seed 8 -o h.insula
    run "$INSULA" watch --final -l ser --html r.html --certificate c --counterexample s.insula h.insula
    [ "$status" -eq 1 ]
    grep -q '</html>' r.html
    run "$INSULA" verify -l ser=fail c.insula c
    [ "$status" -eq 0 ]
    run "$INSULA" check -q -l ser s.insula
    [ "$status" -eq 1 ]
}

@test "what was not kept, statements on rows: decided in the end from the file" {
    "$INSULA" gen -q --level si --rows --txns 400 --keys 10 --seed 3 -o rows.insula
    "$INSULA" gen -q --level psi --txns 5000 --keys 100 --seed 3 -o long.insula
    for h in rows long; do
        offline=0
        "$INSULA" check -q $h.insula >offline || offline=$?
        online=0
        "$INSULA" watch --final --keep-going --keep 1000 --json $h.insula >online || online=$?
        [ "$offline" -eq "$online" ]
        for l in rc ra cc psi pc si ser; do
            if grep -Eq "^ *$l .*pass" offline; then
                tail -1 online | grep -q "\"$l\": \"holds\""
            else
                tail -1 online | grep -q "\"$l\": \"violated\""
            fi
        done
    done
    offline=0
    "$INSULA" check -q -l si,ser rows.insula >/dev/null || offline=$?
    run bash -c "cat rows.insula | '$INSULA' watch --spool s.insula -l si,ser --json -"
    [ "$status" -eq "$offline" ]
}

@test "a pipe and SIGKILL: what was spooled has the same verdict, and --resume goes on" {
    "$INSULA" gen -q --level si --txns 3000 --keys 30 --seed 8 -o - >g.insula
    printf 'insula 1\ninitial 0\n' >h.insula
    grep '@' g.insula | sed 's/^[^.]*\.\.\([0-9]*\):/\1 &/' | sort -n | cut -d' ' -f2- >>h.insula
    mkfifo p
    (head -700 h.insula; head -701 h.insula | tail -1 | head -c 9; sleep 20) >p 3>&- &
    writer=$!
    "$INSULA" watch --keep-going --spool s.insula -l ser p >out 2>&1 3>&- &
    watcher=$!
    for _ in $(seq 100); do
        [ "$(wc -l <s.insula 2>/dev/null)" = 700 ] && break
        sleep 0.1
    done
    kill -9 "$watcher" "$writer"
    head -700 h.insula | cmp - <(head -700 s.insula)
    offline=0
    head -700 s.insula >whole.insula
    "$INSULA" check -q -l ser whole.insula >/dev/null || offline=$?
    online=0
    "$INSULA" watch --final -l ser --json whole.insula >again || online=$?
    [ "$online" -eq "$offline" ]
    online=0
    "$INSULA" watch --final -l ser --json s.insula >again || online=$?
    [ "$online" -eq "$offline" ]
    tail -n +701 h.insula >rest
    online=0
    "$INSULA" watch --resume --spool s.insula --keep-going -l ser --json - <rest >again || online=$?
    [ "$online" -eq 1 ]
    tail -1 again | grep -q '"transactions": 3000, .*"ser": "violated"'
    cmp h.insula s.insula
}

@test "two clients with one name, and an end before its begin, are said" {
    printf 'insula 1\ninitial 0\na @1..9: w(x)=1\na @5..12: r(x)=1\n' >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"do two clients use one name?"* ]]
    printf 'insula 1\ninitial 0\na @9..5: w(x)=1\nb @10..12: r(x)=1\n' >h.insula
    run "$INSULA" watch --final h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"ended before it began"* ]]
}

# 9,600 transactions that write, but for one at this place, which does what is said.
old_read() {
    awk -v place="$1" -v read="$2" 'BEGIN {
        print "insula 1\ninitial 0"
        for (i = 1; i <= 9600; i++)
            printf "s%d @%d..%d: %s\n", i == place ? 9 : i % 3, i * 1000000, i * 1000000 + 500000,
                   i == place ? read : "w(x)=" i " w(y)=" i
    }'
}

@test "--horizon: reads of what is older are left out, said, and decided from disk" {
    old_read 9001 'r(x)=5' >h.insula
    run "$INSULA" watch --horizon 2 -l rc,ser - <h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"rc    holds within 2 s"* ]]
    [[ "$output" == *"ser   holds within 2 s"* ]]
    [[ "$output" == *"1 reads of what was overwritten more than 2 s before were left out"* ]]
    # The file, or what was spooled, decides with them.
    run "$INSULA" watch --horizon 2 --final -l rc,ser h.insula
    [ "$status" -eq 0 ]
    [[ "$output" != *within* ]]
    run "$INSULA" watch --horizon 2 --spool s.insula -l rc,ser - <h.insula
    [ "$status" -eq 0 ]
    [[ "$output" != *within* ]]
    # Nothing that is within the horizon is left out, and real time is not either.
    run "$INSULA" watch --horizon 20 -l rc,ser - <h.insula
    [ "$status" -eq 0 ]
    [[ "$output" != *within* ]]
    run "$INSULA" watch --horizon 2 -l ser,sser --keep-going - <h.insula
    [ "$status" -eq 1 ]
    [[ "$output" == *"sser  violated"* ]]
    [[ "$output" == *"ser   holds within 2 s"* ]]
    run "$INSULA" watch --horizon none h.insula
    [ "$status" -eq 3 ]
}

@test "--horizon: a read that waits for its writer for longer is left out, too" {
    old_read 3000 'r(x)=77777' >h.insula
    run "$INSULA" watch --horizon 0.1 -l rc --json - <h.insula
    [ "$status" -eq 0 ]
    [[ "$output" == *"left out"* ]]
    run "$INSULA" watch --horizon 0.1 --final -l rc h.insula # nobody wrote it
    [ "$status" -eq 1 ]
    [[ "$output" == *ThinAirRead* ]]
}

@test "a pipe that breaks is the end; a line that it cut is said, and what came before it counts" {
    history >whole
    run bash -c "(cat whole; printf 'b t3: r(x)=') | '$INSULA' watch --spool s.insula -"
    [ "$status" -eq 0 ]
    [[ "$output" == *"the last line is cut short"* ]]
    [[ "$output" == *"2 transactions"* ]]
    # Nothing is lost: the rest of the line, and of the stream, comes later.
    run bash -c "printf 'b t3: r(x)=2\n' | '$INSULA' watch --resume --spool s.insula -"
    [ "$status" -eq 0 ]
    [[ "$output" == *"3 transactions"* ]]
}

@test "when nobody reads the verdicts any more, watch ends" {
    "$INSULA" gen -q --level si --txns 3000 --keys 30 --seed 8 -o h.insula
    "$INSULA" watch --final --keep-going --json h.insula 2>err | head -c 10 >/dev/null
    [ "${PIPESTATUS[0]}" -ne 139 ] && [ "${PIPESTATUS[0]}" -ne 134 ]
}

@test "a session that begins again under its name goes on in its order" {
    printf 'insula 1\ninitial 0\na @1..2: w(x)=1\nb @3..4: r(x)=1\n' >h.insula
    printf 'a @5..6: r(x)=0\n' >>h.insula # a new client of the old name
    run "$INSULA" watch --final --keep-going h.insula
    [ "$status" -eq 1 ]
    [[ "$output" == *"ser   violated"* ]]
    run "$INSULA" check -q -l ser h.insula
    [ "$status" -eq 1 ]
}

@test "statements on rows: open at every prefix, and in the end as by check" {
    for seed in 1 2 3; do
        for level in rc si ser; do
            "$INSULA" gen -q --level $level --rows --txns 120 --keys 6 --sessions 4 --seed $seed -o - |
                sed '1s/ transactions.*//' >all.insula
            for lines in 30 80 500; do
                head -n "$lines" all.insula >h.insula
                offline=0
                "$INSULA" check -q -l rc,ra,cc,si,ser h.insula >offline || offline=$?
                online=0
                "$INSULA" watch --final --keep-going --json -l rc,ra,cc,si,ser h.insula >online || online=$?
                [ "$offline" -eq "$online" ]
                for l in rc ra cc si ser; do
                    said=$(sed -n "\$s/.*\"$l\": \"\\([a-z]*\\)\".*/\\1/p" online)
                    if grep -Eq "^ *$l .*pass" offline; then
                        [ "$said" = holds ]
                    elif grep -Eq "^ *$l .*FAIL" offline; then
                        [ "$said" = violated ]
                    fi
                done
                # Nothing was said too early.
                ! grep '"event": "verdict"' online | grep -Eq '"verdict": "(holds|violated)"'
            done
        done
    done
}

@test "what is open in the end is decided beside what is violated" {
    cat >first.edn <<'E2'
{:time 100, :type :invoke, :process 0, :f :txn, :value [[:r :y nil] [:w :y 1]]}
{:time 101, :type :invoke, :process 2, :f :txn, :value [[:r :y nil] [:w :y 2]]}
{:time 102, :type :ok, :process 0, :f :txn, :value [[:r :y nil] [:w :y 1]]}
{:time 103, :type :ok, :process 2, :f :txn, :value [[:r :y nil] [:w :y 2]]}
E2
    cat >second.edn <<'E2'
{:time 90, :type :invoke, :process 0, :f :txn, :value [[:w :x 1]]}
{:time 105, :type :fail, :process 0, :f :txn, :value [[:w :x 1]]}
{:time 110, :type :invoke, :process 1, :f :txn, :value [[:r :x nil]]}
{:time 120, :type :ok, :process 1, :f :txn, :value [[:r :x 1]]}
E2
    (cat first.edn && sleep 1 && cat second.edn) |
        { "$INSULA" watch --json --keep-going -l rc,si --spool s.edn -f edn - >out || true; }
    [ "$(tail -1 out | jq -c .levels)" = '{"rc":"violated","si":"violated"}' ]
}

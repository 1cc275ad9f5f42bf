# What `insula verify` accepts: proofs, and nothing else.
bats_require_minimum_version 1.5.0
load common

# forge HISTORY CLAIM... <BLOCKS: a certificate for the history, in the form that this
# program writes.
forge() {
    local history=$1
    shift
    "$INSULA" check -q --certificate real "$history" >/dev/null || true
    head -n 2 real >forged
    [ "$(head -n 1 real)" = "insula-certificate 1" ] || echo "claims $*" >>forged
    cat >>forged
}

# refused CLAIM...: the forged certificate of h proves nothing.
refused() {
    forge h "$@"
    run -1 "$INSULA" verify h forged
    [[ $output != *": proved"* ]]
}

history() {
    { echo "insula 1"; cat; } >h
}

@test "ci does not fail by a read that nobody wrote" {
    history <<<"a t1: r(x)=7"
    refused ci=fail <<'END'
level ci fail
misread 0
end
END
}

@test "ci does not fail by a cycle" {
    history <<'END'
a t1: r(x)=7 w(y)=7
b t2: r(y)=7 w(x)=7
END
    refused ci=fail <<'END'
level ci fail
cycle 1 2 1
end
END
}

@test "ci does not fail by an order that a list shows" {
    history <<'END'
a t1: a(x)=1
a t2: a(x)=2
b t3: r(x)=[2 1]
END
    refused ci=fail <<'END'
level ci fail
list 2 2 1 :
cycle 1 2 1
end
END
}

@test "a fail of ci is none of rc" {
    history <<'END'
initial x = 0
a t1: w(x)=1
b t2: r(x)=0 r(x)=1
END
    refused ci=fail rc=fail <<'END'
level ci fail
differ 1 2
end
level rc fail
implied ci
end
END
}

@test "an aborted append that equals a committed one is in no list" {
    history <<'END'
a t1: a(x)=2
a t2: a(x)=1 abort
b t3: a(x)=1
c t4: r(x)=[1 2]
END
    for level in rc ra cc ser; do
        refused $level=fail <<END
level $level fail
loop : 1 2
end
END
    done
    for level in pc si; do
        refused $level=fail <<END
level $level fail
loop : b1 c1 b2 c2
end
END
    done
}

@test "an aborted append makes nobody count" {
    history <<'END'
initial 0
a t1: a(x)=1
b t2: a(x)=1 w(z)=1 abort
b t3: w(q)=1
c t4: r(x)=[1] w(p)=1 unknown
d t5: r(x)=[1] w(p)=1 unknown
e t6: r(p)=1
f t7: r(q)=1 r(z)=0
END
    refused ser=fail <<'END'
level ser fail
from-var 1 8 4
from-var 2 8 5
count-var 3 4
count-var 4 5
count-var 5 2
one 8 : 1 2
need : -1 3
need : -2 4
need : -3 5
need : -4 5
loop -5 : 7 2 3
rup
end
END
}

@test "a variable of an edge needs nobody" {
    history <<'END'
a t1: w(x)=1
b t2: w(y)=1
END
    refused ser=fail <<'END'
level ser fail
edge-var 1 2 1
count-var 2 1
need : -1 2
end
END
}

@test "a transaction that ended before it began does not precede itself" {
    history <<'END'
initial 0
a t1 @5..3: w(x)=1
b t2 @4..9: r(x)=1
END
    run --separate-stderr "$INSULA" check -l ser,sser h
    [ "$status" = 0 ]
    [[ $stderr == *"1 transaction ended before it began; that end is taken as unknown"* ]]
    refused sser=fail <<'END'
level sser fail
cycle 1 1
end
END
    "$INSULA" check -q -l sser --certificate real h
    run -0 "$INSULA" verify -l sser=pass h real
    # the binary format, with its index, says the same
    "$INSULA" convert -t insulab h h.insulab
    run -0 "$INSULA" verify -l sser=pass h.insulab real
}

@test "an end before the begin orders nobody" {
    history <<'END'
initial 0
a t1 @8..3: w(x)=1
b t2 @4..9: r(x)=0
END
    run -0 "$INSULA" check -l sser h
}

@test "nothing proved is no success" {
    history <<<"a t1: w(x)=1"
    : >empty
    run -1 "$INSULA" verify h empty
    refused <<<""
    forge h </dev/null
    run -1 "$INSULA" verify h forged
    [[ $output != *": proved"* ]]
}

@test "a certificate that was cut between blocks is refused" {
    history <<'END'
initial 0
a t1 @5..3: w(x)=1
b t2 @4..9: r(x)=1
END
    "$INSULA" check -q --certificate real h >/dev/null
    run -0 "$INSULA" verify h real
    whole=$(wc -l <real)
    for line in $(grep -n '^end$' real | cut -d: -f1); do
        [ "$line" = "$whole" ] && continue
        head -n "$line" real >cut
        run -1 "$INSULA" verify h cut
        [[ $output != *": proved"* ]]
    done
}

@test "what was proved is printed, and what is asked for must be there" {
    history <<'END'
initial 0
a t1: r(x)=0 w(x)=1
b t2: r(x)=0 w(x)=2
END
    "$INSULA" check -q --certificate real h >/dev/null || true
    run -0 "$INSULA" verify h real
    [[ $output == *"si fail: proved"* && $output == *"pc pass: proved"* ]]
    run -0 "$INSULA" verify --level si=fail,causal=pass h real
    run -1 "$INSULA" verify -l si=pass h real
    [[ $output == *"does not prove 'si=pass'"* ]]
    run -1 "$INSULA" verify -l sser=fail,pc=fail h real
    run -3 "$INSULA" verify -l si h real
    run -3 "$INSULA" verify -l "" h real
    run -3 "$INSULA" verify -l none=pass h real
}

@test "limits leave it open" {
    "$INSULA" gen --txns 10000 --sessions 50 --ops 20 --level ser --no-times --seed 4 -o h.insulab
    "$INSULA" check -q -l ser --certificate real h.insulab >/dev/null
    run -2 "$INSULA" verify --timeout 0.001 h.insulab real
    [[ $output == *"time limit reached"* ]]
    run -2 "$INSULA" verify --memory-limit 1M h.insulab real
    [[ $output == *"memory limit reached"* ]]
    run -0 "$INSULA" verify --timeout 100 --memory-limit 1G h.insulab real
}

@test "Ctrl-C leaves it open" {
    "$INSULA" gen -q --txns 100000 --sessions 50 --level ser --no-times --seed 4 -o h.insulab
    "$INSULA" check -q -l ser --certificate real h.insulab >/dev/null
    for delay in 0.2 0.1 0.05; do # under load it may not have begun, or be done
        "$INSULA" verify h.insulab real >out 2>err &
        pid=$!
        sleep $delay
        kill -INT $pid || true
        status=0
        wait $pid || status=$?
        [ "$status" = 0 ] || [ "$status" = 130 ] || break
    done
    if [ "$status" != 0 ] && [ "$status" != 130 ]; then
        [ "$status" = 2 ]
        grep -q cancelled err
    fi
}

@test "a certificate is verified about as fast as it was made" {
    # 4,000 reads of one key, and 20,000 sessions
    { echo "insula 1"; echo "a: w(x)=1"; printf 'b:'; printf ' r(x)=%d' $(yes 1 | head -n 4000)
      echo; } >reads
    "$INSULA" gen -q --txns 20000 --sessions 20000 --level cc --seed 3 -o sessions.insulab
    for h in reads sessions.insulab; do
        "$INSULA" check -q -l cc --certificate real "$h" >/dev/null
        run -0 timeout 20 "$INSULA" verify --memory-limit 200M -l cc=pass "$h" real
    done
}

@test "searches are exported with proofs that others check" {
    n=0
    for h in "$BATS_TEST_DIRNAME"/../golden/regress/*.txt; do
        for level in rc cc si ser; do
            "$INSULA" check -q -l $level --certificate c "$h" >/dev/null 2>&1 || true
            "$INSULA" verify -q --proof-format lrat "$h" c >/dev/null
            [ -f c.$level.cnf ] || continue
            python3 "$BATS_TEST_DIRNAME/../verify/check_lrat" c.$level.cnf c.$level.lrat
            if command -v cadical >/dev/null; then
                run -20 cadical -q c.$level.cnf
            fi
            # a proof that was cut proves nothing
            sed -i '$d' c.$level.lrat
            run ! python3 "$BATS_TEST_DIRNAME/../verify/check_lrat" c.$level.cnf c.$level.lrat
            "$INSULA" verify -q --proof-format drat "$h" c >/dev/null
            [ -s c.$level.drat ]
            rm c.$level.*
            n=$((n + 1))
        done
    done
    echo "# $n searches" >&3
    [ $n -ge 5 ]
}

@test "a cycle that passes a transaction that may not count is proved" {
    cat >h.insula <<'END'
insula 1
b t1: r(y)=[1] a(y)=1 unknown
b t2: a(y)=2 unknown
b t3 @27..31: r(y)=[1]
a t4 @38..44: a(y)=1
END
    for level in strong-pc strong-si; do
        run -1 "$INSULA" check -q -l $level --certificate c h.insula
        "$INSULA" verify --level $level=fail h.insula c
        python3 "$BATS_TEST_DIRNAME/../../scripts/verify.py" h.insula c | grep -q "$level fail: proved"
    done
}

@test "a read whose only source cannot count is proved" {
    history <<'END'
s0 t1: a(y)=1 a(y)=1
s0 t2: r(y)=[1] a(y)=2 unknown
s0 t3: r(y)=[1 2]
END
    "$INSULA" check -q --certificate real h || [ $? -eq 1 ]
    run -0 "$INSULA" verify -l psi=fail,si=fail,ser=fail h real
}

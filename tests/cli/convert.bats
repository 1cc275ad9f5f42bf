# convert: from one format to another and back.
bats_require_minimum_version 1.5.0
load common

# The counts of a history without what a format says about itself.
counts() {
    "$INSULA" stats --json "$@" | jq -c 'del(.path, .format)'
}

@test "every format takes what it can express and gives it back" {
    "$INSULA" gen --no-times --txns 300 --seed 1 -o h.insula
    for format in plume dbcop insula insulab cobra; do
        "$INSULA" convert -t $format h.insula "to-$format"
        "$INSULA" convert -t insula "to-$format" "back-$format.insula"
        [ "$(counts -f insula "back-$format.insula")" = "$(counts h.insula)" ]
    done
    "$INSULA" gen --abort 0.1 --info 0.1 --txns 300 --seed 1 -o h.edn
    for format in edn json insula insulab; do
        "$INSULA" convert -t $format h.edn "to-$format"
        [ "$(counts -f $format "to-$format")" = "$(counts h.edn)" ]
    done
}

@test "packed by its name, from and to pipes" {
    "$INSULA" gen --txns 100 --seed 1 -o h.insula
    "$INSULA" convert -t insula h.insula h.insula.zst
    "$INSULA" convert -t insula h.insula h.insula.gz
    zstd -qdc h.insula.zst | cmp - h.insula
    gzip -dc h.insula.gz | cmp - h.insula
    "$INSULA" convert -t insula - - <h.insula.zst | cmp - h.insula
}

@test "what would be lost is said, and --lossy drops it" {
    "$INSULA" gen --txns 100 --info 0.5 --seed 1 -o h.insula
    run -3 "$INSULA" convert -t dbcop h.insula h.bincode
    [[ $output == *"indeterminate transactions"*"times"*"(--lossy drops it)" ]]
    [ ! -e h.bincode ]
    "$INSULA" convert --lossy -t dbcop h.insula h.bincode
    "$INSULA" stats --json h.bincode | jq -e '.transactions.indeterminate == 0'
}

@test "times that order nothing are kept as well" {
    printf 'insula 1\ninitial nil\n0 7 @5..: w(1)=2 abort\n' >h.insula
    for format in edn json; do
        "$INSULA" convert -t $format h.insula h.$format
        [ "$("$INSULA" convert -t insula h.$format - | grep -c '@5\.\.: w(1)=2 abort')" = 1 ]
    done
}

@test "--lossy claims no real time that was not measured" {
    # 1 has not ended when 2 begins, as far as anybody knows; 2 does not see it.
    printf 'insula 1\ninitial 0\n0 1 @0..: w(1)=2\n1 2 @10..20: r(1)=0\n' >h.insula
    "$INSULA" check -q -l sser h.insula
    run -3 "$INSULA" convert -t edn h.insula h.edn
    [[ $output == *"only some transactions have"* ]]
    "$INSULA" convert --lossy -t edn h.insula h.edn
    run "$INSULA" check -l sser h.edn
    [ "$status" != 1 ]
}

@test "events say what they can of rows, and what they cannot" {
    printf 'insula 1\ninitial 1 = 5\na: insert(3)=7 q()={1=5 3=7}\nb: q(v%%2=0)={} unknown\n' >h.insula
    for format in edn json; do
        "$INSULA" convert -t $format h.insula "h.$format"
        [ "$(counts "h.$format")" = "$(counts h.insula)" ]
    done
    grep -qF '{:type :ok, :f :init, :value {1 5}}' h.edn
    grep -qF '[[:insert 3 7] [:rp :true {1 5, 3 7}]]' h.edn
    grep -qF '[["rp",["mod",2,0],{}]]' h.json
    # a modulus is a number also where values are words
    printf 'insula 1\ninitial 1 = "five"\na: insert(3)=7 q(v%%2=1)={3=7}\n' >w.insula
    for format in edn json; do
        "$INSULA" convert -t $format w.insula "w.$format"
        [ "$(counts "w.$format")" = "$(counts w.insula)" ]
    done
    grep -qF '[:rp [:mod 2 1] {3 7}]' w.edn
    for lost in 'delete(1):a delete found' 'update(1)=2:an update found' \
        'insert(1)=2!:inserts that were refused' 'cas(1)=3>2!:compare-and-sets that failed' \
        'q(k<3)={1=5}:queries other than' 'q()={1=5 1=5}:returned twice'; do
        printf 'insula 1\ninitial 1 = 5\na: %s\n' "${lost%%:*}" >l.insula
        run -3 "$INSULA" convert -t edn l.insula l.edn
        [[ $output == *"would lose: "*"${lost#*:}"* ]]
        "$INSULA" convert --lossy -t edn l.insula l.edn
    done
    printf 'insula 1\na: insert("12")=1\n' >l.insula
    run -3 "$INSULA" convert -t json l.insula l.json
    [[ $output == *"keys of rows"* ]]
}

@test "a query that events have no word for leaves the rows that it returned" {
    printf '%s\n' 'insula 1' 'a: insert(1)=10 insert(2)=20' 'b: q(k>=2)={2=20} r(1)=10' \
        'c: q(limit 1)={1=10} r(2)=20' 'd: q(v>15)={2=20}' >q.txt
    for format in edn json; do
        run "$INSULA" convert q.txt q.$format
        [ "$status" -ne 0 ]
        "$INSULA" convert --lossy q.txt q.$format
        run -0 "$INSULA" check -l ser q.$format
    done
}

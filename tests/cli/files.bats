# Where a history is found, and what is no history.
bats_require_minimum_version 1.5.0
load common

transactions() {
    "$INSULA" stats --json "$1" 2>/dev/null | jq -r '.transactions.committed'
}

@test "a run's store and a folder of Jepsen's hold a history" {
    "$INSULA" gen -q --txns 40 --seed 1 -o h.edn
    mkdir run jepsen
    "$INSULA" convert -q -t insulab h.edn run/history.insulab
    echo '{"verdict":"pass"}' >run/result.json
    echo '{"type":"start","value":1}' >run/log.jsonl
    echo started >run/server.log
    ln -s run latest
    cp h.edn jepsen/history.edn
    printf '0\t:invoke\t:txn\t[[:r 1 nil]]\n' >jepsen/history.txt
    printf '{:valid? true :type :x :value 1}\n' >jepsen/results.edn
    echo "INFO started" >jepsen/jepsen.log
    for place in run latest latest/ jepsen; do
        [ "$(transactions $place)" -eq 40 ]
        "$INSULA" check -q -l ser $place
    done
    [ "$("$INSULA" stats --json -f edn jepsen | jq -r .format)" = edn ]
}

@test "a directory with one history holds that one, packed or not" {
    "$INSULA" gen -q --txns 30 --seed 1 -o h.edn
    mkdir one two none
    gzip -c h.edn >one/recorded.edn.gz
    echo '{"name":"x","version":"1"}' >one/package.json
    [ "$(transactions one)" -eq 30 ]
    cp h.edn two/a.edn
    cp h.edn two/b.edn
    run -3 "$INSULA" check two
    [[ $output == *"several histories, expected one of them: a.edn, b.edn"* ]]
    echo "2024-01-01 INFO connected" >none/server.log
    echo "S is the first letter" >none/other.log
    run -3 "$INSULA" check none
    [[ $output == *"no history in the directory"* ]]
}

@test "logs beside Cobra's are left alone" {
    "$INSULA" gen -q --no-times --txns 30 --seed 1 -o h.insula
    "$INSULA" convert -q --lossy -t cobra h.insula logs
    echo "2024-01-01 INFO connected" >logs/server.log
    [ "$("$INSULA" stats --json logs | jq -r .format)" = cobra ]
    [ "$(transactions logs)" -eq 30 ]
}

@test "an archive is no history" {
    "$INSULA" gen -q --txns 5 --seed 1 -o h.edn
    tar -czf h.tar.gz h.edn
    for format in "" "-f edn"; do
        # shellcheck disable=SC2086
        run -3 "$INSULA" check $format h.tar.gz
        [[ $output == *"this is a tar archive, expected one of the files in it"* ]]
    done
}

@test "an unknown format lists the known ones" {
    run -3 "$INSULA" check -f jepsen h.edn
    [[ $output == *"unknown format 'jepsen', expected one of insula, insulab, plume, edn, json"* ]]
}

@test "a packed name tells its format" {
    "$INSULA" gen -q --txns 5 --seed 1 -o h.edn.gz
    "$INSULA" gen -q --txns 5 --seed 1 -o h.json.zst
    [ "$("$INSULA" stats --json h.edn.gz | jq -r .format)" = edn ]
    [ "$("$INSULA" stats --json h.json.zst | jq -r .format)" = json ]
}

@test "recording into events works, and what would be lost is refused before" {
    "$INSULA" record -q --txns 60 --keys 5 --seed 1 -o h.edn
    [ "$("$INSULA" stats --json h.edn | jq -r .format)" = edn ]
    grep -q 'nil' h.edn
    "$INSULA" check -q -l ser h.edn
    "$INSULA" record -q --txns 60 --keys 5 --workload append --seed 1 -o h.json
    "$INSULA" check -q -l ser h.json
    run -3 "$INSULA" record --txns 60 --seed 1 -t plume -o h.txt
    [[ $output == *"format 'plume' would lose: "*"begin and end times"*"--lossy"* ]]
    [[ $output != *" committed"* ]]
    [ ! -e h.txt ] && [ ! -e h.txt.run ]
    "$INSULA" record -q --txns 60 --seed 1 -t plume --lossy -o h.txt
}

@test "explain alone lists every level and every anomaly" {
    "$INSULA" explain >out
    for name in rc si sser ThinAirRead LostUpdate G2-item; do
        grep -qw -- "$name" out
    done
}

@test "help keeps to the columns there are" {
    for command in "" check test record gen; do
        for columns in 60 80; do
            # Examples are commands to copy and stay whole.
            COLUMNS=$columns "$INSULA" $command --help | sed '1,/^Usage/d' >out
            [ "$(wc -L <out)" -le "$columns" ]
        done
    done
}

@test "what was passed over is said" {
    printf '%s\n' '{:type :info :process :nemesis :f :kill}' \
        '{:type :ok :process "c1" :f :txn :value [[:w 1 2]]}' >h.edn
    "$INSULA" check h.edn >out 2>err
    grep -q "note: 1 event of the nemesis passed over" out
    grep -q "1 sessions\?, 1 transaction" out
}

@test "the table says why strict serializability is not decided" {
    printf '%s\n' '{:type :ok :process 0 :f :txn :value [[:w 1 2]]}' >h.edn
    "$INSULA" check h.edn | tr -s ' \n' ' ' >out
    grep -q " sser strict serializability not decided: the history records no real time" out
    "$INSULA" check --json h.edn | jq -e '[.histories[0].levels[].level] | index("sser") == null'
    "$INSULA" check -l ser h.edn >out
    ! grep -q sser out
}

@test "real time is the order of events, and the clock's when asked" {
    printf '%s\n' '{:type :invoke :time 10 :process 0 :f :txn :value [[:w 1 2]]}' \
        '{:type :ok :time 20 :process 0 :f :txn :value [[:w 1 2]]}' \
        '{:type :invoke :time 20 :process 1 :f :txn :value [[:r 1 nil]]}' \
        '{:type :ok :time 30 :process 1 :f :txn :value [[:r 1 nil]]}' >h.edn
    run -1 "$INSULA" check -q -l sser h.edn
    "$INSULA" check -q -l sser --order times h.edn
    sed 's/:time [0-9]*//' h.edn >untimed.edn
    run -1 "$INSULA" check -q -l sser untimed.edn
    run -2 "$INSULA" check -q -l sser --order times untimed.edn
    # A certificate says what was checked.
    "$INSULA" check -q -l sser --order times --certificate c h.edn
    "$INSULA" verify -q --order times h.edn c
    run -3 "$INSULA" check --order times -f plume h.edn
    [[ $output == *"has no times"* ]]
    # Conversions keep what real time is.
    for format in insula insulab json edn; do
        "$INSULA" convert -q -t $format untimed.edn back
        run -1 "$INSULA" check -q -l sser back
    done
}

# Names that are not what they look like: nothing of them reaches a report or a terminal
# other than as text that is seen.
bats_require_minimum_version 1.5.0
load common

# U+FFFE, U+FFFF, C1 (as UTF-8), a mark of direction, and bytes that are no UTF-8.
ODD=$'\xef\xbf\xbe\xef\xbf\xbf\xc2\x9b31m\xe2\x80\xae\xff\x1b[31m'

odd_history() {
    {
        echo 'insula 1'
        echo 'initial 0'
        printf '"s%s" "t%s": r("k%s")=0 w("k%s")=1\n' "$ODD" "$ODD" "$ODD" "$ODD"
        printf '"u%s" "v%s": r("k%s")=0 w("k%s")=2\n' "$ODD" "$ODD" "$ODD" "$ODD"
    } >"odd$ODD"
}

# Standard input has nothing that is hidden, and is UTF-8.
all_seen() {
    python3 -c '
import sys, unicodedata
text = sys.stdin.buffer.read().decode("utf-8")
bad = {c for c in text if c not in "\n\t" and
       (unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") or ord(c) & 0xfffe == 0xfffe)}
sys.exit("hidden: " + ascii(bad) if bad else 0)'
}

@test "reports show what is hidden in names and file names" {
    odd_history
    "$INSULA" check "odd$ODD" >text || [ $? -eq 1 ]
    all_seen <text
    grep -qF 'k\ufffe\uffff\x9b31m\u202e\xff\x1b[31m' text
    grep -qF 'odd\ufffe\uffff\x9b31m\u202e\xff\x1b[31m' text
    "$INSULA" check -q --html html --dot dot --svg svg --junit junit "odd$ODD" || [ $? -eq 1 ]
    for report in dot svg junit; do
        all_seen <$report
        grep -qF '\ufffe\uffff\x9b31m\u202e\xff\x1b[31m' $report ||
            grep -qF '\\ufffe\\uffff\\x9b31m\\u202e\\xff\\x1b[31m' $report
    done
    # The page's own code apart, what it holds is JSON: escaped twice.
    grep -F '\\ufffe\\uffff' html | all_seen
    for report in svg junit; do
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' $report
    done
}

@test "JSON keeps names exactly, and escapes what is hidden" {
    odd_history
    "$INSULA" check --json "odd$ODD" >json || [ $? -eq 1 ]
    all_seen <json
    python3 -c '
import json
path = json.load(open("json"))["histories"][0]["path"]
assert path == "odd\ufffe\uffff\x9b31m\u202e\ufffd\x1b[31m", ascii(path)'
}

@test "messages show what is hidden in file names" {
    run -3 --separate-stderr "$INSULA" check "missing$ODD"
    all_seen <<<"$stderr"
    [[ $stderr == *'missing\ufffe'* ]]
    echo "insula 1 $ODD" >"bad$ODD"
    run -3 --separate-stderr "$INSULA" stats "bad$ODD"
    all_seen <<<"$stderr"
}

# The command line itself: help, exit statuses, and what wrong words get.
bats_require_minimum_version 1.5.0
load common

@test "--version and --help" {
    run -0 "$INSULA" --version
    [[ $output =~ ^insula\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    run -0 "$INSULA" --help
    [[ ${lines[0]} == Examples:* ]]
    [[ $output == *"Exit status: 0 every level asked for passed"* ]]
    for command in check gen convert stats verify explain schema; do
        run -0 "$INSULA" $command --help
        [[ $output == *"Usage: insula $command"* ]]
        run -0 "$INSULA" help $command
        [[ $output == *"Usage: insula $command"* ]]
    done
}

@test "nothing at all is an error, and help goes to standard error" {
    run -3 --separate-stderr "$INSULA"
    [ -z "$output" ]
    [[ $stderr == *"Usage: insula COMMAND"* ]]
}

@test "a wrong word gets the nearest right one" {
    run -3 "$INSULA" chekc x
    [ "$output" = "insula: unknown command 'chekc', did you mean 'check'?" ]
    run -3 "$INSULA" check --jsno x
    [ "$output" = "insula: unknown option '--jsno', did you mean '--json'?" ]
    run -3 "$INSULA" check -l rc,sre x
    [ "$output" = "insula: unknown level 'sre', did you mean 'ser'?" ]
    run -3 "$INSULA" check -f plum x
    [[ $output == "insula: unknown format 'plum', did you mean 'plume'? ("*"edn, json"*")" ]]
    run -3 "$INSULA" check --color alway x
    [ "$output" = "insula: --color takes auto|always|never, not 'alway', did you mean 'always'?" ]
    run -3 "$INSULA" gen --inject LostUpdat -o x
    [ "$output" = "insula: unknown anomaly 'LostUpdat', did you mean 'LostUpdate'?" ]
    run -3 "$INSULA" explain LongFrok
    [[ $output == *"did you mean 'LongFork'?" ]]
}

@test "a word like no other gets a hint where to look" {
    run -3 "$INSULA" frobnicate
    [ "$output" = "insula: unknown command 'frobnicate', see 'insula --help'" ]
    run -3 "$INSULA" check --frobnicate x
    [ "$output" = "insula: unknown option '--frobnicate', see 'insula check --help'" ]
    run -3 "$INSULA" check -z x
    [ "$output" = "insula: unknown option '-z', see 'insula check --help'" ]
}

@test "options start with a command" {
    run -3 "$INSULA" --threads 2
    [ "$output" = "insula: expected a command before '--threads', see 'insula --help'" ]
}

@test "numbers are checked against their range" {
    run -3 "$INSULA" check --threads 0 x
    [ "$output" = "insula: --threads 0 is out of range, expected 1..64" ]
    run -3 "$INSULA" check --threads two x
    [ "$output" = "insula: --threads takes a whole number, not 'two'" ]
    run -3 "$INSULA" check --threads 1.5 x
    [ "$output" = "insula: --threads takes a whole number, not '1.5'" ]
    run -3 "$INSULA" gen --reads 1.5 -o x
    [ "$output" = "insula: --reads 1.5 is out of range, expected 0..1" ]
    run -3 "$INSULA" check --memory-limit 5Q x
    [ "$output" = "insula: --memory-limit takes a size such as 500M or 4G, not '5Q'" ]
}

@test "arguments are counted" {
    run -3 "$INSULA" check
    [ "$output" = "insula: missing argument, expected: insula check HISTORY..." ]
    run -3 "$INSULA" convert a b c
    [ "$output" = "insula: unexpected argument 'c', expected: insula convert IN OUT" ]
    run -3 "$INSULA" schema x
    [ "$output" = "insula: unexpected argument 'x', expected: insula schema" ]
    run -3 "$INSULA" check -l
    [ "$output" = "insula: -l needs an argument, see 'insula check --help'" ]
    run -3 "$INSULA" check --json=yes x
    [ "$output" = "insula: --json takes no argument" ]
}

@test "a file that is not there" {
    for command in check stats; do
        run -3 "$INSULA" $command missing.txt
        [[ $output == "insula: missing.txt: "*"No such file"* ]]
    done
}

@test "output that cannot be written fails before the work" {
    for option in html dot svg junit counterexample certificate; do
        run -3 "$INSULA" check --$option nowhere/out missing.txt
        [ "$output" = "insula: cannot write 'nowhere/out': No such file or directory" ]
    done
    run -3 "$INSULA" gen --txns 1000000 -o nowhere/out
    [ "$output" = "insula: cannot write 'nowhere/out': No such file or directory" ]
    run -3 "$INSULA" convert -t edn missing.txt nowhere/out
    [ "$output" = "insula: cannot write 'nowhere/out': No such file or directory" ]
}

@test "a full disk is noticed" {
    [ -e /dev/full ] || skip "no /dev/full"
    "$INSULA" gen --txns 10 --seed 1 -q -o h.txt
    run -3 bash -c '"$INSULA" stats h.txt >/dev/full'
    [[ $output == *"No space left on device"* ]]
}

@test "a client library that is missing is named with its package, and only when needed" {
    # Empty files in front of the real ones cannot be loaded.
    mkdir lib
    : >lib/libsqlite3.so.0
    : >lib/libpq.so.5
    : >lib/libmariadb.so.3
    export LD_LIBRARY_PATH=$PWD/lib
    run -0 "$INSULA" gen --txns 10 -o h.txt
    run -0 "$INSULA" check h.txt
    for db in "sqlite: libsqlite3.so.0 libsqlite3-0" "postgres: libpq.so.5 libpq5" \
        "mariadb: libmariadb.so.3 libmariadb3"; do
        read -r url file package <<<"$db"
        run -3 "$INSULA" record --db "$url" -o r.txt
        [[ $output == *"was left out of this build"* ]] && continue
        [[ $output == *"cannot load $file: install the package $package"* ]]
        [ ! -e r.txt ]
    done
}

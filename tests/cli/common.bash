# Every test runs in a directory of its own; INSULA is the program.
setup() {
    cd "$BATS_TEST_TMPDIR"
    unset NO_COLOR COLUMNS
}

/* The edit distance, and what is near enough to be suggested. */
#include "suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int n_tests, n_failed;

static void ok(bool passed, const char *what)
{
    n_tests++;
    n_failed += !passed;
    (void)printf("%s %d - %s\n", passed ? "ok" : "not ok", n_tests, what);
}

static const char *nearest(const char *word)
{
    static const char *const names[] = {"check", "convert", "stats", "ser",
                                        "LostUpdate"};
    struct suggestion s;
    suggest_start(&s, word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        suggest_candidate(&s, names[i]);
    return s.best ? s.best : "";
}

int main(void)
{
    ok(edit_distance("", "") == 0, "nothing is nothing");
    ok(edit_distance("abc", "") == 3, "all letters are dropped");
    ok(edit_distance("abc", "abc") == 0, "equal words");
    ok(edit_distance("ABC", "abc") == 0, "case does not count");
    ok(edit_distance("abc", "abd") == 1, "a changed letter");
    ok(edit_distance("abc", "abbc") == 1, "an added letter");
    ok(edit_distance("check", "chekc") == 1, "swapped neighbours");
    ok(edit_distance("kitten", "sitting") == 3, "three steps");
    ok(!strcmp(nearest("chekc"), "check"), "chekc is check");
    ok(!strcmp(nearest("stat"), "stats"), "stat is stats");
    ok(!strcmp(nearest("lostupdate"), "LostUpdate"), "lostupdate is LostUpdate");
    ok(!strcmp(nearest("frobnicate"), ""), "frobnicate is nothing");
    ok(!strcmp(nearest("xyz"), ""), "a short word that shares nothing is nothing");
    (void)printf("1..%d\n", n_tests);
    return n_failed != 0;
}

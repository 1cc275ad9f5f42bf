#include "suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int folded(char c)
{
    return tolower((unsigned char)c);
}

unsigned edit_distance(const char *a, const char *b)
{
    const unsigned n = (unsigned)strnlen(a, LONGEST);
    const unsigned m = (unsigned)strnlen(b, LONGEST);
    /* cost[i][j]: from the first i letters of a to the first j of b. */
    unsigned cost[LONGEST + 1][LONGEST + 1];
    for (unsigned i = 0; i <= n; i++)
        cost[i][0] = i;
    for (unsigned j = 0; j <= m; j++)
        cost[0][j] = j;
    for (unsigned i = 1; i <= n; i++)
        for (unsigned j = 1; j <= m; j++) {
            const int x = folded(a[i - 1]), y = folded(b[j - 1]);
            unsigned c = cost[i - 1][j - 1] + (x != y);
            c = least(c, least(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded(a[i - 2]))
                c = least(c, cost[i - 2][j - 2] + 1);
            cost[i][j] = c;
        }
    return cost[n][m];
}

void suggest_start(struct suggestion *s, const char *word)
{
    /* Beyond a third of its letters, at least two, a word is another word. */
    const unsigned near = (unsigned)(strnlen(word, LONGEST) + 2) / 3;
    *s = (struct suggestion){.word = word, .distance = (near < 2 ? 2 : near) + 1};
}

void suggest_candidate(struct suggestion *s, const char *candidate)
{
    const unsigned d = edit_distance(s->word, candidate);
    /* A word that shares nothing is no suggestion, however short. */
    if (d < s->distance && d < strnlen(candidate, LONGEST)) {
        s->distance = d;
        s->best = candidate;
    }
}

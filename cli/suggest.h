/* suggest.h - the name that somebody probably meant. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

/* Looks at candidates one after another and keeps the nearest. */
struct suggestion {
    const char *word;
    const char *best; /* NULL while nothing is near enough */
    unsigned distance;
};

void suggest_start(struct suggestion *s, const char *word);
void suggest_candidate(struct suggestion *s, const char *candidate);

/* How many letters must be changed, dropped, added or swapped with a neighbour to make
 * b of a, whatever their case.  Words longer than 63 are cut. */
unsigned edit_distance(const char *a, const char *b);

#endif

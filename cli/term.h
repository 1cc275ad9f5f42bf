/* term.h - colours, width and a progress line, where there is a terminal for them. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "options.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* Whether to colour `out`: --color, and for auto a terminal without NO_COLOR. */
bool term_color(const struct options *o, FILE *out);

/* Columns of the terminal behind `out`, of $COLUMNS, or 80. */
unsigned term_width(FILE *out);

double seconds_now(void);

/* Is a line to be drawn; are JSON lines to be written? */
bool progress_drawn(const struct options *o);
bool progress_as_json(const struct options *o);

/* One line on a terminal's standard error, drawn after a second of work and then ten
 * times a second; or with --progress json, lines {"phase": "check", "stage": ...}.
 * Several threads may report; the last one to do so is shown. */
struct progress {
    pthread_mutex_t lock;
    bool on, drawn, json;
    double start, last;
};

void progress_start(struct progress *p, const struct options *o);
/* An insula_progress; the context is the struct progress.  Cancels after Ctrl-C. */
int progress_report(void *context, const char *stage, uint64_t done, uint64_t total);
/* Take the line away before something else is printed. */
void progress_clear(struct progress *p);
void progress_finish(struct progress *p);

#endif

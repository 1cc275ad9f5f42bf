/* interrupt.h - Ctrl-C, and files that shrink.
 *
 * While a recording or a check runs, the first Ctrl-C asks it to stop: it ends with
 * what was recorded or found so far.  Everywhere else, and the second time, the program
 * ends at once with status 130; output files appear only when they are whole.  SIGTERM
 * and SIGHUP are Ctrl-C, but a SIGHUP that is ignored, as nohup does, stays ignored.
 *
 * Input files are mapped.  One that is cut short meanwhile ends the program with a
 * message and status 3. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_install(void);
/* Between these two calls, which nest and may come from several threads, Ctrl-C only
 * asks. */
void interrupt_hold(void);
void interrupt_release(void);
bool interrupt_seen(void);
/* The same, and from now on as if there had been none: the next one asks again. */
bool interrupt_forget(void);

#endif

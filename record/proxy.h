/* proxy.h - a process between two ends of a connection that can hold it up.
 *
 * It listens at one socket of the file system and passes on to another.  It ends with
 * us, however we end.  Start it before any thread. */
#ifndef INS_PROXY_H
#define INS_PROXY_H

#include "insula.h"

#include <stdbool.h>

struct ins_proxy;

/* NULL on failure.  What is at `listen` already is replaced. */
struct ins_proxy *ins_proxy_new(const char *listen, const char *connect,
                                struct insula_error *error);
void ins_proxy_free(struct ins_proxy *proxy);

/* Let everything wait that much longer, in either direction; 0: no longer at all. */
void ins_proxy_delay(struct ins_proxy *proxy, unsigned milliseconds);
/* Let nothing through, or go on where it stopped. */
void ins_proxy_hold(struct ins_proxy *proxy, bool hold);

#endif

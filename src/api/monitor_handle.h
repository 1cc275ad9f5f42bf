/* monitor_handle.h - the monitor behind its handle. */
#ifndef INS_MONITOR_HANDLE_H
#define INS_MONITOR_HANDLE_H

#include "handle.h"

struct ins_monitor;

struct ins_monitor *ins_monitor_of(struct insula_monitor *m);
/* Evidence may have changed. */
void ins_monitor_refresh(struct insula_monitor *m);

#endif

/* cobra.h - what reader and writer of Cobra logs agree on. */
#ifndef INS_COBRA_H
#define INS_COBRA_H

#include <stdint.h>

/* Ids with a meaning of their own, as transaction or write ids. */
#define INS_COBRA_INIT UINT64_C(0xbebeebee)      /* the state before the run */
#define INS_COBRA_NULL UINT64_C(0xdeadbeef)      /* a key that is not there */
#define INS_COBRA_DELETE UINT64_C(0xabcdefab)    /* the write id of a delete */
#define INS_COBRA_UNIVERSAL UINT64_C(0xabddefee) /* matched by value alone */
#define INS_COBRA_MISSING UINT64_C(0xadeafbee)

#endif

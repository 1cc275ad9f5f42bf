/* schema.h - the JSON Schema of the JSON report, embedded at build time. */
#ifndef INS_SCHEMA_H
#define INS_SCHEMA_H

const char *ins_report_schema(void);

#endif

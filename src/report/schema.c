#include "schema.h"

#include "schema_bytes.h"

const char *ins_report_schema(void)
{
    return (const char *)schema_bytes;
}

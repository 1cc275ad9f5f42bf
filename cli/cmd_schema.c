#include "insula.h"
#include "options.h"

int cmd_schema(const struct options *o)
{
    (void)o;
    (void)fputs(insula_schema(), stdout);
    return EXIT_PASS;
}

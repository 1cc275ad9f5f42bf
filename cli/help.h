/* help.h - what --help prints, from the tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

#include <stdio.h>

void help_overview(FILE *out);
void help_command(enum command_id command, FILE *out);

#endif

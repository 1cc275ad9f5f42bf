/* banned.h - calls that this project does not make; included by the compiler's
 * command line, so that using one does not compile. */
#ifndef INS_BANNED_H
#define INS_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atof rand srand
#pragma GCC poison gmtime localtime asctime ctime

#endif

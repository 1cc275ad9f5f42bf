/* main.c - the program: read the line, run the command. */
#include "interrupt.h"
#include "options.h"
#include "output.h"

int main(int argc, char **argv)
{
    struct options o;
    int status;
    if (!options_read(&o, argc, argv, &status))
        return output_end(status);
    interrupt_install();
    return output_end(options_run(&o));
}

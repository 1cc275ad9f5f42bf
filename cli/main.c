/* main.c - the program: read the line, run the command. */
#include "interrupt.h"
#include "options.h"
#include "output.h"

int main(int argc, char **argv)
{
    struct options o;
    int status;
    /* Reading the options sorts argv. */
    const char **word = calloc((size_t)argc + 1, sizeof *word);
    if (!word)
        return complain("out of memory");
    for (int i = 0; i < argc; i++)
        word[i] = argv[i];
    if (options_read(&o, argc, argv, &status)) {
        o.word = word;
        o.n_words = argc;
        interrupt_install();
        status = options_run(&o);
    }
    free(word);
    return output_end(status);
}

/* journal_line.c - the first line of a transaction in a journal, read back. */
#include "journal.h"

#include <errno.h>

bool ins_journal_number(char **at, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    if (end == *at || errno)
        return false;
    *at = end;
    return true;
}

/* A statement on rows: "i5,17", "qk0,9".  False when it is none. */
static bool read_statement(char **at, struct ins_plan_op *op)
{
    for (int form = 0; form < INS_ROW_FORMS; form++) {
        const char *letters = ins_row_letters((enum ins_row_form)form);
        if (strncmp(*at, letters, strlen(letters)) != 0)
            continue;
        op->kind = INS_ROWS;
        op->form = (enum ins_row_form)form;
        *at += strlen(letters);
        for (unsigned i = 0; i < ins_row_arguments(op->form); i++)
            if ((i && *(*at)++ != ',') || !ins_journal_number(at, &op->argument[i]))
                return false;
        return true;
    }
    return false;
}

/* "r5", "w5=17", "l5" or "a5=17". */
static bool read_operation(char **at, struct ins_plan_op *op)
{
    static const char letters[] = "rwla";
    static const enum ins_op_choice kinds[] = {INS_READ, INS_WRITE, INS_READ_LIST,
                                               INS_APPEND};
    const char *letter = **at ? strchr(letters, **at) : NULL;
    if (!letter)
        return false;
    op->kind = kinds[letter - letters];
    ++*at;
    return ins_journal_number(at, &op->key) &&
           ((op->kind != INS_WRITE && op->kind != INS_APPEND) ||
            (*(*at)++ == '=' && ins_journal_number(at, &op->value)));
}

const char *ins_journal_read_begin(char *at, bool rows, int64_t *begin,
                                   char node[INS_JOURNAL_NODE], struct ins_plan *plan)
{
    plan->count = 0;
    node[0] = 0;
    if (!ins_journal_number(&at, begin))
        return "a time";
    if (at[0] == ' ' && at[1] == '@') {
        size_t length = strcspn(at + 2, " ");
        (void)snprintf(node, INS_JOURNAL_NODE, "%.*s", (int)length, at + 2);
        at += 2 + length;
    }
    while (*at == ' ') {
        at++;
        if (plan->count == INS_PLAN_MAX)
            return "fewer operations";
        struct ins_plan_op *op = &plan->op[plan->count++];
        if (rows ? !read_statement(&at, op) : !read_operation(&at, op))
            return rows ? "a statement on rows" : "an operation";
    }
    return *at ? "the end of the line" : NULL;
}

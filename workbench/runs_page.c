#include "runs.h"

#include "page_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pages are web/runs.{html,css,js} around data, or around nothing where the page asks a
 * server for it. */

enum { MOST_IN_PAGE = 2000 };

static const char *copy_to(FILE *out, const char *frame, const char *mark)
{
    const char *at = strstr(frame, mark);
    (void)fwrite(frame, 1, (size_t)(at - frame), out);
    return at + strlen(mark);
}

void ins_runs_frame(FILE *out, const char *data, bool served)
{
    const char *rest = copy_to(out, (const char *)page_html, "@CSS@");
    (void)fwrite(page_base, 1, page_base_len, out);
    (void)fwrite(page_css, 1, page_css_len, out);
    if (served)
        (void)fwrite(serve_css, 1, serve_css_len, out);
    rest = copy_to(out, rest, "@DATA@");
    (void)fputs(data, out);
    rest = copy_to(out, rest, "@JS@");
    (void)fwrite(page_base_js, 1, page_base_js_len, out);
    (void)fwrite(page_js, 1, page_js_len, out);
    if (served)
        (void)fwrite(serve_js, 1, serve_js_len, out);
    (void)fputs(rest, out);
}

static char *page_data(const char *dir)
{
    struct ins_runs s;
    if (!ins_runs_read(&s, dir, NULL, true))
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        (void)fprintf(out, "{\"total\": %zu, \"runs\": [", s.n);
        for (size_t i = 0; i < s.n && i < MOST_IN_PAGE; i++)
            (void)fprintf(out, "%s%s", i ? ",\n" : "\n", s.run[i].json);
        (void)fputs("]}", out);
        (void)fclose(out);
    }
    ins_runs_release(&s);
    return text;
}

bool ins_runs_page(const char *dir)
{
    char path[4400], fresh[4400];
    (void)snprintf(path, sizeof path, "%s/index.html", dir);
    /* Two runs that end at once write two files; the later name stays. */
    (void)snprintf(fresh, sizeof fresh, "%s/.index.%ld", dir, (long)getpid());
    char *data = page_data(dir);
    if (!data)
        return false;
    FILE *out = fopen(fresh, "we");
    if (out)
        ins_runs_frame(out, data, false);
    free(data);
    const bool bad = out && ferror(out);
    if (!out || (fclose(out) || bad) || rename(fresh, path)) {
        const int why = errno;
        (void)unlink(fresh);
        errno = why;
        return false;
    }
    return true;
}

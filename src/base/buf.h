/* buf.h - text built in memory, or streamed to a file in large pieces.
 *
 * `failed` is sticky: after a failed write or allocation further calls do nothing
 * and ins_buf_flush reports it.  A zeroed struct is an empty memory buffer. */
#ifndef INS_BUF_H
#define INS_BUF_H

#include "error.h"

#include <stdio.h>

struct ins_buf {
    char *at;
    size_t len, cap;
    FILE *sink; /* when set, full pieces go there */
    int failed;
};

void ins_buf_bytes(struct ins_buf *b, const char *s, size_t len);
void ins_buf_text(struct ins_buf *b, const char *s);
void ins_buf_char(struct ins_buf *b, char c);
void ins_buf_u64(struct ins_buf *b, uint64_t x);
void ins_buf_i64(struct ins_buf *b, int64_t x);
void ins_buf_fmt(struct ins_buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. What a reader
 * would not see (controls, marks of direction, no characters) is escaped. */
void ins_buf_json(struct ins_buf *b, const char *s, size_t len);
/* A string in quotes as the formats of histories have it: a control character becomes
 * `escape` and two hexadecimal digits, all other bytes stay as they are. */
void ins_buf_quoted(struct ins_buf *b, const char *s, size_t len, const char *escape);
/* Text for people: bytes that are not UTF-8 become \xff, what would not be seen, or
 * would change how its surroundings are seen, becomes \u202e or the like. */
void ins_buf_shown(struct ins_buf *b, const char *s, size_t len);
/* The same for HTML, SVG and XML, with &<>"' escaped; line ends and tabs stay. */
void ins_buf_xml(struct ins_buf *b, const char *s, size_t len);
/* Write what is left to the sink.  INS_E_IO when anything failed. */
enum ins_status ins_buf_flush(struct ins_buf *b, struct ins_error *err);
void ins_buf_release(struct ins_buf *b);
/* Release `text`, a piece that was made for `b`: b has failed when it has. */
void ins_buf_end(struct ins_buf *b, struct ins_buf *text);

#endif

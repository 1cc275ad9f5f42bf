/* readers.h - the readers and writers behind the rows of the table in format.c. */
#ifndef INS_READERS_H
#define INS_READERS_H

#include "format/format.h"
#include "format/plume.h"

enum ins_status ins_text_read(const struct ins_input *in,
                              const struct ins_read_options *o,
                              struct ins_history **out, struct ins_error *err);
enum ins_status ins_text_write(const struct ins_history *h, struct ins_buf *out,
                               struct ins_error *err);

enum ins_status ins_bin_read(const struct ins_input *in,
                             const struct ins_read_options *o, struct ins_history **out,
                             struct ins_error *err);
enum ins_status ins_bin_write(const struct ins_history *h, struct ins_buf *out,
                              struct ins_error *err);

enum ins_status ins_plume_can_express(const struct ins_history *h,
                                      struct ins_error *err);
enum ins_status ins_plume_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err);

enum ins_status ins_edn_read(const struct ins_input *in,
                             const struct ins_read_options *o, struct ins_history **out,
                             struct ins_error *err);
enum ins_status ins_json_read(const struct ins_input *in,
                              const struct ins_read_options *o,
                              struct ins_history **out, struct ins_error *err);
enum ins_status ins_edn_can_express(const struct ins_history *h, struct ins_error *err);
enum ins_status ins_json_can_express(const struct ins_history *h,
                                     struct ins_error *err);
enum ins_status ins_edn_write(const struct ins_history *h, struct ins_buf *out,
                              struct ins_error *err);
enum ins_status ins_json_write(const struct ins_history *h, struct ins_buf *out,
                               struct ins_error *err);

enum ins_status ins_dbcop_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err);
enum ins_status ins_dbcop_can_express(const struct ins_history *h,
                                      struct ins_error *err);
enum ins_status ins_dbcop_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err);

enum ins_status ins_cobra_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err);
enum ins_status ins_cobra_read_directory(const char *path,
                                         const struct ins_read_options *o,
                                         struct ins_history **out,
                                         struct ins_error *err);
enum ins_status ins_cobra_can_express(const struct ins_history *h,
                                      struct ins_error *err);
enum ins_status ins_cobra_write_directory(const struct ins_history *h, const char *path,
                                          struct ins_error *err);

enum ins_status ins_awdit_read(const struct ins_input *in,
                               const struct ins_read_options *o,
                               struct ins_history **out, struct ins_error *err);
enum ins_status ins_awdit_can_express(const struct ins_history *h,
                                      struct ins_error *err);
enum ins_status ins_awdit_write(const struct ins_history *h, struct ins_buf *out,
                                struct ins_error *err);

#endif

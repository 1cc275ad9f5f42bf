/* view.h - witnesses for rc, ra, cc and psi: an order of commits, and whom each read is
 * from.
 *
 * Where values repeat, an order of commits leaves little to choose: among the writers
 * of a value before it, a read has better and worse ones, and the best can be found one
 * transaction at a time. */
#ifndef INS_VIEW_H
#define INS_VIEW_H

#include "base/vec.h"
#include "level/level.h"
#include "witness/script.h"

struct ins_commit_view {
    const struct ins_script *s; /* with `repeats` */
    enum ins_forbids forbids;   /* INS_FORBIDS_NON_MONOTONIC, _FRACTURED, _NON_CAUSAL or
                                   _ONE_RW */
    struct ins_vec_u32 order; /* the transactions that count, in the order of commits */
    uint32_t *source; /* by read of the script: its writer; INS_NONE where its reader
                         does not count */
};

/* Look for a witness of the level that forbids this.  False says nothing about the
 * history.  The view is to be released in any case. */
bool ins_view_soon(struct ins_commit_view *v, const struct ins_script *s,
                   enum ins_forbids forbids, struct ins_limit *limit);
/* The same where that found nothing: with more work. */
bool ins_view_later(struct ins_commit_view *v, const struct ins_script *s,
                    enum ins_forbids forbids, struct ins_limit *limit);
/* One after the other. */
bool ins_view_search(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, struct ins_limit *limit);
/* The same for ra, cc and psi, where transactions committed at about the times that are
 * recorded; see view_within.c.  Not `quick`: with much more work. */
bool ins_view_within(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, bool quick, struct ins_limit *limit);
/* The same for cc and psi, and only without times, by runs of chance that look ahead;
 * see view_ahead.c.  Not `quick`: with much more work. */
bool ins_view_ahead(struct ins_commit_view *v, const struct ins_script *s,
                    enum ins_forbids forbids, bool quick, struct ins_limit *limit);
/* The same for ra, cc and psi: slower, and finds more. */
bool ins_view_beam(struct ins_commit_view *v, const struct ins_script *s,
                   enum ins_forbids forbids, struct ins_limit *limit);
/* The same out of a run of a stronger level, see view_run.c; not `quick`: a long search
 * for one. */
bool ins_view_by_run(struct ins_commit_view *v, const struct ins_script *s,
                     enum ins_forbids forbids, bool quick, struct ins_limit *limit);
/* The same for cc and psi, out of a run of a stronger level in which a few reads may
 * miss: where reads leave much open. */
bool ins_view_by_mending(struct ins_commit_view *v, const struct ins_script *s,
                         enum ins_forbids forbids, unsigned threads,
                         struct ins_limit *limit);
void ins_view_release(struct ins_commit_view *v);

/* A step of a run that a search keeps. */
struct ins_view_made {
    uint32_t before; /* the step before it; of the first, 0 */
    ins_txn t;       /* INS_INIT: one was left out */
    uint32_t source; /* where the sources of its reads are */
};
INS_VEC(view_made, struct ins_view_made);

/* Fill v, which has a script, with the run that ends with step `last`.  Indeterminate
 * ones count when one that counts read from them; the others go. */
bool ins_view_write(struct ins_commit_view *v, const struct ins_view_made *made,
                    uint32_t last, const uint32_t *source);

/* Does it hold?  Straight from the definitions: what was found is believed after this
 * alone. */
bool ins_view_holds(const struct ins_commit_view *v, struct ins_limit *limit);

#endif

/* application.c - three applications over a key-value schema: one key a row (or, where
 * transactions touch different columns of one row, one key a column group).
 *
 * Sizes follow --keys; the default of 10000 keeps the proportions of the papers:
 *
 *   tpcc     1 warehouse, 10 districts, 3 keys/10 customers, keys stock rows
 *   rubis    keys/10 users, keys items
 *   twitter  keys users, chosen by --dist (the papers: zipf)
 *
 * New rows (orders, bids, comments, tweets) get keys above the preloaded ones that only
 * their session inserts; others read them by a key that names session and number. */
#include "workload.h"

static int64_t below(struct ins_worker *w, uint32_t n)
{
    return ins_draw_below(&w->draw, n ? n : 1);
}

static void update(struct ins_worker *w, struct ins_plan *plan, int64_t key)
{
    ins_plan_read(w, plan, key);
    ins_plan_write(w, plan, key);
}

/* A row that this session has inserted, out of its last `window`; -1 when none. */
static int64_t recent_row(struct ins_worker *w, uint32_t window)
{
    if (!w->made)
        return -1;
    uint64_t reach = w->made < window ? w->made : window;
    return ins_worker_row(w, w->made - 1 - (uint64_t)below(w, (uint32_t)reach));
}

/* A row that some session may have inserted by now. */
static int64_t other_row(struct ins_worker *w)
{
    struct ins_worker other = *w;
    other.session = (unsigned)below(w, w->work->sessions);
    uint32_t made = (uint32_t)(w->made > UINT32_MAX ? UINT32_MAX : w->made);
    return ins_worker_row(&other, (uint64_t)below(w, made + 1));
}

/* ---- TPC-C: clause 2 of the specification, columns folded into rows ---- */

enum { WAREHOUSE_YTD, WAREHOUSE_TAX, DISTRICTS = 10, DISTRICT = 2 };

/* A district has its next order number, its year-to-date and its next delivery. */
static int64_t district(int64_t d, int part)
{
    return DISTRICT + d * 3 + part;
}

static uint32_t customers(uint32_t keys)
{
    return keys < 10 ? 3 : keys / 10 * 3;
}

static int64_t customer(struct ins_worker *w)
{
    return DISTRICT + DISTRICTS * 3 + below(w, customers(w->work->keys));
}

static int64_t stock(struct ins_worker *w)
{
    return DISTRICT + DISTRICTS * 3 + customers(w->work->keys) +
           ins_draw_key(&w->draw, w->work->spread);
}

uint32_t ins_rows_tpcc(uint32_t keys)
{
    return DISTRICT + DISTRICTS * 3 + customers(keys) + keys;
}

static void new_order(struct ins_worker *w, struct ins_plan *plan)
{
    ins_plan_read(w, plan, WAREHOUSE_TAX);
    update(w, plan, district(below(w, DISTRICTS), 0));
    ins_plan_read(w, plan, customer(w));
    int64_t lines = 5 + below(w, 11);
    for (int64_t i = 0; i < lines; i++)
        update(w, plan, stock(w));
    ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    /* Clause 2.4.1.4: one in a hundred names an item that does not exist. */
    if (ins_draw_chance(&w->draw, 0.01))
        plan->rollback = true;
}

static void payment(struct ins_worker *w, struct ins_plan *plan)
{
    update(w, plan, WAREHOUSE_YTD);
    update(w, plan, district(below(w, DISTRICTS), 1));
    update(w, plan, customer(w));
}

static void order_status(struct ins_worker *w, struct ins_plan *plan)
{
    ins_plan_read(w, plan, customer(w));
    ins_plan_read(w, plan, other_row(w));
}

static void delivery(struct ins_worker *w, struct ins_plan *plan)
{
    for (int64_t d = 0; d < DISTRICTS; d++) {
        update(w, plan, district(d, 2));
        int64_t order = recent_row(w, 20);
        if (order < 0)
            continue;
        update(w, plan, order);
        update(w, plan, customer(w));
    }
}

static void stock_level(struct ins_worker *w, struct ins_plan *plan)
{
    ins_plan_read(w, plan, district(below(w, DISTRICTS), 0));
    for (int i = 0; i < 20; i++)
        ins_plan_read(w, plan, stock(w));
}

void ins_plan_tpcc(struct ins_worker *w, struct ins_plan *plan)
{
    /* The minimum mix of clause 5.2.3, new orders taking the rest. */
    double pick = ins_draw_unit(&w->draw);
    if (pick < 0.43)
        payment(w, plan);
    else if (pick < 0.47)
        order_status(w, plan);
    else if (pick < 0.51)
        delivery(w, plan);
    else if (pick < 0.55)
        stock_level(w, plan);
    else
        new_order(w, plan);
}

/* ---- RUBiS: the bidding mix, 15 % of the interactions write ---- */

static uint32_t users(uint32_t keys)
{
    return keys < 10 ? 1 : keys / 10;
}

/* An item has its description, its best bid and its number of bids. */
static int64_t item(struct ins_worker *w, int64_t i, int part)
{
    return users(w->work->keys) + i * 3 + part;
}

uint32_t ins_rows_rubis(uint32_t keys)
{
    return users(keys) + 3 * keys;
}

void ins_plan_rubis(struct ins_worker *w, struct ins_plan *plan)
{
    int64_t user = below(w, users(w->work->keys));
    int64_t i = ins_draw_key(&w->draw, w->work->spread);
    double pick = ins_draw_unit(&w->draw);
    if (pick < 0.08) { /* store a bid */
        ins_plan_read(w, plan, user);
        update(w, plan, item(w, i, 2));
        update(w, plan, item(w, i, 1));
        ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    } else if (pick < 0.10) { /* buy now */
        ins_plan_read(w, plan, item(w, i, 0));
        update(w, plan, item(w, i, 2));
        ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    } else if (pick < 0.12) { /* comment, which changes the rating of a user */
        ins_plan_read(w, plan, item(w, i, 0));
        update(w, plan, user);
        ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    } else if (pick < 0.14) { /* register a user or an item */
        ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    } else if (pick < 0.15) { /* close an auction */
        ins_plan_write(w, plan, item(w, i, 0));
    } else if (pick < 0.45) { /* view an item with its bids */
        for (int part = 0; part < 3; part++)
            ins_plan_read(w, plan, item(w, i, part));
        ins_plan_read(w, plan, other_row(w));
    } else if (pick < 0.60) { /* about a user */
        ins_plan_read(w, plan, user);
        for (int n = 0; n < 4; n++)
            ins_plan_read(w, plan, other_row(w));
    } else { /* search: a page of items */
        for (int n = 0; n < 10; n++) {
            int64_t found = ins_draw_key(&w->draw, w->work->spread);
            ins_plan_read(w, plan, item(w, found, 0));
            ins_plan_read(w, plan, item(w, found, 1));
        }
    }
}

/* ---- Twitter: Cobra's C-Twitter: tweet, follow, unfollow, timeline, show followers.
 * A user has a last tweet, a list of followers and a list of the followed. ---- */

static int64_t profile(struct ins_worker *w, int part)
{
    return (int64_t)ins_draw_key(&w->draw, w->work->spread) * 3 + part;
}

uint32_t ins_rows_twitter(uint32_t keys)
{
    return 3 * keys;
}

void ins_plan_twitter(struct ins_worker *w, struct ins_plan *plan)
{
    double pick = ins_draw_unit(&w->draw);
    if (pick < 0.20) { /* tweet */
        update(w, plan, profile(w, 0));
        ins_plan_write(w, plan, ins_worker_row(w, w->made++));
    } else if (pick < 0.40) { /* follow, unfollow: both sides */
        int64_t one = profile(w, 1), two = profile(w, 2);
        update(w, plan, one);
        update(w, plan, two);
    } else if (pick < 0.60) { /* show followers */
        ins_plan_read(w, plan, profile(w, 1));
        for (int n = 0; n < 4; n++)
            ins_plan_read(w, plan, profile(w, 0));
    } else { /* timeline: the last tweets of those one follows */
        ins_plan_read(w, plan, profile(w, 2));
        for (int n = 0; n < 5; n++)
            ins_plan_read(w, plan, profile(w, 0));
        for (int n = 0; n < 3; n++)
            ins_plan_read(w, plan, other_row(w));
    }
}

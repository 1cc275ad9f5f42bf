/* Lines between boxes in rows and columns cross no box that they do not join. */
#include "report/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 7, COLUMNS = 9, MOST = ROWS * COLUMNS, LINKS = 40, ROUNDS = 400 };

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* Some cells of a grid have a box of their own size, as in the pictures. */
static uint32_t make_boxes(struct ins_box *box, uint64_t *state)
{
    uint32_t n = 0;
    const unsigned share = 2 + (unsigned)draw(state, 6);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            if (draw(state, share) == 0)
                box[n++] = (struct ins_box){150 + 240.0 * c, 96 + 150.0 * r,
                                            60 + (double)draw(state, 80),
                                            38 + (double)draw(state, 40)};
    return n;
}

/* By points close to one another, not by the arithmetic of the router. */
static bool crosses(const struct ins_box *b, const struct ins_drawn_link *l)
{
    for (uint32_t i = 1; i < l->n; i++)
        for (int k = 0; k <= 40; k++) {
            const struct ins_point p = l->point[i - 1], q = l->point[i];
            const double x = p.x + (q.x - p.x) * k / 40, y = p.y + (q.y - p.y) * k / 40;
            if (x > b->x && x < b->x + b->w && y > b->y && y < b->y + b->h)
                return true;
        }
    return false;
}

static void no_line_crosses_a_box(void **state)
{
    (void)state;
    uint64_t seed = 11;
    static struct ins_drawn_link link[LINKS];
    uint32_t drawn = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct ins_box box[MOST];
        const uint32_t n = make_boxes(box, &seed);
        if (n < 2)
            continue;
        const uint32_t links = 1 + (uint32_t)draw(&seed, LINKS);
        for (uint32_t i = 0; i < links; i++) {
            const uint32_t from = (uint32_t)draw(&seed, n);
            link[i] = (struct ins_drawn_link){
                .from = from,
                .to = (from + 1 + (uint32_t)draw(&seed, n - 1)) % n,
                .label_width = 30};
        }
        ins_route(box, n, link, links, 124);
        for (uint32_t i = 0; i < links; i++) {
            assert_true(link[i].n >= 2 && link[i].n <= INS_ROUTE_POINTS);
            for (uint32_t b = 0; b < n; b++)
                if (b != link[i].from && b != link[i].to && crosses(&box[b], &link[i]))
                    fail_msg("round %d: line %u crosses box %u", round, i, b);
            drawn++;
        }
    }
    assert_true(drawn > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_line_crosses_a_box)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}

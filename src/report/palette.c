#include "palette.h"

const struct ins_pen ins_palette[6] = {
    [INS_SO] = {"#5b6470", "none", "solid"},
    [INS_WR] = {"#0072b2", "none", "bold"},
    [INS_WW] = {"#00875f", "9 4", "dashed"},
    [INS_RW] = {"#c74a00", "4 4", "dashed"},
    [INS_RT] = {"#a3508a", "1.5 4", "dotted"},
    [INS_CO] = {"#a87400", "11 3 2 3", "dashed"},
};

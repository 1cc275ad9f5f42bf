/* What small files mean, told in our own text: the rules of each format one by one. */
#include "tap.h"

#include "base/mem.h"
#include "format/detect.h"
#include "format/format.h"

#include <string.h>

static const struct {
    const char *rule, *format, *init, *input, *meaning;
} cases[] = {
    {"invoke and ok are one transaction with both times", "edn", NULL,
     "{:type :invoke :process 3 :time 10 :index 0 :value [[:r :x nil] [:w :y 1]]}\n"
     "{:type :ok :process 3 :time 25 :index 1 :value [[:r :x 7] [:w :y 1]]}\n",
     "insula 1 transactions 1\ninitial nil\n3 1 @10..25: r(:x)=7 w(:y)=1\n"},
    {"fail is aborted, info is indeterminate, both without results", "edn", NULL,
     "{:type :fail :process 0 :index 4 :value [[:w 1 2] [:r 1 nil]]}\n"
     "{:type :info :process 1 :index 5 :value [[:w 1 3] [:r 1 nil]]}\n",
     "insula 1 transactions 2\ninitial nil\n0 4: w(1)=2 r(1)=? abort\n"
     "1 5: w(1)=3 r(1)=? unknown\n"},
    {"rows of a query that did not complete are no reads", "edn", NULL,
     "{:type :invoke :process 1 :index 0 :value [[:rp [:= 9] nil] [:w 2 8]]}\n"
     "{:type :info :process 1 :index 1 :value [[:rp [:= 9] {1 9}] [:w 2 8]]}\n",
     "insula 1 transactions 1\n1 1: q(v=9)=? w(2)=8 unknown\n"},
    {"an invocation that never completes is indeterminate and its reads unknown", "edn",
     NULL, "{:type :invoke :process 0 :time 5 :index 9 :value [[:r 1 nil] [:w 2 3]]}",
     "insula 1 transactions 1\ninitial nil\n0 9 @5..: r(1)=? w(2)=3 unknown\n"},
    {"info without value takes the invocation's", "edn", NULL,
     "{:type :invoke :process 0 :index 0 :value [[:append 1 1] [:r 1 nil]]}"
     "{:type :info :process 0 :index 1 :error :timeout :value nil}",
     "insula 1 transactions 1\n0 1: a(1)=1 r(1)=[?] unknown\n"},
    {"the nemesis is passed over, whatever it says", "edn", NULL,
     "{:type :info :process :nemesis :f :kill :value {:n1 [:a \"]\"]}}\n"
     "{:process :nemesis :type :whatever}\n"
     "{:type :ok :process 0 :index 1 :value [[:w 1 1]]}\n",
     "insula 1 transactions 1\ninitial nil\n0 1: w(1)=1\n"},
    {"without process each completion is a session", "edn", NULL,
     "{:type :ok :index 1 :value [[:w 1 1]]} {:type :ok :index 2 :value [[:r 1 1]]}",
     "insula 1 transactions 2\ninitial nil\n\"event 1\" 1: w(1)=1\n"
     "\"event 2\" 2: r(1)=1\n"},
    {"nil read from a list is the empty list", "edn", NULL,
     "{:type :ok :process 0 :index 1 :value [[:r 1 nil] [:append 2 5]]}",
     "insula 1 transactions 1\n0 1: r(1)=[] a(2)=5\n"},
    {"lists and registers in one file are told apart by key", "edn", NULL,
     "{:type :ok :process 0 :index 1 :value [[:r 1 nil] [:r 2 nil] [:append 1 5]]}"
     "{:type :ok :process 0 :index 2 :value [[:w 2 6] [:r 1 [5]]]}",
     "insula 1 transactions 2\ninitial nil\n0 1: r(1)=[] r(2)=nil a(1)=5\n"
     "0 2: w(2)=6 r(1)=[5]\n"},
    {"a key whose reads return a value and a vector is a register", "edn", NULL,
     "{:type :ok :process 0 :index 1 :value [[:r 1 [5]] [:r 1 6] [:r 2 [5]]]}",
     "insula 1 transactions 1\ninitial nil\n0 1: r(1)=edn\"[5]\" r(1)=6 r(2)=[5]\n"},
    {"a key with an initial value is a register, whatever is read", "edn", NULL,
     "{:type :ok :f :init :value {1 nil 2 [7]}}"
     "{:type :ok :process 0 :index 1 :value [[:r 1 [5]] [:r 2 [7]] [:r 3 [5]]]}",
     "insula 1 transactions 1\ninitial nil\ninitial 2 = edn\"[7]\"\n"
     "0 1: r(1)=edn\"[5]\" r(2)=edn\"[7]\" r(3)=[5]\n"},
    {"rows that no operation names are rows, absent or not", "insula", NULL,
     "insula 1\ninitial 5 = nil\ninitial 6 = 7\na 1: q()={}\n",
     "insula 1 transactions 1\ninitial 5 = nil\ninitial 6 = 7\na 1: q()={}\n"},
    {"a number stays one when a word comes behind it in a statement", "insula", NULL,
     "insula 1\na 1: cas(1)=x>7\na 2: q(k={1 x} v={7 y})={} q(k={2 z})=?\n"
     "a 3: cas(1)=7>x!\n",
     "insula 1 transactions 3\na 1: cas(1)=x>7\n"
     "a 2: q(k={1 x} v={7 y})={} q(k={2 z})=?\na 3: cas(1)=7>x!\n"},
    {"comments, discarded forms, tags, sets and characters are passed over", "edn",
     NULL,
     "; a comment\n[#_{:type :ok :value [[:w 1 1]]} #jepsen.history.Op{:process 0, "
     ":index 1 :type :ok :error #{1 [2 \\] \"}\"]} #_ 5 :value (#_x (:w 1 2N))} ; "
     "end\n]",
     "insula 1 transactions 1\ninitial nil\n0 1: w(1)=2\n"},
    {"fields in any order, value first", "edn", NULL,
     "{:value [[:w \"k\" -5]] :f :txn :index 3 :time 8 :process 2 :type :ok}",
     "insula 1 transactions 1\ninitial nil\n2 3 @..8: w(k)=-5\n"},
    {"a JSON array", "json", NULL,
     "[{\"type\":\"ok\",\"process\":1,\"index\":4,\"value\":[[\"append\",1,2],[\"r\",1,"
     "[2]],[\"r\",3,null]],\"error\":{\"x\":[1,\"]\"]}}]\n",
     "insula 1 transactions 1\n1 4: a(1)=2 r(1)=[2] r(3)=[]\n"},
    {"one JSON object a line, escapes in strings", "json", NULL,
     "{\"type\":\"ok\",\"process\":1,\"index\":4,\"value\":[[\"w\",\"a\\u00e9\\n\","
     "\"\\ud83d"
     "\\ude00\"]]}\n{\"type\":\"fail\",\"process\":1,\"index\":5,\"value\":[]}",
     "insula 1 transactions 2\ninitial nil\n1 4: w(\"a\xc3\xa9\\n\")=\xf0\x9f\x98\x80\n"
     "1 5: abort\n"},
    {"no initial values unless the first transaction loads all keys", "awdit", NULL,
     "w 1 5\nr 2 0\n=====\nr 1 5\n",
     "insula 1 transactions 2\ninitial none\n1: w(1)=5 r(2)=0\n2: r(1)=5\n"},
    {"a first transaction that writes every key is the initial load", "awdit", NULL,
     "w 1 5\nw 2 0\n=====\nr 1 5\n-----\nw 2 7\n",
     "insula 1 transactions 2\ninitial 5\ninitial 2 = 0\n2: r(1)=5\n2: w(2)=7\n"},
    {"not when another key is read", "awdit", NULL, "w 1 5\n=====\nr 2 0\n",
     "insula 1 transactions 2\ninitial none\n1: w(1)=5\n2: r(2)=0\n"},
    {"nor when it is told so", "awdit", "none", "w 1 5\n=====\nr 1 5\n",
     "insula 1 transactions 2\ninitial none\n1: w(1)=5\n2: r(1)=5\n"},
    {"everything starts as 0 when told so", "awdit", "zero", "w 1 5\n=====\nr 1 5\n",
     "insula 1 transactions 2\ninitial 0\n1: w(1)=5\n2: r(1)=5\n"},
    {"an aborted write has transaction -1", "plume", NULL,
     "w(1,1,0,0)\nw(1,2,0,-1)\nr(1,0,1,7)\n",
     "insula 1 transactions 3\ninitial 0\n0 0: w(1)=1\n0 -1: w(1)=2 abort\n1 7: "
     "r(1)=0\n"},
    {"registers start as nil, and the last line may end in its status", "insula", NULL,
     "insula 1\na: r(x)=nil commit",
     "insula 1 transactions 1\ninitial nil\na: r(x)=nil\n"},
    {"a line goes on after a backslash, commas are blanks", "insula", NULL,
     "# first a comment\n\ninsula 1\na t @-5..7: w(x)=1, \\\n  r(l)=[1, 2] # and "
     "another\n",
     "insula 1 transactions 1\ninitial nil\na t @-5..7: w(x)=1 r(l)=[1 2]\n"},
    {"a keyword may be a name, a blank before its colon tells", "insula", NULL,
     "insula 1\n:s :t: w(:x)=:y\n:s : w(:\"a b\")=:1\n",
     "insula 1 transactions 2\ninitial nil\n:s :t: w(:x)=:y\n:s 2: w(:\"a b\")=:1\n"},
};

static void check(struct tap *tap, size_t i)
{
    struct ins_error err = {0};
    struct ins_history *h = NULL;
    struct ins_buf out = {0};
    const struct ins_input in = {.data = cases[i].input,
                                 .size = strlen(cases[i].input)};
    const struct ins_read_options o = {.init = cases[i].init, .threads = 1};
    const char *found = ins_detect_bytes(in.data, in.size);
    const bool detected = found && !strcmp(found, cases[i].format);
    if (ins_format_read(ins_format_find(cases[i].format, NULL), &in, &o, &h, &err) ==
        INS_OK)
        (void)ins_format_find("insula", NULL)->write(h, &out, &err);
    ins_buf_char(&out, '\0');
    if (!tap_ok(tap, detected && !strcmp(out.at, cases[i].meaning), "%s: %s",
                cases[i].format, cases[i].rule))
        printf("# detected %s, line %d: %s\n# %s\n", found ? found : "nothing",
               (int)err.line, err.text, out.at);
    ins_buf_release(&out);
    ins_history_free(h);
}

int main(void)
{
    struct tap tap = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&tap, i);
    return tap_end(&tap);
}

// Package insula finds out which isolation level a recorded history satisfies.
//
//	history, err := insula.Load("history.edn")
//	...
//	insula.AssertIsolation(t, history, "ser") // in a test: fails with the report
//
// It is a thin layer over libinsula's C interface, found with pkg-config.
package insula

/*
#cgo pkg-config: insula
#include <insula.h>
#include <stdlib.h>

// The text report; the caller frees it.
static char *go_report(const struct insula_history *h, const struct insula_result *r, struct insula_error *e)
{
    struct insula_report_item item = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    item.path = "history";
    item.history = h;
    item.result = r;
    if (out) {
        const int failed = insula_report("text", &item, 1, NULL, out, e);
        fclose(out);
        if (!failed)
            return text;
    }
    free(text);
    return NULL;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Error is a failure; Message has file and line where there are any.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

func failure(e *C.struct_insula_error) error {
	return &Error{int(e.status), C.GoString(&e.message[0])}
}

// Version is that of libinsula.
func Version() string { return C.GoString(C.insula_version()) }

// literal takes an int, an int64, a string or nil; the second result frees it.
func literal(value interface{}) (C.struct_insula_literal, func(), error) {
	switch v := value.(type) {
	case nil:
		return C.insula_nil(), func() {}, nil
	case int:
		return C.insula_int(C.int64_t(v)), func() {}, nil
	case int64:
		return C.insula_int(C.int64_t(v)), func() {}, nil
	case string:
		text := C.CString(v)
		return C.struct_insula_literal{kind: C.INSULA_STRING, text: text, length: C.size_t(len(v))},
			func() { C.free(unsafe.Pointer(text)) }, nil
	}
	return C.insula_nil(), func() {}, &Error{int(C.INSULA_E_USAGE),
		fmt.Sprintf("expected int, int64, string or nil as key or value, got %T", value)}
}

// Builder builds a history call by call; Finish reports the first failure.
type Builder struct {
	b   *C.struct_insula_builder
	err error
}

// Txn is a transaction under construction.
type Txn struct {
	of *Builder
	n  C.uint
}

// NewBuilder starts a history in which every register starts as initial; nil for nil.
func NewBuilder(initial interface{}) *Builder {
	b := &Builder{b: C.insula_builder_new()}
	b.with(initial, func(value C.struct_insula_literal) { C.insula_initial(b.b, value) })
	return b
}

func (b *Builder) with(value interface{}, use func(C.struct_insula_literal)) {
	l, free, err := literal(value)
	b.remember(err)
	if err == nil {
		use(l)
	}
	free()
}

// Begin starts a transaction at the end of its session.
func (b *Builder) Begin(session interface{}) *Txn {
	t := &Txn{of: b}
	b.with(session, func(name C.struct_insula_literal) {
		t.n = C.insula_begin(b.b, C.insula_builder_session(b.b, name))
	})
	return t
}

func (t *Txn) pair(key, value interface{}, use func(k, v C.struct_insula_literal)) *Txn {
	t.of.with(key, func(k C.struct_insula_literal) {
		t.of.with(value, func(v C.struct_insula_literal) { use(k, v) })
	})
	return t
}

// Read adds a read of a register and its result.
func (t *Txn) Read(key, value interface{}) *Txn {
	return t.pair(key, value, func(k, v C.struct_insula_literal) { C.insula_read(t.of.b, t.n, k, v) })
}

// Write adds a write of a register.
func (t *Txn) Write(key, value interface{}) *Txn {
	return t.pair(key, value, func(k, v C.struct_insula_literal) { C.insula_write(t.of.b, t.n, k, v) })
}

// Append adds an append to a list.
func (t *Txn) Append(key, value interface{}) *Txn {
	return t.pair(key, value, func(k, v C.struct_insula_literal) { C.insula_append(t.of.b, t.n, k, v) })
}

// ReadList adds a read of a list of numbers.
func (t *Txn) ReadList(key interface{}, elements ...int64) *Txn {
	t.of.with(key, func(k C.struct_insula_literal) {
		raw := (*C.struct_insula_literal)(C.calloc(C.size_t(len(elements)+1), C.size_t(unsafe.Sizeof(C.struct_insula_literal{}))))
		all := unsafe.Slice(raw, len(elements)+1)
		for i, e := range elements {
			all[i] = C.insula_int(C.int64_t(e))
		}
		C.insula_read_list(t.of.b, t.n, k, raw, C.size_t(len(elements)))
		C.free(unsafe.Pointer(raw))
	})
	return t
}

// Insert adds a row that was not there; effect 0 when it was, and nothing was done.
func (t *Txn) Insert(key, value interface{}, effect int) *Txn {
	return t.pair(key, value, func(k, v C.struct_insula_literal) { C.insula_insert(t.of.b, t.n, k, v, C.int(effect)) })
}

// Update changes a row that was there; effect 0 when there was none.
func (t *Txn) Update(key, value interface{}, effect int) *Txn {
	return t.pair(key, value, func(k, v C.struct_insula_literal) { C.insula_update(t.of.b, t.n, k, v, C.int(effect)) })
}

// Delete removes a row; effect 0 when there was none.
func (t *Txn) Delete(key interface{}, effect int) *Txn {
	t.of.with(key, func(k C.struct_insula_literal) { C.insula_delete(t.of.b, t.n, k, C.int(effect)) })
	return t
}

// Cas is a compare-and-set from old to value.
func (t *Txn) Cas(key, old, value interface{}, effect int) *Txn {
	return t.pair(key, old, func(k, o C.struct_insula_literal) {
		t.of.with(value, func(v C.struct_insula_literal) { C.insula_cas(t.of.b, t.n, k, o, v, C.int(effect)) })
	})
}

// Condition on the keys or the values of rows; the zero one holds for all.
type Condition struct {
	kind, ends int
	a, b       interface{}
	among      []interface{}
}

// Equal to a value.
func Equal(value interface{}) Condition { return Condition{kind: C.INSULA_EQUAL, a: value} }

// Unequal to a value; of values only.
func Unequal(value interface{}) Condition { return Condition{kind: C.INSULA_UNEQUAL, a: value} }

// Between low and high, both of them in it; nil is no limit.
func Between(low, high interface{}) Condition {
	c := Condition{kind: C.INSULA_RANGE, a: low, b: high}
	if low != nil {
		c.ends |= C.INSULA_FROM
	}
	if high != nil {
		c.ends |= C.INSULA_TO
	}
	return c
}

// Prefix of a key.
func Prefix(text string) Condition { return Condition{kind: C.INSULA_PREFIX, a: text} }

// OneOf some values.
func OneOf(values ...interface{}) Condition { return Condition{kind: C.INSULA_IN, among: values} }

// Modulo: divided by divisor it leaves rest; of values only.
func Modulo(divisor, rest int64) Condition {
	return Condition{kind: C.INSULA_MODULO, a: divisor, b: rest}
}

// Row is one of the result of a query.
type Row struct{ Key, Value interface{} }

// raw is the condition in C's memory, until free is called.
func (c Condition) raw() (out *C.struct_insula_condition, free func(), err error) {
	frees := []func(){}
	free = func() {
		for _, f := range frees {
			f()
		}
	}
	take := func(value interface{}) C.struct_insula_literal {
		l, f, e := literal(value)
		frees = append(frees, f)
		if e != nil && err == nil {
			err = e
		}
		return l
	}
	out = (*C.struct_insula_condition)(C.calloc(1, C.size_t(unsafe.Sizeof(*out))))
	frees = append(frees, func() { C.free(unsafe.Pointer(out)) })
	out.kind, out.ends, out.a, out.b = C.int(c.kind), C.uint(c.ends), take(c.a), take(c.b)
	if len(c.among) > 0 {
		in := (*C.struct_insula_literal)(C.calloc(C.size_t(len(c.among)), C.size_t(unsafe.Sizeof(*out.in))))
		frees = append(frees, func() { C.free(unsafe.Pointer(in)) })
		for i, value := range c.among {
			unsafe.Slice(in, len(c.among))[i] = take(value)
		}
		out.in, out.count = in, C.size_t(len(c.among))
	}
	return out, free, err
}

func (b *Builder) remember(err error) {
	if err != nil && b.err == nil {
		b.err = err
	}
}

// Query adds one for all rows that satisfy both conditions, and its result.
func (t *Txn) Query(key, value Condition, rows ...Row) *Txn {
	k, freeKey, err := key.raw()
	defer freeKey()
	t.of.remember(err)
	v, freeValue, err := value.raw()
	defer freeValue()
	t.of.remember(err)
	C.insula_query(t.of.b, t.n, k, v, 0)
	for _, row := range rows {
		t.pair(row.Key, row.Value, func(k, v C.struct_insula_literal) { C.insula_row(t.of.b, t.n, k, v) })
	}
	C.insula_query_end(t.of.b, t.n, 1)
	return t
}

// Times are nanoseconds on one clock for all sessions.
func (t *Txn) Times(begin, end int64) *Txn {
	C.insula_times(t.of.b, t.n, C.int64_t(begin), C.int64_t(end))
	return t
}

// Commit ends it.
func (t *Txn) Commit() { C.insula_commit(t.of.b, t.n) }

// Abort ends it, undone.
func (t *Txn) Abort() { C.insula_abort(t.of.b, t.n) }

// Unknown ends it: the client does not know whether it committed.
func (t *Txn) Unknown() { C.insula_unknown(t.of.b, t.n) }

// Finish uses the builder up.
func (b *Builder) Finish() (*History, error) {
	raw := b.b
	b.b = nil
	if b.err != nil {
		C.insula_builder_free(raw)
		return nil, b.err
	}
	var e C.struct_insula_error
	return newHistory(C.insula_builder_finish(raw, &e), &e)
}

// History is read-only; goroutines may share it.
type History struct {
	h *C.struct_insula_history
}

func newHistory(raw *C.struct_insula_history, e *C.struct_insula_error) (*History, error) {
	if raw == nil {
		return nil, failure(e)
	}
	h := &History{raw}
	runtime.SetFinalizer(h, func(h *History) { C.insula_history_free(h.h) })
	return h, nil
}

// Load reads a file in any format that insula knows.
func Load(path string) (*History, error) {
	var e C.struct_insula_error
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	return newHistory(C.insula_load(text, nil, &e), &e)
}

// Verdict of one level: "pass", "fail", or "unknown" with a reason.
type Verdict struct {
	Level, Verdict, Reason string
	Anomalies              []string
}

// Party is a transaction that takes part in an anomaly; the initial one has no session.
type Party struct {
	ID, Session string
	Operations  []string
}

// Edge leads from one transaction to another; Kind is so, wr, ww, rw, rt or co.
type Edge struct {
	From, To, Kind, Why string
}

// Anomaly is a violation with what proves it.
type Anomaly struct {
	Name, Breaks, Headline string
	Transactions           []Party
	Edges                  []Edge
}

// Result of a check.
type Result struct {
	Verdicts  []Verdict
	Anomalies []Anomaly
	Maximal   []string // the strongest levels that passed
	Report    string   // as text
}

// Verdict of a level, "" when it was not asked for.
func (r *Result) Verdict(level string) string {
	for _, v := range r.Verdicts {
		if v.Level == level {
			return v.Verdict
		}
	}
	return ""
}

func verdicts(w *C.struct_insula_walk) (all []Verdict) {
	for i := C.size_t(0); ; i++ {
		v := C.insula_walk_verdict(w, i)
		if v == nil {
			return all
		}
		one := Verdict{C.GoString(C.insula_verdict_level(v)), C.GoString(C.insula_verdict_verdict(v)),
			C.GoString(C.insula_verdict_reason(v)), nil}
		for k := C.size_t(0); C.insula_verdict_anomaly(v, k) != nil; k++ {
			one.Anomalies = append(one.Anomalies, C.GoString(C.insula_verdict_anomaly(v, k)))
		}
		all = append(all, one)
	}
}

func anomalies(w *C.struct_insula_walk) (all []Anomaly) {
	for i := C.size_t(0); ; i++ {
		f := C.insula_walk_finding(w, i)
		if f == nil {
			return all
		}
		one := Anomaly{Name: C.GoString(C.insula_finding_name(f)), Breaks: C.GoString(C.insula_finding_breaks(f)),
			Headline: C.GoString(C.insula_finding_headline(f))}
		for k := C.size_t(0); C.insula_finding_txn(f, k) != nil; k++ {
			t := C.insula_finding_txn(f, k)
			p := Party{ID: C.GoString(C.insula_txn_id(t)), Session: C.GoString(C.insula_txn_session(t))}
			for n := C.size_t(0); C.insula_txn_operation(t, n) != nil; n++ {
				p.Operations = append(p.Operations, C.GoString(C.insula_operation_text(C.insula_txn_operation(t, n))))
			}
			one.Transactions = append(one.Transactions, p)
		}
		for k := C.size_t(0); C.insula_finding_edge(f, k) != nil; k++ {
			e := C.insula_finding_edge(f, k)
			one.Edges = append(one.Edges, Edge{C.GoString(C.insula_edge_from(e)), C.GoString(C.insula_edge_to(e)),
				C.GoString(C.insula_edge_type(e)), C.GoString(C.insula_edge_why(e))})
		}
		all = append(all, one)
	}
}

// Check decides levels ("rc,si"), with "" all that the history can decide.
func (h *History) Check(levels string) (*Result, error) {
	var e C.struct_insula_error
	var options *C.struct_insula_check_options
	if levels != "" {
		text := C.CString(levels)
		defer C.free(unsafe.Pointer(text))
		// In C's memory, since it points into it.
		options = (*C.struct_insula_check_options)(C.calloc(1, C.size_t(unsafe.Sizeof(*options))))
		defer C.free(unsafe.Pointer(options))
		options.levels = text
	}
	raw := C.insula_check(h.h, options, &e)
	if raw == nil {
		return nil, failure(&e)
	}
	defer C.insula_result_free(raw)
	r, err := resultOf(h.h, raw)
	runtime.KeepAlive(h)
	return r, err
}

func resultOf(h *C.struct_insula_history, raw *C.struct_insula_result) (*Result, error) {
	var e C.struct_insula_error
	w := C.insula_walk_new(h, raw, &e)
	if w == nil {
		return nil, failure(&e)
	}
	defer C.insula_walk_free(w)
	report := C.go_report(h, raw, &e)
	if report == nil {
		return nil, failure(&e)
	}
	defer C.free(unsafe.Pointer(report))
	r := &Result{Verdicts: verdicts(w), Anomalies: anomalies(w), Report: C.GoString(report)}
	for i := C.uint(0); C.insula_result_maximal(raw, i) != nil; i++ {
		r.Maximal = append(r.Maximal, C.GoString(C.insula_result_maximal(raw, i)))
	}
	return r, nil
}

// Tester is what AssertIsolation needs of a *testing.T.
type Tester interface {
	Helper()
	Fatalf(format string, arguments ...interface{})
}

// AssertIsolation fails the test with the text report unless the level holds; what is not
// decided does not hold.
func AssertIsolation(t Tester, h *History, level string) {
	t.Helper()
	r, err := h.Check(level)
	if err != nil {
		t.Fatalf("isolation %s could not be checked: %v", level, err)
		return
	}
	for _, v := range r.Verdicts {
		if v.Verdict != "pass" {
			t.Fatalf("isolation %s does not hold\n\n%s", level, r.Report)
			return
		}
	}
}

package insula

// #include <insula.h>
// #include <stdlib.h>
import "C"

import (
	"runtime"
	"unsafe"
)

// Monitor judges transactions while they arrive; one goroutine at a time uses it.  "violated" is
// final, and rests on one promise: no value is written to a key twice, and none is read before the
// transaction that writes it has begun.
type Monitor struct {
	m *C.struct_insula_monitor
}

// NewMonitor of these levels ("si,ser"), with "" of all; registers start as initial.
func NewMonitor(levels string, initial interface{}) (*Monitor, error) {
	var e C.struct_insula_error
	start, free, err := literal(initial)
	defer free()
	if err != nil {
		return nil, err
	}
	options := (*C.struct_insula_monitor_options)(C.calloc(1, C.sizeof_struct_insula_monitor_options))
	defer C.free(unsafe.Pointer(options))
	if levels != "" {
		options.levels = C.CString(levels)
		defer C.free(unsafe.Pointer(options.levels))
	}
	m := &Monitor{C.insula_monitor_new(options, &e)}
	if m.m == nil {
		return nil, failure(&e)
	}
	C.insula_monitor_initial(m.m, start)
	runtime.SetFinalizer(m, func(m *Monitor) { C.insula_monitor_free(m.m) })
	return m, nil
}

// Operation is one of Read, Write, Append, ReadList and ReadUnknown.
type Operation struct {
	kind       C.int
	key, value interface{}
	elements   []interface{}
}

// Read of a register and its result.
func Read(key, value interface{}) Operation { return Operation{C.INSULA_READ, key, value, nil} }

// Write of a register.
func Write(key, value interface{}) Operation { return Operation{C.INSULA_WRITE, key, value, nil} }

// Append to a list.
func Append(key, value interface{}) Operation { return Operation{C.INSULA_APPEND, key, value, nil} }

// ReadList is a read of a list.
func ReadList(key interface{}, elements ...interface{}) Operation {
	return Operation{C.INSULA_READ_LIST, key, nil, elements}
}

// ReadUnknown is a read whose result never arrived.
func ReadUnknown(key interface{}) Operation {
	return Operation{C.INSULA_READ_UNKNOWN, key, nil, nil}
}

// How a transaction ended; Unknown: the client does not know whether it committed.
const (
	Committed = int(C.INSULA_COMMITTED)
	Aborted   = int(C.INSULA_ABORTED)
	Unknown   = int(C.INSULA_INDETERMINATE)
)

// Completion is a transaction that has completed.  Times are nanoseconds; both 0 when they are not known.
type Completion struct {
	Session    interface{}
	Begin, End int64
	Ended      int
	Operations []Operation
}

// Push a transaction; those of a session come in its order.
func (m *Monitor) Push(t Completion) error {
	var frees []func()
	defer func() {
		for _, free := range frees {
			free()
		}
	}()
	var err error
	take := func(value interface{}) C.struct_insula_literal {
		l, free, e := literal(value)
		frees = append(frees, free)
		if e != nil {
			err = e
		}
		return l
	}
	room := func(n int, size C.size_t) unsafe.Pointer {
		p := C.calloc(C.size_t(n+1), size)
		frees = append(frees, func() { C.free(p) })
		return p
	}
	// In C's memory, since all of it points into it.
	txn := (*C.struct_insula_completion)(room(1, C.sizeof_struct_insula_completion))
	txn.op = (*C.struct_insula_op)(room(len(t.Operations), C.sizeof_struct_insula_op))
	txn.ops = C.size_t(len(t.Operations))
	txn.session, txn.status = take(t.Session), C.int(t.Ended)
	txn.begin_ns, txn.end_ns = C.int64_t(t.Begin), C.int64_t(t.End)
	if t.Begin == 0 && t.End == 0 {
		txn.begin_ns, txn.end_ns = C.INSULA_NO_TIME, C.INSULA_NO_TIME
	}
	for i, o := range t.Operations {
		op := &unsafe.Slice(txn.op, len(t.Operations))[i]
		op.kind, op.key, op.value = o.kind, take(o.key), take(o.value)
		list := (*C.struct_insula_literal)(room(len(o.elements), C.sizeof_struct_insula_literal))
		for k, element := range o.elements {
			unsafe.Slice(list, len(o.elements))[k] = take(element)
		}
		op.element, op.elements = list, C.size_t(len(o.elements))
	}
	if err != nil {
		return err
	}
	var e C.struct_insula_error
	return m.done(C.insula_monitor_push(m.m, txn, &e), &e)
}

func (m *Monitor) done(status C.int, e *C.struct_insula_error) error {
	runtime.KeepAlive(m)
	if status != 0 {
		return failure(e)
	}
	return nil
}

// Advance says that no transaction that is still to come began before this time.
func (m *Monitor) Advance(begin int64) error {
	var e C.struct_insula_error
	return m.done(C.insula_monitor_advance(m.m, C.int64_t(begin), &e), &e)
}

// Finish says that nothing is to come: what is open is decided.
func (m *Monitor) Finish() error {
	var e C.struct_insula_error
	return m.done(C.insula_monitor_finish(m.m, &e), &e)
}

// Verdict is "holds" so far, "violated", "open", or "" for a level that was not asked for.
func (m *Monitor) Verdict(level string) string {
	text := C.CString(level)
	defer C.free(unsafe.Pointer(text))
	defer runtime.KeepAlive(m)
	return C.GoString(C.insula_monitor_verdict(m.m, text, nil))
}

// Violation has the evidence of the last one; nil while there is none.
func (m *Monitor) Violation() (*Result, error) {
	h, r := C.insula_monitor_history(m.m), C.insula_monitor_result(m.m)
	defer runtime.KeepAlive(m)
	if h == nil || r == nil {
		return nil, nil
	}
	return resultOf(h, r)
}

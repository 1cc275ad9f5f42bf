package insula

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func lostUpdate(t *testing.T) *History {
	b := NewBuilder(0)
	for value := 1; value <= 2; value++ {
		b.Begin(value).Read("x", 0).Write("x", value).Commit()
	}
	h, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestALostUpdateIsFound(t *testing.T) {
	r, err := lostUpdate(t).Check("")
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict("ser") != "fail" || fmt.Sprint(r.Maximal) != "[pc]" {
		t.Fatal(r.Verdicts, r.Maximal)
	}
	a := r.Anomalies[0]
	if a.Name != "LostUpdate" || fmt.Sprint(a.Transactions[0].Operations) != "[r(x)=0 w(x)=1]" {
		t.Fatal(a)
	}
	if a.Edges[0].From != a.Edges[len(a.Edges)-1].To || a.Edges[0].Why == "" {
		t.Fatal(a.Edges)
	}
}

type fake struct{ said string }

func (f *fake) Helper() {}
func (f *fake) Fatalf(format string, arguments ...interface{}) {
	f.said = fmt.Sprintf(format, arguments...)
}

func TestAnAssertionFailsWithTheReport(t *testing.T) {
	AssertIsolation(t, lostUpdate(t), "rc")
	var f fake
	AssertIsolation(&f, lostUpdate(t), "si")
	if !strings.Contains(f.said, "LostUpdate") || !strings.Contains(f.said, "session 1") {
		t.Fatal(f.said)
	}
}

func TestListsTimesAndOutcomes(t *testing.T) {
	b := NewBuilder(nil)
	b.Begin("a").Append("l", 1).Times(1, 2).Commit()
	b.Begin("a").Append("l", 2).Abort()
	b.Begin("b").ReadList("l", 1, 2).Commit()
	b.Begin("c").Append("l", 3).Unknown()
	h, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Check("rc")
	if err != nil || r.Anomalies[0].Name != "AbortedRead" {
		t.Fatal(r, err)
	}
}

func TestRowsComeAndGo(t *testing.T) {
	b := NewBuilder(nil)
	b.Begin("a").Insert("x", 1, 1).Insert("x", 2, 0).Update("x", 3, 1).Cas("x", 3, 4, 1).Insert("y", 5, 1).Delete("y", 1).Commit()
	for _, key := range []Condition{{}, Equal("x"), Between("x", nil), Prefix("x"), OneOf("x", "y")} {
		for _, value := range []Condition{{}, Unequal(9), Modulo(2, 0)} {
			b.Begin("a").Query(key, value, Row{"x", 4}).Commit()
		}
	}
	b.Begin("b").Query(Condition{}, Condition{}, Row{"x", 3}).Commit()
	h, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Check("rc")
	if err != nil || r.Verdict("rc") != "fail" || len(r.Anomalies) != 1 {
		t.Fatal(r, err)
	}
	b = NewBuilder(nil)
	b.Begin("a").Query(Equal(1.5), Condition{}).Commit()
	if _, err := b.Finish(); err == nil {
		t.Fatal("1.5 is no key")
	}
}

func TestAMonitorFollowsAStream(t *testing.T) {
	m, err := NewMonitor("rc,si", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Completion{
		{"a", 1, 10, Committed, []Operation{Read("x", 0), Write("x", 1)}},
		{"b", 2, 10, Committed, []Operation{Read("x", 0), Write("x", 2)}},
		{"c", 0, 0, Aborted, []Operation{Append("l", 7)}},
		{"d", 0, 0, Unknown, []Operation{ReadUnknown("x")}},
		{"e", 0, 0, Committed, []Operation{ReadList("l")}},
	} {
		if err := m.Push(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Advance(20); err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	if m.Verdict("si") != "violated" || m.Verdict("rc") != "holds" || m.Verdict("ser") != "" {
		t.Fatal(m.Verdict("si"), m.Verdict("rc"), m.Verdict("ser"))
	}
	if v, err := m.Violation(); err != nil || v == nil || v.Anomalies[0].Name != "LostUpdate" {
		t.Fatal(v, err)
	}
	if m.Push(Completion{Session: 1.5}) == nil {
		t.Fatal("1.5 is no session")
	}
	if _, err := NewMonitor("nonsense", 0); err == nil {
		t.Fatal("nonsense is no level")
	}
}

func TestErrorsHaveTheirMessage(t *testing.T) {
	if _, err := Load("is-not-there.edn"); err == nil || !strings.Contains(err.Error(), "is-not-there.edn") {
		t.Fatal(err)
	}
	if _, err := lostUpdate(t).Check("nonsense"); err == nil {
		t.Fatal("nonsense is no level")
	}
	b := NewBuilder(0)
	b.Begin(1).Write("x", 1.5).Commit()
	if _, err := b.Finish(); err == nil {
		t.Fatal("1.5 is no value")
	}
}

func TestGoroutinesShareAHistory(t *testing.T) {
	h := lostUpdate(t)
	var wait sync.WaitGroup
	for i := 0; i < 4; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if r, err := h.Check(""); err != nil || len(r.Anomalies) != 1 {
				t.Error(r, err)
			}
		}()
	}
	wait.Wait()
}

func TestVersion(t *testing.T) {
	if !strings.Contains(Version(), ".") {
		t.Fatal(Version())
	}
}

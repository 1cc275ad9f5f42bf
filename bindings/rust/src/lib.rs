//! Which isolation level did this database really give its clients?
//!
//! ```no_run
//! let history = insula::History::load("history.edn").unwrap();
//! insula::assert_isolation(&history, "ser"); // panics with the report
//! ```
//!
//! A thin layer over libinsula's C interface: histories are loaded or built, checked, and
//! come back as plain structs.  Threads may share a `History`.
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_double, c_int, c_uint, c_void};
use std::ptr;

mod sys {
    use super::*;

    #[repr(C)]
    pub struct Error {
        pub status: c_int,
        pub message: [c_char; 1024],
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Literal {
        pub kind: c_int,
        pub number: u64,
        pub text: *const c_char,
        pub length: usize,
    }

    #[repr(C)]
    pub struct Condition {
        pub kind: c_int,
        pub ends: c_uint,
        pub a: Literal,
        pub b: Literal,
        pub among: *const Literal,
        pub count: usize,
    }

    #[repr(C)]
    pub struct MonitorOptions {
        pub levels: *const c_char,
        pub repeats: c_int,
        pub keep: u64,
        pub hold: u64,
        pub check_s: c_double,
        pub certificate: c_int,
        pub horizon_s: c_double,
    }

    #[repr(C)]
    pub struct Op {
        pub kind: c_int,
        pub key: Literal,
        pub value: Literal,
        pub element: *const Literal,
        pub elements: usize,
    }

    #[repr(C)]
    pub struct Completion {
        pub session: Literal,
        pub name: *const Literal,
        pub begin_ns: i64,
        pub end_ns: i64,
        pub status: c_int,
        pub op: *const Op,
        pub ops: usize,
        pub line: u64,
    }

    #[repr(C)]
    pub struct CheckOptions {
        pub levels: *const c_char,
        pub timeout_s: c_double,
        pub memory_limit: u64,
        pub threads: c_uint,
        pub max_listed: c_uint,
        pub certificate: *const c_char,
        pub progress: Option<extern "C" fn(*mut c_void, *const c_char, u64, u64) -> c_int>,
        pub progress_context: *mut c_void,
    }

    #[repr(C)]
    pub struct ReportItem {
        pub path: *const c_char,
        pub history: *const c_void,
        pub result: *const c_void,
        pub error: *const Error,
        pub run: *const c_void,
    }

    extern "C" {
        pub fn open_memstream(text: *mut *mut c_char, length: *mut usize) -> *mut c_void;
        pub fn fclose(file: *mut c_void) -> c_int;
        pub fn free(p: *mut c_void);

        pub fn insula_version() -> *const c_char;
        pub fn insula_builder_new() -> *mut c_void;
        pub fn insula_builder_free(b: *mut c_void);
        pub fn insula_builder_session(b: *mut c_void, name: Literal) -> c_uint;
        pub fn insula_initial(b: *mut c_void, value: Literal);
        pub fn insula_begin(b: *mut c_void, session: c_uint) -> c_uint;
        pub fn insula_read(b: *mut c_void, txn: c_uint, key: Literal, value: Literal);
        pub fn insula_read_list(b: *mut c_void, txn: c_uint, key: Literal, element: *const Literal, count: usize);
        pub fn insula_write(b: *mut c_void, txn: c_uint, key: Literal, value: Literal);
        pub fn insula_append(b: *mut c_void, txn: c_uint, key: Literal, value: Literal);
        pub fn insula_insert(b: *mut c_void, txn: c_uint, key: Literal, value: Literal, effect: c_int);
        pub fn insula_update(b: *mut c_void, txn: c_uint, key: Literal, value: Literal, effect: c_int);
        pub fn insula_delete(b: *mut c_void, txn: c_uint, key: Literal, effect: c_int);
        pub fn insula_cas(b: *mut c_void, txn: c_uint, key: Literal, old: Literal, value: Literal, effect: c_int);
        pub fn insula_query(b: *mut c_void, txn: c_uint, key: *const Condition, value: *const Condition, limit: c_uint);
        pub fn insula_row(b: *mut c_void, txn: c_uint, key: Literal, value: Literal);
        pub fn insula_query_end(b: *mut c_void, txn: c_uint, known: c_int);
        pub fn insula_times(b: *mut c_void, txn: c_uint, begin_ns: i64, end_ns: i64);
        pub fn insula_commit(b: *mut c_void, txn: c_uint);
        pub fn insula_abort(b: *mut c_void, txn: c_uint);
        pub fn insula_unknown(b: *mut c_void, txn: c_uint);
        pub fn insula_builder_finish(b: *mut c_void, e: *mut Error) -> *mut c_void;
        pub fn insula_history_free(h: *mut c_void);
        pub fn insula_load(path: *const c_char, options: *const c_void, e: *mut Error) -> *mut c_void;
        pub fn insula_check(h: *const c_void, o: *const CheckOptions, e: *mut Error) -> *mut c_void;
        pub fn insula_result_free(r: *mut c_void);
        pub fn insula_result_maximal(r: *const c_void, i: c_uint) -> *const c_char;
        pub fn insula_report(
            kind: *const c_char,
            item: *const ReportItem,
            count: usize,
            options: *const c_void,
            out: *mut c_void,
            e: *mut Error,
        ) -> c_int;
        pub fn insula_monitor_new(o: *const MonitorOptions, e: *mut Error) -> *mut c_void;
        pub fn insula_monitor_free(m: *mut c_void);
        pub fn insula_monitor_initial(m: *mut c_void, value: Literal);
        pub fn insula_monitor_push(m: *mut c_void, txn: *const Completion, e: *mut Error) -> c_int;
        pub fn insula_monitor_advance(m: *mut c_void, begin_ns: i64, e: *mut Error) -> c_int;
        pub fn insula_monitor_verdict(
            m: *mut c_void,
            level: *const c_char,
            reason: *mut *const c_char,
        ) -> *const c_char;
        pub fn insula_monitor_poll(m: *mut c_void, verdict: *mut *const c_char) -> *const c_char;
        pub fn insula_monitor_finish(m: *mut c_void, e: *mut Error) -> c_int;
        pub fn insula_monitor_history(m: *const c_void) -> *const c_void;
        pub fn insula_monitor_result(m: *const c_void) -> *const c_void;
        pub fn insula_walk_new(h: *const c_void, r: *const c_void, e: *mut Error) -> *mut c_void;
        pub fn insula_walk_free(w: *mut c_void);
        pub fn insula_walk_verdict(w: *const c_void, i: usize) -> *const c_void;
        pub fn insula_verdict_level(v: *const c_void) -> *const c_char;
        pub fn insula_verdict_verdict(v: *const c_void) -> *const c_char;
        pub fn insula_verdict_reason(v: *const c_void) -> *const c_char;
        pub fn insula_verdict_anomaly(v: *const c_void, i: usize) -> *const c_char;
        pub fn insula_walk_finding(w: *const c_void, i: usize) -> *const c_void;
        pub fn insula_finding_name(f: *const c_void) -> *const c_char;
        pub fn insula_finding_breaks(f: *const c_void) -> *const c_char;
        pub fn insula_finding_headline(f: *const c_void) -> *const c_char;
        pub fn insula_finding_txn(f: *const c_void, i: usize) -> *const c_void;
        pub fn insula_txn_id(t: *const c_void) -> *const c_char;
        pub fn insula_txn_session(t: *const c_void) -> *const c_char;
        pub fn insula_txn_operation(t: *const c_void, i: usize) -> *const c_void;
        pub fn insula_operation_text(o: *const c_void) -> *const c_char;
        pub fn insula_finding_edge(f: *const c_void, i: usize) -> *const c_void;
        pub fn insula_edge_from(e: *const c_void) -> *const c_char;
        pub fn insula_edge_to(e: *const c_void) -> *const c_char;
        pub fn insula_edge_type(e: *const c_void) -> *const c_char;
        pub fn insula_edge_why(e: *const c_void) -> *const c_char;
    }
}

const NO_TIME: i64 = i64::MIN;

/// What went wrong, with file and line where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub status: i32,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

fn no_error() -> sys::Error {
    sys::Error { status: 0, message: [0; 1024] }
}

fn failure(e: &sys::Error) -> Error {
    Error { status: e.status, message: text(e.message.as_ptr()).unwrap_or_default() }
}

fn text(p: *const c_char) -> Option<String> {
    if p.is_null() {
        None
    } else {
        Some(unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned())
    }
}

fn c_string(s: &str) -> Result<CString, Error> {
    CString::new(s).map_err(|_| Error { status: 6, message: "a text with a zero byte in it".into() })
}

/// The version of libinsula.
pub fn version() -> String {
    text(unsafe { sys::insula_version() }).unwrap_or_default()
}

/// A key, a value or the name of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literal<'a> {
    Int(i64),
    Text(&'a str),
    Nil,
}

impl From<i64> for Literal<'_> {
    fn from(n: i64) -> Self {
        Literal::Int(n)
    }
}

impl<'a> From<&'a str> for Literal<'a> {
    fn from(s: &'a str) -> Self {
        Literal::Text(s)
    }
}

impl Literal<'_> {
    fn raw(self) -> sys::Literal {
        match self {
            Literal::Int(n) => sys::Literal { kind: (n < 0) as c_int, number: n as u64, text: ptr::null(), length: 0 },
            Literal::Text(s) => sys::Literal { kind: 2, number: 0, text: s.as_ptr() as *const c_char, length: s.len() },
            Literal::Nil => sys::Literal { kind: 4, number: 0, text: ptr::null(), length: 0 },
        }
    }
}

/// Of the keys or the values of rows, for queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition<'a> {
    Any,
    Equal(Literal<'a>),
    /// of values
    Unequal(Literal<'a>),
    /// with both ends; None is no limit
    Between(Option<Literal<'a>>, Option<Literal<'a>>),
    /// of keys
    Prefix(&'a str),
    OneOf(Vec<Literal<'a>>),
    /// of values: divisor and rest
    Modulo(i64, i64),
}

impl<'a> Condition<'a> {
    /// `among` is where the literals of `OneOf` live.
    fn raw(&self, among: &mut Vec<sys::Literal>) -> sys::Condition {
        let nil = Literal::Nil;
        let (kind, ends, a, b) = match self {
            Condition::Any => (0, 0, nil, nil),
            Condition::Equal(v) => (1, 0, *v, nil),
            Condition::Unequal(v) => (2, 0, *v, nil),
            Condition::Between(low, high) => {
                (3, low.is_some() as c_uint | (high.is_some() as c_uint) << 2, low.unwrap_or(nil), high.unwrap_or(nil))
            }
            Condition::Prefix(s) => (4, 0, Literal::Text(s), nil),
            Condition::OneOf(all) => {
                among.extend(all.iter().map(|l| l.raw()));
                (5, 0, nil, nil)
            }
            Condition::Modulo(divisor, rest) => (6, 0, Literal::Int(*divisor), Literal::Int(*rest)),
        };
        sys::Condition { kind, ends, a: a.raw(), b: b.raw(), among: among.as_ptr(), count: among.len() }
    }
}

/// Builds a history call by call.  Failures are reported by `finish`.
pub struct Builder(*mut c_void);

/// A transaction of a builder.
#[derive(Debug, Clone, Copy)]
pub struct Txn(c_uint);

impl Builder {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Builder {
        let b = unsafe { sys::insula_builder_new() };
        assert!(!b.is_null(), "out of memory");
        Builder(b)
    }

    /// Every register starts as this; without it as nil.
    pub fn initial<'a>(&mut self, value: impl Into<Literal<'a>>) {
        unsafe { sys::insula_initial(self.0, value.into().raw()) }
    }

    /// A transaction at the end of its session.
    pub fn begin<'a>(&mut self, session: impl Into<Literal<'a>>) -> Txn {
        unsafe { Txn(sys::insula_begin(self.0, sys::insula_builder_session(self.0, session.into().raw()))) }
    }

    pub fn read<'a, 'b>(&mut self, t: Txn, key: impl Into<Literal<'a>>, value: impl Into<Literal<'b>>) {
        unsafe { sys::insula_read(self.0, t.0, key.into().raw(), value.into().raw()) }
    }

    pub fn read_list<'a>(&mut self, t: Txn, key: impl Into<Literal<'a>>, elements: &[Literal<'_>]) {
        let raw: Vec<sys::Literal> = elements.iter().map(|e| e.raw()).collect();
        unsafe { sys::insula_read_list(self.0, t.0, key.into().raw(), raw.as_ptr(), raw.len()) }
    }

    pub fn write<'a, 'b>(&mut self, t: Txn, key: impl Into<Literal<'a>>, value: impl Into<Literal<'b>>) {
        unsafe { sys::insula_write(self.0, t.0, key.into().raw(), value.into().raw()) }
    }

    pub fn append<'a, 'b>(&mut self, t: Txn, key: impl Into<Literal<'a>>, value: impl Into<Literal<'b>>) {
        unsafe { sys::insula_append(self.0, t.0, key.into().raw(), value.into().raw()) }
    }

    /// A row that was not there; `effect` 0 when it was, and nothing was done.
    pub fn insert<'a, 'b>(&mut self, t: Txn, key: impl Into<Literal<'a>>, value: impl Into<Literal<'b>>, effect: i32) {
        unsafe { sys::insula_insert(self.0, t.0, key.into().raw(), value.into().raw(), effect) }
    }

    /// A row that was there; `effect` 0 when there was none.
    pub fn update<'a, 'b>(&mut self, t: Txn, key: impl Into<Literal<'a>>, value: impl Into<Literal<'b>>, effect: i32) {
        unsafe { sys::insula_update(self.0, t.0, key.into().raw(), value.into().raw(), effect) }
    }

    pub fn delete<'a>(&mut self, t: Txn, key: impl Into<Literal<'a>>, effect: i32) {
        unsafe { sys::insula_delete(self.0, t.0, key.into().raw(), effect) }
    }

    /// Compare-and-set from `old` to `value`.
    pub fn cas<'a, 'b, 'c>(
        &mut self,
        t: Txn,
        key: impl Into<Literal<'a>>,
        old: impl Into<Literal<'b>>,
        value: impl Into<Literal<'c>>,
        effect: i32,
    ) {
        unsafe { sys::insula_cas(self.0, t.0, key.into().raw(), old.into().raw(), value.into().raw(), effect) }
    }

    /// All rows that satisfy both conditions; None when the result never arrived.
    pub fn query(
        &mut self,
        t: Txn,
        key: &Condition<'_>,
        value: &Condition<'_>,
        rows: Option<&[(Literal<'_>, Literal<'_>)]>,
    ) {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let (key, value) = (key.raw(&mut keys), value.raw(&mut values));
        unsafe {
            sys::insula_query(self.0, t.0, &key, &value, 0);
            for (k, v) in rows.unwrap_or(&[]) {
                sys::insula_row(self.0, t.0, k.raw(), v.raw());
            }
            sys::insula_query_end(self.0, t.0, rows.is_some() as c_int);
        }
    }

    /// Nanoseconds on one clock for all sessions.
    pub fn times(&mut self, t: Txn, begin: Option<i64>, end: Option<i64>) {
        unsafe { sys::insula_times(self.0, t.0, begin.unwrap_or(NO_TIME), end.unwrap_or(NO_TIME)) }
    }

    pub fn commit(&mut self, t: Txn) {
        unsafe { sys::insula_commit(self.0, t.0) }
    }

    pub fn abort(&mut self, t: Txn) {
        unsafe { sys::insula_abort(self.0, t.0) }
    }

    /// The client does not know whether it committed.
    pub fn unknown(&mut self, t: Txn) {
        unsafe { sys::insula_unknown(self.0, t.0) }
    }

    pub fn finish(mut self) -> Result<History, Error> {
        let mut e = no_error();
        let b = std::mem::replace(&mut self.0, ptr::null_mut());
        let h = unsafe { sys::insula_builder_finish(b, &mut e) };
        if h.is_null() {
            Err(failure(&e))
        } else {
            Ok(History(h))
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { sys::insula_builder_free(self.0) }
    }
}

/// A finished history.
pub struct History(*mut c_void);

// A finished history is read-only.
unsafe impl Send for History {}
unsafe impl Sync for History {}

impl Drop for History {
    fn drop(&mut self) {
        unsafe { sys::insula_history_free(self.0) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub level: String,
    /// "pass", "fail" or "unknown", then with a reason
    pub verdict: String,
    pub reason: Option<String>,
    pub anomalies: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub id: String,
    /// None for the initial transaction
    pub session: Option<String>,
    pub operations: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub from: String,
    pub to: String,
    /// "so", "wr", "ww", "rw", "rt" or "co"
    pub kind: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    pub name: String,
    pub breaks: String,
    pub headline: String,
    pub transactions: Vec<Party>,
    pub edges: Vec<Edge>,
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub verdicts: Vec<Verdict>,
    pub anomalies: Vec<Anomaly>,
    /// the strongest levels that passed
    pub maximal: Vec<String>,
    /// the text report
    pub report: String,
}

impl Outcome {
    /// "pass", "fail", "unknown"; None for a level that was not asked for.
    pub fn verdict(&self, level: &str) -> Option<&str> {
        self.verdicts.iter().find(|v| v.level == level).map(|v| v.verdict.as_str())
    }
}

/// All that `get` hands out before its first NULL.
fn each<T>(get: impl Fn(usize) -> *const c_void, make: impl Fn(*const c_void) -> T) -> Vec<T> {
    (0..).map(get).take_while(|p| !p.is_null()).map(make).collect()
}

fn owned(p: *const c_char) -> String {
    text(p).unwrap_or_default()
}

unsafe fn anomaly_of(f: *const c_void) -> Anomaly {
    Anomaly {
        name: owned(sys::insula_finding_name(f)),
        breaks: owned(sys::insula_finding_breaks(f)),
        headline: owned(sys::insula_finding_headline(f)),
        transactions: each(
            |i| sys::insula_finding_txn(f, i),
            |t| Party {
                id: owned(sys::insula_txn_id(t)),
                session: text(sys::insula_txn_session(t)),
                operations: each(|i| sys::insula_txn_operation(t, i), |o| owned(sys::insula_operation_text(o))),
            },
        ),
        edges: each(
            |i| sys::insula_finding_edge(f, i),
            |e| Edge {
                from: owned(sys::insula_edge_from(e)),
                to: owned(sys::insula_edge_to(e)),
                kind: owned(sys::insula_edge_type(e)),
                why: owned(sys::insula_edge_why(e)),
            },
        ),
    }
}

unsafe fn verdict_of(v: *const c_void) -> Verdict {
    Verdict {
        level: owned(sys::insula_verdict_level(v)),
        verdict: owned(sys::insula_verdict_verdict(v)),
        reason: text(sys::insula_verdict_reason(v)),
        anomalies: (0..).map_while(|i| text(sys::insula_verdict_anomaly(v, i))).collect(),
    }
}

impl History {
    /// Read a file in any format that insula knows.
    pub fn load(path: &str) -> Result<History, Error> {
        let (path, mut e) = (c_string(path)?, no_error());
        let h = unsafe { sys::insula_load(path.as_ptr(), ptr::null(), &mut e) };
        if h.is_null() {
            Err(failure(&e))
        } else {
            Ok(History(h))
        }
    }

    /// Decide levels ("rc,si"), or with None all that the history can decide.
    pub fn check(&self, levels: Option<&str>) -> Result<Outcome, Error> {
        let levels = levels.map(c_string).transpose()?;
        let options = sys::CheckOptions {
            levels: levels.as_ref().map_or(ptr::null(), |l| l.as_ptr()),
            timeout_s: 0.0,
            memory_limit: 0,
            threads: 0,
            max_listed: 0,
            certificate: ptr::null(),
            progress: None,
            progress_context: ptr::null_mut(),
        };
        let mut e = no_error();
        unsafe {
            let r = sys::insula_check(self.0, &options, &mut e);
            if r.is_null() {
                return Err(failure(&e));
            }
            let outcome = outcome_of(self.0, r);
            sys::insula_result_free(r);
            outcome
        }
    }
}

unsafe fn outcome_of(h: *const c_void, r: *const c_void) -> Result<Outcome, Error> {
    let mut e = no_error();
    let w = sys::insula_walk_new(h, r, &mut e);
    if w.is_null() {
        return Err(failure(&e));
    }
    let verdicts = each(|i| sys::insula_walk_verdict(w, i), |v| verdict_of(v));
    let anomalies = each(|i| sys::insula_walk_finding(w, i), |f| anomaly_of(f));
    sys::insula_walk_free(w);
    let maximal = (0..).map_while(|i| text(sys::insula_result_maximal(r, i))).collect();
    Ok(Outcome { verdicts, anomalies, maximal, report: report_of(h, r)? })
}

unsafe fn report_of(h: *const c_void, r: *const c_void) -> Result<String, Error> {
    let (mut at, mut length, mut e) = (ptr::null_mut(), 0, no_error());
    let (kind, path) = (c_string("text")?, c_string("history")?);
    let out = sys::open_memstream(&mut at, &mut length);
    if out.is_null() {
        return Err(Error { status: 3, message: "out of memory".into() });
    }
    let item = sys::ReportItem { path: path.as_ptr(), history: h, result: r, error: ptr::null(), run: ptr::null() };
    let status = sys::insula_report(kind.as_ptr(), &item, 1, ptr::null(), out, &mut e);
    sys::fclose(out);
    let report = text(at).unwrap_or_default();
    sys::free(at as *mut c_void);
    if status != 0 {
        return Err(failure(&e));
    }
    Ok(report)
}
/// What a client did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation<'a> {
    Read(Literal<'a>, Literal<'a>),
    Write(Literal<'a>, Literal<'a>),
    ReadList(Literal<'a>, Vec<Literal<'a>>),
    Append(Literal<'a>, Literal<'a>),
    /// the result never arrived
    ReadUnknown(Literal<'a>),
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Committed,
    Aborted,
    /// the client does not know whether it committed
    Unknown,
}

/// Verdicts while transactions arrive.  "violated" is final, and rests on one promise: no value is
/// written to a key twice, and none is read before the transaction that writes it has begun.
pub struct Monitor(*mut c_void);

// One thread at a time uses it: every call that changes something takes it exclusively.
unsafe impl Send for Monitor {}

impl Drop for Monitor {
    fn drop(&mut self) {
        unsafe { sys::insula_monitor_free(self.0) }
    }
}

impl Monitor {
    /// Of these levels ("si,ser"), or with None of all; registers start as `initial`.
    pub fn new<'a>(levels: Option<&str>, initial: impl Into<Literal<'a>>) -> Result<Monitor, Error> {
        let levels = levels.map(c_string).transpose()?;
        let options = sys::MonitorOptions {
            levels: levels.as_ref().map_or(ptr::null(), |l| l.as_ptr()),
            repeats: 0,
            keep: 0,
            hold: 0,
            check_s: 0.0,
            horizon_s: 0.0,
            certificate: 0,
        };
        let mut e = no_error();
        let m = unsafe { sys::insula_monitor_new(&options, &mut e) };
        if m.is_null() {
            return Err(failure(&e));
        }
        unsafe { sys::insula_monitor_initial(m, initial.into().raw()) };
        Ok(Monitor(m))
    }

    /// A transaction has completed; those of a session come in its order.
    pub fn push<'a>(
        &mut self,
        session: impl Into<Literal<'a>>,
        times: Option<(i64, i64)>,
        ended: Ended,
        operations: &[Operation<'_>],
    ) -> Result<(), Error> {
        let lists: Vec<Vec<sys::Literal>> = operations
            .iter()
            .map(|o| match o {
                Operation::ReadList(_, all) => all.iter().map(|l| l.raw()).collect(),
                _ => Vec::new(),
            })
            .collect();
        let ops: Vec<sys::Op> = operations
            .iter()
            .zip(&lists)
            .map(|(o, list)| {
                let (kind, key, value) = match o {
                    Operation::Read(k, v) => (0, k, *v),
                    Operation::Write(k, v) => (1, k, *v),
                    Operation::ReadList(k, _) => (2, k, Literal::Nil),
                    Operation::Append(k, v) => (3, k, *v),
                    Operation::ReadUnknown(k) => (4, k, Literal::Nil),
                };
                sys::Op { kind, key: key.raw(), value: value.raw(), element: list.as_ptr(), elements: list.len() }
            })
            .collect();
        let (begin_ns, end_ns) = times.unwrap_or((NO_TIME, NO_TIME));
        let txn = sys::Completion {
            session: session.into().raw(),
            name: ptr::null(),
            begin_ns,
            end_ns,
            status: ended as c_int,
            op: ops.as_ptr(),
            ops: ops.len(),
            line: 0,
        };
        let mut e = no_error();
        done(unsafe { sys::insula_monitor_push(self.0, &txn, &mut e) }, &e)
    }

    /// No transaction that is still to come began before this time.
    pub fn advance(&mut self, begin_ns: i64) -> Result<(), Error> {
        let mut e = no_error();
        done(unsafe { sys::insula_monitor_advance(self.0, begin_ns, &mut e) }, &e)
    }

    /// Nothing is to come: what is open is decided.
    pub fn finish(&mut self) -> Result<(), Error> {
        let mut e = no_error();
        done(unsafe { sys::insula_monitor_finish(self.0, &mut e) }, &e)
    }

    /// "holds" so far, "violated", or "open"; None for a level that was not asked for.
    pub fn verdict(&mut self, level: &str) -> Option<String> {
        let level = c_string(level).ok()?;
        text(unsafe { sys::insula_monitor_verdict(self.0, level.as_ptr(), ptr::null_mut()) })
    }

    /// Levels whose verdict has changed since the last call.
    pub fn changes(&mut self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut verdict = ptr::null();
        while let Some(level) = text(unsafe { sys::insula_monitor_poll(self.0, &mut verdict) }) {
            all.push((level, owned(verdict)));
        }
        all
    }

    /// The evidence of the last violation.
    pub fn violation(&self) -> Result<Option<Outcome>, Error> {
        unsafe {
            let (h, r) = (sys::insula_monitor_history(self.0), sys::insula_monitor_result(self.0));
            if h.is_null() || r.is_null() {
                return Ok(None);
            }
            outcome_of(h, r).map(Some)
        }
    }
}

fn done(status: c_int, e: &sys::Error) -> Result<(), Error> {
    if status == 0 {
        Ok(())
    } else {
        Err(failure(e))
    }
}

/// Panics with the text report unless the level holds; what is not decided does not hold.
pub fn assert_isolation(history: &History, level: &str) {
    match history.check(Some(level)) {
        Ok(outcome) if outcome.verdicts.iter().all(|v| v.verdict == "pass") => (),
        Ok(outcome) => panic!("isolation {} does not hold\n\n{}", level, outcome.report),
        Err(e) => panic!("isolation {} could not be checked: {}", level, e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_update() -> History {
        let mut b = Builder::new();
        b.initial(0);
        for value in [1, 2] {
            let t = b.begin(value);
            b.read(t, "x", 0);
            b.write(t, "x", value);
            b.commit(t);
        }
        b.finish().unwrap()
    }

    #[test]
    fn a_lost_update_is_found() {
        let outcome = lost_update().check(None).unwrap();
        assert_eq!(outcome.verdict("ser"), Some("fail"));
        assert_eq!(outcome.maximal, ["pc"]);
        let a = &outcome.anomalies[0];
        assert_eq!(a.name, "LostUpdate");
        assert_eq!(a.transactions[0].operations, ["r(x)=0", "w(x)=1"]);
        assert_eq!(a.edges[0].from, a.edges.last().unwrap().to);
        assert!(outcome.report.contains("LostUpdate"));
    }

    #[test]
    fn weaker_levels_hold() {
        assert_isolation(&lost_update(), "rc");
    }

    #[test]
    #[should_panic(expected = "LostUpdate")]
    fn an_assertion_fails_with_the_report() {
        assert_isolation(&lost_update(), "si");
    }

    #[test]
    fn lists_times_and_outcomes() {
        let mut b = Builder::new();
        let t = b.begin("a");
        b.append(t, "l", 1);
        b.times(t, Some(1), Some(2));
        b.commit(t);
        let t = b.begin("a");
        b.append(t, "l", 2);
        b.abort(t);
        let t = b.begin("b");
        b.read_list(t, "l", &[Literal::Int(1), Literal::Int(2)]);
        b.commit(t);
        let t = b.begin("c");
        b.append(t, "l", 3);
        b.unknown(t);
        let outcome = b.finish().unwrap().check(Some("rc")).unwrap();
        assert_eq!(outcome.anomalies[0].name, "AbortedRead");
    }

    #[test]
    fn rows_come_and_go() {
        let mut b = Builder::new();
        let t = b.begin("a");
        b.insert(t, "x", 1, 1);
        b.insert(t, "x", 2, 0);
        b.update(t, "x", 3, 1);
        b.cas(t, "x", 3, 4, 1);
        b.insert(t, "y", 5, 1);
        b.delete(t, "y", 1);
        b.commit(t);
        let (x, four) = (Literal::Text("x"), Literal::Int(4));
        for key in [
            Condition::Any,
            Condition::Equal(x),
            Condition::Between(Some(x), None),
            Condition::Prefix("x"),
            Condition::OneOf(vec![x, Literal::Text("y")]),
        ] {
            for value in [Condition::Any, Condition::Unequal(Literal::Int(9)), Condition::Modulo(2, 0)] {
                let t = b.begin("a");
                b.query(t, &key, &value, Some(&[(x, four)]));
                b.query(t, &key, &value, None);
                b.commit(t);
            }
        }
        let t = b.begin("b");
        b.query(t, &Condition::Any, &Condition::Any, Some(&[(x, Literal::Int(3))]));
        b.commit(t);
        let outcome = b.finish().unwrap().check(Some("rc")).unwrap();
        assert_eq!(outcome.verdict("rc"), Some("fail"));
        assert_eq!(outcome.anomalies.len(), 1, "{}", outcome.report);
    }

    #[test]
    fn a_monitor_follows_a_stream() {
        let (x, zero) = (Literal::Text("x"), Literal::Int(0));
        let mut m = Monitor::new(Some("rc,si"), 0).unwrap();
        for (session, value) in [("a", 1), ("b", 2)] {
            assert!(m.violation().unwrap().is_none());
            let did = [Operation::Read(x, zero), Operation::Write(x, value.into())];
            m.push(session, Some((value, 10)), Ended::Committed, &did).unwrap();
        }
        m.push("c", None, Ended::Aborted, &[Operation::Append("l".into(), zero)]).unwrap();
        m.push("d", None, Ended::Unknown, &[Operation::ReadUnknown(x)]).unwrap();
        m.push("d", None, Ended::Committed, &[Operation::ReadList("l".into(), vec![])]).unwrap();
        m.advance(20).unwrap();
        m.finish().unwrap();
        assert_eq!(m.verdict("si").as_deref(), Some("violated"));
        assert_eq!(m.verdict("rc").as_deref(), Some("holds"));
        assert!(m.verdict("ser").is_none());
        assert!(m.changes().contains(&("si".into(), "violated".into())));
        assert_eq!(m.violation().unwrap().unwrap().anomalies[0].name, "LostUpdate");
        assert!(Monitor::new(Some("nonsense"), 0).is_err());
    }

    #[test]
    fn errors_have_their_message() {
        let e = History::load("is-not-there.edn").err().unwrap();
        assert!(e.message.contains("is-not-there.edn"));
        assert!(lost_update().check(Some("nonsense")).is_err());
        assert!(History::load("with\0zero").is_err());
    }

    #[test]
    fn threads_share_a_history() {
        let h = std::sync::Arc::new(lost_update());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let h = h.clone();
                std::thread::spawn(move || h.check(None).unwrap().maximal)
            })
            .collect();
        for t in threads {
            assert_eq!(t.join().unwrap(), ["pc"]);
        }
    }

    #[test]
    fn the_version_is_that_of_the_crate() {
        assert_eq!(
            version(),
            include_str!("../Cargo.toml").split("version = \"").nth(1).unwrap().split('"').next().unwrap()
        );
    }
}

"""Which isolation level did this database really give its clients?

    import insula
    result = insula.check("history.edn")
    print(result.strongest, result["ser"].verdict)

    h = insula.History()
    with h.transaction(session=1) as t:
        t.read("x", 0)
        t.write("x", 1)
    insula.assert_isolation(h, "ser")
"""
from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native
from ._native import Error

__all__ = ["History", "Transaction", "Result", "Verdict", "Anomaly", "Party", "Operation", "Edge", "Error", "IsolationError",
           "Condition", "equal", "unequal", "between", "prefix", "one_of", "modulo", "Monitor", "Standing", "Violation",
           "check", "load", "generate", "explain", "assert_isolation", "__version__"]
__version__: str = _native.version

Literal = Union[int, str, None]
Progress = Callable[[str, int, int], Any]


@dataclass(frozen=True)
class Operation:
    """One that matters: kind is "read", "write", "append", "read-list", "query" or "read-unknown"."""
    kind: str
    key: Optional[str]
    value: Optional[str]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Party:
    """A transaction that takes part in an anomaly; session is None for the initial one."""
    id: str
    session: Optional[str]
    node: Optional[str]
    outcome: str
    line: Optional[int]
    operations: Tuple[Operation, ...]


@dataclass(frozen=True)
class Edge:
    """type is "so", "wr", "ww", "rw", "rt" or "co"; source and target are ids of transactions."""
    source: str
    target: str
    type: str
    key: Optional[str]
    why: str


@dataclass(frozen=True)
class Anomaly:
    name: str
    breaks: str
    headline: str
    transactions: Tuple[Party, ...]
    edges: Tuple[Edge, ...]

    def __str__(self) -> str:
        return "%s: %s" % (self.name, self.headline)


@dataclass(frozen=True)
class Verdict:
    """verdict is "pass", "fail" or "unknown", then with its reason."""
    level: str
    name: str
    verdict: str
    reason: Optional[str]
    seconds: float
    holds_without_sessions: bool
    anomalies: Tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.verdict == "pass"


class Condition(NamedTuple):
    """On the keys or the values of rows, for queries; made by equal, between and so on."""
    kind: int
    ends: int = 0
    a: Literal = None
    b: Literal = None
    among: Tuple[Literal, ...] = ()


def equal(value: Literal) -> Condition:
    return Condition(1, a=value)


def unequal(value: Literal) -> Condition:
    """Of values only."""
    return Condition(2, a=value)


def between(low: Literal = None, high: Literal = None, *, without_low: bool = False, without_high: bool = False) -> Condition:
    """From low to high, both of them in it unless told otherwise; None is no limit."""
    ends = (0 if low is None else 1 + 2 * without_low) | (0 if high is None else 4 + 8 * without_high)
    return Condition(3, ends, low, high)


def prefix(text: str) -> Condition:
    """Of keys only."""
    return Condition(4, a=text)


def one_of(*values: Literal) -> Condition:
    return Condition(5, among=values)


def modulo(divisor: int, rest: int) -> Condition:
    """Of values only."""
    return Condition(6, a=divisor, b=rest)


class Transaction:
    """Under construction.  As a context it commits at its end, and aborts on an exception."""

    def __init__(self, session: Literal, begin: Optional[int], end: Optional[int], node: Literal):
        self.session, self.begin, self.end, self.node = session, begin, end, node
        self.outcome = "committed"
        self.operations: List[Tuple[Any, ...]] = []

    def read(self, key: Literal, value: Union[Literal, Sequence[Literal]]) -> "Transaction":
        """What was read: a value, or the elements of a list."""
        if isinstance(value, (list, tuple)):
            self.operations.append(("read-list", key, value))
        else:
            self.operations.append(("read", key, value))
        return self

    def read_unknown(self, key: Literal, is_list: bool = False) -> "Transaction":
        """A read whose result never arrived."""
        self.operations.append(("read-list-unknown" if is_list else "read-unknown", key, None))
        return self

    def write(self, key: Literal, value: Literal) -> "Transaction":
        self.operations.append(("write", key, value))
        return self

    def append(self, key: Literal, value: Literal) -> "Transaction":
        self.operations.append(("append", key, value))
        return self

    def insert(self, key: Literal, value: Literal, effect: int = 1) -> "Transaction":
        """A row that was not there; effect 0 when it was, and nothing was done."""
        self.operations.append(("insert", key, value, None, effect))
        return self

    def update(self, key: Literal, value: Literal, effect: int = 1) -> "Transaction":
        """A row that was there; effect 0 when there was none."""
        self.operations.append(("update", key, value, None, effect))
        return self

    def delete(self, key: Literal, effect: int = 1) -> "Transaction":
        self.operations.append(("delete", key, None, None, effect))
        return self

    def cas(self, key: Literal, old: Literal, value: Literal, effect: int = 1) -> "Transaction":
        """Compare-and-set; effect 0 when it was not `old`."""
        self.operations.append(("cas", key, old, value, effect))
        return self

    def query(self, rows: Optional[Iterable[Tuple[Literal, Literal]]], key: Optional[Condition] = None,
              value: Optional[Condition] = None, limit: int = 0) -> "Transaction":
        """All rows that satisfy both conditions, as (key, value); None when the result never arrived."""
        self.operations.append(("query", key, value, limit, None if rows is None else list(rows)))
        return self

    def abort(self) -> "Transaction":
        self.outcome = "aborted"
        return self

    def unknown(self) -> "Transaction":
        """The client does not know whether it committed."""
        self.outcome = "indeterminate"
        return self

    def _tuple(self) -> Tuple[Any, ...]:
        return (self.session, self.operations, self.outcome, self.begin, self.end, self.node)

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is not None:
            self.abort()


class History:
    """A history, loaded or built transaction by transaction.

    `initial` is what every register starts as (None is nil), or a dict with the value of each key."""

    def __init__(self, initial: Union[Literal, Dict[Literal, Literal]] = None):
        self.initial = initial
        self.path = "history"
        self._transactions: List[Transaction] = []
        self._handle: Any = None

    @classmethod
    def _of(cls, handle: Any, path: str) -> "History":
        h = cls()
        h._handle, h.path = handle, path
        return h

    def transaction(self, session: Literal, *operations: Tuple[str, Literal, Any], begin: Optional[int] = None,
                    end: Optional[int] = None, node: Literal = None) -> Transaction:
        """Add a transaction at the end of its session.  Times are nanoseconds on one clock."""
        if self._handle is not None and not self._transactions:
            raise ValueError("a history that was loaded cannot be added to")
        t = Transaction(session, begin, end, node)
        t.operations.extend(operations)
        self._transactions.append(t)
        self._handle = None
        return t

    @property
    def handle(self) -> Any:
        if self._handle is None:
            self._handle = _native.build(
                [t._tuple() for t in self._transactions], self.initial)
        return self._handle

    def check(self, levels: Optional[str] = None, **options: Any) -> "Result":
        return check(self, levels, **options)

    def save(self, path: Union[str, "os.PathLike[str]"], format: str = "insula", lossy: bool = False) -> None:
        _native.save(self.handle, format, os.fspath(path), int(lossy))

    def stats(self) -> Dict[str, Any]:
        return dict(json.loads(_native.stats(self.handle, self.path)))


@dataclass(frozen=True)
class Result:
    """Verdicts and anomalies of a history.  In a notebook it shows the picture of the anomalies."""
    history: History = field(repr=False)
    verdicts: Tuple[Verdict, ...]
    anomalies: Tuple[Anomaly, ...] = field(repr=False)
    maximal: Tuple[str, ...]
    counts: Dict[str, int]
    handle: Any = field(repr=False, compare=False)

    @property
    def strongest(self) -> Optional[str]:
        """The last of the strongest levels that passed; all of them are in `maximal`."""
        return self.maximal[-1] if self.maximal else None

    @property
    def passed(self) -> bool:
        return all(v.passed for v in self.verdicts)

    def __getitem__(self, level: str) -> Verdict:
        wanted = _native.level_id(level)
        for v in self.verdicts:
            if v.level == wanted:
                return v
        raise KeyError(level)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def promise(self, level: str) -> str:
        """Is a promise of this level "kept", "broken" or "undecided"?"""
        return _native.promise(self.handle, level)

    def report(self, kind: str = "text", width: int = 80, color: bool = False, all: bool = False) -> str:
        """kind is "text", "json", "html", "dot", "svg" or "junit"."""
        return _native.report(kind, self.history.handle, self.handle, self.history.path, width, int(color), int(all))

    def to_json(self) -> Dict[str, Any]:
        return dict(json.loads(self.report("json")))

    def __str__(self) -> str:
        return self.report()

    def _repr_svg_(self) -> Optional[str]:
        return self.report("svg") if self.anomalies else None


class IsolationError(AssertionError):
    """Its message is the text report; `result` has the pieces."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


def load(path: Union[str, "os.PathLike[str]"], format: Optional[str] = None, init: Optional[str] = None,
         order: Optional[str] = None, threads: int = 0, timeout: float = 0, memory_limit: int = 0,
         progress: Optional[Progress] = None) -> History:
    """Read a history; the format is detected unless it is given."""
    name = os.fspath(path)
    return History._of(_native.load(name, format, init, order, threads, timeout, memory_limit, progress), name)


def check(history: Union[History, str, "os.PathLike[str]"], levels: Optional[str] = None, *, timeout: float = 0,
          memory_limit: int = 0, threads: int = 0, max_listed: int = 0, certificate: Optional[str] = None,
          progress: Optional[Progress] = None) -> Result:
    """Decide levels ("rc,si"; all that the history can decide without it) of a history or file.

    `progress(stage, done, total)` is called now and then; when it returns something true, what is open is unknown."""
    h = history if isinstance(history, History) else load(history, threads=threads)
    handle = _native.check(h.handle, levels, timeout, memory_limit, threads, max_listed, certificate, progress)
    return Result(h, *_pieces(_native.walk(h.handle, handle)), handle)


def _pieces(walk: Any) -> Tuple[Tuple[Verdict, ...], Tuple[Anomaly, ...], Tuple[str, ...], Dict[str, int]]:
    verdicts, findings, maximal, counts = walk
    return (tuple(Verdict(level, name, verdict, reason, took, free, tuple(found))
                  for level, name, verdict, reason, took, free, found in verdicts),
            tuple(Anomaly(name, breaks, headline,
                          tuple(Party(id, session, node, outcome, line or None, tuple(Operation(*o) for o in ops))
                                for id, session, node, outcome, line, ops in txns),
                          tuple(Edge(*e) for e in edges)) for name, breaks, headline, txns, edges in findings),
            tuple(maximal), dict(counts))


@dataclass(frozen=True)
class Standing:
    """How a level stands: verdict is "holds" so far, "violated" for good, or "open", then with its reason."""
    level: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Violation:
    """What proves it: a check of the part of the stream that it was found in."""
    verdicts: Tuple[Verdict, ...]
    anomalies: Tuple[Anomaly, ...]
    maximal: Tuple[str, ...]
    counts: Dict[str, int]
    report: str = field(repr=False)
    svg: str = field(repr=False)

    def __str__(self) -> str:
        return self.report

    def _repr_svg_(self) -> str:
        return self.svg


class Monitor:
    """Verdicts while transactions arrive; threads may share it.

        m = insula.Monitor("si,ser", initial=0)
        with m.transaction("alice", begin=10, end=25) as t:
            t.read("x", 0)
            t.write("x", 1)
        m.verdicts["ser"].verdict      # "holds", "violated" or "open"

    "violated" is final and rests on one promise: no value is written to a key twice, and none is read before
    the transaction that writes it has begun.  Where that does not hold, set `repeats`."""

    def __init__(self, levels: Optional[str] = None, *, initial: Union[Literal, Dict[Literal, Literal]] = None,
                 repeats: bool = False, keep: int = 0, check_timeout: float = 0):
        self._lock = threading.Lock()
        self._handle = _native.monitor(levels, int(repeats), keep, check_timeout, initial)

    def push(self, transaction: Transaction) -> None:
        """One that has completed.  Those of a session come in its order."""
        with self._lock:
            _native.push(self._handle, transaction._tuple())

    def transaction(self, session: Literal, begin: Optional[int] = None, end: Optional[int] = None) -> "Transaction":
        """As a context: it is pushed at its end, as aborted on an exception."""
        return _Streamed(self, session, begin, end)

    def feed(self, data: bytes, format: Optional[str] = None, last: bool = False) -> None:
        """Bytes of a history that grows: "insula", "edn" or "json", told from the first line without `format`."""
        with self._lock:
            _native.feed(self._handle, format, data, last)

    def advance(self, begin: int) -> None:
        """No transaction that is still to come began before this time."""
        with self._lock:
            _native.advance(self._handle, begin)

    def finish(self) -> Dict[str, Standing]:
        """Nothing is to come: what is open is decided as far as it was kept."""
        with self._lock:
            _native.advance(self._handle, None)
        return self.verdicts

    @property
    def verdicts(self) -> Dict[str, Standing]:
        with self._lock:
            return {level: Standing(level, verdict, why) for level, verdict, why in _native.standing(self._handle)}

    def changes(self) -> List[Tuple[str, str]]:
        """Levels whose verdict has changed since the last call, each with its verdict."""
        with self._lock:
            return _native.poll(self._handle)

    @property
    def counts(self) -> Dict[str, int]:
        """transactions, kept, waiting, checks, violated_at, forgotten"""
        with self._lock:
            return _native.counts(self._handle)

    @property
    def violation(self) -> Optional[Violation]:
        """The evidence of the last violation; None while there is none."""
        with self._lock:
            found = _native.evidence(self._handle)
        return found and Violation(*_pieces(found[0]), found[1], found[2])


class _Streamed(Transaction):
    def __init__(self, monitor: Monitor, session: Literal, begin: Optional[int], end: Optional[int]):
        super().__init__(session, begin, end, None)
        self._monitor = monitor

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        super().__exit__(kind, value, trace)
        self._monitor.push(self)


def generate(level: Optional[str] = None, inject: Optional[str] = None, sessions: int = 0, txns: int = 0, ops: int = 0,
             keys: int = 0, reads: float = 0, list: bool = False, mini: bool = False, seed: int = 0) -> History:
    """A history of the simulated store; zero means the default of `insula gen`."""
    return History._of(_native.generate(level, inject, sessions, txns, ops, keys, reads, int(list), int(mini), seed),
                       "generated")


def explain(name: str) -> str:
    """What a level or an anomaly means."""
    return _native.explain(name)


def assert_isolation(history: Union[History, str, "os.PathLike[str]"], level: str, **options: Any) -> Result:
    """Raise an IsolationError with the text report unless the level holds.

    A level that could not be decided is an error too: an assertion must not pass by chance."""
    __tracebackhide__ = True
    result = check(history, level, **options)
    if not result[level].passed:
        raise IsolationError("isolation %s: %s\n\n%s" % (level, result[level].verdict, result.report()), result)
    return result

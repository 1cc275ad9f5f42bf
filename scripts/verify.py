#!/usr/bin/env python3
"""A second verifier of certificates, written from docs/certificates.md alone.

    verify.py HISTORY CERTIFICATE     HISTORY in `insula` text (insula convert -t insula)
    verify.py --batch                 pairs of paths on standard input, a verdict a line

Plain and slow: sets, dictionaries and searches; nothing but Python's own library.  Exit
status 0 when everything that the certificate claims is proved, 1 when not, 3 when the
history cannot be read.  The comments give the sections of the page.
"""
import re
import sys

# ---- the history, in `insula` text ----

TOKEN = re.compile(r'''
    (?P<blank>(?:[ \t\r,]|\\\r?\n)+) | (?P<comment>\#[^\n]*) | (?P<line>\n) |
    (?P<edn>edn"(?:[^"\\]|\\.)*") | (?P<string>:?"(?:[^"\\]|\\.)*") |
    (?P<keyword>:[A-Za-z0-9_./-]+) |
    (?P<time>(?:-?[0-9]+)?\.\.(?:-?[0-9]+)?) | (?P<number>-?[0-9]+(?![A-Za-z0-9_./-])) |
    (?P<word>[A-Za-z_][A-Za-z0-9_./-]*) | (?P<mark>[][()=?@:{}<>!%^])
''', re.X | re.S)


class BadHistory(Exception):
    pass


def unescape(text):
    short = {'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}
    return re.sub(r'\\(x[0-9a-fA-F]{2}|.)',
                  lambda m: chr(int(m[1][1:], 16)) if m[1][0] == 'x' and len(m[1]) == 3
                  else short.get(m[1], m[1]), text, flags=re.S)


def literal(kind, text):
    if kind == 'number':
        return ('number', int(text))
    if kind == 'word':
        return ('nil',) if text == 'nil' else ('string', text)
    if kind == 'string' and text[0] == ':':
        return ('keyword', unescape(text[2:-1]))
    if kind == 'string':
        return ('string', unescape(text[1:-1]))
    if kind == 'keyword':
        return ('keyword', text[1:])
    if kind == 'edn':
        return ('edn', unescape(text[4:-1]))
    raise BadHistory('expected a literal, not ' + text)


def lines_of(text):
    line, at, glued = [], 0, False
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise BadHistory('strange text: %r' % text[at:at + 20])
        kind = m.lastgroup
        # a colon behind a blank and before a word begins a keyword, else it ends a head
        if kind in ('keyword', 'string') and m[0][0] == ':' and glued:
            m = re.compile('(?P<mark>:)').match(text, at)
            kind = 'mark'
        if kind == 'line':
            if line:
                yield line
            line = []
        elif kind not in ('blank', 'comment'):
            line.append((kind, m[0]))
        glued = kind not in ('blank', 'comment', 'line') and m[0] not in '=([{<>!%^'
        at = m.end()
    if line:
        yield line


NIL = ('nil',)  # as a value, with statements: the row is not there


def in_order_of_keys(lit):
    """Numbers by size, strings and keywords by their bytes, then the rest."""
    return ('number', 'string', 'keyword', 'edn', 'nil').index(lit[0]), lit[1:]


class Condition:
    """On the keys or the values of a query: tests that must all hold."""
    def __init__(self):
        self.tests, self.set = [], None

    def add(self, sign, a, b=None):
        if sign == 'in':
            self.set = a
        self.tests.append((sign, a, b))

    def holds(self, lit):
        return all(self.test(lit, *t) for t in self.tests)

    @staticmethod
    def test(lit, sign, a, b):
        if sign in ('=', '!='):
            return (lit == a) == (sign == '=')
        if sign == 'in':
            return lit in a
        if sign == '%':
            return lit[0] == 'number' and lit[1] % a[1] == b[1]
        if lit[0] != a[0] or lit == NIL:
            return False
        if sign == '^':
            return lit[1].startswith(a[1])
        return {'<': lit[1] < a[1], '<=': lit[1] <= a[1],
                '>': lit[1] > a[1], '>=': lit[1] >= a[1]}[sign]


class Statement:
    def __init__(self, kind, ops):
        self.kind, self.ops, self.effect, self.old = kind, ops, True, None
        self.key, self.value, self.limit = Condition(), Condition(), 0

    def asks_value(self, value):
        return value != NIL and self.value.holds(value)

    def fits(self, value):
        """May a read among several versions, of this statement, have seen this value?"""
        if self.kind == 'insert':
            return (value == NIL) == self.effect
        if self.kind in ('delete', 'update'):
            return (value != NIL) == self.effect
        if self.kind == 'cas':
            return value != self.old
        return not self.asks_value(value)


class Txn:
    def __init__(self, session):
        self.session, self.status = session, 'commit'
        self.begin = self.end = None
        self.ops = []


class Op:
    """kind: 'write', 'read', 'unknown' or 'among', a read of one version out of those that
    its statement fits; value: a literal, or a tuple of them."""
    def __init__(self, kind, key, value, is_list, statement=None):
        self.kind, self.key, self.value, self.list = kind, key, value, is_list
        self.statement = statement

    def may_see(self, value):
        return self.statement.fits(value) if self.kind == 'among' else self.value == value


class History:
    def __init__(self, text):
        self.default, self.initial = NIL, {}
        sessions, self.lists, self.statements = {}, set(), []
        for line in lines_of(text):
            self.read_line(line, sessions)
        self.n_sessions = len(sessions)
        self.txn, self.op, self.of = [Txn(None)], [], []
        for s, txns in enumerate(sessions.values()):
            for t in txns:
                t.session = s
                self.txn.append(t)
        for t in self.txn:
            self.lists |= {o.key for o in t.ops if o.list}
        self.add_missed_rows()
        for number, t in enumerate(self.txn):
            t.first = len(self.op)
            self.op += t.ops
            self.of += [number] * len(t.ops)

    def read_line(self, line, sessions):
        text = [t for _, t in line]
        if text[0] in ('insula', 'transactions') and line[0][0] == 'word' and ':' not in text:
            return
        if text[0] == 'session' and line[0][0] == 'word' and len(text) == 2:
            sessions.setdefault(literal(*line[1]), [])
            return
        if text[0] == 'initial' and line[0][0] == 'word':
            value = None if line[-1] == ('word', 'none') else literal(*line[-1])
            if len(text) == 2:
                self.default = value
            else:
                self.initial[literal(*line[1])] = value
            return
        t, at = Txn(None), 1
        sessions.setdefault(literal(*line[0]), []).append(t)
        while text[at] != ':' or line[at][0] != 'mark':
            if line[at][0] == 'time':
                t.begin, t.end = (int(x) if x else None for x in text[at].split('..'))
            at += 1
        self.read_ops(t, line[at + 1:])

    def read_ops(self, t, line):
        at = 0
        while at < len(line):
            word = line[at][1]
            if word in ('commit', 'abort', 'unknown') and at == len(line) - 1:
                t.status = word
                return
            if word in ('insert', 'delete', 'update', 'cas', 'q'):
                at = self.read_statement(t, word, line, at)
                continue
            key, at = literal(*line[at + 2]), at + 5
            if word != 'r':
                t.ops.append(Op('write', key, literal(*line[at]), word == 'a'))
            elif line[at][1] == '?':
                t.ops.append(Op('unknown', key, None, False))
            elif line[at] == ('mark', '[') and line[at + 1][1] == '?':
                t.ops.append(Op('unknown', key, None, True))
                at += 2
            elif line[at] == ('mark', '['):
                end = at
                while line[end] != ('mark', ']'):
                    end += 1
                shown = tuple(literal(*x) for x in line[at + 1:end])
                t.ops.append(Op('read', key, shown, True))
                at = end
            else:
                t.ops.append(Op('read', key, literal(*line[at]), False))
            at += 1

    def read_statement(self, t, word, line, at):
        """Section 2: what a statement is made of, and where the line goes on."""
        s = Statement(word, [])
        self.statements.append((t, s))
        if word == 'q':
            at = self.read_conditions(s, line, at + 2)
            at = self.read_rows(s, line, at + 1)
        else:
            key, value, at = literal(*line[at + 2]), NIL, at + 4
            if word == 'cas':
                s.old, at = literal(*line[at + 1]), at + 2
            if word != 'delete':
                value, at = literal(*line[at + 1]), at + 2
            if at < len(line) and line[at] == ('mark', '!'):
                s.effect, at = False, at + 1
            s.ops.append(Op('read', key, s.old, False, s) if word == 'cas' and s.effect
                         else Op('among', key, None, False, s))
            if s.effect:
                s.ops.append(Op('write', key, value, False, s))
        s.at = len(t.ops)
        t.ops += s.ops
        return at

    def read_conditions(self, s, line, at):
        while line[at] != ('mark', ')'):
            word, at = line[at][1], at + 1
            if word == 'limit':
                s.limit, at = int(line[at][1]), at + 1
                continue
            on = s.key if word == 'k' else s.value
            sign, at = line[at][1], at + 1
            if line[at] == ('mark', '=') and sign in '<>!':
                sign, at = sign + '=', at + 1
            if line[at] == ('mark', '{'):
                end = line.index(('mark', '}'), at)
                on.add('in', [literal(*x) for x in line[at + 1:end]])
                at = end + 1
            elif sign == '%':
                on.add(sign, literal(*line[at]), literal(*line[at + 2]))
                at += 3
            else:
                on.add(sign, literal(*line[at]))
                at += 1
        return at + 1

    def read_rows(self, s, line, at):
        if line[at] == ('mark', '?'):
            s.effect = False
            return at + 1
        at += 1
        while line[at] != ('mark', '}'):
            s.ops.append(Op('read', literal(*line[at]), literal(*line[at + 2]), False, s))
            at += 3
        return at + 1

    def versions(self):
        """What alive transactions leave behind: (transaction, value) by key."""
        found = {}
        for t in self.txn:
            last = {o.key: o.value for o in t.ops if o.kind == 'write' and not o.list}
            for k, v in last.items() if t.status != 'abort' else ():
                found.setdefault(k, []).append((t, v))
        return found

    def add_missed_rows(self):
        """Section 2: a read for each row that a query misses and that says something."""
        versions = self.versions()
        present = {o.key for t in self.txn for o in t.ops if t.status != 'abort' and
                   o.kind in ('read', 'write') and not o.list and o.value != NIL}
        named = {o.key for t in self.txn for o in t.ops} | set(self.initial)
        rows = sorted((k for k in named - self.lists
                       if k in present or self.start(k) != NIL), key=in_order_of_keys)
        touched = {t: {o.key for o in t.ops} for t, _ in self.statements}
        added = {}
        for t, s in self.statements:
            s.at += added.get(t, 0)
            if s.kind != 'q' or not s.effect or t.status == 'abort':
                continue
            returned = [o.key for o in s.ops]
            last = max(returned, key=in_order_of_keys) \
                if s.limit and len(returned) >= s.limit else None
            missed = []
            for k in rows if s.key.set is None else dict.fromkeys(s.key.set):
                if k not in rows or k in returned or not s.key.holds(k) or last is not None \
                        and in_order_of_keys(k) > in_order_of_keys(last):
                    continue
                if k in touched[t] or s.asks_value(self.start(k)) or any(
                        u is not t and s.asks_value(v) for u, v in versions.get(k, ())):
                    missed.append(Op('among', k, None, False, s))
            end = s.at + len(s.ops)
            t.ops[end:end] = missed
            s.ops += missed
            added[t] = added.get(t, 0) + len(missed)

    def start(self, key):
        """The initial value of a register, None for none."""
        value = self.initial.get(key, self.default)
        return NIL if value is None and self.statements else value


# ---- section 2 ----

class Facts:
    def __init__(self, h):
        self.h = h
        self.items = False  # at rr: rows that queries missed are loose
        n = len(h.txn)
        self.alive = [t.status != 'abort' for t in h.txn]
        self.committed = [t.status == 'commit' for t in h.txn]
        self.writes = {}  # (transaction, key): its values, in program order
        self.writers = {}  # key: transactions
        self.fact = []
        for number, t in enumerate(h.txn):
            self.look_at(number, t)
        self.mark_mismatches()
        self.by_value = {}  # (key, value): alive transactions, once for each write
        for (t, k), values in self.writes.items():
            self.writers.setdefault(k, []).append(t)
            if self.alive[t]:
                for v in values:
                    self.by_value.setdefault((k, v), []).append(t)
        self.begin = [t.begin for t in h.txn]
        self.end = [t.end if self.committed[i] and
                    (t.begin is None or t.end is None or t.begin <= t.end) else None
                    for i, t in enumerate(h.txn)]
        self.has_times = any(t.begin is not None and t.end is not None and t.begin <= t.end
                             for t in h.txn[1:])
        self.sources = [self.find_sources(op) if self.fact[op] == 'external' else ()
                        for op in range(len(h.op))]
        self.sure = self.close({0} | {t for t in range(1, n) if self.committed[t]},
                               self.surely_seen)

    def look_at(self, number, t):
        own = {}
        for o in t.ops:
            if o.kind == 'write':
                own.setdefault(o.key, []).append(o.value)
                self.fact.append('write')
                self.writes.setdefault((number, o.key), []).append(o.value)
            elif o.kind == 'unknown':
                self.fact.append('unknown')
            elif o.key not in own:
                self.fact.append('external')
            elif o.list:
                mine = tuple(own[o.key])
                self.fact.append('own' if o.value[-len(mine):] == mine and
                                 len(o.value) >= len(mine) else 'not own')
            else:
                self.fact.append('own' if o.may_see(own[o.key][-1]) else 'not own')

    def mark_mismatches(self):
        """Rows that are not of their query, that it has already, or beyond its limit."""
        for t, s in self.h.statements:
            if s.kind != 'q' or t.status == 'abort':
                continue
            seen = []
            for i, o in enumerate(s.ops):
                if o.kind != 'read':
                    continue
                if o.key in seen or s.limit and len(seen) >= s.limit or \
                        not s.key.holds(o.key) or not s.asks_value(o.value):
                    self.fact[t.first + s.at + i] = 'mismatch'
                seen.append(o.key)

    def own_before(self, op):
        t = self.h.of[op]
        return sum(1 for o in self.h.op[self.h.txn[t].first:op]
                   if o.kind == 'write' and o.key == self.h.op[op].key)

    def find_sources(self, op):
        o, reader = self.h.op[op], self.h.of[op]
        if o.kind == 'among':
            return tuple([0] if o.may_see(self.h.start(o.key)) else []) + tuple(
                t for t in self.writers.get(o.key, ()) if t != reader and self.alive[t] and
                o.may_see(self.writes[t, o.key][-1]))
        if o.list and not o.value:
            return (0,)
        value = o.value[-1] if o.list else o.value
        found = [0] if not o.list and self.h.start(o.key) == value else []
        for t in dict.fromkeys(self.by_value.get((o.key, value), ())):
            if t != reader and self.writes[t, o.key][-1] == value:
                found.append(t)
        return tuple(found)

    def placed(self, op):
        """An external or own list read."""
        return self.h.op[op].list and self.fact[op] in ('external', 'own')

    def base(self, op):
        shown = self.h.op[op].value
        return shown[:len(shown) - self.own_before(op)]

    def others(self, op, value):
        """Alive transactions but the reader that append value, once for each append."""
        k, reader = self.h.op[op].key, self.h.of[op]
        return [t for t in self.by_value.get((k, value), ()) if t != reader]

    def appender(self, op, value):
        who = set(self.others(op, value))
        return who.pop() if len(who) == 1 else None

    def fits(self, op):
        base, k = self.base(op), self.h.op[op].key
        for v in set(base):
            if base.count(v) > len(self.others(op, v)):
                return False
        ends = {0}
        for i in range(len(base)):
            if i in ends:
                for t in set(self.others(op, base[i])):
                    mine = tuple(self.writes[t, k])
                    if base[i:i + len(mine)] == mine:
                        ends.add(i + len(mine))
        return len(base) in ends

    def rt(self, t, u):
        return self.end[t] is not None and self.begin[u] is not None and \
            self.end[t] < self.begin[u]

    def ops_of(self, t):
        first = self.h.txn[t].first
        return range(first, first + len(self.h.txn[t].ops))

    def surely_seen(self, t):
        for op in self.ops_of(t):
            if self.fact[op] == 'external' and len(self.sources[op]) == 1:
                yield self.sources[op][0]
            if self.placed(op):
                for v in self.base(op):
                    if self.appender(op, v) is not None:
                        yield self.appender(op, v)

    def seen_at_ci(self, t):
        h = self.h
        for op in self.ops_of(t):
            if self.fact[op] == 'external' and not h.op[op].list:
                if len(self.sources[op]) == 1:
                    yield self.sources[op][0]
            elif self.placed(op):
                base = self.base(op)
                if any(len(self.others(op, v)) != 1 for v in base) or \
                        len(set(base)) != len(base):
                    continue
                if base and self.fact[op] == 'external':
                    t2 = self.appender(op, base[-1])
                    if self.writes[t2, h.op[op].key][-1] != base[-1]:
                        continue
                for v in base:
                    yield self.appender(op, v)

    @staticmethod
    def close(members, more):
        waiting = list(members)
        while waiting:
            for t in more(waiting.pop()):
                if t not in members:
                    members.add(t)
                    waiting.append(t)
        return members

    def loose(self, op):
        """A row that a query missed, where it need only be behind one of its sources."""
        o = self.h.op[op]
        return self.items and o.kind == 'among' and o.statement.kind == 'q'

    def external_of_key(self, op):
        return [o for o in self.ops_of(self.h.of[op]) if self.fact[o] == 'external' and
                self.h.op[o].key == self.h.op[op].key and not self.loose(o)]

    def common(self, op):
        """The sources of op that all reads of its key by its transaction have, those
        without any left out."""
        others = [self.sources[o] for o in self.external_of_key(op) if self.sources[o]]
        return [w for w in self.sources[op] if all(w in x for x in others)]

    def reads_agree(self, op):
        """One value that all reads of the key of op may have seen, see section 4."""
        h, t, k = self.h, self.h.of[op], self.h.op[op].key
        reads, wrote = [], False
        for o in self.ops_of(t):
            if h.op[o].key != k or self.loose(o):
                continue
            if self.fact[o] == 'external' and (h.op[o].kind == 'read' or self.sources[o]) \
                    or self.fact[o] == 'mismatch' and not wrote:
                reads.append(h.op[o])
            wrote |= h.op[o].kind == 'write'
        if len(reads) < 2:
            return True
        values = [o.value for o in reads if o.kind == 'read'][:1]
        if not values:
            values = [h.start(k)] + [self.writes[u, k][-1] for u in self.writers.get(k, ())
                                     if u != t and self.alive[u]]
        return any(all(o.may_see(v) for o in reads) for v in values)

    def differs_at_ci(self, t):
        first = {}
        for op in self.ops_of(t):
            o = self.h.op[op]
            if self.fact[op] != 'external':
                continue
            if self.h.statements and not o.list:
                if not self.reads_agree(op):
                    return True
            elif first.setdefault(o.key, o.value) != o.value:
                return True
        return False

    def same_key_differs(self, t):
        """Two external reads of one key by t with different results, or that can be from
        no one writer."""
        first = {}
        for op in self.ops_of(t):
            o = self.h.op[op]
            if self.fact[op] != 'external' or self.loose(op):
                continue
            if self.h.statements and not o.list and self.sources[op] and \
                    not self.common(op):
                return True
            one = first.setdefault(o.key, o)
            if o.kind == one.kind == 'read' and one.value != o.value:
                return True
        return False

    def may_count(self, base):
        may = {t for t in range(len(self.h.txn)) if self.alive[t]}
        again = True
        while again:
            again = False
            for t in list(may):
                if t and not self.committed[t] and self.cannot_count(t, base, may):
                    may.discard(t)
                    again = True
        return may

    def cannot_count(self, t, base, may):
        if base not in ('pl2', 'rc') and self.same_key_differs(t):
            return True
        for op in self.ops_of(t):
            if self.fact[op] == 'mismatch' or self.fact[op] == 'not own' and not (
                    base == 'pl2' and self.admitted_at_pl2(op)):
                return True
            if self.fact[op] == 'external' and not self.sources[op]:
                return True
            if len(self.sources[op]) == 1 and self.sources[op][0] not in may:
                return True
            if self.placed(op) and not self.fits(op):
                return True
        return False

    def admitted_at_pl2(self, op):
        """6.4: a read that is not own."""
        o, reader = self.h.op[op], self.h.of[op]
        if o.kind == 'among':
            return True
        if not o.list:
            own = self.writes[reader, o.key]
            n = self.own_before(op)
            other = self.h.start(o.key) == o.value or any(
                t != reader for t in self.by_value.get((o.key, o.value), ()))
            return o.value in own[:n] or (other and o.value not in own[n:])
        appends = {}  # value: (transaction, index) of those that count here
        for (t, k), values in self.writes.items():
            if k != o.key or not self.alive[t]:
                continue
            if t == reader:
                values = values[:self.own_before(op)]
            for i, v in enumerate(values):
                appends.setdefault(v, []).append((t, i))
        if any(o.value.count(v) > len(appends.get(v, ())) for v in o.value):
            return False
        for i, v in enumerate(o.value):
            if len(appends[v]) > 1:
                return True
            t, j = appends[v][0]
            if any(w not in o.value[:i] for w in self.writes[t, o.key][:j]):
                return False
        return True


# ---- section 3 ----

BASES = ('ci', 'pl2', 'rc', 'ra', 'cc', 'psi', 'pc', 'si', 'rr', 'ser')
WEAKER = {'ser': ('rr', 'si'), 'si': ('psi', 'pc'), 'psi': ('cc',),
          'pc': ('cc',), 'cc': ('ra',), 'ra': ('rc', 'ci'), 'rc': ('pl2',)}
COMMITS = ('rc', 'ra', 'cc')
FROM_RA = ('ra', 'cc', 'psi', 'pc', 'si', 'rr', 'ser')
VERSIONS = ('psi', 'pc', 'si', 'rr', 'ser')


def parse_level(name):
    """(base, takes SO, takes RT), or None."""
    prefix, base = '', name
    if name == 'sser':
        prefix, base = 'strong-', 'ser'
    elif name.startswith('free-') or name.startswith('strong-'):
        prefix, base = name.split('-', 1)
        prefix += '-'
        if base == 'ci' or name == 'strong-ser':
            return None
    if base not in BASES:
        return None
    return base, prefix != 'free-' and base not in ('ci', 'pl2'), prefix == 'strong-'


def implies(a, b):
    below = Facts.close({a[0]}, lambda x: WEAKER.get(x, ()))
    return b[0] in below and a[1] >= b[1] and a[2] >= b[2]


class Fault(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Fault(what)


# ---- sections 4 to 10 ----

class Block:
    """What a block knows while its lines are read."""
    def __init__(self, f, level):
        self.f, self.h = f, f.h
        self.base, self.so, self.rt = level
        f.items = self.base == 'rr'
        self.split = self.base in ('pc', 'si')
        self.counts = set(f.sure)
        self.refuted = False
        if self.base == 'ci':
            self.counts = f.close({0} | {t for t in range(1, len(f.h.txn))
                                         if f.committed[t]}, f.seen_at_ci)
        else:
            self.may = f.may_count(self.base)
        self.source = {op: s[0] for op, s in enumerate(f.sources) if len(s) == 1}
        if f.h.statements and self.base in FROM_RA:
            for op in range(len(f.h.op)):
                left = self.sources(op) if f.fact[op] == 'external' else ()
                if op not in self.source and len(left) == 1 and left[0] in f.sure:
                    self.source[op] = left[0]
        self.edges, self.anti, self.dropped, self.before = set(), set(), set(), set()
        self.var, self.clauses = [], []

    def sources(self, op):
        """From ra on those that all reads of the key have in common, if there are any."""
        common = self.f.common(op) if self.h.statements and self.base in FROM_RA and \
            not self.h.op[op].list and not self.f.loose(op) else ()
        return common or self.f.sources[op]

    # -- tokens --

    def number(self, text, below):
        need(re.fullmatch('[0-9]+', text), 'expected a number')
        need(int(text) < min(below, 2**32 - 1), 'a number that names nothing')
        return int(text)

    def read_op(self, text):
        return self.number(text, len(self.h.op))

    def read_txn(self, text):
        return self.number(text, len(self.h.txn))

    def read_key(self, text):
        return self.h.op[self.read_op(text)].key

    def read_nodes(self, tokens):
        """A node is (transaction, end); where they are not split the end is ''."""
        nodes = []
        for text in tokens:
            end = ''
            if self.split:
                need(text[0] in 'bc', 'expected b or c')
                end, text = text[0], text[1:]
            t = self.read_txn(text)
            need(t, 'the initial transaction is no node')
            nodes.append((t, end))
        return nodes

    def b(self, t):
        return t, 'b' if self.split else ''

    def c(self, t):
        return t, 'c' if self.split else ''

    def ww(self, t):
        return self.b(t) if self.base == 'si' else self.c(t)

    def is_writer(self, t, k):
        return (t, k) in self.f.writes

    # -- section 5 and 6 --

    def present(self, order):
        f = self.f
        need(len(set(order)) == len(order), 'a node stands twice')
        there = {t for t, _ in order}
        for t in range(1, len(self.h.txn)):
            need(t in there or not f.committed[t], 'a transaction is missing')
            need(t not in there or f.alive[t], 'an aborted transaction')
            if self.split:
                need(((t, 'b') in order) == ((t, 'c') in order), 'half a transaction')
        return there

    def in_order(self, order, there):
        at = {node: i for i, node in enumerate(order)}
        for t in there:
            need(at[self.b(t)] <= at[self.c(t)], 'a commit before its begin')
            for u in there:
                if t != u and ((self.so and t < u and
                                self.h.txn[t].session == self.h.txn[u].session) or
                               (self.rt and self.f.rt(t, u))):
                    need(at[self.c(t)] < at[self.b(u)], 'against a session or real time')
        return at

    def check_order(self, tokens):
        f, h = self.f, self.h
        order = self.read_nodes(tokens)
        at = self.in_order(order, self.present(order))
        at_of = {t: at[self.c(t)] for t, _ in order}
        store, last = {}, {}
        for t, end in order:
            for op in f.ops_of(t) if end in ('b', '') else ():
                o = h.op[op]
                need(f.fact[op] not in ('not own', 'mismatch'), 'a read of own writes')
                if f.fact[op] == 'external' and f.loose(op):
                    need(any(w == 0 or w in at_of and at_of[w] < at[t, end]
                             for w in f.sources[op]), 'a missed row')
                elif f.fact[op] == 'external' and o.list:
                    need(tuple(store.get(o.key, ())) == o.value, 'a list')
                elif f.fact[op] == 'external':
                    held = store.get(o.key, h.start(o.key))
                    need(held is not None and o.may_see(held), 'a read')
            if end == 'b':
                continue
            for op in f.ops_of(t):
                if f.fact[op] == 'own' and h.op[op].list:
                    need(tuple(store.get(h.op[op].key, ())) == f.base(op), 'an own list')
            for op in f.ops_of(t):
                o = h.op[op]
                if o.kind != 'write':
                    continue
                if self.base == 'si' and last.get(o.key, t) != t:
                    need(at[self.c(last[o.key])] < at[self.b(t)], 'writers overlap')
                last[o.key] = t
                if o.list:
                    store.setdefault(o.key, []).append(o.value)
                else:
                    store[o.key] = o.value

    def check_commits(self, tokens):
        f, h = self.f, self.h
        order = self.read_nodes(tokens)
        self.in_order(order, self.present(order))
        order = [t for t, _ in order]
        at = {t: i for i, t in enumerate(order)}
        lists = {}  # key: (value, transaction) in the order
        for t in order:
            for op in f.ops_of(t):
                o = h.op[op]
                need(f.fact[op] != 'mismatch', 'a row that is not of its query')
                if f.fact[op] == 'not own':
                    need(self.base == 'pl2' and f.admitted_at_pl2(op), 'own writes')
                if f.placed(op):
                    base, shown = f.base(op), lists.get(o.key, [])
                    need(base == tuple(v for v, _ in shown[:len(base)]), 'a list')
                    if f.fact[op] == 'own':
                        need(len(base) == len(shown), 'an own list')
                        continue
                    source = shown[len(base) - 1][1] if base else 0
                    need(not base or len(base) == len(shown) or
                         shown[len(base)][1] != source, 'a torn list')
                    need(self.source.get(op, source) == source, 'a list from another')
                    self.source[op] = source
                if f.fact[op] == 'external':
                    need(op in self.source, 'no single source')
                    w = self.source[op]
                    need(w == 0 or w in at and at[w] < at[t], 'a reader before its writer')
            for o in h.txn[t].ops:
                if o.kind == 'write' and o.list:
                    lists.setdefault(o.key, []).append((o.value, t))
        self.check_axiom(order, at)

    def check_axiom(self, order, at):
        f, h = self.f, self.h
        if self.base == 'pl2':
            return
        writers = {}
        for t in order:
            for k in {o.key for o in h.txn[t].ops if o.kind == 'write'}:
                writers.setdefault(k, []).append(t)
        steps = {t: set() for t in order}  # what leads to t in one step
        for t in order:
            for u in order:
                if (self.so and u < t and h.txn[u].session == h.txn[t].session) or \
                        (self.rt and f.rt(u, t)):
                    steps[t].add(u)
            for op in f.ops_of(t):
                if f.fact[op] == 'external' and self.source[op]:
                    steps[t].add(self.source[op])
        if self.base == 'psi':
            for k, row in writers.items():
                for a, b in zip(row, row[1:]):
                    steps[b].add(a)
        for t3 in order:
            past = f.close(set(steps[t3]), lambda t: steps[t]) \
                if self.base in ('cc', 'psi') else steps[t3]
            for op in f.ops_of(t3):
                if f.fact[op] != 'external':
                    continue
                k, t1 = h.op[op].key, self.source[op]
                later = [t2 for t2 in writers.get(k, ()) if t2 != t1 and
                         (t1 == 0 or at[t2] > at[t1])]
                if self.base == 'psi':
                    need(not later or later[0] == t3 or later[0] not in past, 'psi')
                elif self.base == 'rc':
                    seen = {self.source[r] for r in f.ops_of(t3)
                            if r < op and f.fact[r] == 'external' and
                            not self.same_statement(r, op)}
                    need(not seen & set(later), 'rc')
                else:
                    need(not past & set(later), self.base)

    def same_statement(self, a, b):
        s = self.h.op[a].statement
        return s is not None and s is self.h.op[b].statement

    # -- section 7 --

    def edge(self, x, y, lits=None):
        """'edge', 'anti' at psi, or None; in section 9 under the assumptions of lits."""
        f, h = self.f, self.h
        (a, _), (b, _) = x, y
        if a == b and self.split and x == self.b(a) and y == self.c(a):
            return 'edge'
        if self.so and a < b and h.txn[a].session == h.txn[b].session:
            return 'edge'
        if (x, y) in self.edges or ('edge', x, y) in self.true(lits):
            return 'edge'
        if x == self.c(a) and y == self.b(b):
            if self.rt and f.rt(a, b):
                return 'edge'
            if any(self.is_from(op, a, lits) for op in f.ops_of(b)):
                return 'edge'
        if lits is not None and x == self.c(a) and y == self.ww(b) and a != b and \
                self.gives_ww(a, b, lits):
            return 'edge'
        rw = (x, y) in self.anti
        if lits is not None and self.base in VERSIONS and a != b:
            rw |= x == self.b(a) and y == self.c(b) and self.gives_rw(a, b, lits)
        if rw:
            return 'anti' if self.base == 'psi' else 'edge'
        return None

    def walk(self, nodes, first, last, rw=0, also=()):
        nodes = [x for x in nodes if x[0] in self.counts or x[0] in also]
        need(len(nodes) > 1 and nodes[0] == first and nodes[-1] == last, 'no such walk')
        kinds = [self.edge(x, y) for x, y in zip(nodes, nodes[1:])]
        need(None not in kinds and kinds.count('anti') <= rw, 'the walk has a gap')

    def counted_writer(self, t, k):
        need(t in self.counts and self.is_writer(t, k), 'no writer that counts')

    def external_op(self, text):
        op = self.read_op(text)
        need(self.f.fact[op] == 'external' and self.h.of[op] in self.counts,
             'no external read that counts')
        return op

    def line_cycle(self, words):
        nodes = self.read_nodes(words)
        need(nodes, 'no cycle')
        self.walk(nodes, nodes[0], nodes[0], 1)
        self.refuted = True

    def line_misread(self, words):
        f = self.f
        need(len(words) == 1, 'expected a read')
        op = self.read_op(words[0])
        need(self.h.of[op] in self.counts, 'does not count')
        wrong = f.fact[op] == 'not own' and not (
            self.base == 'pl2' and f.admitted_at_pl2(op))
        wrong |= f.fact[op] == 'mismatch'
        wrong |= f.fact[op] == 'external' and not f.sources[op]
        if not wrong and f.placed(op):
            wrong = not f.fits(op) or any(
                f.placed(o) and self.h.of[o] in self.counts and self.contradict(o, op)
                for o in range(len(self.h.op)) if self.h.op[o].key == self.h.op[op].key)
        need(wrong, 'that read is not faulty')
        self.refuted = True

    def owners(self, op):
        own = [self.f.appender(op, v) for v in self.f.base(op)]
        if self.f.fact[op] == 'own':
            t = self.h.of[op]
            own += [t] * len(self.f.writes[t, self.h.op[op].key])
        return own

    def contradict(self, a, b):
        return any(x != y for x, y in zip(self.h.op[a].value, self.h.op[b].value)) or \
            any(x is not None and y is not None and x != y
                for x, y in zip(self.owners(a), self.owners(b)))

    def list_orders(self, op, t1, t2):
        f = self.f
        base, reader = f.base(op), self.h.of[op]
        left_out = any(v not in base for v in f.writes[t2, self.h.op[op].key])
        if t1 == reader:
            return f.fact[op] == 'own' and left_out
        by = [f.appender(op, v) for v in base]
        if t1 not in by:
            return False
        if t2 == reader:
            return True
        if t2 in by:
            return by.index(t1) < len(by) - 1 - by[::-1].index(t2)
        return left_out

    def line_list(self, words):
        need(len(words) == 4 and words[3] == ':', 'list OP T1 T2 :')
        op, t1, t2 = self.read_op(words[0]), self.read_txn(words[1]), self.read_txn(words[2])
        k = self.h.op[op].key
        need(self.f.placed(op) and self.h.of[op] in self.counts and t1 != t2, 'no list')
        self.counted_writer(t1, k)
        self.counted_writer(t2, k)
        need(self.list_orders(op, t1, t2), 'no such order')
        self.edges.add((self.c(t1), self.ww(t2)))

    def split_at_colon(self, words, n):
        need(len(words) > n and words[n] == ':', 'expected a colon')
        return self.read_nodes(words[n + 1:])

    def anti_or_over(self, words):
        nodes = self.split_at_colon(words, 2)
        op, t2 = self.external_op(words[0]), self.read_txn(words[1])
        self.counted_writer(t2, self.h.op[op].key)
        t1, t3 = self.source.get(op), self.h.of[op]
        need(not self.f.loose(op), 'a row that a query missed')
        need(t1 is not None and t1 != t2 and t2 != t3, 'no such pair')
        return nodes, t1, t2, t3

    def line_anti(self, words):
        nodes, t1, t2, t3 = self.anti_or_over(words)
        if t1:
            self.walk(nodes, self.c(t1), self.c(t2))
        (self.anti if self.base == 'psi' else self.edges).add((self.b(t3), self.c(t2)))

    def line_over(self, words):
        nodes, t1, t2, t3 = self.anti_or_over(words)
        self.walk(nodes, self.c(t2), self.b(t3))
        if t1 == 0:
            self.refuted = True
        else:
            self.edges.add((self.c(t2), self.ww(t1)))

    def line_pair(self, words):
        nodes = self.split_at_colon(words, 3)
        k, t1, t2 = self.read_key(words[0]), self.read_txn(words[1]), self.read_txn(words[2])
        self.counted_writer(t1, k)
        self.counted_writer(t2, k)
        need(t1 != t2, 'one writer')
        self.walk(nodes, self.b(t1), self.c(t2), 1)
        self.edges.add((self.c(t1), self.ww(t2)))

    def line_drop(self, words):
        over = len(words) > 2 and words[2] != ':'
        nodes = self.split_at_colon(words, 3 if over else 2)
        op, w = self.external_op(words[0]), self.read_txn(words[1])
        t3 = self.h.of[op]
        if over:
            u = self.read_txn(words[2])
            need(not self.f.loose(op), 'a row that a query missed')
            self.counted_writer(u, self.h.op[op].key)
            need(u not in (w, t3) and self.c(u) in nodes, 'not over U')
            self.walk(nodes, self.c(w) if w else self.c(u), self.b(t3), also=(w,))
        else:
            need(w, 'the initial transaction')
            self.walk(nodes, self.b(t3), self.c(w), also=(w,))
        self.dropped.add((op, w))

    def left(self, op):
        return [w for w in self.sources(op)
                if w in self.may and (op, w) not in self.dropped]

    def line_from(self, words):
        need(len(words) == 3 and words[2] == ':', 'from OP W :')
        op, w = self.external_op(words[0]), self.read_txn(words[1])
        need(set(self.left(op)) <= {w}, 'others are left')
        for o in () if self.f.loose(op) else self.f.external_of_key(op):
            self.source.setdefault(o, w)
        self.source[op] = w
        if w not in self.counts:
            self.counts |= self.f.close({w}, lambda t: {
                self.source[o] for o in self.f.ops_of(t) if o in self.source})

    def line_nobody(self, words):
        need(len(words) == 1, 'expected a read')
        need(not self.left(self.external_op(words[0])), 'candidates are left')
        self.refuted = True

    def line_before(self, words):
        nodes = self.split_at_colon(words, 3)
        k, a, b = self.read_key(words[0]), self.read_txn(words[1]), self.read_txn(words[2])
        need(a != b and self.is_writer(a, k) and self.is_writer(b, k), 'no two writers')
        self.walk(nodes, self.c(a), self.c(b), also=(a, b))
        self.before.add((k, a, b))

    # -- section 8 --

    def line_differ(self, words):
        need(len(words) == 2, 'expected two reads')
        a, b = self.read_op(words[0]), self.read_op(words[1])
        h = self.h
        if h.statements and h.of[a] == h.of[b] and h.of[a] in self.counts and \
                h.op[a].kind != 'write' and h.op[a].key == h.op[b].key and \
                h.op[a].key not in h.lists:
            need(not self.f.reads_agree(a), 'the reads of that key agree')
            self.refuted = True
            return
        need(self.f.fact[a] == self.f.fact[b] == 'external' and h.of[a] == h.of[b] and
             h.of[a] in self.counts and h.op[a].key == h.op[b].key and
             h.op[a].value != h.op[b].value, 'the reads do not differ')
        self.refuted = True

    def assumed_source(self, op, lits):
        need(self.f.fact[op] == 'external' and self.is_counted(self.h.of[op], lits),
             'no external read that counts')
        if op in self.source:
            return self.source[op]
        for claim in self.true(lits):
            if claim[0] == 'from' and claim[1] == op:
                return claim[2]
        raise Fault('a read that may be from several')

    def infer(self, t2, op, clause, lits):
        t1 = self.assumed_source(op, lits)
        need(t2 != t1 and self.is_writer(t2, self.h.op[op].key), 'no other writer')
        if clause:
            need(t1 == 0 or lits and lits[-1] > 0 and
                 self.var[lits[-1] - 1] == ('edge', (t2, ''), (t1, '')), 'not that edge')
            self.add_clause(lits)
        elif t1 == 0:
            self.refuted = True
        else:
            self.edges.add(((t2, ''), (t1, '')))

    def two_reads(self, words):
        clause = len(words) > 2
        need(len(words) >= 2 and (not clause or words[2] == ':'), 'expected two reads')
        lits = self.literals(words[3:])
        op, r2 = self.read_op(words[0]), self.read_op(words[1])
        need(self.h.of[op] == self.h.of[r2], 'two transactions')
        t2 = self.assumed_source(r2, lits)
        self.infer(t2, op, clause, lits)
        return op, r2

    def line_mono(self, words):
        need(len(words) >= 2 and self.read_op(words[1]) < self.read_op(words[0]) and
             not self.same_statement(self.read_op(words[1]), self.read_op(words[0])), 'later')
        self.two_reads(words)

    def line_beside(self, words):
        self.two_reads(words)

    def line_causal(self, words):
        need(len(words) > 2 and words[2] == ':', 'causal OP T2 : WALK')
        rest = words[3:]
        clause = ':' in rest
        lits = self.literals(rest[rest.index(':') + 1:] if clause else ())
        nodes = self.read_nodes(rest[:rest.index(':')] if clause else rest)
        op, t2 = self.read_op(words[0]), self.read_txn(words[1])
        row = [t for t, _ in nodes]
        need(len(row) > 1 and row[0] == t2 and row[-1] == self.h.of[op], 'no such walk')
        need(self.base == 'cc' or len(row) == 2, 'one step')
        for a, b in zip(row, row[1:]):
            ordered = self.so and a < b and \
                self.h.txn[a].session == self.h.txn[b].session or \
                self.rt and self.f.rt(a, b)
            need(ordered and self.is_counted(a, lits) or
                 any(self.is_from(o, a, lits) for o in self.f.ops_of(b)), 'a gap')
        self.infer(t2, op, clause, lits)

    # -- section 9 --

    def literals(self, words):
        lits = []
        for w in words:
            need(re.fullmatch('-?[0-9]+', w), 'expected a literal')
            v = self.number(w.lstrip('-'), len(self.var) + 1)
            need(v, 'expected a literal')
            lits.append(-v if w[0] == '-' else v)
        return lits

    def true(self, lits):
        return [self.var[-x - 1] for x in lits or () if x < 0]

    def is_counted(self, t, lits):
        if t in self.counts:
            return True
        named = set()
        for claim in self.true(lits):
            if claim[0] == 'count':
                named.add(claim[1])
            elif claim[0] == 'place':
                named.add(claim[2])
            elif claim[0] == 'from':
                named |= {claim[2], self.h.of[claim[1]]}
            elif claim[0] == 'edge':
                named |= {claim[1][0], claim[2][0]}
        return t in self.f.close(named, lambda u: {
            self.source[o] for o in self.f.ops_of(u) if o in self.source})

    def is_from(self, op, w, lits):
        return self.f.fact[op] == 'external' and (
            self.source.get(op) == w or ('from', op, w) in self.true(lits))

    def older(self, k, a, b, lits):
        if a == 0 or (k, a, b) in self.before:
            return True
        return any(self.var[abs(x) - 1] == (('order', k, a, b) if x < 0 else
                                            ('order', k, b, a)) for x in lits)

    def gives_ww(self, a, b, lits):
        if self.base in VERSIONS:
            for x in lits:
                claim = self.var[abs(x) - 1]
                if claim[0] == 'order' and {claim[2], claim[3]} == {a, b} and \
                        self.older(claim[1], a, b, lits):
                    return True
        places = [c for c in self.true(lits) if c[0] == 'place']
        if any(p[1] == q[1] and p[2] == a and q[2] == b and p[3] < q[3]
               for p in places for q in places):
            return True
        return any(self.f.placed(op) and self.is_counted(self.h.of[op], lits) and
                   self.is_writer(a, o.key) and self.is_writer(b, o.key) and
                   self.list_orders(op, a, b) for op, o in enumerate(self.h.op))

    def gives_rw(self, t3, b, lits):
        for op in self.f.ops_of(t3):
            k = self.h.op[op].key
            if self.f.fact[op] != 'external' or not self.is_writer(b, k) or \
                    self.f.loose(op):
                continue
            sources = {c[2] for c in self.true(lits) if c[0] == 'from' and c[1] == op}
            sources |= {self.source[op]} if op in self.source else set()
            if any(a != b and self.older(k, a, b, lits) for a in sources):
                return True
        return False

    def new_var(self, text, claim):
        need(self.number(text, 2**32) == len(self.var) + 1, 'variables are in turn')
        self.var.append(claim)

    def line_order_var(self, words):
        need(len(words) == 4, 'order-var V KEY A B')
        k, a, b = self.read_key(words[1]), self.read_txn(words[2]), self.read_txn(words[3])
        need(a != b and self.is_writer(a, k) and self.is_writer(b, k), 'no two writers')
        self.new_var(words[0], ('order', k, a, b))

    def line_from_var(self, words):
        need(len(words) == 3, 'from-var V OP W')
        op = self.read_op(words[1])
        need(self.f.fact[op] == 'external', 'no external read')
        self.new_var(words[0], ('from', op, self.read_txn(words[2])))

    def line_count_var(self, words):
        need(len(words) == 2, 'count-var V T')
        self.new_var(words[0], ('count', self.read_txn(words[1])))

    def line_edge_var(self, words):
        need(len(words) == 3, 'edge-var V NODE NODE')
        self.new_var(words[0], ('edge', *self.read_nodes(words[1:])))

    def line_place_var(self, words):
        need(len(words) == 4, 'place-var V KEY T N')
        k, t = self.read_key(words[1]), self.read_txn(words[2])
        need(k in self.h.lists and self.is_writer(t, k), 'no append')
        self.new_var(words[0], ('place', k, t, self.number(words[3], 2**32)))

    def add_clause(self, lits):
        self.clauses.append(lits)
        self.refuted |= not lits

    def line_one(self, words):
        need(len(words) > 1 and words[1] == ':', 'one OP : LITERAL...')
        op, lits = self.read_op(words[0]), self.literals(words[2:])
        need(self.f.fact[op] == 'external' and self.is_counted(self.h.of[op], lits), 'OP')
        said = [self.var[x - 1] for x in lits if x > 0]
        need(all(('from', op, w) in said for w in self.left(op)), 'one is left out')
        self.add_clause(lits)

    def line_need(self, words):
        need(words and words[0] == ':', 'need : LITERAL LITERAL')
        lits = self.literals(words[1:])
        need(len(lits) == 2 and lits[0] < 0 < lits[1], 'need : -V W')
        v, w = self.var[-lits[0] - 1], self.var[lits[1] - 1]
        need(w[0] == 'count', 'W')
        u = w[1]
        need(v[0] in ('from', 'place') and v[2] == u or v[0] == 'count' and any(
            self.source.get(op) == u or
            self.f.placed(op) and u in [self.f.appender(op, x) for x in self.f.base(op)]
            for op in self.f.ops_of(v[1])), 'nothing makes it count')
        self.add_clause(lits)

    def line_imply(self, words):
        need(words and words[0] == ':', 'imply : LITERAL...')
        lits = self.literals(words[1:])
        need(lits and lits[-1] > 0, 'imply : LITERAL... V')
        v, rest = self.var[lits[-1] - 1], lits[:-1]
        need(v[0] == 'edge' and self.is_counted(v[1][0], rest) and
             self.is_counted(v[2][0], rest), 'V')
        need(self.edge(v[1], v[2], rest) == 'edge', 'no such edge')
        self.add_clause(lits)

    def line_loop(self, words):
        need(':' in words, 'loop LITERAL... : NODE...')
        lits = self.literals(words[:words.index(':')])
        nodes = [x for x in self.read_nodes(words[words.index(':') + 1:])
                 if self.is_counted(x[0], lits)]
        need(nodes, 'no cycle')
        kinds = [self.edge(x, y, lits) for x, y in zip(nodes, nodes[1:] + nodes[:1])]
        need(None not in kinds and kinds.count('anti') <= 1, 'the cycle has a gap')
        self.add_clause(lits)

    def line_rup(self, words):
        lits = self.literals(words)
        value = set()  # literals that are true
        need(self.propagates(lits, value), 'does not follow')
        self.add_clause(lits)

    def propagates(self, lits, value):
        for x in lits:
            value.add(-x)
        if any(-x in value for x in value):
            return True
        again = True
        while again:
            again = False
            for clause in self.clauses:
                if any(x in value for x in clause):
                    continue
                open_ = {x for x in clause if -x not in value}
                if not open_:
                    return True
                if len(open_) == 1:
                    value |= open_
                    again = True
        return False

    # -- section 10 --

    def length(self, op):
        own = self.f.writes[self.h.of[op], self.h.op[op].key] \
            if self.f.fact[op] == 'own' else ()
        return len(self.f.base(op)) + len(own)

    def fits_at(self, op, t, n):
        base = self.f.base(op)
        if t == self.h.of[op]:
            return self.f.fact[op] == 'own' and n == len(base)
        mine = tuple(self.f.writes[t, self.h.op[op].key])
        return n + len(mine) <= len(base) and base[n:n + len(mine)] == mine

    def list_line(self, words, n):
        need(len(words) > n and words[n] == ':', 'expected a colon')
        op, lits = self.read_op(words[0]), self.literals(words[n + 1:])
        need(self.f.placed(op) and self.is_counted(self.h.of[op], lits), 'no list')
        return op, lits, self.h.op[op].key, [self.var[x - 1] for x in lits if x > 0]

    def line_show(self, words):
        need(len(words) > 1, 'show OP N : LITERAL...')
        op, lits, k, said = self.list_line(words, 2)
        n = self.number(words[1], 2**32)
        need(n < self.length(op), 'no such element')
        for t in self.f.writers.get(k, ()):
            for m in range(n + 1):
                if t in self.may and self.fits_at(op, t, m) and \
                        m + len(self.f.writes[t, k]) > n:
                    need(('place', k, t, m) in said, 'a place is left out')
        self.add_clause(lits)

    def line_fits(self, words):
        op, lits, k, said = self.list_line(words, 1)
        reader, length = self.h.of[op], self.length(op)
        ok = any(c[0] == 'place' and c[1] == k and not self.fits_at(op, c[2], c[3]) and
                 (c[3] < length or self.f.fact[op] == 'own' and c[2] == reader)
                 for c in self.true(lits))
        if not ok and self.f.fact[op] == 'external':
            sources = {c[2] for c in self.true(lits) if c[0] == 'from' and c[1] == op}
            sources |= {self.source[op]} if op in self.source else set()
            for t in sources:
                if t == 0:
                    ok |= length > 0
                elif self.is_writer(t, k):
                    at = length - len(self.f.writes[t, k])
                    ok |= at < 0 or not self.fits_at(op, t, at) or \
                        ('place', k, t, at) in said
        need(ok, 'the list does not forbid that')
        self.add_clause(lits)

    def line_apart(self, words):
        need(words and words[0] == ':', 'apart : -V -W')
        lits = self.literals(words[1:])
        places = self.true(lits)
        need(len(lits) == len(places) == 2 and
             all(p[0] == 'place' for p in places), 'apart : -V -W')
        (_, k, t, n), (_, l, u, m) = places
        need(k == l, 'two lists')
        if t == u:
            need(n != m, 'one place')
        else:
            need(n < m + len(self.f.writes[u, k]) and m < n + len(self.f.writes[t, k]),
                 'they do not overlap')
        self.add_clause(lits)

    def line_after(self, words):
        op, lits, k, said = self.list_line(words, 1)
        need(lits and lits[-1] > 0, 'after OP : LITERAL... V')
        v = self.var[lits[-1] - 1]
        need(v[0] == 'edge', 'no edge')
        t, u, length = v[1][0], v[2][0], self.length(op)
        need(t != u and v[1] == self.c(t) and v[2] == self.ww(u), 'no WW')
        need(self.is_counted(u, lits) and self.is_writer(u, k), 'U')
        need(any(c[0] == 'place' and c[1] == k and c[2] == t and
                 c[3] + len(self.f.writes[t, k]) <= length for c in self.true(lits)), 'T')
        for n in range(length):
            if self.fits_at(op, u, n):
                need(('place', k, u, n) in said, 'a place is left out')
        self.add_clause(lits)

    # -- a line of a fail block --

    def line(self, words):
        allowed = {'ci': ['differ']}.get(self.base)
        if allowed is None:
            allowed = ['cycle', 'misread', 'list', 'from-var', 'count-var', 'edge-var',
                       'place-var', 'one', 'need', 'imply', 'loop', 'rup', 'show', 'fits',
                       'apart', 'after']
            if self.base in COMMITS:
                allowed += ['mono']
            if self.base in ('ra', 'cc'):
                allowed += ['differ', 'beside', 'causal']
            if self.base in VERSIONS:
                allowed += ['differ', 'anti', 'over', 'drop', 'from', 'nobody', 'before',
                            'order-var']
            if self.base in ('si', 'psi'):
                allowed += ['pair']
        need(words and words[0] in allowed, 'expected a step')
        getattr(self, 'line_' + words[0].replace('-', '_'))(words[1:])

    def check_pass(self, lines):
        if self.base == 'ci':
            need(not lines, 'lines in a pass of ci')
            need(not any(self.f.differs_at_ci(t) for t in self.counts), 'reads differ')
            return
        need(not self.rt or self.f.has_times, 'no times')
        if self.base not in ('pc', 'si', 'rr', 'ser'):
            while lines and lines[0][:1] == ['choose']:
                need(len(lines[0]) == 3, 'choose OP W')
                op, w = self.read_op(lines[0][1]), self.read_txn(lines[0][2])
                need(w in self.f.sources[op], 'not a source')
                self.source[op] = w
                lines = lines[1:]
            self.source = {op: w for op, w in self.source.items()
                           if self.f.fact[op] == 'external'}
        need(len(lines) == 1 and lines[0][:1] == ['order'], 'expected order')
        if self.base in ('pc', 'si', 'rr', 'ser'):
            self.check_order(lines[0][1:])
        else:
            self.check_commits(lines[0][1:])


def verify(history, text):
    """What the certificate proves: a dictionary of levels; a Fault when it does not."""
    f = Facts(history)
    need(text.endswith('\n'), 'the last line does not end')
    need(re.fullmatch(r'[ -~\n]*', text), 'strange characters')
    lines = [line.split() for line in text[:-1].split('\n')]
    need(len(lines) > 2 and len(lines[0]) == 2 and lines[0][0] == 'insula-certificate' and
         re.fullmatch('0*2', lines[0][1]), 'expected insula-certificate 2')
    counts = [history.n_sessions, len(history.txn), len(history.op)]
    need(len(lines[1]) == 4 and lines[1][0] == 'history' and
         all(re.fullmatch('[0-9]+', x) for x in lines[1][1:]) and
         [int(x) for x in lines[1][1:]] == counts, 'for another history')
    need(lines[2] and lines[2][0] == 'claims' and len(lines[2]) > 1, 'expected claims')
    claimed, proved = {}, {}
    for claim in lines[2][1:]:
        name, _, verdict = claim.rpartition('=')
        need(parse_level(name) and verdict in ('pass', 'fail') and name not in claimed,
             'expected a level and a verdict, once')
        claimed[name] = verdict
    at = 3
    while at < len(lines):
        need(len(lines[at]) == 3 and lines[at][0] == 'level', 'expected level')
        name, verdict = lines[at][1:]
        need(claimed.get(name) == verdict and name not in proved, 'not what is claimed')
        end = at + 1
        while end < len(lines) and lines[end] != ['end']:
            end += 1
        need(end < len(lines), 'a block without end')
        check_block(f, parse_level(name), verdict, lines[at + 1:end], proved)
        proved[name] = verdict
        at = end + 1
    need(proved == claimed, 'claimed and not proved')
    return proved


def check_block(f, level, verdict, lines, proved):
    if lines and lines[0][:1] == ['implied']:
        need(len(lines) == 1 and len(lines[0]) == 2, 'implied LEVEL')
        by = parse_level(lines[0][1])
        need(by and proved.get(lines[0][1]) == verdict, 'not proved before')
        need(implies(by, level) if verdict == 'pass' else implies(level, by), 'not implied')
        return
    block = Block(f, level)
    if verdict == 'pass':
        block.check_pass(lines)
        return
    for line in lines:
        block.line(line)
    need(block.refuted, 'no contradiction')


def judge(history_path, certificate_path):
    try:
        with open(history_path, encoding='latin-1', newline='') as file:
            history = History(file.read())
    except (BadHistory, IndexError, ValueError) as e:
        return 3, '%s: %s' % (history_path, e)
    try:
        with open(certificate_path, encoding='latin-1', newline='') as file:
            proved = verify(history, file.read())
    except Fault as e:
        return 1, '%s: %s' % (certificate_path, e)
    return 0, '\n'.join('%s %s: proved' % x for x in proved.items())


def main():
    if sys.argv[1:] == ['--batch']:
        for line in sys.stdin:
            print(judge(*line.split())[0], flush=True)
        return 0
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 3
    status, text = judge(*sys.argv[1:])
    print(text, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == '__main__':
    sys.exit(main())

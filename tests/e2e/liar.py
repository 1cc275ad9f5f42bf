#!/usr/bin/env python3
"""A client of exec: that misbehaves: liar.py HOW FILE.  It serves SQLite as
examples/exec/template.py does; at about every 40th commit or read it does what it is
called after."""
import json
import os
import random
import sqlite3
import sys
import time

how, path = sys.argv[1:3]


number = 0


def say(message):
    print(json.dumps(dict({"id": number}, **message)), flush=True)


hello = json.loads(sys.stdin.readline())
db = sqlite3.connect(path, timeout=5, isolation_level=None)
db.execute("PRAGMA synchronous=off")
if how == "version":
    say({"ok": True, "insula": 2, "name": "x"})
elif how == "no-name":
    say({"ok": True, "insula": 1})
elif how == "refuses":
    say({"error": "failed", "message": "no such server"})
elif how == "silent":
    time.sleep(1000)
else:
    say({"ok": True, "insula": 1, "name": "SQLite"})


def answer(op, key=None, value=None):
    if op == "setup":
        db.execute("PRAGMA journal_mode=wal")
        db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
    elif op == "teardown":
        db.execute("DROP TABLE t")
    elif op == "read":
        row = db.execute("SELECT v FROM t WHERE k = ?", (key,)).fetchone()
        return {"ok": True, "value": json.loads(row[0]) if row else None}
    elif op == "append":
        value = (answer("read", key)["value"] or []) + [value]
    if op in ("write", "append"):
        db.execute("REPLACE INTO t VALUES (?, ?)", (key, json.dumps(value)))
    elif op == "begin":
        db.execute("BEGIN IMMEDIATE")
    elif op == "commit" or (op == "rollback" and db.in_transaction):
        db.execute(op)
    return {"ok": True}


def lie(request):
    global number
    """Misbehave; False when this request is served as it should be."""
    op = request["op"]
    if how == "drops" and op == "commit":  # says it is done, and it is not
        db.execute("ROLLBACK")
        say({"ok": True})
    elif how == "thin-air" and op == "read":
        say({"ok": True, "value": 987654321})
    elif how == "commits-and-dies" and op == "commit":
        db.execute("COMMIT")
        os._exit(1)
    elif how == "dies" and op == "read":
        os._exit(1)
    elif how == "commits-early-and-dies" and op == "read":  # before it was asked to
        db.execute("COMMIT")
        os._exit(1)
    elif how == "does-not-know" and op == "commit":
        db.execute(random.choice(["COMMIT", "ROLLBACK"]))
        say({"error": "unknown", "message": "who knows"})
    elif how == "fails-and-commits" and op == "commit":
        db.execute("COMMIT")
        say({"error": "failed", "message": "something"})
    elif how == "hangs" and op == "commit":
        db.execute("COMMIT")
        time.sleep(1000)
    elif how == "garbage" and op == "read":
        print("Traceback (most recent call last):", flush=True)
    elif how == "bytes" and op == "read":
        os.write(1, bytes(range(128, 256)) + b"\0{\n")
    elif how == "text" and op == "read":
        say({"ok": True, "value": "17"})
    elif how == "fraction" and op == "read":
        say({"ok": True, "value": 1.5})
    elif how == "huge" and op == "read":
        say({"ok": True, "value": 2**64})
    elif how == "list" and op == "read":
        say({"ok": True, "value": [1, 2]})
    elif how == "no-value" and op == "read":
        say({"ok": True})
    elif how == "both" and op == "read":
        say({"ok": True, "error": "conflict", "value": 1})
    elif how == "twice" and op == "read":
        say(answer(**request))
        say(answer(**request))
    elif how == "echo" and op == "read":
        number -= 1
        say(answer(**request))
    elif how == "stranger" and op == "commit":
        say({"ok": True, "rows": 3})
    elif how == "error" and op == "commit":
        say({"error": "deadlock"})
    else:
        return False
    return True


seen = 0
for line in sys.stdin:
    request = json.loads(line)
    number = request.pop("id")
    seen += request["op"] in ("read", "commit")
    if hello["session"] >= 0 and seen > 20 and random.random() < 0.025 and lie(request):
        continue
    try:
        say(answer(**request))
    except sqlite3.OperationalError as error:
        say({"error": "conflict", "message": str(error)})

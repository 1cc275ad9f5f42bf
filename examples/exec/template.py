#!/usr/bin/env python3
"""A client for `insula test --db 'exec:./template.py FILE'`: SQLite here, yours next.

One process is one session.  The rules are in docs/exec-protocol.md."""
import json, sqlite3, sys

hello = json.loads(sys.stdin.readline())
db = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
hello_back = {"id": 0, "ok": True, "insula": 1, "name": "SQLite " + sqlite3.sqlite_version}
print(json.dumps(hello_back), flush=True)

def answer(id, op, key=None, value=None):
    if op == "setup":
        db.execute("CREATE TABLE %s (k INTEGER PRIMARY KEY, v TEXT)" % hello["table"])
    elif op == "teardown":
        db.execute("DROP TABLE " + hello["table"])
    elif op == "read":
        row = db.execute("SELECT v FROM %s WHERE k = ?" % hello["table"], (key,)).fetchone()
        return {"id": id, "ok": True, "value": json.loads(row[0]) if row else None}
    elif op == "append":
        value = (answer(id, "read", key)["value"] or []) + [value]
    if op in ("write", "append"):
        db.execute("REPLACE INTO %s VALUES (?, ?)" % hello["table"], (key, json.dumps(value)))
    elif op == "begin" or op == "commit" or (op == "rollback" and db.in_transaction):
        db.execute(op)
    return {"id": id, "ok": True}

for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = answer(**request)
    except sqlite3.OperationalError as error:  # busy: SQLite has not done it
        reply = {"id": request["id"], "error": "conflict", "message": str(error)}
    print(json.dumps(reply), flush=True)

#!/usr/bin/env python3
"""etcd for insula, over its HTTP gateway with nothing but Python's standard library.

    insula test --db 'exec:./etcd_client.py --url http://127.0.0.1:2379' --promise sser

Reads are linearizable and remember the revision of their key; writes wait.  One etcd
transaction then writes them all if every key that was read still has its revision, so
the whole transaction is at that moment."""
import argparse
import base64
import http.client
import json
import sys
import urllib.parse


def coded(text):
    return base64.b64encode(str(text).encode()).decode()


class Client:
    def __init__(self, url, hello):
        where = urllib.parse.urlsplit(url)
        self.http = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
        self.hello = hello
        self.begin()

    def post(self, path, body):
        self.http.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = self.http.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError("%d: %s" % (response.status, text.decode(errors="replace")))
        return json.loads(text)

    def name(self, key):
        return coded("%s/%d" % (self.hello["table"], key))

    def all(self):
        return {"key": coded(self.hello["table"] + "/"), "range_end": coded(self.hello["table"] + "0")}

    def setup(self):
        if "kvs" in self.post("/v3/kv/range", dict(self.all(), limit=1)):
            raise RuntimeError("there are keys %s/* already" % self.hello["table"])

    def teardown(self):
        self.post("/v3/kv/deleterange", self.all())

    def begin(self):
        self.seen, self.written = {}, {}  # key: (value, revision); key: value

    def read(self, key):
        if key not in self.seen:
            found = self.post("/v3/kv/range", {"key": self.name(key)}).get("kvs")
            self.seen[key] = (None, 0)
            if found:
                value = json.loads(base64.b64decode(found[0]["value"]))
                self.seen[key] = (value, int(found[0]["mod_revision"]))
        return self.written.get(key, self.seen[key][0])

    def write(self, key, value):
        self.written[key] = value

    def append(self, key, value):
        self.written[key] = (self.read(key) or []) + [value]

    def commit(self):
        as_seen = [{"key": self.name(k), "target": "MOD", "result": "EQUAL", "mod_revision": str(r)}
                   for k, (_, r) in self.seen.items()]
        puts = [{"request_put": {"key": self.name(k), "value": coded(json.dumps(v))}}
                for k, v in self.written.items()]
        return self.post("/v3/kv/txn", {"compare": as_seen, "success": puts}).get("succeeded", False)

    def rollback(self):
        self.begin()


def answer(client, op, arguments):
    try:
        result = getattr(client, op)(**arguments)
    except (OSError, ValueError, RuntimeError, http.client.HTTPException) as error:
        # Nothing is written before the commit; a commit without its answer may be done.
        return {"error": "unknown" if op == "commit" else "failed", "message": str(error)}
    if op == "commit" and not result:
        return {"error": "conflict", "message": "a key that was read has changed"}
    return {"ok": True, "value": result} if op == "read" else {"ok": True}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:2379")
    options = parser.parse_args()
    client = Client(options.url, json.loads(sys.stdin.readline()))
    client.http.request("GET", "/version")
    version = json.loads(client.http.getresponse().read())["etcdserver"]
    print(json.dumps({"id": 0, "ok": True, "insula": 1, "name": "etcd " + version, "isolation": "compare and put"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        reply = answer(client, request.pop("op"), request)
        print(json.dumps(dict(reply, id=number)), flush=True)


main()

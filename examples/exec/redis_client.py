#!/usr/bin/env python3
"""Redis for insula: transactions of MULTI and EXEC, guarded by WATCH.

    insula test --db 'exec:./redis_client.py --socket /run/redis.sock' --promise sser
    insula test --db 'exec:./redis_client.py --no-watch' --workload rmw

Reads happen at once and writes wait for EXEC.  With WATCH, EXEC does nothing unless
every key that was read is as it was: then all of the transaction is at the moment of
EXEC.  With --no-watch nothing guards the reads, and updates are lost."""
import argparse
import json
import socket
import sys


class Redis:
    def __init__(self, path, host, port):
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
        else:
            self.socket = socket.create_connection((host, port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def send(self, *words):
        out = b"*%d\r\n" % len(words)
        for word in words:
            word = str(word).encode()
            out += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(out)

    def receive(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis has gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == b"-1" else [self.receive() for _ in range(int(rest))]
        return rest.decode()

    def ask(self, *words):
        self.send(*words)
        return self.receive()


class Client:
    def __init__(self, redis, hello, watch):
        self.redis, self.hello, self.watch = redis, hello, watch
        self.begin()

    def name(self, key):
        return "%s:%d" % (self.hello["table"], key)

    def setup(self):
        if self.redis.ask("KEYS", self.hello["table"] + ":*"):
            raise RuntimeError("there are keys %s:* already" % self.hello["table"])

    def teardown(self):
        for key in self.redis.ask("KEYS", self.hello["table"] + ":*"):
            self.redis.ask("DEL", key)

    def begin(self):
        self.seen, self.written, self.commands = {}, {}, []

    def read(self, key):
        if key not in self.seen:
            if self.watch:
                self.redis.ask("WATCH", self.name(key))
            if self.hello["list"]:
                self.seen[key] = [int(v) for v in self.redis.ask("LRANGE", self.name(key), 0, -1)]
            else:
                value = self.redis.ask("GET", self.name(key))
                self.seen[key] = None if value is None else int(value)
        if self.hello["list"]:
            return self.seen[key] + self.written.get(key, [])
        return self.written.get(key, self.seen[key])

    def write(self, key, value):
        self.written[key] = value
        self.commands.append(("SET", self.name(key), value))

    def append(self, key, value):
        self.written.setdefault(key, []).append(value)
        self.commands.append(("RPUSH", self.name(key), value))

    def commit(self):
        for command in [("MULTI",)] + self.commands:
            self.redis.ask(*command)
        return self.redis.ask("EXEC") is not None

    def rollback(self):
        self.redis.ask("UNWATCH")


def answer(client, op, arguments):
    try:
        result = getattr(client, op)(**arguments)
    except RuntimeError as error:  # Redis said no, before EXEC or to EXEC as a whole
        return {"error": "refused", "message": str(error)}
    except OSError as error:  # the answer did not arrive
        return {"error": "unknown", "message": str(error)}
    if op == "commit" and not result:
        return {"error": "conflict", "message": "a watched key has changed"}
    return {"ok": True, "value": result} if op == "read" else {"ok": True}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=6379)
    parser.add_argument("--no-watch", action="store_true")
    options = parser.parse_args()
    hello = json.loads(sys.stdin.readline())
    redis = Redis(options.socket, options.host, options.port)
    version = [line for line in redis.ask("INFO", "server").splitlines() if line.startswith("redis_version:")]
    isolation = "MULTI/EXEC" if options.no_watch else "MULTI/EXEC with WATCH"
    print(json.dumps({"id": 0, "ok": True, "insula": 1, "name": "Redis " + version[0].split(":")[1], "isolation": isolation}), flush=True)
    client = Client(redis, hello, not options.no_watch)
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        reply = answer(client, request.pop("op"), request)
        print(json.dumps(dict(reply, id=number)), flush=True)


main()

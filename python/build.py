#!/usr/bin/env python3
"""Build the wheel with nothing but Python and a C compiler: build.py BUILD OUTPUT [--inplace].

BUILD is where Meson built the library, whose static form goes into the wheel.  With
--inplace only the module is made, OUTPUT/insula/_native.abi3.so with the package beside it."""
import base64
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["__init__.py", "_native.pyi", "py.typed", "pytest_plugin.py"]
SOURCES = ["_native.c", "_native_build.c", "_native_monitor.c"]
MODULE = "_native.abi3.so"
METADATA = """Metadata-Version: 2.1
Name: insula
Version: %s
Summary: Which isolation level did this database really give its clients?
Requires-Python: >=3.8
"""


def version():
    with open(os.path.join(HERE, "..", "include", "insula.h")) as header:
        for line in header:
            if line.startswith("#define INSULA_VERSION"):
                return line.split('"')[1]
    raise SystemExit("no INSULA_VERSION in insula.h")


def compile_module(build, target):
    """Link what is to be had statically, so that the wheel needs libc alone."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise SystemExit("Python.h is missing in %s: install python3-dev" % include)
    sources = [os.path.join(HERE, "insula", name) for name in SOURCES]
    command = shlex.split(os.environ.get("CC", "cc")) + [
        "-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
        "-I" + os.path.join(HERE, "..", "include"), "-isystem", include, *sources,
        "-Wl,--exclude-libs,ALL", "-o", target]
    command += shlex.split(os.environ.get("CFLAGS", "") + " " + os.environ.get("LDFLAGS", ""))
    if os.environ.get("INSULA_SHARED"):  # for a distribution: libinsula is a package of its own
        subprocess.run(command + [os.path.join(build, "src", "libinsula.so")], check=True)
        return
    command.append(os.path.join(build, "src", "libinsula.a"))
    static = ["-Wl,-Bstatic", "-lzstd", "-lz", "-Wl,-Bdynamic", "-lm", "-pthread"]
    if subprocess.run(command + static, stderr=subprocess.DEVNULL).returncode:
        subprocess.run(command + ["-lzstd", "-lz", "-lm", "-pthread"], check=True)


def record(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d\n" % (name, digest, len(data))


def main():
    build, output = sys.argv[1:3]
    os.makedirs(output, exist_ok=True)
    if sys.argv[3:] == ["--inplace"]:
        package = os.path.join(output, "insula")
        os.makedirs(package, exist_ok=True)
        for name in FILES:
            shutil.copyfile(os.path.join(HERE, "insula", name), os.path.join(package, name))
        compile_module(build, os.path.join(package, MODULE))
        return
    number = version()
    tag = "cp38-abi3-linux_%s" % platform.machine()
    info = "insula-%s.dist-info/" % number
    contents = {}
    for name in FILES:
        with open(os.path.join(HERE, "insula", name), "rb") as file:
            contents["insula/" + name] = file.read()
    with tempfile.TemporaryDirectory() as scratch:
        compile_module(build, os.path.join(scratch, MODULE))
        with open(os.path.join(scratch, MODULE), "rb") as file:
            contents["insula/" + MODULE] = file.read()
    contents[info + "METADATA"] = (METADATA % number).encode()
    contents[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: insula\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode()
    contents[info + "entry_points.txt"] = b"[pytest11]\ninsula = insula.pytest_plugin\n"
    lines = "".join(record(name, data) for name, data in contents.items())
    contents[info + "RECORD"] = (lines + info + "RECORD,,\n").encode()
    path = os.path.join(output, "insula-%s-%s.whl" % (number, tag))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents.items():
            # The same bytes each time: no times, plain rights.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


main()

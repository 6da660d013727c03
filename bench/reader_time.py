#!/usr/bin/env python3
"""How long does a file at the bounds of docs/limits.md make one wait, what is said meanwhile, does Ctrl-C end it?

Makes for every reader of that table files at its bounds (the largest that is accepted, what is worst for time),
runs the verb that reads it with a terminal as standard error, then once more with SIGINT half way, or after 2 s. Prints
one Markdown table; a line that does not keep to "10 s, or progress, and Ctrl-C within 2 s" ends with a mark.

    nice -n 5 bench/reader_time.py build/release/apps/hindsight/hindsight
    bench/reader_time.py PROGRAM --only onnx,csv --mib 64

Files go to a folder of their own and away again. Takes some 4 GiB of disk and of memory; half an hour. The files and
verbs stand in reader_cases.py.
"""
import argparse
import os
import pathlib
import pty
import select
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder may be part of a repository
from reader_cases import CASES, MIB

LIMIT_S = 120
KEPT_S = 10  # what a reader may take without a word
INTERRUPT_S = 2


class Run:
    """One run with a terminal as standard error."""

    def __init__(self, o, folder, words, interrupt_after=None):
        for name in ("new.sqlite", "x.csv", "x.sqlite", "x.html", "x.landscape", "m.safetensors"):
            for ending in ("", "-wal", "-shm"):
                (folder / (name + ending)).unlink(missing_ok=True)
        begin = time.monotonic()
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(folder)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(null, 1)
            os.environ["TERM"] = "xterm"
            os.environ["NO_COLOR"] = "1"
            os.execv(o.program, [o.program] + words)
        self.said, self.first_s, self.signal_s, self.killed = b"", None, None, False
        status = None
        while status is None:
            now = time.monotonic() - begin
            if select.select([master], [], [], 0.02)[0]:
                try:
                    got = os.read(master, 65536)
                except OSError:
                    got = b""
                if got and self.first_s is None:
                    self.first_s = time.monotonic() - begin
                self.said += got
            if interrupt_after is not None and self.signal_s is None and now >= interrupt_after:
                os.kill(pid, signal.SIGINT)
                self.signal_s = time.monotonic() - begin
            if now > LIMIT_S and not self.killed:
                os.kill(pid, signal.SIGKILL)
                self.killed = True
            done, code, usage = os.wait4(pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)
        self.seconds = time.monotonic() - begin
        while select.select([master], [], [], 0)[0]:
            try:
                got = os.read(master, 65536)
            except OSError:
                break
            if not got:
                break
            self.said += got
        os.close(master)
        self.code = status if status >= 0 else 128 - status  # as a shell says it
        self.mib = usage.ru_maxrss / 1024

    def line(self):
        lines = [one.split("\r")[-1].replace("\x1b[K",
            "").strip() for one in self.said.decode(errors="replace").replace("\r\n", "\n").split("\n")]
        lines = [one for one in lines if one and "next:" not in one]
        return lines[-1] if lines else ""


def measure(o, group, what, make):
    with tempfile.TemporaryDirectory(prefix="reader_time_", dir=o.folder) as name:
        folder = pathlib.Path(name)
        words = make(folder, o)
        size = sum(one.stat().st_size for one in folder.iterdir() if not one.name.endswith(("-wal", "-shm")))
        first = Run(o, folder, words)
        spoke = first.first_s is not None and first.first_s < first.seconds - 0.5
        progress = f"at {first.first_s:.0f} s" if spoke else "-"
        ended, code = "-", ""
        kept = first.seconds <= KEPT_S or (spoke and first.first_s <= KEPT_S)
        if first.seconds > 0.4:
            second = Run(o, folder, words, min(first.seconds / 2, 2.0))
            if second.signal_s is not None:
                after = second.seconds - second.signal_s
                ended, code = f"{after:.1f}", str(second.code)
                kept = kept and after <= INTERRUPT_S
        verb = " ".join(words[:2] if words[0] in ("log", "space", "workload", "model", "measure") else words[:1])
        shown = ("over " if first.killed else "") + f"{first.seconds:.1f}"
        message = first.line().replace(str(folder), "").replace("|", "/")[:110]
        mark = "" if kept else " **beyond**"
        cells = [group, what.format(mib=o.mib, rows=o.rows), f"`{verb}`", f"{size / MIB:.1f}", shown,
            f"{first.mib:.0f}", progress, first.code, ended, code, message + mark]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built hindsight")
    parser.add_argument("--only", default="", help="groups, or parts of descriptions, a,b,c")
    parser.add_argument("--mib", type=int, default=256, help="size of files that are read line by line [256]")
    parser.add_argument("--rows", type=int, default=500_000, help="designs of the large log [500000]")
    parser.add_argument("--folder", default=None, help="where files are made [the temporary folder]")
    o = parser.parse_args()
    o.program = str(pathlib.Path(o.program).resolve())
    if not os.access(o.program, os.X_OK):
        sys.exit(f"reader_time.py: {o.program} is no program. Build it first")
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    chosen = [word for word in o.only.split(",") if word]
    groups = {group for group, _, _ in CASES}
    fits = lambda word, group, what: word == group if word in groups else word in what
    print("| group | file | verb | MiB | seconds | peak, MiB | said something | exit code | Ctrl-C: ends after s "
        "| code | last line |")
    print("|---|---|---|---:|---:|---:|---|---:|---:|---:|---|")
    kept = [measure(o, *one) for one in CASES if not chosen or any(fits(word, one[0], one[1]) for word in chosen)]
    print(f"\n{kept.count(False)} of {len(kept)} beyond {KEPT_S} s without a word, or {INTERRUPT_S} s after Ctrl-C")


if __name__ == "__main__":
    main()

"""A class of attackers, each of whom hands in one attack, marked as a class is.

As a program, `class_attacks.py FOLDER`, it makes a course there, marks it and prints as JSON what each attack got done.
With the folder `confined` on PYTHONPATH, it is told by PROTECTION what may stand between it and them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import resource
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SECRET = "the-secret-of-the-course"
PROTECTIONS = {"bubblewrap": "bubblewrap", "landlock": "Landlock", "limits": "limits alone"}
EVERYWHERE = tuple(PROTECTIONS)
NO_FILES_HIDDEN = ("limits",)


@dataclass(frozen=True)
class Attack:
    """What one student hands in: attempts by name, each an expression of Python, or a kernel's source."""

    title: str  # as the guide has it
    attempts: Mapping[str, str] = field(default_factory=dict)
    kernel: str = ""
    possible: tuple[str, ...] = ()  # the protections under which every attempt gets done; none elsewhere
    remains: str = "possible"  # what the guide says where it does


def _reads(*paths: str) -> dict[str, str]:
    names = (path.rpartition("/")[2] for path in paths)
    return {
        name: f"(os.listdir if os.path.isdir({path!r}) else open)({path!r})"
        for name, path in zip(names, paths, strict=True)
    }


MARK = ".marks/0.json"
_TO_PROCESSES = {
    "environment": "open(f'/proc/{PID}/environ')",
    "memory": "open(f'/proc/{PID}/mem', 'rb')",
    "write": "open(f'/proc/{PID}/mem', 'r+b')",
    "answer": "open(f'/proc/{PID}/fd/1', 'wb')",
    "kill": "os.kill(PID, 9)",
    "signal": "os.kill(PID, 0)",
    "pidfd": "signal.pidfd_send_signal(os.pidfd_open(PID), 9)",
    "attach": "traced(16, PID)",
    "seize": "traced(0x4206, PID)",
    "nice": "os.setpriority(os.PRIO_PROCESS, PID, 19)",
    "limit": "resource.prlimit(PID, resource.RLIMIT_CPU, (1, 1))",
}
ATTACKS = {
    "cases": Attack(
        "read the hidden cases and marks", _reads("ROOT/hidden.toml", "ROOT/.marks", f"ROOT/{MARK}"),
        possible=NO_FILES_HIDDEN,
    ),
    "others": Attack(
        "read others' work, the gradebook, your files",
        _reads("ROOT/submitted", "ROOT/submitted/cases/streams/streams.ipynb", "ROOT/gradebook.db", "ROOT/release"),
        possible=NO_FILES_HIDDEN,
    ),
    "names": Attack(
        "ask whether a file is there, and how large it is",
        {"stat": "os.stat('ROOT/hidden.toml')", "access": "os.access('ROOT/hidden.toml', 0) or 1 / 0"},
        possible=("landlock", "limits"),
    ),
    "gradebook": Attack(
        "write the gradebook",
        {
            "open": "open('ROOT/gradebook.db', 'r+b')", "append": "open('ROOT/gradebook.db', 'ab')",
            "truncate": "os.truncate('ROOT/gradebook.db', 0)", "unlink": "os.unlink('ROOT/gradebook.db')",
            "rename": "os.rename('ROOT/gradebook.db', 'ROOT/gone.db')",
            "journal": "open('ROOT/gradebook.db-journal', 'wb')",
        },
    ),
    "marks": Attack(
        "write marks, submissions, the course's configuration",
        {
            "mark": f"open('ROOT/{MARK}', 'wb')", "new": "open('ROOT/.marks/new.json', 'xb')",
            "link": "os.symlink('/dev/null', 'ROOT/.marks/link.json')",
            "chmod": "os.chmod('ROOT/.marks', 0o777)", "utime": f"os.utime('ROOT/{MARK}')",
            "submission": "open('ROOT/submitted/cases/streams/streams.ipynb', 'ab')",
            "configuration": "open('ROOT/nbgrader_config.py', 'ab')", "mkdir": "os.mkdir('ROOT/submitted/new')",
        },
    ),
    "processes": Attack(
        "read, trace or end the marker's processes",
        {
            f"{name} {whose}": attempt.replace("PID", pid)
            for whose, pid in {"command": "MARKER", "worker": "(os.getppid() or MARKER)"}.items()
            for name, attempt in _TO_PROCESSES.items()
        }
        | {"group": "os.killpg(0, 0)", "all": "os.kill(-1, 0)"},
    ),
    "network": Attack(
        "speak over TCP, UDP or a socket of the machine",
        {
            "tcp": "socket.create_connection(('127.0.0.1', TCP), 2)",
            "udp": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('127.0.0.1', UDP))",
            "tcp6": "socket.socket(socket.AF_INET6).connect(('::1', TCP))",
            "unix": "socket.socket(socket.AF_UNIX)", "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "pair": "socket.socketpair()", "listen": "socket.create_server(('', 0))",
        },
    ),
    "cache": Attack(
        "change the compiler's cache",
        {
            "write": "open('CACHE/kernel-0.o', 'r+b')", "new": "open('CACHE/kernel-1.o', 'xb')",
            "replace": "os.rename('CACHE/kernel-0.o', 'CACHE/kernel-1.o')",
            "link": "os.link('CACHE/kernel-0.o', 'CACHE/kernel-1.o')",
            "lock": "fcntl.flock(os.open('CACHE/kernel-0.o', os.O_RDONLY), fcntl.LOCK_EX)",
        },
    ),
    "daemon": Attack(
        "start a program, or a process that stays",
        {
            "fork": "os.fork() or os._exit(0)", "program": "subprocess.run(['/bin/true'])",
            "spawn": "os.posix_spawn('/bin/true', ['true'], {})", "exec": "os.execv('/bin/true', ['true'])",
            "thread": "threading.Thread(target=print).start()", "namespace": "os_call('unshare', 0x10000000)",
        },
    ),
    "files": Attack(
        "fill the disk",
        {
            f"file {number}": f"open('{place}/large', 'wb').write(bytes(1 << 20))"
            for number, place in enumerate((".", "/tmp", "/var/tmp", "/dev/shm", "FOLDER"))
        }
        | {"memfd": "os.memfd_create('kept')", "output": "[os.write(1, bytes(1 << 16)) for _ in range(1 << 16)]"},
    ),
    "memory": Attack(
        "take all memory",
        {"all": "[kept.append(bytearray(os.urandom(1 << 20)) * 16) or time.sleep(0.02) for _ in range(10**6)]"},
    ),
    "include": Attack("have the compiler quote a file", kernel='#include "ROOT/hidden.toml"\n'),
    "macro": Attack(
        "have the compiler quote a file",
        kernel="#define S(x) #x\n#define T(x) S(x)\n#define FILE ROOT/hidden.toml\n%:include T(FILE)\n",
    ),
    "assembly": Attack(
        "have the compiler quote a file",
        kernel='__global__ void f() { asm volatile(".include \\"ROOT/hidden.toml\\""); }\n',
    ),
    "exists": Attack(
        "have the compiler tell whether a file is there",
        kernel='#if __has_include("ROOT/hidden.toml")\n#error SEEN\n#endif\n#error UNSEEN\n',
    ),
    "hidden": Attack(
        "have the compiler tell whether a file is there",
        kernel='#define HAS __has_include\n#if HAS("ROOT/hidden.toml")\n#error SEEN\n#endif\n#error UNSEEN\n',
    ),
    "bomb": Attack(
        "take all of the compiler's time and memory",
        kernel=f"#define A(x) {' '.join('x' * 16)}\n#define B(x) A(A(A(A(x))))\n"
        "__device__ int bomb = B(B(+1));\n",
    ),
}  # fmt: skip
"""By the student who hands it in."""

_SCHEDULE = """\
import ctypes, fcntl, os, resource, signal, socket, subprocess, threading, time

LIBC = ctypes.CDLL(None, use_errno=True)
kept = []


def traced(how, pid):
    if LIBC.ptrace(how, pid, 0, 0):
        raise OSError(ctypes.get_errno(), "ptrace")


def os_call(name, argument):
    if getattr(LIBC, name)(argument):
        raise OSError(ctypes.get_errno(), name)


class Schedule:
    def __init__(self, *given):
        done = []
        for name, attempt in {attempts}:
            try:
                eval(attempt)
                done.append(name)
            except (OSError, RuntimeError, ZeroDivisionError):
                pass
        raise RuntimeError("DONE " + ",".join(done) + " END")

    def run(self): ...
"""


def table() -> str:
    """The guide's: what is tried, and what comes of it under each protection."""
    lines = [f"| what a submission tries | {' | '.join(PROTECTIONS.values())} |", "|---" * 4 + "|"]
    for attack in {attack.title: attack for attack in ATTACKS.values()}.values():
        cells = [attack.remains if name in attack.possible else "denied" for name in PROTECTIONS]
        lines.append(f"| {attack.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(folder: Path) -> None:
    """Make the course, mark the class and say what became of it."""
    from grader.course import batch
    from grader.sandbox import means

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whoever loses its parent becomes a child of this process
    root, cache = folder / "cuda", Path(os.environ["WARPLADDER_CACHE"])
    _make(root)
    (cache / "kernel-0.o").write_bytes(b"code")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        places = {
            "ROOT": root, "FOLDER": folder, "CACHE": cache, "MARKER": os.getpid(), "TCP": tcp.getsockname()[1],
            "UDP": udp.getsockname()[1],
        }  # fmt: skip
        _hand_in(root, {name: str(place) for name, place in places.items()})
        before = _state(folder)
        course, marker = batch.open_course(root)
        found = {}
        for assignment in ("streams", "transpose"):
            handed_in = [*batch.collect(course, marker.topics, assignment)]
            sources = {item.student: item for item in handed_in if isinstance(item, batch.Submission)}
            for row in batch.mark(marker, list(sources.values())):
                item = sources[row.student]
                marked = marker.marker.known(item.topic, item.source)
                said = row.note if marked is None else str(marked.public)
                found[row.student] = {"said": said, "points": row.grade.points if row.grade else 0}
        heard = [name for name, one in (("tcp", tcp), ("udp", udp)) if _heard(one)]
    after = {
        path: digest for path, digest in _state(folder).items() if path in before or path.startswith("cuda/")
    }
    changed = sorted(
        path for path in {*before, *after} if before.get(path) != after.get(path) and not _ours(path)
    )
    left = _left()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    answer = {"found": found, "heard": heard, "changed": changed, "left": left, "peak": peak}
    print(json.dumps({"means": str(means.means()), **answer}))


def _left() -> int:
    """How many processes that it started are there two seconds later. Those that have ended are waited for."""
    deadline = time.monotonic() + 2
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0
        if not ended:
            if time.monotonic() > deadline:
                return len(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())
            time.sleep(0.05)


def _make(root: Path) -> None:
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    from grader.course.folder import CONFIG, create
    from grader.workbook import topics

    create(root, [topics.load("streams"), topics.load("transpose")], "cuda")
    with (root / CONFIG).open("a") as file:
        file.write('c.MarkKernels.unconfined = ["streams"]\n')  # else limits alone would refuse schedules
    config = PyFileConfigLoader(CONFIG, str(root)).load_config()
    for assignment in ("streams", "transpose"):
        made = NbGraderAPI(CourseDirectory(config=config), config=config).generate_assignment(assignment)
        assert made["success"], made["log"]
    with (root / "hidden.toml").open("a") as file:
        file.write(f"# {SECRET}\n")
    (root / ".marks").mkdir(mode=0o700)
    (root / MARK).write_text("{}")


def _hand_in(root: Path, places: Mapping[str, str]) -> None:
    for student, attack in ATTACKS.items():
        assignment = "transpose" if attack.kernel else "streams"
        notebook = json.loads((root / f"release/{assignment}/{assignment}.ipynb").read_text())
        cell = next(one for one in notebook["cells"] if one["id"] == f"kernel-{assignment}")
        first, starter = "".join(cell["source"]).split("\n", 1)
        source = attack.kernel + starter
        if attack.attempts:
            source = _SCHEDULE.replace("{attempts}", repr(list(attack.attempts.items())))
        for name, place in places.items():
            source = source.replace(name, place)
        cell["source"] = f"{first}\n{source}"
        target = root / "submitted" / student / assignment / f"{assignment}.ipynb"
        target.parent.mkdir(parents=True)
        target.write_text(json.dumps(notebook))


def _state(folder: Path) -> dict[str, str]:
    """Digests of all files, by name."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _ours(path: str) -> bool:
    """Whether marking writes it: new marks and what was compiled."""
    return (
        path.startswith("cuda/.marks/")
        and path != f"cuda/{MARK}"
        and not path.endswith(("new.json", "link.json"))
    )


def _heard(one: socket.socket) -> bool:
    one.settimeout(0)
    try:
        _ = one.recvfrom(1) if one.type == socket.SOCK_DGRAM else one.accept()
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]))

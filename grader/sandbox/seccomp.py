"""A filter of system calls (`seccomp(2)`): no network, no other program, and nothing that is aimed at another process.

Calls are refused with EPERM, as the kernel refuses them where privileges are missing. Which files are read is
Landlock's to say. What it does not look at is refused here: modes, owners, times, locks. A process that is to write
nothing has no call that writes, so that disks and caches are safe where nothing else stands before them.
"""

from __future__ import annotations

import ctypes
import os
import struct

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By name: the column of the tables below, and what the kernel calls it."""

_NETWORK = """
socket 41 198
socketpair 53 199
"""
_REFUSED = """
fork 57 -
vfork 58 -
execve 59 221
execveat 322 281
ptrace 101 117
process_vm_readv 310 270
process_vm_writev 311 271
pidfd_open 434 434
pidfd_getfd 438 438
pidfd_send_signal 424 424
process_madvise 440 440
process_mrelease 448 448
kcmp 312 272
tkill 200 130
rt_sigqueueinfo 129 138
rt_tgsigqueueinfo 297 240
setpriority 141 140
ioprio_set 251 30
sched_setscheduler 144 119
sched_setparam 142 118
sched_setattr 314 274
migrate_pages 256 238
move_pages 279 239
chmod 90 -
fchmod 91 52
fchmodat 268 53
fchmodat2 452 452
chown 92 -
fchown 93 55
lchown 94 -
fchownat 260 54
utime 132 -
utimes 235 -
futimesat 261 -
utimensat 280 88
setxattr 188 5
lsetxattr 189 6
fsetxattr 190 7
setxattrat 463 463
removexattr 197 14
lremovexattr 198 15
fremovexattr 199 16
removexattrat 466 466
file_setattr 469 469
name_to_handle_at 303 264
open_by_handle_at 304 265
shmget 29 194
shmat 30 196
shmctl 31 195
semget 64 190
semop 65 193
semtimedop 220 192
semctl 66 191
msgget 68 186
msgsnd 69 189
msgrcv 70 188
msgctl 71 187
mq_open 240 180
mq_unlink 241 181
add_key 248 217
request_key 249 218
keyctl 250 219
mount 165 40
umount2 166 39
pivot_root 155 41
chroot 161 51
unshare 272 97
setns 308 268
open_tree 428 428
open_tree_attr 467 467
move_mount 429 429
fsopen 430 430
fsconfig 431 431
fsmount 432 432
fspick 433 433
mount_setattr 442 442
bpf 321 280
perf_event_open 298 241
userfaultfd 323 282
io_uring_setup 425 425
io_uring_enter 426 426
io_uring_register 427 427
init_module 175 105
finit_module 313 273
delete_module 176 106
kexec_load 246 104
kexec_file_load 320 294
reboot 169 142
swapon 167 224
swapoff 168 225
settimeofday 164 170
clock_settime 227 112
adjtimex 159 171
clock_adjtime 305 266
sethostname 170 161
setdomainname 171 162
acct 163 89
quotactl 179 60
quotactl_fd 443 443
syslog 103 116
"""
_WRITING = """
creat 85 -
openat2 437 437
truncate 76 45
ftruncate 77 46
fallocate 285 47
mkdir 83 -
mkdirat 258 34
mknod 133 -
mknodat 259 33
rmdir 84 -
unlink 87 -
unlinkat 263 35
rename 82 -
renameat 264 38
renameat2 316 276
link 86 -
linkat 265 37
symlink 88 -
symlinkat 266 36
flock 73 32
memfd_create 319 279
memfd_secret 447 447
"""
"""Besides opening for writing: what changes folders, what keeps others waiting, and memory that is no process's."""

_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SHARED = 1  # MAP_SHARED: what was unmapped there is no process's memory either
_WRITING_BY_BITS = (("open 2 -", 1, _TO_WRITE), ("openat 257 56", 2, _TO_WRITE), ("mmap 9 222", 3, _SHARED))
"""Refused without the right to write where this argument has any of these bits."""

_OWN_ALONE = """
kill 62 129
tgkill 234 131
prlimit64 302 261
sched_setaffinity 203 122
"""
"""Calls whose first argument is a process: this one alone. 0 means it too, but for `kill`, where it is the group."""

_BY_ARGUMENT = """
fcntl 72 25 8 15 10 1024
ioctl 16 29 0x5412 0x541c 0x8901 0x8902
prctl 157 167 1
"""
"""Refused where the second argument, `prctl`'s first, is one of these: F_SETOWN and F_SETSIG, which send signals, and
F_SETLEASE, which keeps others from a file; TIOCSTI and the like, which type into a terminal; the signal at the
parent's end."""

_CLONE, _CLONE3 = "clone 56 220", "clone3 435 435"
_CLONE_THREAD = 0x10000
_X32 = 0x40000000  # x86-64's second table of system calls

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where `struct seccomp_data` has them
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38

_SET_FILTER, _ALL_THREADS, _GET_MODE = 1, 1, 21
_SECCOMP = {"x86_64": 317, "aarch64": 277}


def supported() -> bool:
    """Whether this machine's system calls are known here, and its kernel filters them."""
    libc = ctypes.CDLL(None)
    return os.uname().machine in _SECCOMP and libc.prctl(_GET_MODE, 0, 0, 0, 0) >= 0


def install(*, threads: bool, network: bool, writes: bool) -> bool:
    """Filter this process's calls for good; False where that is not supported. `threads`: it may start threads;
    `writes`: it may open files for writing."""
    if not supported():
        return False
    filters = _program(os.uname().machine, threads, network, writes)
    program = struct.pack("HP", len(filters) // 8, ctypes.addressof(ctypes.c_char.from_buffer(filters)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_SECCOMP[os.uname().machine], _SET_FILTER, _ALL_THREADS, program):
        raise OSError(ctypes.get_errno(), "seccomp")
    return True


def _program(machine: str, threads: bool, network: bool, writes: bool) -> bytearray:
    """The filter, eight bytes an instruction: code, two jumps, operand."""
    column, architecture = _ARCHITECTURES[machine]
    refuse = _step(_RETURN, _ERRNO | _EPERM)
    found = _step(_LOAD, _ARCHITECTURE) + _step(_EQUAL, architecture, 1, 0) + _step(_RETURN, _KILL)
    found += _step(_LOAD, _NUMBER)
    if machine == "x86_64":
        found += _step(_AT_LEAST, _X32, 0, 1) + refuse
    for line in (_REFUSED + ("" if network else _NETWORK) + ("" if writes else _WRITING)).split("\n"):
        if (number := _number(line, column)) is not None:
            found += _step(_EQUAL, number, 0, 1) + refuse
    for line, place, bits in () if writes else _WRITING_BY_BITS:
        unwanted = [_step(_ANY_BIT, bits, 1, 0)]
        found += _checked(_number(line, column), _ARGUMENTS + 8 * place, unwanted, True)
    for line in _OWN_ALONE.split("\n"):
        own = [os.getpid()] if line.startswith("kill") else [0, os.getpid()]
        found += _checked(_number(line, column), _ARGUMENTS, [_step(_EQUAL, one, 1, 0) for one in own], False)
    for line in _BY_ARGUMENT.split("\n"):
        place = _ARGUMENTS + (0 if line.startswith("prctl") else 8)
        unwanted = [_step(_EQUAL, int(one, 0), 1, 0) for one in line.split()[3:]]
        found += _checked(_number(line, column), place, unwanted, True)
    found += _step(_EQUAL, _number(_CLONE3, column) or 0, 0, 1) + _step(_RETURN, _ERRNO | _ENOSYS)
    thread = [_step(_ANY_BIT, _CLONE_THREAD, 1, 0)] if threads else []
    found += _checked(_number(_CLONE, column), _ARGUMENTS, thread, False)
    return bytearray(found + _step(_RETURN, _ALLOW))


def _number(line: str, column: int) -> int | None:
    """The system call of a line of a table; None where the architecture has it not."""
    words = line.split()
    return int(words[1 + column]) if words and words[1 + column] != "-" else None


def _checked(number: int | None, place: int, tests: list[bytes], refused: bool) -> bytes:
    """Decide over one call by an argument: where a test holds it is `refused`, or else where none does."""
    if number is None:
        return b""
    refuse, allow = _step(_RETURN, _ERRNO | _EPERM), _step(_RETURN, _ALLOW)
    held, missed = (refuse, allow) if refused else (allow, refuse)
    body = _step(_LOAD, place)
    for left, test in zip(range(len(tests) - 1, -1, -1), tests, strict=True):
        # A test that holds jumps over those that are left and over what is done where none holds.
        body += test[:2] + bytes([left + 1]) + test[3:]
    body += missed + (held if tests else b"")
    return _step(_EQUAL, number, 0, len(body) // 8) + body


def _step(code: int, operand: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, operand)

"""Run by gdb: follows a plan through a program and writes what it sees at each stop.

Into the folder RPROF_TRUTH go `snapshots` (one JSON object a line) and `bytes` (stacks and vdso, which
the lines point into). What a plan can say are the functions behind "Plans".
"""

import json
import os
import struct
import subprocess

import gdb

FOLDER = os.environ["RPROF_TRUTH"]
LINES = open(os.path.join(FOLDER, "snapshots"), "w")
BYTES = open(os.path.join(FOLDER, "bytes"), "wb")
# By DWARF's numbers.
X86_64 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"] + ["r%d" % n for n in range(8, 16)]
AARCH64 = ["x%d" % n for n in range(31)] + ["sp"]
RISCV64 = ["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1"] + ["a%d" % n for n in range(8)]
RISCV64 += ["s%d" % n for n in range(2, 12)] + ["t%d" % n for n in range(3, 7)]
MACHINE = os.environ["RPROF_TRUTH_MACHINE"]
REGISTERS = {"x86_64": X86_64, "aarch64": AARCH64, "riscv64": RISCV64}[MACHINE]
STACK_POINTER = "rsp" if MACHINE == "x86_64" else "sp"
LINK = {"aarch64": "x30", "riscv64": "ra"}.get(MACHINE)
# The folder of another machine's libraries, if the program is emulated.
SYSROOT = os.environ.get("RPROF_TRUTH_SYSROOT")
# What is emulated; of ARM a machine that signs no return addresses, which gdb could not follow.
CPU = {"aarch64": "cortex-a72"}.get(MACHINE, "rv64")
# Bytes of a stack that are kept: mappings of stacks may be larger than what is on them.
MOST = 4 << 20
SKIPPED = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
MASK = (1 << 64) - 1
MAPS = {}


def keep(address, length):
    """Writes memory; returns where it stands in `bytes`."""
    at = BYTES.tell()
    BYTES.write(gdb.selected_inferior().read_memory(address, length))
    return [address, at, length]


def line(what):
    LINES.write(json.dumps(what) + "\n")


def number(frame, register):
    return int(frame.read_register(register)) & MASK


def maps_text():
    if SYSROOT:
        return emulated_maps()
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as file:
        return file.read()


def emulated_maps():
    """A listing made of what is known of an emulated program: files and the stack."""
    rows = segments(gdb.current_progspace().filename, lambda text: 0)
    for row in gdb.execute("info sharedlibrary", to_string=True).splitlines():
        words = row.split()
        if words and words[0].startswith("0x"):
            rows += segments(words[-1], lambda text: int(words[0], 16) - text)
    auxv = gdb.execute("info auxv", to_string=True)
    name = [row.split()[-2] for row in auxv.splitlines() if "AT_EXECFN" in row]
    # The program's name is the last on its stack.
    top = (int(name[0], 16) | 4095) + 1
    return "\n".join(rows + ["%x-%x rw-p 0 00:00 0 [stack]" % (top - (8 << 20), top)])


def segments(path, bias_of):
    """A file's loaded ranges as in /proc/PID/maps, moved by a bias that its .text has."""
    with open(path, "rb") as file:
        elf = file.read()
    phoff, shoff = struct.unpack_from("<QQ", elf, 32)
    phnum, _, shnum, names = struct.unpack_from("<HHHH", elf, 56)
    sections = [struct.unpack_from("<IIQQQQ", elf, shoff + 64 * n) for n in range(shnum)]
    strings = sections[names][4]
    text = [one[3] for one in sections if elf[strings + one[0] :].startswith(b".text\0")]
    rows = []
    for n in range(phnum):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", elf, phoff + 56 * n)
        if kind == 1:
            start = address + bias_of(text[0])
            access = "r-xp" if flags & 1 else "rw-p"
            rows.append("%x-%x %s %x 00:00 0 %s" % (start, start + length, access, offset, path))
    return rows


def read_maps():
    """What is mapped now: the number of the listing, and its ranges."""
    text = maps_text()
    if text not in MAPS:
        ranges = [[int(part, 16) for part in row.split()[0].split("-")] for row in text.splitlines()]
        vdso = None
        for row, (start, end) in zip(text.splitlines(), ranges):
            if row.endswith("[vdso]"):
                vdso = keep(start, end - start)
        MAPS[text] = (len(MAPS), ranges)
        line({"maps": text, "vdso": vdso})
    return MAPS[text]


def backtrace():
    """Frames, innermost first: program counter, whether a signal's, name; and why they end."""
    frames, frame, why = [], gdb.newest_frame(), 0
    while frame is not None:
        if frame.type() not in SKIPPED:
            frames.append([frame.pc(), frame.type() == gdb.SIGTRAMP_FRAME, frame.name() or "?"])
        why = frame.unwind_stop_reason()
        try:
            frame = frame.older()
        except gdb.error as error:
            return frames, str(error)
    return frames, gdb.frame_stop_reason_string(why)


# Plans


def snap(label=""):
    """A snapshot of the selected thread, here and now."""
    maps, ranges = read_maps()
    frame = gdb.newest_frame()
    registers = [number(frame, name) for name in REGISTERS]
    end = [end for start, end in ranges if start <= sp() < end]
    stack = keep(sp(), min(end[0] - sp(), MOST)) if end else [sp(), 0, 0]
    frames, why = backtrace()
    line(
        {
            "label": label,
            "maps": maps,
            "pc": frame.pc(),
            "registers": registers,
            "stack": stack,
            "frames": frames,
            "why": why,
        }
    )


def run_to(place):
    """Goes on, from the start if need be, until a place is reached."""
    gdb.execute("tbreak " + place, to_string=True)
    is_running = gdb.selected_inferior().pid != 0
    if SYSROOT and not is_running:
        emulate()
        is_running = True
    gdb.execute("continue" if is_running else "run", to_string=True)


def emulate():
    """Starts the program in an emulator, which waits for us."""
    place = os.path.join(FOLDER, "socket")
    program = gdb.current_progspace().filename
    subprocess.Popen(["qemu-" + MACHINE, "-cpu", CPU, "-L", SYSROOT, "-g", place, program])
    gdb.execute("set sysroot " + SYSROOT)
    while True:
        try:
            return gdb.execute("target remote " + place, to_string=True)
        except gdb.error:
            # It does not listen yet. If it never does, the test's watchdog barks.
            pass


def runs_to(place, times=1):
    """A snapshot each time that a place is reached."""
    for _ in range(times):
        run_to(place)
        snap(place)


def sp():
    return number(gdb.newest_frame(), STACK_POINTER)


def steps(most, by=1, label=""):
    """A snapshot at each instruction, or every few, until the function that was entered returns."""
    entered = sp()
    back = number(gdb.newest_frame(), LINK) if LINK else None
    for _ in range(most):
        snap(label)
        gdb.execute("stepi %d" % by, to_string=True)
        if sp() > entered or gdb.newest_frame().pc() == back:
            break
    snap(label)


def all_threads(label=""):
    selected = gdb.selected_thread()
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        snap(label)
    selected.switch()


for setting in (
    "pagination off",
    "confirm off",
    "breakpoint pending on",
    "backtrace past-main on",
    "backtrace past-entry on",
    "backtrace limit unlimited",
    "startup-with-shell off",
    "debuginfod enabled off",
    "print thread-events off",
    "print inferior-events off",
):
    gdb.execute("set " + setting)
gdb.execute("unset environment")
gdb.execute("handle SIGILL SIGSEGV SIGUSR2 nostop noprint pass", to_string=True)
with open(os.path.join(FOLDER, "plan")) as plan:
    exec(compile(plan.read(), "plan", "exec"))
line({"done": True})
LINES.close()
BYTES.close()
gdb.execute("kill", to_string=True)

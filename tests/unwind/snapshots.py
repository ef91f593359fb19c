"""Run by gdb: follows a plan through a program and writes what it sees at each stop.

Into the folder RPROF_TRUTH go `snapshots` (one JSON object a line) and `bytes` (stacks and vdso, which
the lines point into). What a plan can say are the functions behind "Plans".
"""

import json
import os

import gdb

FOLDER = os.environ["RPROF_TRUTH"]
LINES = open(os.path.join(FOLDER, "snapshots"), "w")
BYTES = open(os.path.join(FOLDER, "bytes"), "wb")
# By DWARF's numbers.
X86_64 = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"] + ["r%d" % n for n in range(8, 16)]
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


def read_maps():
    """What is mapped now: the number of the listing, and its ranges."""
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as file:
        text = file.read()
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
    registers = [number(frame, name) for name in X86_64]
    sp = registers[7]
    end = [end for start, end in ranges if start <= sp < end]
    stack = keep(sp, end[0] - sp) if end else [sp, 0, 0]
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
    gdb.execute("continue" if is_running else "run", to_string=True)


def runs_to(place, times=1):
    """A snapshot each time that a place is reached."""
    for _ in range(times):
        run_to(place)
        snap(place)


def sp():
    return number(gdb.newest_frame(), "rsp")


def steps(most, by=1, label=""):
    """A snapshot at each instruction, or every few, until the function that was entered returns."""
    entered = sp()
    for _ in range(most):
        snap(label)
        gdb.execute("stepi %d" % by, to_string=True)
        if sp() > entered:
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

//! gdb as the source of truth: a program and a plan go in, what gdb saw at each stop comes out.

use crate::common::{in_path, needs, run, skipped, tool, write};
use rprof_abi::Machine;
use serde_json::Value;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// What gdb runs: see there for what plans can say.
const SCRIPT: &str = include_str!("snapshots.py");

/// A frame as gdb sees it.
#[derive(Clone, Debug)]
pub struct GdbFrame {
    pub pc: u64,
    /// Whether the kernel made it, to call a signal handler.
    pub is_signal: bool,
    /// Its function, for messages.
    pub name: String,
}

/// A thread that stands still.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub label: String,
    pub pc: u64,
    /// In the order of DWARF's numbers.
    pub registers: Vec<u64>,
    pub stack_start: u64,
    pub stack: Vec<u8>,
    /// Innermost first.
    pub frames: Vec<GdbFrame>,
    /// Why gdb says they end.
    pub why: String,
    /// Number of the mappings, in [`Truth::maps`].
    pub maps: usize,
}

/// What was mapped.
#[derive(Clone, Debug)]
pub struct Maps {
    /// `/proc/PID/maps`.
    pub text: String,
    /// Where the vdso is, and its bytes.
    pub vdso: Option<(u64, Vec<u8>)>,
}

/// All that was seen in one run.
#[derive(Clone, Debug)]
pub struct Truth {
    pub machine: Machine,
    pub maps: Vec<Maps>,
    pub snapshots: Vec<Snapshot>,
}

impl Truth {
    /// Corrects gdb where it goes on past a program's first function: that of the dynamic
    /// linker has no description that says so.
    pub fn ends_at_start(mut self) -> Self {
        for snapshot in &mut self.snapshots {
            let start = snapshot.frames.iter().position(|one| one.name == "_start");
            snapshot
                .frames
                .truncate(start.map_or(usize::MAX, |start| start + 1));
        }
        self
    }

    /// Corrects gdb where it takes what lies on the stack for a return address: in stubs without a
    /// description.
    pub fn in_code(mut self) -> Self {
        for snapshot in &mut self.snapshots {
            let maps = &self.maps[snapshot.maps];
            let is_code = |frame: &GdbFrame| maps.code().any(|range| range.contains(&frame.pc));
            snapshot.frames.retain(is_code);
        }
        self
    }
}

impl Maps {
    /// Ranges that can be executed.
    fn code(&self) -> impl Iterator<Item = Range<u64>> {
        self.text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let [start, end] = [start, end].map(|word| u64::from_str_radix(word, 16));
            words
                .next()?
                .contains('x')
                .then_some(start.ok()?..end.ok()?)
        })
    }
}

/// Whether gdb is here, has Python, and may follow programs.
#[track_caller]
pub fn can_be_followed() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    needs!("gdb" in "gdb");
    let can = *CAN.get_or_init(|| {
        let mut gdb = tool("gdb");
        gdb.args(["-nx", "-batch", "-iex", "set auto-load no"]);
        gdb.args(["-ex", "python print(6 * 7)", "-ex", "run"]);
        let said = run(gdb.arg(in_path("true").unwrap())).stdout;
        said.contains("42") && said.contains("exited normally")
    });
    if !can {
        skipped("gdb with Python, and ptrace");
    }
    can
}

/// Runs a program under gdb; one for another machine in an emulator.
#[track_caller]
pub fn truth(folder: &Path, program: &Path, machine: Machine, plan: &str) -> Truth {
    let script = folder.join("snapshots.py");
    write(&script, SCRIPT.as_bytes());
    write(&folder.join("plan"), plan.as_bytes());
    let mut gdb = match machine {
        Machine::X86_64 => tool("gdb"),
        emulated => {
            let sysroot = format!("/usr/{}-linux-gnu", emulated.name());
            let mut gdb = tool("gdb-multiarch");
            gdb.env("RPROF_TRUTH_SYSROOT", sysroot);
            gdb
        }
    };
    gdb.env("RPROF_TRUTH_MACHINE", machine.name());
    gdb.args(["-nx", "-batch", "-iex", "set auto-load no", "-x"]);
    gdb.arg(&script).arg(program);
    gdb.current_dir(folder).env("RPROF_TRUTH", folder);
    // gdb waits for itself alone; the program is killed at the script's end.
    let ran = run(&mut gdb);
    let truth = read(folder, machine);
    truth.unwrap_or_else(|| panic!("gdb did not end the plan: {}", ran.stderr))
}

/// `None` if the last line is missing.
fn read(folder: &Path, machine: Machine) -> Option<Truth> {
    let lines = std::fs::read_to_string(folder.join("snapshots")).ok()?;
    let bytes = std::fs::read(folder.join("bytes")).ok()?;
    let mut truth = Truth {
        machine,
        maps: Vec::new(),
        snapshots: Vec::new(),
    };
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).ok()?;
        if line.get("done").is_some() {
            return Some(truth);
        }
        match line.get("maps")?.as_str() {
            Some(text) => truth.maps.push(Maps {
                text: text.to_owned(),
                vdso: kept(&line["vdso"], &bytes),
            }),
            None => truth.snapshots.push(snapshot(&line, &bytes)?),
        }
    }
    None
}

fn snapshot(line: &Value, bytes: &[u8]) -> Option<Snapshot> {
    let frames = line["frames"].as_array()?.iter().map(|frame| {
        Some(GdbFrame {
            pc: frame[0].as_u64()?,
            is_signal: frame[1].as_bool()?,
            name: frame[2].as_str()?.to_owned(),
        })
    });
    let registers = line["registers"].as_array()?.iter().map(Value::as_u64);
    let (stack_start, stack) = kept(&line["stack"], bytes)?;
    Some(Snapshot {
        label: line["label"].as_str()?.to_owned(),
        pc: line["pc"].as_u64()?,
        registers: registers.collect::<Option<_>>()?,
        stack_start,
        stack,
        frames: frames.collect::<Option<_>>()?,
        why: line["why"].as_str()?.to_owned(),
        maps: usize::try_from(line["maps"].as_u64()?).ok()?,
    })
}

/// Memory that was kept: where it was, and its bytes.
fn kept(what: &Value, bytes: &[u8]) -> Option<(u64, Vec<u8>)> {
    let [address, at, length] = [0, 1, 2].map(|n| what[n].as_u64());
    let at = usize::try_from(at?).ok()?;
    let end = at.checked_add(usize::try_from(length?).ok()?)?;
    Some((address?, bytes.get(at..end)?.to_vec()))
}

//! What the walk says of a snapshot beside what gdb says.

use crate::unwind::gdb::{Snapshot, Truth};
use crate::unwind::space::{Images, Space};
use rprof_unwind::{Outcome, RegisterSet, Stack, StackFrame, Unwinder};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A walk, and what it was made of.
#[derive(Debug)]
pub struct Walked<'t> {
    pub snapshot: &'t Snapshot,
    pub frames: Vec<StackFrame>,
    pub outcome: Outcome,
}

/// How much of the truth a walk is given.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub stack_bytes: usize,
    pub frames: usize,
}

/// All of it.
pub const WHOLE: Limits = Limits {
    stack_bytes: usize::MAX,
    frames: 100_000,
};

/// Walks all stacks of a run, by one unwinder.
pub fn walk_all<'t>(truth: &'t Truth, images: &mut Images, limits: Limits) -> Vec<Walked<'t>> {
    let maps = truth.maps.iter().zip(1..);
    let spaces: Vec<Space> = maps
        .map(|(maps, number)| Space::new(number, maps, images))
        .collect();
    let mut unwinder = Unwinder::new();
    let walked = truth.snapshots.iter().map(|snapshot| {
        let mut registers = RegisterSet::new(truth.machine, snapshot.pc);
        for (&value, number) in snapshot.registers.iter().zip(0..) {
            registers.set(number, value);
        }
        let len = snapshot.stack.len().min(limits.stack_bytes);
        let is_cut = len < snapshot.stack.len();
        let stack = Stack::new(snapshot.stack_start, &snapshot.stack[..len], is_cut);
        let mut frames = Vec::new();
        let space = &spaces[snapshot.maps];
        let outcome = unwinder.walk(space, &registers, stack, limits.frames, |frame| {
            frames.push(frame);
        });
        Walked {
            snapshot,
            frames,
            outcome,
        }
    });
    walked.collect()
}

impl Walked<'_> {
    /// Whether the walk went as far as gdb's, by the same addresses, and knows that it is whole.
    pub fn is_whole(&self) -> bool {
        self.is_same() && self.outcome == Outcome::Complete
    }

    /// Whether the walk went as far as gdb's, by the same addresses.
    pub fn is_same(&self) -> bool {
        self.frames.len() == self.snapshot.frames.len() && self.is_beginning()
    }

    /// Whether its frames are gdb's innermost ones: none is invented.
    pub fn is_beginning(&self) -> bool {
        let truth = &self.snapshot.frames;
        let same = self.frames.iter().zip(truth).enumerate();
        let mut same = same.map(|(at, (frame, truth))| {
            // The innermost frame and interrupted ones did not call.
            let is_return = at > 0 && !truth_is_signal(self.snapshot, at - 1);
            frame.avma == truth.pc && frame.is_return == is_return
        });
        self.frames.len() <= truth.len() && same.all(|same| same)
    }

    /// Whether all its frames are gdb's, in order.
    pub fn invents_nothing(&self) -> bool {
        let mut truth = self.snapshot.frames.iter();
        let mut frames = self.frames.iter();
        frames.all(|frame| truth.any(|truth| truth.pc == frame.avma))
    }

    /// Both chains beside each other.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        let Snapshot {
            label, frames, why, ..
        } = self.snapshot;
        writeln!(text, "{label:?}: walk {:x?}, gdb {why:?}", self.outcome).unwrap();
        for at in 0..frames.len().max(self.frames.len()) {
            let own = self.frames.get(at).map(|frame| frame.avma);
            let truth = frames.get(at);
            let name = truth.map_or("", |frame| &frame.name);
            let truth = truth.map(|frame| frame.pc);
            let mark = if own == truth { ' ' } else { '!' };
            let [own, truth] = [own, truth].map(|pc| format!("{:x}", pc.unwrap_or(0)));
            writeln!(text, "{mark} {own:>16} {truth:>16} {name}").unwrap();
            if at > 30 {
                writeln!(text, "  and more").unwrap();
                break;
            }
        }
        text
    }
}

fn truth_is_signal(snapshot: &Snapshot, at: usize) -> bool {
    snapshot.frames.get(at).is_some_and(|frame| frame.is_signal)
}

/// Fails with the first walks for which something does not hold, one for each innermost function.
#[track_caller]
pub fn all<'t>(walked: &[Walked<'t>], holds: impl Fn(&Walked<'t>) -> bool) {
    assert!(!walked.is_empty(), "no snapshots");
    let wrong: Vec<_> = walked.iter().filter(|walked| !holds(walked)).collect();
    println!("{} snapshots, {} differ", walked.len(), wrong.len());
    let mut by_name = BTreeMap::new();
    for one in &wrong {
        let name = one.snapshot.frames.first().map_or("", |frame| &frame.name);
        by_name.entry(name).or_insert_with(Vec::new).push(*one);
    }
    let mut text = String::new();
    for (name, those) in by_name.iter().take(12) {
        writeln!(text, "{} in {name}, such as", those.len()).unwrap();
        for one in [&those[..1], &those[those.len() / 2..][..1]].concat() {
            text.push_str(&one.shown());
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} differ\n{text}",
        wrong.len(),
        walked.len()
    );
}

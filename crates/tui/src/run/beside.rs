//! Threads that make what views need, so that the loop can go on.

use crate::task::{Made, Task};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// What a thread made, and the number of the task.
pub(super) type Done = (u64, thread::Result<Made>);

/// Tasks that are under way.
pub(super) struct Beside {
    sender: Sender<Done>,
    made: Receiver<Done>,
    running: Vec<(u64, Task)>,
    next: u64,
}

impl Beside {
    pub(super) fn new() -> Self {
        let (sender, made) = unbounded();
        Self {
            sender,
            made,
            running: Vec::new(),
            next: 0,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Starts a task, unless it is under way.
    pub(super) fn start(&mut self, task: Task) {
        if self.running.iter().any(|(_, one)| one.is_same(&task)) {
            return;
        }
        self.next += 1;
        let (number, sender) = (self.next, self.sender.clone());
        self.running.push((number, task.clone()));
        let again = task.clone();
        let work = move || run(number, task, &sender);
        if thread::Builder::new().spawn(work).is_err() {
            // There are enough threads already.
            run(number, again, &self.sender);
        }
    }

    /// Where it arrives.
    pub(super) fn made(&self) -> &Receiver<Done> {
        &self.made
    }

    /// Takes what has arrived. A panic of its thread goes on here.
    pub(super) fn take(&mut self, (number, made): Done) -> Made {
        self.running.retain(|(one, _)| *one != number);
        made.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn run(number: u64, task: Task, to: &Sender<Done>) {
    let made = catch_unwind(AssertUnwindSafe(|| task.run()));
    let _ = to.send((number, made));
}

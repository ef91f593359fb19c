//! [`Scheduler`]: which thread is on which CPU, and what the others wait for.

use crate::{Contradictions, Open, SwitchState, ThreadRun, Wait, WakeUp};
use foldhash::HashMap;

/// A CPU goes from one thread to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSwitch {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// The CPU.
    pub cpu: u32,
    /// Who ran.
    pub prev: i32,
    /// The state that it is in.
    pub prev_state: SwitchState,
    /// Who runs now.
    pub next: i32,
}

/// Follows all CPUs and threads through events in order of time. It is as large as they are many.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    cpus: HashMap<u32, Running>,
    threads: HashMap<i32, Thread>,
    contradictions: Contradictions,
    /// When the recording went on after its last pause.
    resumed_ns: Option<u64>,
}

/// Who is on a CPU.
#[derive(Clone, Copy, Debug)]
struct Running {
    tid: i32,
    start_ns: u64,
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// The CPU it is on.
    cpu: Option<u32>,
    /// The wait that it is in, or was in before it was switched in.
    wait: Option<Wait>,
    woken: Option<WakeUp>,
}

/// The idle task: each CPU has one, and they never wait.
const IDLE: i32 = 0;

impl Scheduler {
    /// A switch. Returns the run that it ends.
    pub fn switch(&mut self, switch: ContextSwitch) -> ThreadRun {
        let ContextSwitch {
            time_ns, cpu, prev, ..
        } = switch;
        let running = Running {
            tid: switch.next,
            start_ns: time_ns,
        };
        let silent_since = self.silent_since(cpu);
        let before = self.cpus.insert(cpu, running);
        let is_same = before.is_some_and(|running| running.tid == prev);
        match before {
            Some(running) if running.tid == IDLE && !is_same => {
                self.contradictions.note_after_idle(cpu);
            }
            Some(_) if !is_same => self.contradictions.note(),
            _ => {}
        }
        let thread = match prev {
            IDLE => Thread {
                cpu: Some(cpu),
                ..Thread::default()
            },
            _ => self.switch_out(prev, time_ns, switch.prev_state),
        };
        let start = before.filter(|_| is_same && thread.cpu == Some(cpu));
        let is_new = prev == IDLE || thread.cpu.is_none() && thread.wait.is_none();
        let silent_since = silent_since.filter(|&since_ns| is_new && since_ns <= time_ns);
        // If it was switched in elsewhere, it has left there, and that is lost: so is what it waited for.
        let has_waited = start.is_some() || thread.cpu.is_none() && silent_since.is_none();
        let run = ThreadRun {
            tid: prev,
            cpu,
            start_ns: start.map(|running| running.start_ns).or(silent_since),
            end_ns: time_ns,
            state: switch.prev_state,
            wait: thread.wait.filter(|_| has_waited),
            woken: thread.woken.filter(|_| has_waited),
            is_lost: false,
            is_wait_lost: false,
        };
        self.switch_in(switch.next, cpu);
        run
    }

    /// A thread leaves its CPU, and nothing says for whom. Returns the run that it ends; `None` if it had already left.
    pub fn leave(
        &mut self,
        time_ns: u64,
        cpu: u32,
        tid: i32,
        state: SwitchState,
    ) -> Option<ThreadRun> {
        let thread = self.threads.get(&tid);
        if tid == IDLE || thread.is_some_and(|thread| thread.cpu.is_none() && thread.wait.is_some())
        {
            return None;
        }
        Some(self.switch(ContextSwitch {
            time_ns,
            cpu,
            prev: tid,
            prev_state: state,
            next: IDLE,
        }))
    }

    /// A thread comes to a CPU, and nothing says after whom. If it is there already, it stays there since then. Returns
    /// the thread that was said to be there: it has left, nobody knows when.
    pub fn enter(&mut self, time_ns: u64, cpu: u32, tid: i32) -> Option<(i32, Open)> {
        let running = self.cpus.get(&cpu).copied();
        let is_on = |thread: &Thread| thread.cpu == Some(cpu);
        let is_running = running.is_some_and(|running| running.tid == tid);
        if tid == IDLE || is_running && self.threads.get(&tid).is_some_and(is_on) {
            return None;
        }
        let evicted = running
            .filter(|other| other.tid != tid && other.tid != IDLE)
            .and_then(|other| {
                self.contradictions.note();
                let thread = self.threads.remove(&other.tid)?;
                let open = Open {
                    start_ns: Some(other.start_ns).filter(|_| is_on(&thread)),
                    wait: thread.wait,
                    woken: thread.woken,
                    is_lost: false,
                    is_wait_lost: false,
                };
                Some((other.tid, open))
            });
        let start_ns = time_ns;
        self.cpus.insert(cpu, Running { tid, start_ns });
        self.switch_in(tid, cpu);
        evicted
    }

    /// The recording was paused until a moment: nothing is known any more. Returns what threads did before, by thread, and
    /// the CPUs of those that ran.
    pub fn pause(&mut self, until_ns: u64) -> Vec<(i32, (Open, u32))> {
        let open = self.open().into_iter();
        let cpu = |tid| self.cpu_of(tid).unwrap_or(0);
        let open = open.map(|(tid, open)| (tid, (open, cpu(tid)))).collect();
        self.cpus.clear();
        self.threads.clear();
        self.resumed_ns = Some(until_ns);
        open
    }

    /// When the recording went on after its last pause, nanoseconds.
    pub fn resumed_ns(&self) -> Option<u64> {
        self.resumed_ns
    }

    /// Since when the thread on a CPU has been there, if none came there since a pause.
    pub fn silent_since(&self, cpu: u32) -> Option<u64> {
        let resumed_ns = self.resumed_ns;
        resumed_ns.filter(|_| !self.cpus.contains_key(&cpu))
    }

    /// Who is on which CPU, and since when.
    pub fn running(&self) -> impl Iterator<Item = (u32, i32, u64)> {
        let all = self.cpus.iter();
        all.map(|(&cpu, running)| (cpu, running.tid, running.start_ns))
    }

    /// Who is on a CPU, as far as is known; 0 is the idle task.
    pub fn thread_on(&self, cpu: u32) -> Option<i32> {
        self.cpus.get(&cpu).map(|running| running.tid)
    }

    /// Forgets a thread: its id is used again.
    pub fn forget(&mut self, tid: i32) {
        self.threads.remove(&tid);
    }

    /// Whether anything is known of a thread.
    pub fn knows(&self, tid: i32) -> bool {
        self.threads.contains_key(&tid)
    }

    /// The CPU that a thread is on.
    pub fn cpu_of(&self, tid: i32) -> Option<u32> {
        self.threads.get(&tid)?.cpu
    }

    /// When a thread that runs was switched in, nanoseconds.
    pub fn running_since(&self, tid: i32) -> Option<u64> {
        let running = self.cpus.get(&self.threads.get(&tid)?.cpu?)?;
        (running.tid == tid).then_some(running.start_ns)
    }

    /// Returns what was known of it before.
    fn switch_out(&mut self, tid: i32, time_ns: u64, state: SwitchState) -> Thread {
        if state == SwitchState::Dead {
            return self.threads.remove(&tid).unwrap_or_default();
        }
        let start_ns = time_ns;
        let waiting = Thread {
            wait: Some(Wait { start_ns, state }),
            ..Thread::default()
        };
        self.threads.insert(tid, waiting).unwrap_or_default()
    }

    fn switch_in(&mut self, tid: i32, cpu: u32) {
        if tid == IDLE {
            return;
        }
        let thread = self.threads.entry(tid).or_default();
        // It ran elsewhere, as far as was recorded.
        if thread.cpu.is_some() {
            self.contradictions.note();
            (thread.wait, thread.woken) = (None, None);
        }
        thread.cpu = Some(cpu);
    }

    /// A wake-up. The first one since a thread was switched out counts; one that runs cannot be woken.
    pub fn wake(&mut self, tid: i32, woken: WakeUp) {
        if tid == IDLE {
            return;
        }
        let thread = self.threads.entry(tid).or_default();
        if thread.cpu.is_none() {
            thread.woken.get_or_insert(woken);
        }
    }

    /// What threads do at the end, by thread. Those are left out of which neither switch nor beginning was recorded.
    pub fn open(&self) -> Vec<(i32, Open)> {
        let open = self.threads.iter().filter_map(|(&tid, thread)| {
            let running = thread.cpu.and_then(|cpu| self.cpus.get(&cpu));
            let start_ns = running
                .filter(|running| running.tid == tid)
                .map(|running| running.start_ns);
            let is_known = start_ns.is_some() || thread.cpu.is_none() && thread.wait.is_some();
            let Thread { wait, woken, .. } = *thread;
            let open = Open {
                start_ns,
                wait,
                woken,
                is_lost: false,
                is_wait_lost: false,
            };
            is_known.then_some((tid, open))
        });
        let mut all: Vec<(i32, Open)> = open.collect();
        all.sort_by_key(|&(tid, _)| tid);
        all
    }

    /// Where records contradicted each other.
    pub fn contradictions(&self) -> &Contradictions {
        &self.contradictions
    }
}

#[cfg(test)]
mod tests;

//! The debug register of a deep thread: it is on loan, and goes back as soon as somebody else wants it, or
//! nobody needs it.

use super::claims::Claims;
use crate::background::in_background;
use crate::settings::WatchpointUse;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rprof_ringbuf::Watchpoint;
use rprof_ringbuf::sys::Clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Sets watchpoints, and has a thread that takes them back.
#[derive(Debug, Default)]
pub(super) struct Lender {
    claims: Claims,
    returns: Arc<Returns>,
    counts: WatchpointUse,
    /// The thread, once something was lent. It ends when nobody can lend any more.
    borrowed: Option<Sender<Weak<LoanState>>>,
}

/// Watchpoints that were taken back from those that still had a use for them.
#[derive(Debug, Default)]
struct Returns(AtomicU64);

/// A watched word.
#[derive(Debug)]
pub(super) struct Loan {
    state: Arc<LoanState>,
    clock: Clock,
}

#[derive(Debug)]
struct LoanState {
    pid: i32,
    tid: i32,
    watch: Mutex<Watch>,
    /// When the word was last seen to be untouched: by the clock of samples.
    untouched_at_ns: AtomicU64,
    since: Instant,
    /// When it was last of use, nanoseconds after `since`.
    used_ns: AtomicU64,
}

/// What became of a watchpoint.
#[derive(Debug)]
enum Watch {
    On(Watchpoint),
    /// The word was written to.
    Hit,
    TakenBack,
}

/// Why a word is not watched.
#[derive(Clone, Copy, Debug)]
enum NotLent {
    /// The thread's debug registers are, or may be, somebody else's.
    Claimed,
    /// The kernel sets none.
    Refused,
    /// Nobody would take it back.
    Unattended,
}

/// What a watchpoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// Nobody has written to the word since.
    Untouched,
    Hit,
    /// It is not watched any more.
    TakenBack,
}

/// A thread, and the clock of its samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrower {
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) clock: Clock,
}

/// Loans are looked at this often at most, and for a hundredth of the time.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
const LOOKING_SHARE: u32 = 100;

/// Loans that the thread has not heard of yet.
const MOST_NEW: usize = 1024;

/// A thread without deep samples for this long needs no register.
const LONGEST_IDLE: Duration = Duration::from_secs(2);

impl Lender {
    /// Watches a word of a thread's memory (AVMA, a multiple of 8); `None` if its debug registers are
    /// somebody else's, the kernel sets none, or nobody would take it back.
    pub(super) fn lend(&mut self, to: Borrower, avma: u64) -> Option<Loan> {
        let lent = if self.claims.has(to.pid, to.tid) {
            Err(NotLent::Claimed)
        } else {
            self.set(to, avma)
        };
        let count = match lent {
            Ok(_) => &mut self.counts.set,
            Err(NotLent::Claimed) => &mut self.counts.withheld,
            Err(NotLent::Refused) => &mut self.counts.refused,
            Err(NotLent::Unattended) => &mut self.counts.unattended,
        };
        *count += 1;
        lent.ok()
    }

    fn set(&mut self, to: Borrower, avma: u64) -> Result<Loan, NotLent> {
        if self.borrowed.is_none() {
            self.borrowed = start_taking_back(&self.returns);
        }
        let borrowed = self.borrowed.as_ref().ok_or(NotLent::Unattended)?;
        let watchpoint = Watchpoint::set(to.tid, avma).map_err(|_| NotLent::Refused)?;
        let state = Arc::new(LoanState {
            pid: to.pid,
            tid: to.tid,
            watch: Mutex::new(Watch::On(watchpoint)),
            untouched_at_ns: AtomicU64::new(to.clock.now_ns()),
            since: Instant::now(),
            used_ns: AtomicU64::new(0),
        });
        // Without the thread nobody would take it back.
        let sent = borrowed.try_send(Arc::downgrade(&state));
        sent.map_err(|_| NotLent::Unattended)?;
        Ok(Loan {
            state,
            clock: to.clock,
        })
    }

    /// A watchpoint was hit.
    pub(super) fn count_hit(&mut self) {
        self.counts.hit += 1;
    }

    /// How watchpoints were used until now.
    pub(super) fn counts(&self) -> WatchpointUse {
        WatchpointUse {
            taken_back: self.returns.0.load(Relaxed),
            ..self.counts
        }
    }
}

impl Loan {
    /// Whether nobody had written to the word at a moment after it was set; the loan is of use.
    ///
    /// The kernel is asked once for all samples that were taken before: to answer, it interrupts the CPU
    /// that the thread runs on.
    pub(super) fn is_untouched_at(&self, time_ns: u64) -> bool {
        let state = &self.state;
        let used_ns = u64::try_from(state.since.elapsed().as_nanos());
        state.used_ns.store(used_ns.unwrap_or(u64::MAX), Relaxed);
        if time_ns <= state.untouched_at_ns.load(Relaxed) {
            return true;
        }
        let now_ns = self.clock.now_ns();
        let is_untouched = state.look() == Watched::Untouched && time_ns <= now_ns;
        if is_untouched {
            state.untouched_at_ns.store(now_ns, Relaxed);
        }
        is_untouched
    }

    /// What the watchpoint says now.
    pub(super) fn look(&self) -> Watched {
        self.state.look()
    }
}

impl LoanState {
    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it says. One that was hit gives its register back.
    fn look(&self) -> Watched {
        let mut watch = self.watch();
        if let Watch::On(watchpoint) = &*watch
            && !watchpoint.is_untouched().unwrap_or(false)
        {
            *watch = Watch::Hit;
        }
        match *watch {
            Watch::On(_) => Watched::Untouched,
            Watch::Hit => Watched::Hit,
            Watch::TakenBack => Watched::TakenBack,
        }
    }

    /// Takes the register back if somebody else may want it.
    fn take_back_if_claimed(&self, claims: &mut Claims, returns: &Returns) {
        let used = Duration::from_nanos(self.used_ns.load(Relaxed));
        let is_idle = self.since.elapsed().saturating_sub(used) > LONGEST_IDLE;
        if is_idle || claims.has(self.pid, self.tid) {
            *self.watch() = Watch::TakenBack;
            returns.0.fetch_add(u64::from(!is_idle), Relaxed);
        }
    }
}

/// Starts the thread that takes loans back; `None` if that is not possible.
fn start_taking_back(returns: &Arc<Returns>) -> Option<Sender<Weak<LoanState>>> {
    let (borrowed, loans) = bounded(MOST_NEW);
    let returns = Arc::clone(returns);
    in_background("rprof-watch", move || take_back(&loans, &returns)).ok()?;
    Some(borrowed)
}

fn take_back(new: &Receiver<Weak<LoanState>>, returns: &Returns) {
    let mut claims = Claims::default();
    let mut loans: Vec<Weak<LoanState>> = Vec::new();
    let mut next_look = Instant::now();
    loop {
        let next = if loans.is_empty() {
            new.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            new.recv_deadline(next_look)
        };
        match next {
            Ok(loan) => {
                loans.push(loan);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let begin = Instant::now();
        loans.retain(|loan| {
            let Some(loan) = loan.upgrade() else {
                return false;
            };
            if loan.look() == Watched::Untouched {
                loan.take_back_if_claimed(&mut claims, returns);
            }
            matches!(*loan.watch(), Watch::On(_))
        });
        let end = Instant::now();
        next_look = end + ((end - begin) * LOOKING_SHARE).max(LOOK_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_ringbuf::sys::thread_id;

    #[test]
    fn what_a_word_was_at_a_sample_stays_true_when_it_is_written_to_later() {
        let word = AtomicU64::new(0);
        // Where no breakpoint can be opened, no stack is proved.
        let Ok(watchpoint) = Watchpoint::set(thread_id(), word.as_ptr().addr() as u64) else {
            return;
        };
        let clock = Clock::Monotonic;
        let loan = Loan {
            state: Arc::new(LoanState {
                pid: 0,
                tid: 0,
                watch: Mutex::new(Watch::On(watchpoint)),
                untouched_at_ns: AtomicU64::new(clock.now_ns()),
                since: Instant::now(),
                used_ns: AtomicU64::new(0),
            }),
            clock,
        };
        let before_ns = clock.now_ns();
        assert!(loan.is_untouched_at(before_ns));
        word.store(1, Relaxed);
        let after_ns = clock.now_ns();
        assert!(!loan.is_untouched_at(after_ns));
        assert!(loan.is_untouched_at(before_ns));
        // It gave its register back.
        assert!(matches!(*loan.state.watch(), Watch::Hit));
    }

    #[test]
    fn a_word_of_a_claimed_thread_is_not_watched() {
        // Nobody has so high an id (PID_MAX_LIMIT is 2^22).
        let to = Borrower {
            pid: 1 << 22,
            tid: 1 << 22,
            clock: Clock::Monotonic,
        };
        let mut lender = Lender::default();
        assert!(lender.lend(to, 8).is_none());
        let counts = lender.counts();
        let withheld = WatchpointUse {
            withheld: 1,
            ..WatchpointUse::default()
        };
        assert_eq!(counts, withheld);
    }

    /// What is counted if a word of a process is to be watched that nobody has a claim to.
    fn counts_of(lender: &mut Lender, avma: u64) -> WatchpointUse {
        let mut sleep = std::process::Command::new("sleep");
        let mut child = sleep.arg("60").spawn().unwrap();
        let id = i32::try_from(child.id()).unwrap();
        let to = Borrower {
            pid: id,
            tid: id,
            clock: Clock::Monotonic,
        };
        let lent = lender.lend(to, avma);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(lent);
        lender.counts()
    }

    #[test]
    fn what_the_kernel_refuses_is_nobodys_claim() {
        // User code cannot write there: the kernel watches no such word for it.
        let counts = counts_of(&mut Lender::default(), u64::MAX - 7);
        let refused = WatchpointUse {
            refused: 1,
            ..WatchpointUse::default()
        };
        assert_eq!(counts, refused);
    }

    #[test]
    fn a_register_that_nobody_would_take_back_is_not_lent() {
        // Without a receiver it is as if the thread had not come to it.
        let mut lender = Lender {
            borrowed: Some(bounded(1).0),
            ..Lender::default()
        };
        let counts = counts_of(&mut lender, 8);
        // Where no breakpoint can be opened, the kernel says so first.
        let unattended = WatchpointUse {
            unattended: 1 - counts.refused,
            refused: counts.refused,
            ..WatchpointUse::default()
        };
        assert_eq!(counts, unattended);
    }
}

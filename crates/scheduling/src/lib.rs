//! Context switches and wake-ups as runs and waits of threads.

mod delays;
mod run;
mod scheduler;
mod state;
mod totals;

pub use delays::Delays;
pub use run::{Open, ThreadRun, Wait, WakeUp, Waker};
pub use scheduler::{ContextSwitch, Scheduler};
pub use state::SwitchState;
pub use totals::ThreadTotals;

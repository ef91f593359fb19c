//! Context switches and wake-ups as runs and waits of threads.

mod cause;
mod contradictions;
mod critical;
mod lost_times;
mod path_times;
mod run;
mod scheduler;
mod sends;
mod state;
mod thread_state;
mod totals;
mod wait_parts;

pub use cause::{Cause, is_bare_call, is_timer};
pub use contradictions::Contradictions;
pub use critical::{Activity, PathStep, RunGraph};
pub use lost_times::{LostTimes, joined};
pub use path_times::PathTimes;
pub use run::{Open, ThreadRun, Wait, WakeUp, Waker};
pub use scheduler::{ContextSwitch, Scheduler};
pub use sends::is_local_send;
pub use state::SwitchState;
pub use thread_state::ThreadState;
pub use totals::ThreadTotals;
pub use wait_parts::{WaitPart, wait_parts};

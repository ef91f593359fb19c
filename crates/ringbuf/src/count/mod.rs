//! Counting: groups of events that are counted together and read at once, and counters that a program
//! reads of itself without a system call.
//!
//! | file | has |
//! |---|---|
//! | `reading` | a count with its times, and how it is scaled where counters took turns |
//! | `group` | a leader and its members: opened, switched, read with one `read(2)` |
//! | `door` | the system calls that a group makes; tests answer them in the kernel's place |
//! | `page` | the page that the kernel keeps for a counter: its lock and its arithmetic, pure |
//! | `self_counter` | a counter of this thread, read through that page, or else by `read(2)` |
//! | `topdown` | the register of top-down metrics: bytes to shares |
//!
//! Facts of `perf_event_open(2)` that callers meet (v6.12):
//!
//! - With `inherit`, a count has in it what threads and processes have counted that were started later. Each
//!   of them adds its own when it ends or when the count is read, so counts of one that runs lag behind
//!   by nothing but what it does meanwhile. Reset reaches them; the times before it stay. Groups can be inherited
//!   and read at once since 4.13; the page of an inherited counter knows nothing of the others, so it must
//!   not be used to read it.
//! - `pinned` (only of leaders): always on the PMU, or in an error state. In that state `read(2)` says "end of
//!   file" ([`Values::Failed`]) until the counter is enabled again.
//! - `exclusive` (only of leaders): alone on the PMU while it is there. Others wait, which shows in their times.
//! - `enable_on_exec` starts a group when its task executes a program; only the leader needs it.
//! - Counters of a CPU ([`Target::All`](crate::Target::All)) and of a control group need a CPU each and cannot be
//!   inherited: they are of everybody there anyway.

mod door;
mod group;
mod page;
mod reading;
mod self_counter;
mod topdown;

pub use door::{Door, KernelDoor};
pub use group::{CounterGroup, GroupError, Values};
pub use page::{PageLoads, PageReading, TimeConversion, read_page};
pub use reading::Reading;
pub use self_counter::{SelfCounter, SelfCounterError, SelfReading};
pub use topdown::{PerfMetrics, Topdown, TopdownLevel2, TopdownSample};

//! Which system calls wait for futexes, and which wake who waits.
//!
//! Source: include/uapi/linux/futex.h (v6.18).

/// What a system call does to a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FutexCall {
    /// It waits.
    Wait {
        /// The futex.
        address: u64,
        /// Whether who holds it gets the priority of who waits.
        is_pi: bool,
    },
    /// It wakes who waits.
    Wake {
        /// The futex.
        address: u64,
    },
    /// Something else, or it waits for several.
    Other,
}

/// `FUTEX_CMD_MASK` without the flags for private futexes and for the clock.
const COMMAND: u64 = 0x7f;
/// `FUTEX_WAIT`, `FUTEX_WAIT_BITSET`, `FUTEX_WAIT_REQUEUE_PI`.
const WAITS: [u64; 3] = [0, 9, 11];
/// `FUTEX_LOCK_PI`, `FUTEX_LOCK_PI2`.
const PI_WAITS: [u64; 2] = [6, 13];
/// `FUTEX_WAKE`, `FUTEX_REQUEUE`, `FUTEX_CMP_REQUEUE`, `FUTEX_WAKE_OP`, `FUTEX_UNLOCK_PI`, `FUTEX_WAKE_BITSET`,
/// `FUTEX_CMP_REQUEUE_PI`.
const WAKES: [u64; 7] = [1, 3, 4, 5, 7, 10, 12];

impl FutexCall {
    /// What a call with a name and arguments does; `None` if it is none of futexes.
    pub fn of(name: &str, args: &[u64; 6]) -> Option<Self> {
        let [address, op, ..] = *args;
        Some(match name {
            "futex" | "futex_time64" => match op & COMMAND {
                op if WAITS.contains(&op) => Self::Wait {
                    address,
                    is_pi: false,
                },
                op if PI_WAITS.contains(&op) => Self::Wait {
                    address,
                    is_pi: true,
                },
                op if WAKES.contains(&op) => Self::Wake { address },
                _ => Self::Other,
            },
            "futex_wait" => Self::Wait {
                address,
                is_pi: false,
            },
            "futex_wake" => Self::Wake { address },
            "futex_waitv" | "futex_requeue" => Self::Other,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_told_apart_whatever_their_flags() {
        let of = |name, op| FutexCall::of(name, &[0x1000, op, 0, 0, 0, 0]);
        let wait = |is_pi| FutexCall::Wait {
            address: 0x1000,
            is_pi,
        };
        // FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME.
        assert_eq!(of("futex", 9 | 128 | 256), Some(wait(false)));
        assert_eq!(of("futex_time64", 6 | 128), Some(wait(true)));
        assert_eq!(of("futex", 129), Some(FutexCall::Wake { address: 0x1000 }));
        assert_eq!(of("futex", 2), Some(FutexCall::Other));
        assert_eq!(of("futex_wait", 7), Some(wait(false)));
        assert_eq!(of("futex_waitv", 1), Some(FutexCall::Other));
        assert_eq!(of("read", 0), None);
    }
}

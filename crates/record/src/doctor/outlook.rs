//! What `rprof record` will do now, in one line.

use super::examined::Examined;
use crate::ptrace::DEFAULT_HZ;

/// In words, without the command's name.
pub(super) fn in_words(examined: &Examined<'_>) -> String {
    let tried = examined.tried;
    if (tried.user.is_err() || tried.ring_bytes.is_none()) && tried.by_ptrace {
        return format!(
            "commands and your own processes by ptrace: coarse ({DEFAULT_HZ} Hz), user stacks only"
        );
    }
    if tried.user.is_err() {
        return "nothing: events cannot be opened".to_owned();
    }
    let Some(ring_bytes) = tried.ring_bytes else {
        return "nothing: no memory for rings".to_owned();
    };
    let whom = match (tried.kernel.is_ok(), tried.all.is_ok()) {
        (true, true) => "commands, processes and all CPUs (-a), user space and kernel",
        (true, false) => "commands and your own processes, user space and kernel",
        (false, _) => "commands and your own processes, user space only",
    };
    let event = match tried.hardware {
        Ok(()) => "cycles",
        Err(_) => "cpu-clock",
    };
    let size = match ring_bytes >> 20 {
        0 => format!("{} KiB", ring_bytes >> 10),
        mib => format!("{mib} MiB"),
    };
    format!("{whom}, sampling {event}, rings of up to {size}")
}

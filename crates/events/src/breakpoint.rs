//! Breakpoints: `mem:address[/length][:access][:modifiers]`.

use rprof_abi::event_type;

use crate::modifier::Modifiers;
use crate::term::parse_number;
use crate::{Event, EventError};

/// `HW_BREAKPOINT_R`, `_W` and `_X` of `include/uapi/linux/hw_breakpoint.h` (v6.12).
const ACCESS: &[(char, u32)] = &[('r', 1), ('w', 2), ('x', 4)];
const READ_WRITE: u32 = 3;
const EXECUTE: u32 = 4;

const DEFAULT_LEN: u64 = 4;
/// What the kernel takes for code: `sizeof(long)`, but one instruction on arm64.
const EXECUTE_LEN: u64 = if cfg!(target_arch = "aarch64") { 4 } else { 8 };
const MAX_LEN: u64 = 8;

/// Reads a breakpoint; `rest` is `text` after `mem:`. As with perf, each access is a sample.
pub(crate) fn parse_breakpoint(text: &str, rest: &str) -> Result<(Event, Modifiers), EventError> {
    let (place, suffix) = rest.split_once(':').unwrap_or((rest, ""));
    let (address, len) = match place.split_once('/') {
        Some((address, len)) => (address, Some(parse_number(len, text)?)),
        None => (place, None),
    };
    let (access, letters) = match suffix.split_once(':') {
        Some((access, letters)) => (parse_access(access, text)?, letters),
        None if Modifiers::are(suffix) && !suffix.is_empty() => (READ_WRITE, suffix),
        None => (parse_access(suffix, text)?, ""),
    };
    let default_len = match access {
        EXECUTE => EXECUTE_LEN,
        _ => DEFAULT_LEN,
    };
    let len = len.unwrap_or(default_len);
    if !(1..=MAX_LEN).contains(&len) {
        return Err(EventError::BreakpointLength {
            len,
            event: text.to_owned(),
        });
    }
    let mut event = Event::new(text.to_owned(), event_type::BREAKPOINT, 0);
    event.attr.bp_type = access;
    event.attr.config1 = parse_number(address, text)?;
    event.attr.config2 = len;
    event.attr.sample_period = 1;
    Ok((event, Modifiers::parse(letters, text)?))
}

fn bit_of(letter: char) -> Option<u32> {
    let found = ACCESS.iter().find(|(known, _)| *known == letter);
    found.map(|(_, bit)| *bit)
}

fn parse_access(letters: &str, text: &str) -> Result<u32, EventError> {
    if letters.is_empty() {
        return Ok(READ_WRITE);
    }
    letters
        .chars()
        .try_fold(0, |access, letter| match bit_of(letter) {
            Some(bit) if access & bit != 0 => Err(EventError::repeated(letter, text)),
            Some(bit) => Ok(access | bit),
            None => Err(EventError::UnknownAccess {
                letter,
                event: text.to_owned(),
            }),
        })
}

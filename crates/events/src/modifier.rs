//! Modifiers: the letters after the last colon or slash.

use rprof_abi::AttrFlags;

use crate::{Event, EventError};

/// What a run of modifier letters asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modifiers {
    /// With `precise_ip`.
    flags: AttrFlags,
    /// Whether they say which of host and guests.
    names_machines: bool,
    max_precise: bool,
    sample_read: bool,
}

impl Modifiers {
    /// Reads the letters as perf does: `u`, `k`, `h` leave in what they name and exclude the
    /// others of the three; `H` and `G` likewise among themselves.
    ///
    /// # Errors
    /// Another letter, one twice, or more than three `p`.
    pub(crate) fn parse(letters: &str, event: &str) -> Result<Self, EventError> {
        check(letters, event)?;
        let has = |letter| letters.contains(letter);
        let mut flags = AttrFlags::default();
        for (group, excludes) in [
            (
                "ukh",
                [
                    AttrFlags::EXCLUDE_USER,
                    AttrFlags::EXCLUDE_KERNEL,
                    AttrFlags::EXCLUDE_HV,
                ]
                .as_slice(),
            ),
            ("HG", &[AttrFlags::EXCLUDE_HOST, AttrFlags::EXCLUDE_GUEST]),
        ] {
            if group.chars().any(has) {
                let unnamed = group
                    .chars()
                    .zip(excludes)
                    .filter(|(letter, _)| !has(*letter));
                flags = unnamed.fold(flags, |flags, (_, exclude)| flags.with(*exclude));
            }
        }
        for (letter, flag) in [
            ('I', AttrFlags::EXCLUDE_IDLE),
            ('D', AttrFlags::PINNED),
            ('e', AttrFlags::EXCLUSIVE),
        ] {
            if has(letter) {
                flags = flags.with(flag);
            }
        }
        Ok(Self {
            flags: flags.with_precise_ip(count(letters, 'p')),
            names_machines: has('H') || has('G'),
            max_precise: has('P'),
            sample_read: has('S'),
        })
    }

    /// Whether every letter is a modifier; so for an empty text.
    pub(crate) fn are(letters: &str) -> bool {
        letters.chars().all(|letter| KNOWN.contains(letter))
    }

    pub(crate) fn apply(self, event: &mut Event) {
        let mut flags = event.attr.flags;
        if self.names_machines {
            flags = flags.without(AttrFlags::EXCLUDE_GUEST);
        }
        event.attr.flags = flags.with(self.flags);
        event.max_precise = self.max_precise;
        event.sample_read = self.sample_read;
    }
}

const KNOWN: &str = "ukhHGIpPSDe";

fn check(letters: &str, event: &str) -> Result<(), EventError> {
    for modifier in letters.chars() {
        if !KNOWN.contains(modifier) {
            return Err(EventError::UnknownModifier {
                modifier,
                event: event.to_owned(),
            });
        }
        if count(letters, modifier) > if modifier == 'p' { 3 } else { 1 } {
            return Err(EventError::RepeatedModifier {
                modifier,
                event: event.to_owned(),
            });
        }
    }
    Ok(())
}

fn count(letters: &str, wanted: char) -> u8 {
    letters
        .chars()
        .filter(|&letter| letter == wanted)
        .fold(0, |n_found, _| u8::saturating_add(n_found, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: AttrFlags = AttrFlags::EXCLUDE_USER;
    const KERNEL: AttrFlags = AttrFlags::EXCLUDE_KERNEL;
    const HV: AttrFlags = AttrFlags::EXCLUDE_HV;

    #[test]
    fn letters_set_the_flags_that_perf_sets() {
        for (letters, flags) in [
            ("", AttrFlags::default()),
            ("u", KERNEL.with(HV)),
            ("k", USER.with(HV)),
            ("h", USER.with(KERNEL)),
            ("uk", HV),
            ("ukh", AttrFlags::default()),
            ("H", AttrFlags::EXCLUDE_GUEST),
            ("G", AttrFlags::EXCLUDE_HOST),
            ("GH", AttrFlags::default()),
            ("uG", KERNEL.with(HV).with(AttrFlags::EXCLUDE_HOST)),
            ("p", AttrFlags::default().with_precise_ip(1)),
            ("upp", KERNEL.with(HV).with_precise_ip(2)),
            ("ppp", AttrFlags::default().with_precise_ip(3)),
            ("I", AttrFlags::EXCLUDE_IDLE),
            ("De", AttrFlags::PINNED.with(AttrFlags::EXCLUSIVE)),
        ] {
            let modifiers = Modifiers::parse(letters, "e").unwrap();
            assert_eq!(modifiers.flags, flags, "{letters}");
            assert!(!modifiers.max_precise && !modifiers.sample_read);
        }
        let both = Modifiers::parse("PS", "e").unwrap();
        assert!(both.max_precise && both.sample_read);
    }

    #[test]
    fn errors_name_the_letter() {
        for (letters, message) in [
            (
                "ux",
                "unsupported modifier 'x' in 'e': use some of u k h H G I p P S D e",
            ),
            (
                "W",
                "unsupported modifier 'W' in 'e': use some of u k h H G I p P S D e",
            ),
            ("uu", "modifier 'u' is repeated too often in 'e'"),
            ("pppp", "modifier 'p' is repeated too often in 'e'"),
        ] {
            let error = Modifiers::parse(letters, "e").unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}

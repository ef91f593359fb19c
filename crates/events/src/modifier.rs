//! Modifiers: the letters after the last colon or slash.

use rprof_abi::AttrFlags;

use crate::{Event, EventError};

/// The letters of an event, and those of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Modifiers {
    /// Which of [`KNOWN`] were given, one bit each.
    letters: u32,
    /// How many `p`.
    precise: u8,
}

/// Letters that leave in what they name, and what they exclude if others of their kind are given.
pub(crate) const LEVELS: &[(char, AttrFlags)] = &[
    ('u', AttrFlags::EXCLUDE_USER),
    ('k', AttrFlags::EXCLUDE_KERNEL),
    ('h', AttrFlags::EXCLUDE_HV),
];
pub(crate) const MACHINES: &[(char, AttrFlags)] = &[
    ('H', AttrFlags::EXCLUDE_HOST),
    ('G', AttrFlags::EXCLUDE_GUEST),
];
/// Letters that are a flag.
const PLAIN: &[(char, AttrFlags)] = &[
    ('I', AttrFlags::EXCLUDE_IDLE),
    ('D', AttrFlags::PINNED),
    ('e', AttrFlags::EXCLUSIVE),
];

/// Letters that only the first event of a group may have: the kernel puts all of them on the CPU, or none.
const LEADING: &[char] = &['D', 'e'];

const KNOWN: &str = "ukhHGIpPSDeWR";

/// perf's letters for counting, and what they ask for.
const COUNTING: &[(char, &str)] = &[('b', "asks BPF programs to count")];

const MOST_PRECISE: u8 = 3;

impl Modifiers {
    /// Reads the letters as perf does: `u`, `k`, `h` leave in what they name and exclude the
    /// others of the three; `H` and `G` likewise among themselves.
    ///
    /// # Errors
    /// Another letter, one twice, or more than three `p`.
    pub(crate) fn parse(letters: &str, event: &str) -> Result<Self, EventError> {
        let mut modifiers = Self::default();
        for modifier in letters.chars() {
            let Some(bit) = bit_of(modifier) else {
                let event = event.to_owned();
                let counting = COUNTING.iter().find(|(letter, _)| *letter == modifier);
                return Err(match counting {
                    Some((_, what)) => EventError::CountingModifier {
                        modifier,
                        what,
                        event,
                    },
                    None => EventError::UnknownModifier { modifier, event },
                });
            };
            let is_again = modifiers.letters & bit != 0;
            modifiers.letters |= bit;
            if modifier == 'p' {
                modifiers.precise += 1;
            }
            if is_again && (modifier != 'p' || modifiers.precise > MOST_PRECISE) {
                return Err(EventError::repeated(modifier, event));
            }
        }
        Ok(modifiers)
    }

    /// Whether every letter is a modifier; so for an empty text.
    pub(crate) fn are(letters: &str) -> bool {
        letters.chars().all(|letter| bit_of(letter).is_some())
    }

    pub(crate) fn has(self, letter: char) -> bool {
        bit_of(letter).is_some_and(|bit| self.letters & bit != 0)
    }

    /// The first letter that a group's later events cannot have.
    pub(crate) fn leading(self) -> Option<char> {
        LEADING.iter().copied().find(|&letter| self.has(letter))
    }

    /// What a group's later events have of the letters of the group.
    pub(crate) fn of_member(self) -> Self {
        let leading = LEADING.iter().filter_map(|&letter| bit_of(letter));
        let letters = leading.fold(self.letters, |letters, bit| letters & !bit);
        Self { letters, ..self }
    }

    /// With the letters of the group, too.
    ///
    /// # Errors
    /// More than three `p` in all.
    pub(crate) fn with(self, group: Self, event: &str) -> Result<Self, EventError> {
        let precise = self.precise + group.precise;
        if precise > MOST_PRECISE {
            return Err(EventError::repeated('p', event));
        }
        Ok(Self {
            letters: self.letters | group.letters,
            precise,
        })
    }

    fn flags(self) -> AttrFlags {
        let mut flags = AttrFlags::default().with_precise_ip(self.precise);
        for kind in [LEVELS, MACHINES] {
            if self.has_any(kind) {
                let unnamed = kind.iter().filter(|(letter, _)| !self.has(*letter));
                flags = unnamed.fold(flags, |flags, (_, exclude)| flags.with(*exclude));
            }
        }
        let plain = PLAIN.iter().filter(|(letter, _)| self.has(*letter));
        plain.fold(flags, |flags, (_, flag)| flags.with(*flag))
    }

    fn has_any(self, kind: &[(char, AttrFlags)]) -> bool {
        kind.iter().any(|(letter, _)| self.has(*letter))
    }

    pub(crate) fn apply(self, event: &mut Event) {
        let mut flags = event.attr.flags;
        if self.has_any(MACHINES) {
            flags = flags.without(AttrFlags::EXCLUDE_GUEST);
        }
        event.attr.flags = flags.with(self.flags());
        event.max_precise = self.has('P');
        event.sample_read = self.has('S');
        if self.has('R') {
            event.ask_for_latencies();
        }
    }
}

fn bit_of(letter: char) -> Option<u32> {
    KNOWN.find(letter).map(|at| 1 << at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sources, parse_events};

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
            assert_eq!(modifiers.flags(), flags, "{letters}");
            assert!(!modifiers.has('P') && !modifiers.has('S'));
        }
        let both = Modifiers::parse("PS", "e").unwrap();
        assert!(both.has('P') && both.has('S'));
    }

    #[test]
    fn latencies_are_of_precise_samples() {
        let event = |text| parse_events(text, &Sources::default()).unwrap().remove(0);
        for (text, precise, max_precise) in [
            ("cycles:R", 1, false),
            ("cycles:uR", 1, false),
            ("cycles:ppR", 2, false),
            ("cycles:PR", 0, true),
            ("{cycles:u}:R", 1, false),
        ] {
            let event = event(text);
            assert!(event.has_latencies(), "{text}");
            assert_eq!(event.attr.flags.precise_ip(), precise, "{text}");
            assert_eq!(event.max_precise, max_precise, "{text}");
        }
        assert!(!event("cycles:pp").has_latencies());
    }

    #[test]
    fn a_groups_letters_are_added_to_those_of_each_event() {
        for (own, group, flags) in [
            ("u", "k", HV),
            ("", "u", KERNEL.with(HV)),
            ("p", "pp", AttrFlags::default().with_precise_ip(3)),
            ("I", "De", AttrFlags::EXCLUDE_IDLE),
        ] {
            let parse = |letters| Modifiers::parse(letters, "e").unwrap();
            let both = parse(own).with(parse(group).of_member(), "e").unwrap();
            assert_eq!(both.flags(), flags, "{own} {group}");
        }
        let two = Modifiers::parse("pp", "e").unwrap();
        assert!(two.with(two, "e").is_err());
    }

    #[test]
    fn errors_name_the_letter() {
        for (letters, message) in [
            (
                "ux",
                "unsupported modifier 'x' in 'e': use any of u k h H G I p P S D e W R",
            ),
            (
                "b",
                "modifier 'b' in 'e' asks BPF programs to count, and does not sample: omit it",
            ),
            ("uu", "modifier 'u' is repeated too often in 'e'"),
            ("pppp", "modifier 'p' is repeated too often in 'e'"),
        ] {
            let error = Modifiers::parse(letters, "e").unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}

//! Making settings fit the running kernel: unknown bits are dropped one at a time, newest first.

use crate::OpenError;
use rprof_abi::{AttrFlags, PerfEventAttr, ReadFormat, SampleType};

/// One setting that older kernels do not know.
#[derive(Clone, Copy)]
enum Optional {
    Flag(AttrFlags),
    Read(ReadFormat),
    Sample(SampleType),
    /// That threads and processes which start have the event, too, where samples hold its value.
    InheritedValues,
}

/// What [`fit`] says that it dropped if threads and processes which start are not sampled.
pub const INHERITED_VALUES: &str =
    "values of inherited counters, so only threads that are already running are sampled (6.12)";

/// Who wants a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WantedBy {
    /// It is always asked for.
    Us,
    /// A user asked for it.
    User,
}

/// Newest first, with the kernel that brought it.
#[rustfmt::skip]
const OPTIONAL: &[(Optional, WantedBy, &str)] = &[
    (Optional::Flag(AttrFlags::DEFER_OUTPUT), WantedBy::Us, "defer_output (6.19)"),
    (Optional::Flag(AttrFlags::DEFER_CALLCHAIN), WantedBy::Us, "defer_callchain (6.19)"),
    (Optional::InheritedValues, WantedBy::Us, INHERITED_VALUES),
    (Optional::Read(ReadFormat::LOST), WantedBy::Us, "lost counts (6.0)"),
    (Optional::Flag(AttrFlags::BUILD_ID), WantedBy::Us, "build_id (5.12)"),
    (Optional::Sample(SampleType::WEIGHT_STRUCT), WantedBy::User, "structured weights (5.12)"),
    (Optional::Sample(SampleType::DATA_PAGE_SIZE), WantedBy::User, "data page sizes (5.11)"),
    (Optional::Sample(SampleType::CODE_PAGE_SIZE), WantedBy::User, "code page sizes (5.11)"),
    (Optional::Flag(AttrFlags::TEXT_POKE), WantedBy::Us, "text_poke (5.9)"),
    (Optional::Flag(AttrFlags::CGROUP), WantedBy::User, "cgroup names (5.7)"),
    (Optional::Sample(SampleType::CGROUP), WantedBy::User, "cgroups of samples (5.7)"),
    (Optional::Flag(AttrFlags::BPF_EVENT), WantedBy::Us, "bpf_event (5.1)"),
    (Optional::Flag(AttrFlags::KSYMBOL), WantedBy::Us, "ksymbol (5.1)"),
    (Optional::Sample(SampleType::PHYS_ADDR), WantedBy::User, "physical addresses (4.14)"),
    (Optional::Flag(AttrFlags::NAMESPACES), WantedBy::User, "namespaces (4.12)"),
    (Optional::Flag(AttrFlags::CONTEXT_SWITCH), WantedBy::User, "context switches (4.3)"),
    (Optional::Flag(AttrFlags::USE_CLOCKID), WantedBy::Us, "clockid (4.1)"),
    (Optional::Flag(AttrFlags::COMM_EXEC), WantedBy::Us, "comm_exec (3.16)"),
    (Optional::Flag(AttrFlags::MMAP2), WantedBy::Us, "mmap2 (3.16)"),
];

impl Optional {
    fn is_set(self, attr: &PerfEventAttr) -> bool {
        match self {
            Self::Flag(bit) => attr.flags.has(bit),
            Self::Read(bit) => attr.read_format.has(bit),
            Self::Sample(bit) => attr.sample_type.has(bit),
            Self::InheritedValues => {
                attr.flags.has(AttrFlags::INHERIT) && attr.sample_type.has(SampleType::READ)
            }
        }
    }

    fn clear(self, attr: &mut PerfEventAttr) {
        match self {
            Self::Flag(AttrFlags::USE_CLOCKID) => {
                attr.flags = attr.flags.without(AttrFlags::USE_CLOCKID);
                attr.clockid = 0;
            }
            Self::Flag(bit) => attr.flags = attr.flags.without(bit),
            Self::Sample(bit @ SampleType::WEIGHT_STRUCT) => {
                // As one number, as before.
                attr.sample_type = attr.sample_type.without(bit).with(SampleType::WEIGHT);
            }
            Self::Read(bit) => attr.read_format = attr.read_format.without(bit),
            Self::Sample(bit) => attr.sample_type = attr.sample_type.without(bit),
            Self::InheritedValues => attr.flags = attr.flags.without(AttrFlags::INHERIT),
        }
    }
}

/// Settings that the kernel takes, and what had to go for it.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// What to open.
    pub attr: PerfEventAttr,
    /// What was dropped that nobody asked for, newest first, for a message.
    pub dropped: Vec<&'static str>,
    /// The same of what a user asked for.
    pub lacking: Vec<&'static str>,
}

/// Drops optional settings, newest first, until `open` takes the rest. `open` is tried on a
/// scratch event (a dummy of one's own), so that only settings matter, not the event. PMUs that
/// cannot exclude guests count them, without a word, as in perf.
///
/// # Errors
/// What `open` says if it says anything but "unknown setting", or when nothing is left to drop.
pub fn fit(
    wanted: &PerfEventAttr,
    mut open: impl FnMut(&PerfEventAttr) -> Result<(), OpenError>,
) -> Result<Fitted, OpenError> {
    let fitted = fit_to_kernel(wanted, &mut open);
    let excludes_guests = wanted.flags.has(AttrFlags::EXCLUDE_GUEST);
    if !excludes_guests || !matches!(fitted, Err(OpenError::Invalid)) {
        return fitted;
    }
    let mut with_guests = wanted.clone();
    with_guests.flags = wanted.flags.without(AttrFlags::EXCLUDE_GUEST);
    fit_to_kernel(&with_guests, open)
}

fn fit_to_kernel(
    wanted: &PerfEventAttr,
    mut open: impl FnMut(&PerfEventAttr) -> Result<(), OpenError>,
) -> Result<Fitted, OpenError> {
    let mut attr = wanted.clone();
    let (mut dropped, mut lacking) = (Vec::new(), Vec::new());
    let mut droppable = OPTIONAL.iter();
    loop {
        let error = match open(&attr) {
            Ok(()) => {
                return Ok(Fitted {
                    attr,
                    dropped,
                    lacking,
                });
            }
            Err(error @ (OpenError::Invalid | OpenError::TooNew)) => error,
            Err(error) => return Err(error),
        };
        let Some((setting, wanted_by, name)) = droppable.find(|one| one.0.is_set(&attr)) else {
            return Err(error);
        };
        setting.clear(&mut attr);
        match wanted_by {
            WantedBy::Us => dropped.push(*name),
            WantedBy::User => lacking.push(*name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> PerfEventAttr {
        PerfEventAttr {
            flags: AttrFlags::DEFER_CALLCHAIN
                .with(AttrFlags::BUILD_ID)
                .with(AttrFlags::KSYMBOL)
                .with(AttrFlags::MMAP),
            read_format: ReadFormat::ID.with(ReadFormat::LOST),
            ..PerfEventAttr::default()
        }
    }

    #[test]
    fn a_kernel_that_knows_all_gets_all() {
        let fitted = fit(&wanted(), |_| Ok(())).unwrap();
        assert_eq!((fitted.attr, fitted.dropped.len()), (wanted(), 0));
    }

    #[test]
    fn unknown_bits_go_newest_first_and_no_more_than_needed() {
        let mut tries = 0;
        let fitted = fit(&wanted(), |attr| {
            tries += 1;
            let unknown = attr.flags.has(AttrFlags::DEFER_CALLCHAIN)
                || attr.read_format.has(ReadFormat::LOST);
            if unknown {
                Err(OpenError::Invalid)
            } else {
                Ok(())
            }
        })
        .unwrap();
        assert_eq!(
            fitted.dropped,
            ["defer_callchain (6.19)", "lost counts (6.0)"]
        );
        assert_eq!(tries, 3);
        assert!(fitted.attr.flags.has(AttrFlags::BUILD_ID));
    }

    #[test]
    fn values_of_inherited_counters_are_left_to_kernels_that_have_them() {
        let mut attr = wanted();
        attr.flags = AttrFlags::INHERIT;
        attr.sample_type = SampleType::READ;
        let fitted = fit(&attr, |attr| {
            if attr.flags.has(AttrFlags::INHERIT) {
                Err(OpenError::Invalid)
            } else {
                Ok(())
            }
        });
        let fitted = fitted.unwrap();
        assert_eq!(fitted.dropped.len(), 1);
        assert!(fitted.attr.sample_type.has(SampleType::READ));
        assert!(fitted.attr.read_format.has(ReadFormat::LOST));
    }

    #[test]
    fn what_a_user_asked_for_is_told_apart_and_a_weight_becomes_one_number() {
        let mut attr = wanted();
        let weight = SampleType::WEIGHT_STRUCT;
        attr.sample_type = SampleType::PHYS_ADDR.with(weight);
        let fitted = fit(&attr, |attr| {
            if attr.sample_type.has(weight) {
                Err(OpenError::Invalid)
            } else {
                Ok(())
            }
        });
        let fitted = fitted.unwrap();
        assert_eq!(fitted.lacking, ["structured weights (5.12)"]);
        let without = SampleType::PHYS_ADDR.with(SampleType::WEIGHT);
        assert_eq!(fitted.attr.sample_type, without);
    }

    #[test]
    fn who_cannot_exclude_guests_keeps_all_else() {
        let mut attr = wanted();
        attr.flags = attr.flags.with(AttrFlags::EXCLUDE_GUEST);
        let fitted = fit(&attr, |attr| {
            if attr.flags.has(AttrFlags::EXCLUDE_GUEST) {
                Err(OpenError::Invalid)
            } else {
                Ok(())
            }
        });
        let fitted = fitted.unwrap();
        assert_eq!((fitted.attr, fitted.dropped.len()), (wanted(), 0));
    }

    #[test]
    fn other_errors_are_not_taken_for_unknown_bits() {
        let error = fit(&wanted(), |_| Err(OpenError::Access)).unwrap_err();
        assert!(matches!(error, OpenError::Access));
        let error = fit(&wanted(), |_| Err(OpenError::Invalid)).unwrap_err();
        assert!(matches!(error, OpenError::Invalid));
    }
}

//! What samples hold beside the usual, and what is counted beside samples.

use rprof_abi::registers::RegisterTable;
use rprof_abi::{AttrFlags, BranchSampleType, PerfEventAttr, ReadFormat, SampleType};
use std::env::consts::ARCH;

/// Kernel or user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The kernel's.
    Kernel,
    /// The others'.
    User,
}

/// What samples hold only if it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFields {
    /// Fields without settings of their own, such as [`SampleType::ADDR`].
    pub fields: SampleType,
    /// User registers, one bit each, in the architecture's numbering.
    pub user_registers: u64,
    /// Registers at the moment of the sample, in the kernel, too.
    pub registers: u64,
    /// Branches that the processor remembers; none if there is no bit.
    pub branches: BranchSampleType,
    /// Samples are taken only there; `None` for where the events say.
    pub only_in: Option<Space>,
    /// Call chains are only of there; `None` for both.
    pub chains_of: Option<Space>,
    /// What each thread has counted at its end.
    pub thread_counts: bool,
    /// Counter values come with the times that counters were on and running.
    pub running_times: bool,
    /// Counts only: no samples.
    pub no_samples: bool,
}

impl SampleFields {
    /// The weight in perf's form: x86 processors tell several things at once.
    pub const WEIGHT: SampleType = if cfg!(target_arch = "x86_64") {
        SampleType::WEIGHT_STRUCT
    } else {
        SampleType::WEIGHT
    };

    /// Whether addresses of data are of interest, and so what is mapped there.
    pub(crate) fn has_data_addresses(&self) -> bool {
        self.fields.has(SampleType::ADDR)
    }

    /// Asks for them.
    pub(crate) fn ask_for(&self, attr: &mut PerfEventAttr) {
        // A weight is of one form: parts, where the event wants them.
        let fields = if attr.sample_type.has(SampleType::WEIGHT_STRUCT) {
            self.fields.without(SampleType::WEIGHT)
        } else {
            self.fields
        };
        attr.sample_type = attr.sample_type.with(fields);
        if self.user_registers != 0 {
            attr.sample_type = attr.sample_type.with(SampleType::REGS_USER);
            attr.sample_regs_user |= self.user_registers;
        }
        if self.registers != 0 {
            attr.sample_type = attr.sample_type.with(SampleType::REGS_INTR);
            attr.sample_regs_intr = self.registers;
        }
        if self.branches != BranchSampleType::default() {
            attr.sample_type = attr.sample_type.with(SampleType::BRANCH_STACK);
            attr.branch_sample_type = self.branches;
        }
        self.limit_to_space(attr);
        if self.thread_counts {
            attr.flags = attr.flags.with(AttrFlags::INHERIT_STAT);
        }
        if self.thread_counts || self.running_times {
            attr.read_format = attr
                .read_format
                .with(ReadFormat::TOTAL_TIME_ENABLED)
                .with(ReadFormat::TOTAL_TIME_RUNNING);
        }
        if self.no_samples {
            attr.sample_period = 0;
        }
    }

    fn limit_to_space(&self, attr: &mut PerfEventAttr) {
        let (kernel, user) = (AttrFlags::EXCLUDE_KERNEL, AttrFlags::EXCLUDE_USER);
        attr.flags = match self.only_in {
            Some(Space::Kernel) => attr.flags.without(kernel).with(user),
            Some(Space::User) => attr.flags.without(user).with(kernel),
            None => attr.flags,
        };
        attr.flags = match self.chains_of {
            Some(Space::Kernel) => attr.flags.with(AttrFlags::EXCLUDE_CALLCHAIN_USER),
            Some(Space::User) => attr.flags.with(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL),
            None => attr.flags,
        };
    }
}

/// The user registers of this machine; 0 if samples cannot have any.
pub fn user_registers() -> u64 {
    RegisterTable::of(ARCH).map_or(0, |table| table.user_mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_parts_where_an_event_wants_them() {
        let mut attr = PerfEventAttr {
            sample_type: SampleType::WEIGHT_STRUCT,
            ..PerfEventAttr::default()
        };
        let asked = SampleFields {
            fields: SampleType::WEIGHT,
            ..SampleFields::default()
        };
        asked.ask_for(&mut attr);
        assert_eq!(attr.sample_type, SampleType::WEIGHT_STRUCT);
    }

    #[test]
    fn what_was_asked_for_is_added_to_what_an_event_has() {
        let mut attr = PerfEventAttr {
            sample_type: SampleType::IP,
            sample_regs_user: 1,
            sample_period: 7,
            ..PerfEventAttr::default()
        };
        SampleFields::default().ask_for(&mut attr);
        assert_eq!((attr.sample_type, attr.sample_period), (SampleType::IP, 7));
        let asked = SampleFields {
            fields: SampleType::ADDR.with(SampleType::DATA_SRC),
            user_registers: 6,
            registers: 8,
            thread_counts: true,
            no_samples: true,
            only_in: Some(Space::User),
            ..SampleFields::default()
        };
        asked.ask_for(&mut attr);
        let fields = [
            SampleType::ADDR,
            SampleType::DATA_SRC,
            SampleType::REGS_USER,
            SampleType::REGS_INTR,
        ];
        let all = fields.into_iter().fold(SampleType::IP, SampleType::with);
        assert_eq!(attr.sample_type, all);
        assert_eq!((attr.sample_regs_user, attr.sample_regs_intr), (7, 8));
        assert!(attr.flags.has(AttrFlags::INHERIT_STAT));
        assert!(attr.flags.has(AttrFlags::EXCLUDE_KERNEL));
        assert!(attr.read_format.has(ReadFormat::TOTAL_TIME_RUNNING));
        assert_eq!(attr.sample_period, 0);
    }
}

//! What samples hold beside the usual, and what is counted beside samples.

use rprof_abi::registers::RegisterTable;
use rprof_abi::{AttrFlags, PerfEventAttr, ReadFormat, SampleType};
use std::env::consts::ARCH;

/// What samples hold only if it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFields {
    /// Fields without settings of their own, such as [`SampleType::ADDR`].
    pub fields: SampleType,
    /// User registers, one bit each, in the architecture's numbering.
    pub user_registers: u64,
    /// Registers at the moment of the sample, in the kernel, too.
    pub registers: u64,
    /// What each thread has counted at its end.
    pub thread_counts: bool,
    /// Counter values come with the times that counters were on and running.
    pub running_times: bool,
    /// Counts only: no samples.
    pub no_samples: bool,
}

impl SampleFields {
    /// The weight in perf's form: x86 processors tell several things at once.
    pub const WEIGHT: SampleType = match cfg!(target_arch = "x86_64") {
        true => SampleType::WEIGHT_STRUCT,
        false => SampleType::WEIGHT,
    };

    /// Whether addresses of data are of interest, and so what is mapped there.
    pub(crate) fn has_data_addresses(&self) -> bool {
        self.fields.has(SampleType::ADDR)
    }

    /// Asks for them.
    pub(crate) fn ask_for(&self, attr: &mut PerfEventAttr) {
        attr.sample_type = attr.sample_type.with(self.fields);
        if self.user_registers != 0 {
            attr.sample_type = attr.sample_type.with(SampleType::REGS_USER);
            attr.sample_regs_user |= self.user_registers;
        }
        if self.registers != 0 {
            attr.sample_type = attr.sample_type.with(SampleType::REGS_INTR);
            attr.sample_regs_intr = self.registers;
        }
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
}

/// The user registers of this machine; 0 if samples cannot have any.
pub fn user_registers() -> u64 {
    RegisterTable::of(ARCH).map_or(0, |table| table.user_mask)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            running_times: false,
            no_samples: true,
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
        assert!(attr.read_format.has(ReadFormat::TOTAL_TIME_RUNNING));
        assert_eq!(attr.sample_period, 0);
    }
}

//! What samples hold beside the usual.

use rprof_abi::SampleType;
use rprof_abi::registers::RegisterTable;
use rprof_record::{SampleFields, user_registers};
use rprof_ringbuf::sys::Clock;
use std::env::consts::ARCH;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sample fields")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct FieldArgs {
    /// Record data addresses and data sources of memory accesses, and data mappings
    #[arg(short = 'd', long)]
    data: bool,

    /// Record physical data addresses, if permitted
    #[arg(long)]
    phys_data: bool,

    /// Record the page size of data addresses
    #[arg(long)]
    data_page_size: bool,

    /// Record the page size of code addresses
    #[arg(long)]
    code_page_size: bool,

    /// Record the weight (latency) of each sample, on processors that report it
    #[arg(short = 'W', long)]
    weight: bool,

    /// Record raw data for all events (always on for tracepoints)
    #[arg(short = 'R', long)]
    raw_samples: bool,

    /// Record transaction flags, on processors that report them
    #[arg(long)]
    transaction: bool,

    /// Record registers at each sample, also in the kernel: a list of names, or ? to list them; without names, all but
    /// vector registers
    #[arg(
        short = 'I',
        long,
        value_name = "REGS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = Registers::of_kernel
    )]
    intr_regs: Option<Registers>,

    /// Record user registers: a list of names, or ? to list them; without names, all
    #[arg(
        long,
        value_name = "REGS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = Registers::of_user
    )]
    user_regs: Option<Registers>,

    /// Clock for timestamps: mono, raw, real, boot or tai [default: mono, required for JIT code]
    #[arg(short = 'k', long, value_name = "CLOCK", value_parser = parse_clock)]
    pub(crate) clockid: Option<Clock>,

    /// Record the period of each sample (always on, unless -c sets it)
    #[arg(short = 'P', long = "period")]
    sample_period: bool,

    /// Record per-thread counts at exit
    #[arg(short = 's', long)]
    stat: bool,

    /// Record enabled and running times with counter values (:S)
    #[arg(long)]
    running_time: bool,

    /// Take no samples, only count
    #[arg(short = 'n', long)]
    no_samples: bool,
}

/// perf's names of clocks, and their numbers.
fn parse_clock(text: &str) -> Result<Clock, String> {
    let name = text.to_ascii_lowercase();
    match name.strip_prefix("clock_").unwrap_or(&name) {
        "mono" | "monotonic" | "1" => Ok(Clock::Monotonic),
        "raw" | "monotonic_raw" | "4" => Ok(Clock::MonotonicRaw),
        "real" | "realtime" | "0" => Ok(Clock::Realtime),
        "boot" | "boottime" | "7" => Ok(Clock::Boottime),
        "tai" | "11" => Ok(Clock::Tai),
        _ => Err("expected mono, raw, real, boot or tai".to_owned()),
    }
}

/// Registers that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Registers {
    /// Which there are is to be listed.
    List(u64),
    /// One bit each.
    These(u64),
}

impl Registers {
    fn of_user(text: &str) -> Result<Self, String> {
        Self::parse(text, user_registers())
    }

    /// Wide registers are sampled in the kernel's way only.
    fn of_kernel(text: &str) -> Result<Self, String> {
        const WIDE: u64 = if cfg!(target_arch = "x86_64") {
            u64::MAX << 32
        } else {
            0
        };
        match text {
            "" => Self::parse(text, user_registers()),
            _ => Self::parse(text, user_registers() | WIDE),
        }
    }

    fn parse(text: &str, known: u64) -> Result<Self, String> {
        match (text, RegisterTable::of(ARCH)) {
            (_, None) => Err("registers cannot be sampled on this architecture".to_owned()),
            ("", _) => Ok(Self::These(known)),
            ("?", _) => Ok(Self::List(known)),
            (names, Some(table)) => {
                let mut mask = 0;
                for name in names.split(',') {
                    mask |= match table.named(name.trim()) & known {
                        0 => {
                            let names = names_of(known);
                            return Err(format!("unknown register '{name}'; known are {names}"));
                        }
                        named => named,
                    };
                }
                Ok(Self::These(mask))
            }
        }
    }

    fn mask(registers: Option<Self>) -> u64 {
        match registers {
            Some(Self::These(mask)) => mask,
            Some(Self::List(_)) | None => 0,
        }
    }
}

/// Names, each once, with blanks between.
fn names_of(mask: u64) -> String {
    let mut names: Vec<&str> = Vec::new();
    for number in (0..u64::BITS).filter(|number| mask >> number & 1 == 1) {
        let name = RegisterTable::of(ARCH).and_then(|table| table.name(number));
        names.extend(name.filter(|name| names.last() != Some(name)));
    }
    names.join(" ")
}

impl FieldArgs {
    /// What is asked for.
    pub(crate) fn fields(&self) -> SampleFields {
        let of_flags = [
            (self.data, SampleType::ADDR.with(SampleType::DATA_SRC)),
            (self.phys_data, SampleType::PHYS_ADDR),
            (self.data_page_size, SampleType::DATA_PAGE_SIZE),
            (self.code_page_size, SampleType::CODE_PAGE_SIZE),
            (self.weight, SampleFields::WEIGHT),
            (self.raw_samples, SampleType::RAW),
            (self.transaction, SampleType::TRANSACTION),
            (self.sample_period, SampleType::PERIOD),
        ];
        let asked = of_flags.iter().filter(|(is_asked, _)| *is_asked);
        SampleFields {
            fields: asked.fold(SampleType::default(), |all, (_, field)| all.with(*field)),
            user_registers: Registers::mask(self.user_regs),
            registers: Registers::mask(self.intr_regs),
            thread_counts: self.stat,
            running_times: self.running_time,
            no_samples: self.no_samples,
            ..SampleFields::default()
        }
    }

    /// The list of registers, if that is what is asked for.
    pub(crate) fn list(&self) -> Option<String> {
        let lists = [self.intr_regs, self.user_regs].into_iter().flatten();
        let mut known = lists.filter_map(|registers| match registers {
            Registers::List(known) => Some(known),
            Registers::These(_) => None,
        });
        known.next().map(names_of)
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names_and_what_is_none_is_said_with_those_that_are() {
        let masks = [
            ("", 0xff_0fff),
            ("ip,sp", 0x180),
            ("AX", 1),
            ("r15, ax", 0x80_0001),
        ];
        for (text, mask) in masks {
            assert_eq!(Registers::of_user(text), Ok(Registers::These(mask)));
            assert_eq!(Registers::of_kernel(text), Ok(Registers::These(mask)));
        }
        assert_eq!(Registers::of_kernel("xmm1"), Ok(Registers::These(3 << 34)));
        for bad in ["xmm1", "eip", "ax,", "ds", ","] {
            let error = Registers::of_user(bad).unwrap_err();
            assert!(error.contains("R15"), "{bad}: {error}");
        }
        assert!(names_of(user_registers()).starts_with("AX BX CX DX SI DI BP SP IP FLAGS"));
        assert!(names_of(u64::MAX << 32).ends_with("XMM14 XMM15"));
    }
}

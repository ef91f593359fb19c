//! Branches and parts of the machine that are recorded, in perf's words.

use rprof_abi::BranchSampleType;
use rprof_record::{OffCpu, Sideband, Space};
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What else is recorded")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PartArgs {
    /// Record the namespaces of processes, if permitted
    #[arg(long)]
    namespaces: bool,

    /// Record the control group of each sample (report --sort cgroup)
    #[arg(long)]
    pub(crate) all_cgroups: bool,

    /// Record context switches
    #[arg(long)]
    switch_events: bool,

    /// Record what latency profiles need (report --latency): same as --switch-events
    #[arg(long)]
    latency: bool,

    /// Record off-CPU time, too: switches and wake-ups, with stacks
    #[arg(
        long,
        value_name = "MS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = milliseconds,
        conflicts_with_all = ["overwrite", "samples_per_hour", "no_samples"],
        long_help = OFF_CPU_HELP
    )]
    off_cpu: Option<OffCpu>,

    /// Record spans of threads' time, such as requests, as NAME=BEGIN..END: events that begin and end them, such as
    /// 'request=uprobe:/path:begin..uprobe:/path:end'; also usdt and tracepoints; may be repeated (report --by-span)
    #[arg(long = "span", value_name = "SPAN")]
    pub(crate) spans: Vec<String>,

    /// Sample user space only, regardless of event modifiers
    #[arg(long, conflicts_with = "all_kernel")]
    all_user: bool,

    /// Sample the kernel only, regardless of event modifiers
    #[arg(long)]
    all_kernel: bool,

    /// Record only kernel call chains
    #[arg(long, conflicts_with = "user_callchains")]
    pub(crate) kernel_callchains: bool,

    /// Record only user call chains
    #[arg(long)]
    user_callchains: bool,

    /// Record waits for locks, too, for rprof lock: futexes of user space and locks of the kernel; without -e, nothing
    /// else
    #[arg(long)]
    pub(crate) lock: bool,

    /// Record branch stacks: all taken branches
    #[arg(short = 'b', long)]
    branch_any: bool,

    /// Record branch stacks with a filter: any, any_call, any_ret, ind_call, ind_jmp, call, cond, u, k, hv, ...
    #[arg(short = 'j', long, value_name = "FILTER", value_delimiter = ',', value_parser = parse_filter)]
    branch_filter: Vec<BranchSampleType>,
}

const OFF_CPU_HELP: &str = "Record off-CPU time, too: when threads are switched out and in, where they wait, and who \
    wakes them. User stacks are kept for waits of at least MS milliseconds [default: 1]; 0 keeps all of them. With CAP_PERFMON \
    the tracepoints sched:sched_switch and sched:sched_waking are recorded; where the kernel may be sampled \
    (kernel.perf_event_paranoid at 1 or below), the event context-switches and SWITCH records; otherwise SWITCH \
    records; for long waits, /proc says why and where threads wait";

/// The longest threshold, milliseconds: samples are held back for as long.
const MOST_MS: f64 = 10_000.0;

/// A threshold in milliseconds.
fn milliseconds(text: &str) -> Result<OffCpu, String> {
    let threshold = text.parse().ok().filter(|ms| (0.0..=MOST_MS).contains(ms));
    match threshold {
        Some(ms) => Ok(OffCpu {
            threshold: Duration::from_secs_f64(ms / 1e3),
        }),
        None => Err(format!("expected milliseconds, 0 to {MOST_MS}")),
    }
}

/// perf's words for bits.
const FILTERS: &[(&str, BranchSampleType)] = &[
    ("u", BranchSampleType::USER),
    ("k", BranchSampleType::KERNEL),
    ("hv", BranchSampleType::HV),
    ("any", BranchSampleType::ANY),
    ("any_call", BranchSampleType::ANY_CALL),
    ("any_ret", BranchSampleType::ANY_RETURN),
    ("ind_call", BranchSampleType::IND_CALL),
    ("abort_tx", BranchSampleType::ABORT_TX),
    ("in_tx", BranchSampleType::IN_TX),
    ("no_tx", BranchSampleType::NO_TX),
    ("cond", BranchSampleType::COND),
    ("ind_jmp", BranchSampleType::IND_JUMP),
    ("call", BranchSampleType::CALL),
    ("save_type", BranchSampleType::TYPE_SAVE),
    ("stack", BranchSampleType::CALL_STACK),
    ("priv", BranchSampleType::PRIV_SAVE),
];

fn parse_filter(word: &str) -> Result<BranchSampleType, String> {
    let found = FILTERS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word));
    found.map(|(_, bit)| *bit).ok_or_else(|| {
        let names: Vec<&str> = FILTERS.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// Which branches. If no kind is given, perf takes all, of the kernel, too, if that is sampled.
fn branches(is_any: bool, filters: &[BranchSampleType]) -> BranchSampleType {
    let any = if is_any {
        BranchSampleType::ANY
    } else {
        BranchSampleType::default()
    };
    let all = filters.iter().fold(any, |all, bit| all.with(*bit));
    let levels = [
        BranchSampleType::USER,
        BranchSampleType::KERNEL,
        BranchSampleType::HV,
    ];
    let kinds = levels.into_iter().fold(all, BranchSampleType::without);
    if all == BranchSampleType::default() || kinds != BranchSampleType::default() {
        all
    } else {
        BranchSampleType::ANY
    }
}

impl PartArgs {
    pub(crate) fn branches(&self) -> BranchSampleType {
        branches(self.branch_any, &self.branch_filter)
    }

    pub(crate) fn sideband(&self) -> Sideband {
        Sideband {
            namespaces: self.namespaces,
            cgroups: self.all_cgroups,
            switches: self.switch_events || self.latency,
        }
    }

    pub(crate) fn off_cpu(&self) -> Option<OffCpu> {
        self.off_cpu
    }

    /// Where samples are taken, if that is asked for.
    pub(crate) fn only_in(&self) -> Option<Space> {
        one_of(self.all_kernel, self.all_user)
    }

    /// What call chains are of, if that is asked for.
    pub(crate) fn chains_of(&self) -> Option<Space> {
        one_of(self.kernel_callchains, self.user_callchains)
    }
}

fn one_of(is_kernel: bool, is_user: bool) -> Option<Space> {
    match (is_kernel, is_user) {
        (true, _) => Some(Space::Kernel),
        (false, true) => Some(Space::User),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_milliseconds() {
        let threshold = |text| milliseconds(text).map(|off_cpu| off_cpu.threshold);
        assert_eq!(threshold("1"), Ok(Duration::from_millis(1)));
        assert_eq!(threshold("0.25"), Ok(Duration::from_micros(250)));
        assert_eq!(threshold("0"), Ok(Duration::ZERO));
        for bad in ["", "-1", "ms", "NaN", "inf", "10001"] {
            assert!(threshold(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_are_those_that_perf_opens() {
        // perf record -vv -j WORDS (6.1).
        for (words, bits) in [
            ("any", 0x8),
            ("u", 0x8),
            ("k,hv", 0x8),
            ("any_call,u", 0x11),
            ("any_ret,ind_call", 0x60),
            ("cond,ind_jmp,call", 0x3400),
            ("save_type,stack,u", 0x1_0801),
            ("abort_tx,in_tx,no_tx", 0x380),
            ("priv,u", 0x4_0001),
        ] {
            let bits_of: Vec<_> = words
                .split(',')
                .map(|word| parse_filter(word).unwrap())
                .collect();
            assert_eq!(branches(false, &bits_of), BranchSampleType(bits), "{words}");
        }
        assert_eq!(branches(true, &[]), BranchSampleType::ANY);
        assert_eq!(branches(false, &[]), BranchSampleType::default());
        assert!(parse_filter("some").unwrap_err().contains("any_call"));
    }
}

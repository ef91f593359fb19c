//! SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN: `/proc/schedstat`, read by `perf sched stats`.

use super::body::FileBody;
use rprof_abi::{Cursor, Fields, Misc, Value, Wire, WireError, wire};

/// `PERF_RECORD_SCHEDSTAT_CPU`: what happened on a CPU up to a moment.
///
/// Source: tools/lib/perf/include/perf/event.h and schedstat-v15.h to schedstat-v17.h (v7.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedstatCpu {
    /// When, in jiffies.
    pub timestamp: u64,
    /// The CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// Its counts; `None` in a version that is not known here.
    pub counts: Option<CpuCounts>,
}

wire! {
    /// The counts of a CPU.
    #[derive(Copy)]
    pub struct CpuCounts in "schedstat of a CPU" {
        /// Calls of `sched_yield()`.
        pub yld_count: u32,
        /// A count that the kernel has no more: always 0.
        pub array_exp: u32,
        /// Calls of `schedule()`.
        pub sched_count: u32,
        /// Of these, those that left the CPU idle.
        pub sched_goidle: u32,
        /// Wake-ups of tasks.
        pub ttwu_count: u32,
        /// Of these, those of tasks on this CPU.
        pub ttwu_local: u32,
        /// Time that tasks ran, nanoseconds.
        pub rq_cpu_time: u64,
        /// Time that tasks waited, nanoseconds.
        pub run_delay: u64,
        /// Time slices.
        pub pcount: u64,
    }
}

impl FileBody<'_> for SchedstatCpu {
    fn parse_body(cursor: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        let what = "schedstat of a CPU";
        let timestamp = cursor.u64(what)?;
        let cpu = cursor.u32(what)?;
        let version = cursor.u16(what)?;
        cursor.u16(what)?; // padding
        let is_known = domain_counts(version).is_some();
        Ok(Self {
            timestamp,
            cpu,
            version,
            counts: is_known.then(|| CpuCounts::parse(cursor)).transpose()?,
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("timestamp", Value::Unsigned(self.timestamp));
        fields.field("cpu", Value::Unsigned(self.cpu.into()));
        fields.field("version", Value::Unsigned(self.version.into()));
        if let Some(counts) = &self.counts {
            counts.visit(fields);
        }
    }
}

/// `PERF_RECORD_SCHEDSTAT_DOMAIN`: how load was balanced in a scheduling domain of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedstatDomain {
    /// When, in jiffies.
    pub timestamp: u64,
    /// The CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// Number of the domain.
    pub domain: u16,
    /// Its counts by name; none in a version that is not known here.
    pub counts: Vec<(String, u32)>,
}

/// When load is balanced, in the order of versions 16 and 17.
const TIMES: [&str; 3] = ["busy", "idle", "newidle"];

/// Counts of balancing, in each of [`TIMES`].
const BALANCING: [&str; 8] = [
    "count",
    "balanced",
    "failed",
    "imbalance",
    "gained",
    "hot_gained",
    "nobusyq",
    "nobusyg",
];

/// What version 17 has in the place of `imbalance`.
const IMBALANCES: [&str; 4] = [
    "imbalance_load",
    "imbalance_util",
    "imbalance_task",
    "imbalance_misfit",
];

/// The other counts.
const OTHERS: [&str; 12] = [
    "alb_count",
    "alb_failed",
    "alb_pushed",
    "sbe_count",
    "sbe_balanced",
    "sbe_pushed",
    "sbf_count",
    "sbf_balanced",
    "sbf_pushed",
    "ttwu_wake_remote",
    "ttwu_move_affine",
    "ttwu_move_balance",
];

/// Names of a domain's counts, in order; `None` for a version that is not known here.
fn domain_counts(version: u16) -> Option<Vec<String>> {
    let times = match version {
        15 => ["idle", "busy", "newidle"],
        16 | 17 => TIMES,
        _ => return None,
    };
    let mut names = Vec::new();
    for time in times {
        for what in BALANCING {
            match what {
                "imbalance" if version == 17 => {
                    names.extend(IMBALANCES.map(|kind| format!("{time}_lb_{kind}")));
                }
                _ => names.push(format!("{time}_lb_{what}")),
            }
        }
    }
    names.extend(OTHERS.map(str::to_owned));
    Some(names)
}

impl FileBody<'_> for SchedstatDomain {
    fn parse_body(cursor: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        let what = "schedstat of a domain";
        let timestamp = cursor.u64(what)?;
        let cpu = cursor.u32(what)?;
        let version = cursor.u16(what)?;
        let domain = cursor.u16(what)?;
        let names = domain_counts(version).unwrap_or_default().into_iter();
        let counts = names.map(|name| Ok((name, cursor.u32(what)?)));
        Ok(Self {
            timestamp,
            cpu,
            version,
            domain,
            counts: counts.collect::<Result<_, WireError>>()?,
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("timestamp", Value::Unsigned(self.timestamp));
        fields.field("cpu", Value::Unsigned(self.cpu.into()));
        fields.field("version", Value::Unsigned(self.version.into()));
        fields.field("domain", Value::Unsigned(self.domain.into()));
        for (name, count) in &self.counts {
            fields.field(name, Value::Unsigned((*count).into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::file_kind;
    use crate::file_record::FileRecord;
    use crate::testing::{Flat, ORDERS, bytes, u32s, u64s};
    use rprof_abi::{Encoder, Misc, RawRecord, RecordKind};

    fn said(kind: RecordKind, n_needed: usize, body: impl Fn(&mut Encoder<'_>)) -> Vec<String> {
        let mut all = ORDERS.map(|endian| {
            let body = bytes(endian, &body);
            let parse = |body| {
                let misc = Misc(0);
                FileRecord::parse(RawRecord { kind, misc, body }, endian)
            };
            assert!((0..n_needed).all(|len| parse(&body[..len]).is_err()));
            let record = parse(&body).unwrap();
            Flat::of(|fields| record.visit(fields))
        });
        assert_eq!(all[0], all[1]);
        std::mem::take(&mut all[0])
    }

    /// Time, CPU, version and what follows it.
    fn head(version: u16, domain: u16, encoder: &mut Encoder<'_>) {
        encoder.u64(9);
        encoder.u32(3);
        encoder.u16(version);
        encoder.u16(domain);
    }

    #[test]
    fn a_cpu_has_calls_and_times() {
        let lines = said(file_kind::SCHEDSTAT_CPU, 64, |encoder| {
            head(17, 0, encoder);
            u32s(&[1, 2, 3, 4, 5, 6], encoder);
            u64s(&[7, 8, 9], encoder);
        });
        let expected = "timestamp=9 cpu=3 version=17 yld_count=1 array_exp=2 sched_count=3 \
            sched_goidle=4 ttwu_count=5 ttwu_local=6 rq_cpu_time=7 run_delay=8 pcount=9";
        assert_eq!(lines.join(" "), expected);
    }

    #[test]
    fn counts_of_a_domain_have_the_names_and_order_of_their_version() {
        let lines = |version, n: u32| {
            let counts: Vec<u32> = (1..=n).collect();
            let n_needed = 16 + 4 * counts.len();
            said(file_kind::SCHEDSTAT_DOMAIN, n_needed, |encoder| {
                head(version, 1, encoder);
                u32s(&counts, encoder);
            })
        };
        let has = |lines: &[String], expected: &str| lines.iter().any(|line| line == expected);
        let old = lines(15, 36);
        assert_eq!(&old[2..4], ["version=15", "domain=1"]);
        assert!(has(&old, "idle_lb_count=1") && has(&old, "busy_lb_imbalance=12"));
        assert!(has(&old, "ttwu_move_balance=36"));
        let next = lines(16, 36);
        assert!(has(&next, "busy_lb_count=1") && has(&next, "idle_lb_imbalance=12"));
        let new = lines(17, 45);
        assert!(has(&new, "busy_lb_imbalance_load=4") && has(&new, "idle_lb_count=12"));
        assert!(has(&new, "alb_count=34") && has(&new, "ttwu_move_balance=45"));
    }

    #[test]
    fn a_newer_version_says_no_more_than_that() {
        for kind in [file_kind::SCHEDSTAT_CPU, file_kind::SCHEDSTAT_DOMAIN] {
            let lines = said(kind, 16, |encoder| {
                head(18, 1, encoder);
                u64s(&[1, 2, 3], encoder);
            });
            assert_eq!(&lines[..3], ["timestamp=9", "cpu=3", "version=18"]);
            assert!(lines.len() <= 4);
        }
    }
}

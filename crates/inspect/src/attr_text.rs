//! Attrs in perf's words and order (`perf record -vv`, `perf report --header`).

use rprof_abi::{Fields, PerfEventAttr, Shape, Value};
use rprof_perfdata::visit_attr;

/// What stands before the flags, by our name and perf's.
const BEFORE_FLAGS: &[(&str, &str)] = &[
    ("type", "type"),
    ("size", "size"),
    ("config", "config"),
    ("sample_period", "{ sample_period, sample_freq }"),
    ("sample_freq", "{ sample_period, sample_freq }"),
    ("sample_type", "sample_type"),
    ("read_format", "read_format"),
];

/// What stands behind them. What is newer follows.
const AFTER_FLAGS: &[(&str, &str)] = &[
    ("wakeup", "{ wakeup_events, wakeup_watermark }"),
    ("bp_type", "bp_type"),
    ("config1", "{ bp_addr, config1 }"),
    ("config2", "{ bp_len, config2 }"),
    ("branch_sample_type", "branch_sample_type"),
    ("sample_regs_user", "sample_regs_user"),
    ("sample_stack_user", "sample_stack_user"),
    ("clockid", "clockid"),
    ("sample_regs_intr", "sample_regs_intr"),
    ("aux_watermark", "aux_watermark"),
    ("sample_max_stack", "sample_max_stack"),
    ("aux_sample_size", "aux_sample_size"),
    ("sig_data", "sig_data"),
];

/// The first of the two bits of `precise_ip`, which is a number among the flags.
const PRECISE_IP_BIT: u32 = 15;

/// Where perf has those sample types that it does not have by their bits.
const SAMPLE_TYPES: &[(&str, u32)] = &[
    ("IDENTIFIER", 14),
    ("REGS_INTR", 15),
    ("DATA_SRC", 16),
    ("WEIGHT", 17),
    ("TRANSACTION", 18),
];

/// Each field of an attr of this size that is not zero, with its value; a flag that is set is a field of
/// value 1.
pub fn attr_fields(attr: &PerfEventAttr, size: u32) -> Vec<(String, String)> {
    let mut collected = Collected(Vec::new());
    collected.field("size", Value::Unsigned(size.into()));
    visit_attr(attr, &mut collected);
    collected.0.sort_by_key(|&(rank, _)| rank);
    collected.0.into_iter().map(|(_, field)| field).collect()
}

/// Where a field stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FieldRank {
    BeforeFlags(usize),
    Flag(u32),
    AfterFlags(usize),
}

/// Fields, each by its name with its value.
struct Collected(Vec<(FieldRank, (String, String))>);

impl Collected {
    fn add(&mut self, name: &str, value: String) {
        let among = |names: &[(&str, &'static str)]| {
            let idx = names.iter().position(|(own, _)| *own == name)?;
            Some((idx, names.get(idx)?.1))
        };
        let (rank, name) = match (among(BEFORE_FLAGS), among(AFTER_FLAGS)) {
            _ if name == "precise_ip" => (FieldRank::Flag(PRECISE_IP_BIT), name),
            (Some((idx, name)), _) => (FieldRank::BeforeFlags(idx), name),
            (_, Some((idx, name))) => (FieldRank::AfterFlags(idx), name),
            (None, None) => (FieldRank::AfterFlags(usize::MAX), name),
        };
        self.0.push((rank, (name.to_owned(), value)));
    }
}

/// Where a bit's name stands among others.
fn rank_of(name: &str, bit: u32) -> u32 {
    let own = SAMPLE_TYPES.iter().find(|(other, _)| *other == name);
    own.map_or(bit, |(_, rank)| *rank)
}

impl Fields for Collected {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match value {
            Value::Signed(0) | Value::Unsigned(0) | Value::Hex(0) => {}
            Value::Signed(number) => self.add(name, number.to_string()),
            Value::Unsigned(number) => self.add(name, number.to_string()),
            Value::Hex(number) => self.add(name, format!("{number:#x}")),
            Value::Bits { value, names } => {
                let set = names.iter().filter(|(bit, _)| value & bit != 0);
                let known = set.clone().fold(0, |all, (bit, _)| all | bit);
                let unknown = value & !known;
                let mut set: Vec<(u32, String)> = set
                    .map(|(bit, name)| (rank_of(name, bit.trailing_zeros()), (*name).to_owned()))
                    .collect();
                set.sort();
                if unknown != 0 {
                    set.push((u64::BITS, format!("{unknown:#x}")));
                }
                if name == "flags" {
                    let flag = |(bit, name)| (FieldRank::Flag(bit), (name, "1".to_owned()));
                    self.0.extend(set.into_iter().map(flag));
                } else if !set.is_empty() {
                    let set: Vec<String> = set.into_iter().map(|(_, name)| name).collect();
                    self.add(name, set.join("|"));
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, _name: &str, _shape: Shape) {}

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{AttrFlags, SampleType};

    #[test]
    fn fields_are_in_perfs_order() {
        let attr = PerfEventAttr {
            kind: 1,
            sample_period: 4000,
            wakeup: 1,
            config1: 16,
            sample_type: SampleType::IP
                .with(SampleType::DATA_SRC)
                .with(SampleType::IDENTIFIER),
            sample_regs_user: 0xff,
            sample_stack_user: 8192,
            flags: AttrFlags::FREQ
                .with(AttrFlags::SAMPLE_ID_ALL)
                .with_precise_ip(2),
            ..PerfEventAttr::default()
        };
        let fields = attr_fields(&attr, 128);
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        assert_eq!(
            fields.join(", "),
            "type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|IDENTIFIER|DATA_SRC, freq = 1, \
             precise_ip = 2, sample_id_all = 1, { wakeup_events, wakeup_watermark } = 1, \
             { bp_addr, config1 } = 0x10, sample_regs_user = 0xff, sample_stack_user = 8192"
        );
    }
}

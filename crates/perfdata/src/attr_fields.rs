//! An attr, described field by field.

use rprof_abi::{AttrFlags, Fields, PerfEventAttr, Value};

/// Says the fields of an attr: those that every event has, and of the others those that are set.
pub fn visit_attr(attr: &PerfEventAttr, fields: &mut dyn Fields) {
    fields.field("type", Value::Unsigned(attr.kind.into()));
    fields.field("config", Value::Hex(attr.config));
    let period_or_freq = if attr.flags.has(AttrFlags::FREQ) {
        "sample_freq"
    } else {
        "sample_period"
    };
    fields.field(period_or_freq, Value::Unsigned(attr.sample_period));
    fields.field("sample_type", attr.sample_type.value());
    fields.field("read_format", attr.read_format.value());
    // precise_ip is a number among the flags.
    fields.field("flags", attr.flags.with_precise_ip(0).value());
    fields.field(
        "precise_ip",
        Value::Unsigned(attr.flags.precise_ip().into()),
    );
    visit_set(attr, fields);
    if attr.branch_sample_type.0 != 0 {
        fields.field("branch_sample_type", attr.branch_sample_type.value());
    }
    if attr.flags.has(AttrFlags::USE_CLOCKID) {
        fields.field("clockid", Value::Signed(attr.clockid.into()));
    }
}

/// Says those numbers and words that are not zero.
fn visit_set(attr: &PerfEventAttr, fields: &mut dyn Fields) {
    let numbers = [
        ("wakeup", u64::from(attr.wakeup)),
        ("sample_stack_user", attr.sample_stack_user.into()),
        ("aux_watermark", attr.aux_watermark.into()),
        ("sample_max_stack", attr.sample_max_stack.into()),
        ("aux_sample_size", attr.aux_sample_size.into()),
        ("bp_type", attr.bp_type.into()),
    ];
    for (name, value) in numbers.into_iter().filter(|&(_, value)| value != 0) {
        fields.field(name, Value::Unsigned(value));
    }
    let words = [
        ("config1", attr.config1),
        ("config2", attr.config2),
        ("config3", attr.config3),
        ("config4", attr.config4),
        ("sample_regs_user", attr.sample_regs_user),
        ("sample_regs_intr", attr.sample_regs_intr),
        ("aux_action", attr.aux_action.into()),
        ("sig_data", attr.sig_data),
    ];
    for (name, value) in words.into_iter().filter(|&(_, value)| value != 0) {
        fields.field(name, Value::Hex(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Flat;

    #[test]
    fn fields_that_are_not_set_are_not_said() {
        let names = |attr: &PerfEventAttr| -> Vec<String> {
            let said = Flat::of(|fields| visit_attr(attr, fields));
            let name = |line: &String| line.split('=').next().unwrap().to_owned();
            said.iter().map(name).collect()
        };
        let plain = PerfEventAttr::default();
        let common = [
            "type",
            "config",
            "sample_period",
            "sample_type",
            "read_format",
        ];
        let common = [&common[..], &["flags", "precise_ip"]].concat();
        assert_eq!(names(&plain), common);
        let attr = PerfEventAttr {
            flags: AttrFlags::FREQ.with(AttrFlags::USE_CLOCKID),
            config2: 1,
            wakeup: 1,
            ..plain
        };
        let said = names(&attr);
        assert!(said.contains(&"sample_freq".to_owned()));
        assert_eq!(said[7..], ["wakeup", "config2", "clockid"]);
    }

    #[test]
    fn precise_ip_is_no_flag() {
        let attr = PerfEventAttr {
            flags: AttrFlags(0).with_precise_ip(3),
            ..PerfEventAttr::default()
        };
        let said = Flat::of(|fields| visit_attr(&attr, fields));
        assert!(said.contains(&"precise_ip=3".to_owned()));
        assert!(
            said.iter()
                .any(|line| line.starts_with("flags=Bits { value: 0,"))
        );
    }
}

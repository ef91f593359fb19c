//! Attrs as `perf record -vv` prints them: each field that is not zero on a line of its own.

use rprof_abi::PerfEventAttr;
use rprof_inspect::attr_fields;

/// The lines of an attr.
pub(super) fn dump(attr: &PerfEventAttr) -> Vec<String> {
    let fields = attr_fields(attr, attr.smallest_size().0).into_iter();
    let mut lines = vec![RULER.to_owned(), "perf_event_attr:".to_owned()];
    lines.extend(fields.map(|(name, value)| format!("  {name:<32} {value}")));
    lines.push(RULER.to_owned());
    lines
}

const RULER: &str = "------------------------------------------------------------";

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{AttrFlags, ReadFormat, SampleType};

    #[test]
    fn what_is_not_zero_has_a_line() {
        let attr = PerfEventAttr {
            kind: 5,
            sample_period: 1,
            bp_type: 2,
            config1: 0x1000,
            config2: 8,
            sample_type: SampleType::IP.with(SampleType::TID),
            read_format: ReadFormat::ID,
            flags: AttrFlags::DISABLED.with_precise_ip(2),
            ..PerfEventAttr::default()
        };
        let lines = dump(&attr);
        let fields: Vec<&str> = lines[2..lines.len() - 1]
            .iter()
            .map(String::as_str)
            .collect();
        let expected = [
            "  type                             5",
            "  size                             72",
            "  { sample_period, sample_freq }   1",
            "  sample_type                      IP|TID",
            "  read_format                      ID",
            "  disabled                         1",
            "  precise_ip                       2",
            "  bp_type                          2",
            "  { bp_addr, config1 }             0x1000",
            "  { bp_len, config2 }              0x8",
        ];
        assert_eq!(fields, expected);
        assert_eq!(
            (lines[0].as_str(), lines[1].as_str()),
            (RULER, "perf_event_attr:")
        );
    }
}

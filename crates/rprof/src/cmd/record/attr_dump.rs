//! Attrs as `perf record -vv` prints them: each field that is not zero on a line of its own.

use rprof_abi::{Fields, PerfEventAttr, Shape, Value};
use rprof_perfdata::visit_attr;

/// The lines of an attr.
pub(super) fn dump(attr: &PerfEventAttr) -> Vec<String> {
    let mut dump = Dump(vec![RULER.to_owned(), "perf_event_attr:".to_owned()]);
    dump.line("size", attr.smallest_size().0.to_string());
    visit_attr(attr, &mut dump);
    dump.0.push(RULER.to_owned());
    dump.0
}

const RULER: &str = "------------------------------------------------------------";

/// Fields that have several names.
const UNIONS: &[(&str, &str)] = &[
    ("sample_period", "{ sample_period, sample_freq }"),
    ("sample_freq", "{ sample_period, sample_freq }"),
    ("wakeup", "{ wakeup_events, wakeup_watermark }"),
    ("config1", "{ bp_addr, config1 }"),
    ("config2", "{ bp_len, config2 }"),
];

struct Dump(Vec<String>);

impl Dump {
    fn line(&mut self, name: &str, value: String) {
        let names = UNIONS.iter().find(|(field, _)| *field == name);
        let name = names.map_or(name, |(_, names)| names);
        self.0.push(format!("  {name:<32} {value}"));
    }
}

impl Fields for Dump {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match value {
            // The clock of number 0 is one.
            Value::Signed(number) => self.line(name, number.to_string()),
            Value::Unsigned(0) | Value::Hex(0) => {}
            Value::Unsigned(number) => self.line(name, number.to_string()),
            Value::Hex(number) => self.line(name, format!("{number:#x}")),
            Value::Bits { value, names } => {
                let set = names.iter().filter(|(bit, _)| value & bit != 0);
                let known = set.clone().fold(0, |all, (bit, _)| all | bit);
                let mut set: Vec<String> = set.map(|(_, name)| (*name).to_owned()).collect();
                if value != known {
                    set.push(format!("{:#x}", value & !known));
                }
                match name {
                    "flags" => set.iter().for_each(|flag| self.line(flag, "1".to_owned())),
                    _ if set.is_empty() => {}
                    _ => self.line(name, set.join("|")),
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
            "  size                             72",
            "  type                             5",
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

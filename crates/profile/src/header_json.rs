//! The `header` of JSON formats: where and how a recording was made.

use crate::About;
use rprof_untrusted::JsonWriter;

/// The order of fields in an object, of which each format has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOrder {
    /// As `crates/JSON.md` lists them, also an empty command.
    Listed,
    /// By name, without an empty command.
    ByName,
}

impl About {
    /// Writes the field `header`; what the recording does not say is left out.
    pub fn write_header(&self, order: FieldOrder, json: &mut JsonWriter<'_>) {
        let mut names = [
            "host",
            "os_release",
            "arch",
            "cpu",
            "recorder",
            "n_cpus",
            "command",
            "wall_clock",
        ];
        if order == FieldOrder::ByName {
            names.sort_unstable();
        }
        json.key("header").object(|json| {
            for name in names {
                match name {
                    "n_cpus" => json.field_if(name, self.n_cpus),
                    "command" if order == FieldOrder::ByName && self.command.is_empty() => {}
                    "command" => json.column(name, &self.command, |json, word| json.text(word)),
                    "wall_clock" => self.write_wall_clock(order, json),
                    _ => {
                        let text = self.texts().find(|(known, _)| *known == name);
                        json.field_if(name, text.map(|(_, text)| text));
                    }
                }
            }
        });
    }

    fn write_wall_clock(&self, order: FieldOrder, json: &mut JsonWriter<'_>) {
        let Some(clock) = self.wall_clock else {
            return;
        };
        let mut times = [("wall_ns", clock.wall_ns), ("clock_ns", clock.clock_ns)];
        if order == FieldOrder::ByName {
            times.sort_unstable();
        }
        json.key("wall_clock").object(|json| {
            for (name, ns) in times {
                json.field(name, ns);
            }
        });
    }
}

//! What tracepoints wrote: rows of a table, as far as the profile has it.

use rprof_base::Interner;
use rprof_profile::{FieldValue, SampledProfile, StrId};
use rprof_untrusted::{JsonWriter, printable};
use std::collections::HashMap;

/// Characters of a text; what is longer is cut.
const MAX_TEXT: usize = 200;

/// Larger integers are not exact in scripts: they are texts.
const MAX_INTEGER: u64 = 1 << 53;

/// Writes the kinds of rows (an event, and the names of its fields), the rows (a kind, nanoseconds since the first
/// sample, a thread, values), and how many samples of these events have no row.
pub(super) fn json(sampled: &SampledProfile, json: &mut JsonWriter<'_>) {
    if sampled.fields.is_empty() {
        return;
    }
    let mut kinds: Interner<u32, (u16, Vec<StrId>)> = Interner::default();
    let mut n_rows: HashMap<u16, u64> = HashMap::new();
    let start_ns = sampled.samples.span_ns().map_or(0, |span| *span.start());
    json.key("traced").list(|json| {
        for (&number, values) in &sampled.fields {
            let row = sampled.samples.row(number as usize);
            let names = values.iter().map(|field| field.name).collect();
            let kind = kinds.intern((row.event, names));
            *n_rows.entry(row.event).or_default() += 1;
            json.list(|json| {
                json.number(kind.into());
                json.number(row.time_ns.saturating_sub(start_ns));
                json.number(row.thread.into());
                values
                    .iter()
                    .for_each(|field| value(sampled, field.value, json));
            });
        }
    });
    let text = |id: StrId| printable(sampled.profile.strings.of(id).into_raw());
    json.column("traced_kinds", kinds.values(), |json, (event, names)| {
        json.list(|json| {
            json.number((*event).into());
            names.iter().for_each(|&name| json.text(&text(name)));
        });
    });
    let events = sampled.profile.events.iter().enumerate();
    let left = events.map(|(number, event)| {
        let n = u16::try_from(number)
            .ok()
            .and_then(|number| n_rows.get(&number));
        n.map_or(0, |n| event.samples.saturating_sub(*n))
    });
    json.key("n_traced_left").number(left.sum());
}

fn value(sampled: &SampledProfile, value: FieldValue, json: &mut JsonWriter<'_>) {
    match value {
        FieldValue::Unsigned(number) if number < MAX_INTEGER => json.number(number),
        FieldValue::Signed(number) if number.unsigned_abs() < MAX_INTEGER => json.signed(number),
        FieldValue::Unsigned(number) => json.text(&number.to_string()),
        FieldValue::Signed(number) => json.text(&number.to_string()),
        FieldValue::Hex(number) => json.text(&format!("{number:#x}")),
        FieldValue::Text(text) => {
            let text = printable(sampled.profile.strings.of(text).into_raw());
            match text.char_indices().nth(MAX_TEXT) {
                Some((end, _)) => json.text(&format!("{}…", &text[..end])),
                None => json.text(&text),
            }
        }
    }
}

//! What a table by time does not show: slots without samples, and slots of which only a part was recorded.

use super::Table;
use rprof_base::{Seconds, TimeLength, grouped};
use rprof_profile::view::{Row, Rows};
use rprof_profile::{Dimension, DimensionValue, UsedSlots};
use rprof_untrusted::JsonWriter;

/// Lines of text about the slots of a table; none if its rows are not by time.
pub(super) fn lines(table: &Table<'_>) -> Vec<String> {
    let Some((quantum_ns, used)) = used(table) else {
        return Vec::new();
    };
    let of_filter = if table.options.is_filtered {
        "matching "
    } else {
        ""
    };
    let n_slots = grouped(used.n_slots);
    let slots = format!("Time: {n_slots} slots of {}", TimeLength::exact(quantum_ns));
    let first = match &used.longest_empty_ns {
        None => format!("{slots}, all with {of_filter}samples"),
        Some(empty) => {
            let (begin, end) = (Seconds(empty.start), Seconds(empty.end));
            let longest = TimeLength::exact(empty.end - empty.start);
            format!(
                "{slots}, {} without {of_filter}samples; longest gap: {longest} ({begin} to {end} s)",
                grouped(used.n_empty)
            )
        }
    };
    [Some(first), cut(quantum_ns, &used)]
        .into_iter()
        .flatten()
        .collect()
}

/// Which of the first slot and the last have fewer samples because less of them was recorded.
fn cut(quantum_ns: u64, used: &UsedSlots) -> Option<String> {
    let (first, last) = used.recorded_ns?;
    // A slot that lacks less is as good as whole: samples are some time apart.
    let is_cut = |recorded: &u64| *recorded < quantum_ns - quantum_ns / 10;
    let of = |ns: u64| TimeLength { ns, decimals: 1 };
    match (Some(first).filter(is_cut), Some(last).filter(is_cut)) {
        (Some(first), Some(last)) => Some(format!(
            "  only {} of the first slot and {} of the last were recorded",
            of(first),
            of(last)
        )),
        (Some(first), None) => Some(format!(
            "  only {} of the first slot were recorded",
            of(first)
        )),
        (None, Some(last)) => Some(format!(
            "  only {} of the last slot were recorded",
            of(last)
        )),
        (None, None) => None,
    }
}

/// Writes a field about the slots of a table, if its rows are by time.
pub(super) fn write_json(table: &Table<'_>, json: &mut JsonWriter<'_>) {
    let Some((quantum_ns, used)) = used(table) else {
        return;
    };
    json.key("time_slots").object(|json| {
        json.field("empty", used.n_empty);
        json.field_if(
            "first_recorded_ns",
            used.recorded_ns.map(|(first, _)| first),
        );
        json.field_if("last_recorded_ns", used.recorded_ns.map(|(_, last)| last));
        if let Some(empty) = &used.longest_empty_ns {
            json.key("longest_empty").object(|json| {
                json.field("end_ns", empty.end);
                json.field("start_ns", empty.start);
            });
        }
        json.field("quantum_ns", quantum_ns);
        json.field("slots", used.n_slots);
    });
}

/// How long a slot is, and which ones have rows of any event, also those that limits leave out.
fn used(table: &Table<'_>) -> Option<(u64, UsedSlots)> {
    let profile = table.profile;
    let slots = profile.time_slots.as_ref()?;
    if !table
        .options
        .columns
        .dimensions()
        .contains(&Dimension::Time)
    {
        return None;
    }
    let of_row = |row: &Row| match profile.value(row, Dimension::Time)? {
        DimensionValue::Number(begin) => Some(begin.cast_unsigned()),
        _ => None,
    };
    let mut begins: Vec<u64> = table.rows.iter().filter_map(of_row).collect();
    for event in &table.set.others {
        let rows = Rows::of(profile, event, &table.options.columns);
        begins.extend(rows.iter().filter_map(of_row));
    }
    Some((slots.quantum_ns(), slots.used(begins.into_iter())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_lacks_little_is_whole() {
        let of = |first, last| {
            let used = UsedSlots {
                n_slots: 3,
                n_empty: 0,
                longest_empty_ns: None,
                recorded_ns: Some((first, last)),
            };
            cut(100_000_000, &used)
        };
        assert_eq!(of(100_000_000, 90_000_000), None);
        let both = of(36_990_000, 21_000_000).unwrap();
        assert_eq!(
            both,
            "  only 36.9 ms of the first slot and 21 ms of the last were recorded"
        );
        assert!(
            of(5, 95_000_000)
                .unwrap()
                .contains("5 ns of the first slot")
        );
        assert!(of(95_000_000, 5).unwrap().contains("5 ns of the last slot"));
    }
}

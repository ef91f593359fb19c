//! What a filter leaves is the same for every sub-command that has it.

use crate::common::{Recording, scratch};
use crate::export::firefox;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// By name of the function: how many samples are its own. Code without a name is one.
type Own = BTreeMap<String, u64>;

/// One filter each; taken by twos, too.
const FILTERS: [&[&str]; 12] = [
    &["--comms", "spin,walk"],
    &["--comms", "!spin"],
    &["--dsos", "spin"],
    &["--symbols", "cold"],
    &["--symbols", "!cold"],
    &["--symbol-filter", "o"],
    &["--hide-unresolved"],
    &["--tid", "1269"],
    &["--pid", "1269"],
    &["--time", "5179.05,5179.2"],
    &["--time", "10%/3,10%/5"],
    &["--max-stack", "2"],
];

fn add(own: &mut Own, name: &str, samples: u64) {
    // Addresses stand for what has no name.
    let is_named = !name.is_empty() && !name.starts_with("0x") && name != "[unknown]";
    let name = if is_named { name } else { "" };
    *own.entry(name.to_owned()).or_default() += samples;
}

/// What a report says: weight of what is shown, and rows.
fn in_report(recording: &Recording, filter: &[&str]) -> (u64, Own) {
    let form = ["--no-children", "-g", "none", "-F", "sample,sym", "-t", ";"];
    let report = recording.read("report", &[&form, filter].concat());
    let mut own = Own::new();
    let (mut weight, mut shown) = (0, None);
    for line in report.lines() {
        if let Some((_, number)) = line.split_once("Event count (approx.): ") {
            weight = number.parse().unwrap();
        } else if let Some((_, rest)) = line.split_once("Shown: ") {
            let (samples, rest) = rest.split_once(" samples, event count ").unwrap();
            weight = rest.split_once(' ').unwrap().0.parse().unwrap();
            shown = Some(samples.parse::<u64>().unwrap());
        } else if !line.starts_with('#')
            && let Some((samples, symbol)) = line.split_once(';')
        {
            let name = symbol.trim().trim_start_matches("[.] ");
            let name = name.trim_end_matches(" (inlined)");
            add(&mut own, name, samples.trim().parse().unwrap());
        }
    }
    assert!(
        shown.is_none_or(|shown| shown == own.values().sum::<u64>()),
        "{report}"
    );
    (weight, own)
}

/// The same of a profile as JSON: weight, weight by totals, and functions.
fn in_json(profile: &Value) -> (u64, u64, Own) {
    let number = |stack: &Value, key: &str| stack.get(key).map_or(0, |n| n.as_u64().unwrap());
    let mut own = Own::new();
    let (mut weight, mut total) = (0, 0);
    for stack in profile["events"][0]["stacks"].as_array().unwrap() {
        weight += number(stack, "weight");
        if stack.get("parent").is_none() {
            total += number(stack, "total");
        }
        let samples = number(stack, "samples");
        if samples > 0 {
            let frame = usize::try_from(number(stack, "frame")).unwrap();
            let name = profile["frames"][frame]["name"].as_str();
            add(&mut own, name.unwrap_or_default(), samples);
        }
    }
    (weight, total, own)
}

/// The same of folded stacks. Names of images stand for what has no name.
fn in_folded(folded: &str) -> Own {
    let mut own = Own::new();
    for line in folded.lines() {
        let (stack, samples) = line.rsplit_once(' ').unwrap();
        let name = stack.rsplit(';').next().unwrap();
        let name = if name.starts_with('[') { "" } else { name };
        add(&mut own, name, samples.parse().unwrap());
    }
    own
}

fn check(recording: &Recording, dir: &Path, filter: &[&str]) {
    let (weight, own) = in_report(recording, filter);
    let json = recording.export_json(dir, "profile.json", filter);
    assert_eq!(in_json(&json), (weight, weight, own.clone()), "{filter:?}");
    if own.is_empty() {
        return;
    }
    let folded = recording.read("flame", &[&["--folded"], filter].concat());
    assert_eq!(in_folded(&folded), own, "{filter:?}");
    let firefox = recording.export_json(dir, "profile.json.gz", filter);
    let of_samples = &firefox::checked(&firefox)[0];
    let all = (own.values().sum(), weight);
    assert_eq!((of_samples.1, of_samples.2), all, "{filter:?}");
}

#[test]
fn report_flame_and_export_show_the_same_samples_of_every_two_filters() {
    let dir = scratch();
    let recordings = ["spin", "dwarf"].map(Recording::fixture);
    for (nth, one) in FILTERS.iter().enumerate() {
        for other in FILTERS.iter().skip(nth) {
            // Of one flag, only one.
            let both = if one[0] == other[0] {
                other.to_vec()
            } else {
                [*one, *other].concat()
            };
            for recording in &recordings {
                check(recording, dir.path(), &both);
            }
        }
    }
}

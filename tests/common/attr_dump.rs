//! Attrs as `-vv` prints them: field by field, a block for each event that is opened.

use std::collections::BTreeMap;

/// The fields of an attr that are not zero, by name.
pub type Dumped = BTreeMap<String, String>;

/// Attrs in the order in which they were opened first. What a tool opens again with less, because the kernel
/// refused, is left out.
pub fn first_tries(text: &str) -> Vec<Dumped> {
    let mut attrs: Vec<Dumped> = Vec::new();
    let mut is_again = false;
    // The last one, if the kernel found it invalid.
    let mut invalid: Option<Dumped> = None;
    let mut last = Dumped::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        is_again |= line.starts_with("switching off") || line.starts_with("decreasing precise_ip");
        if line == "sys_perf_event_open failed, error -22" {
            invalid = Some(last.clone());
        }
        if line != "perf_event_attr:" {
            continue;
        }
        let mut attr = Dumped::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
            let (name, value) = field(line);
            attr.insert(name.to_owned(), value.to_owned());
        }
        // What perf has switched off once, it leaves out of other events without a word.
        if let Some(mut with_less) = invalid.take() {
            with_less.remove("exclude_guest");
            is_again |= with_less == attr;
        }
        if !std::mem::take(&mut is_again) {
            attrs.push(attr.clone());
        }
        last = attr;
    }
    attrs
}

/// Name and value; a union has several names: `{ bp_addr, config1 }`.
fn field(line: &str) -> (&str, &str) {
    let line = line.trim();
    let end = match line.find('}') {
        Some(end) => end + 1,
        None => line.find(' ').unwrap_or(line.len()),
    };
    let (name, value) = line.split_at(end);
    (name, value.trim())
}

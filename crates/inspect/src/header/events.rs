//! Events, their groups, and the command line that asked for them.

use super::shown;
use crate::attr_text::attr_fields;
use rprof_perfdata::RecordedEvent;
use rprof_perfdata::feature::{EventDesc, EventGroup};

/// Appends the words of the command line, with a space behind each.
pub(super) fn command_line(words: &[Vec<u8>], text: &mut String) {
    *text += "# cmdline : ";
    for word in words {
        *text += &shown(word).replace('\'', "\\'");
        text.push(' ');
    }
    text.push('\n');
}

/// Appends a line for each event: its name, its ids, its attr.
pub(super) fn events(events: &[EventDesc], text: &mut String) {
    for event in events {
        *text += &format!("# event : name = {}, ", shown(&event.name));
        if !event.ids.is_empty() {
            let ids: Vec<String> = event.ids.iter().map(u64::to_string).collect();
            *text += &format!(", id = {{ {} }}", ids.join(", "));
        }
        for (name, value) in attr_fields(&event.attr, event.attr_size.0) {
            *text += &format!(", {name} = {value}");
        }
        text.push('\n');
    }
}

/// Appends a line for each group whose events are there.
pub(super) fn groups(groups: &[EventGroup], events: &[RecordedEvent], text: &mut String) {
    for group in groups {
        let Ok(first) = usize::try_from(group.leader_idx) else {
            continue;
        };
        let n = usize::try_from(group.n_members).unwrap_or(usize::MAX);
        let Some(members) = events.get(first..first.saturating_add(n)) else {
            continue;
        };
        let names: Vec<_> = members.iter().map(|event| event.name.shown()).collect();
        let name = match group.name.as_slice() {
            EventGroup::ANONYMOUS => String::new(),
            name => shown(name),
        };
        *text += &format!("# group: {name}{{{}}}\n", names.join(","));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_perf_does() {
        let mut text = String::new();
        let words = [&b"perf"[..], b"record", b"it's", b"\x1b[2J"].map(<[u8]>::to_vec);
        command_line(&words, &mut text);
        assert_eq!(text, "# cmdline : perf record it\\'s \\x1b[2J \n");
    }
}

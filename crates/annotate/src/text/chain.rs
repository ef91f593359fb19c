//! Which functions code is of.

use super::ShortNames;
use rprof_base::without_type_arguments;
use rprof_profile::code::CodeFrame;
use rprof_profile::text::width;
use rprof_untrusted::printable;

/// `in A, inlined into B at FILE:LINE`. Where there is no room for all: without type arguments; then without those
/// between the innermost function and the place in the outermost one.
pub(super) fn said(frames: &[CodeFrame], names: &ShortNames, room: usize) -> String {
    let whole = all(frames, names, str::to_owned);
    if width(&whole) <= room {
        return whole;
    }
    let plain = all(frames, names, without_type_arguments);
    if width(&plain) <= room {
        return plain;
    }
    let [innermost, .., outermost] = frames else {
        return plain;
    };
    let innermost = without_type_arguments(&innermost.function);
    let depth = match frames.len() - 1 {
        1 => String::new(),
        depth => format!(" {depth} deep"),
    };
    let place = place(outermost, names);
    format!("in {}, inlined{depth}{place}", printable(&innermost))
}

fn all(frames: &[CodeFrame], names: &ShortNames, shown: impl Fn(&str) -> String) -> String {
    let mut said = String::new();
    for (number, frame) in frames.iter().enumerate() {
        let function = shown(&frame.function);
        let function = printable(&function);
        match number {
            0 => said += &format!("in {function}"),
            _ => said += &format!(", inlined into {function}{}", place(frame, names)),
        }
    }
    said
}

/// Where a function has what was inlined.
fn place(frame: &CodeFrame, names: &ShortNames) -> String {
    let place = frame.line.as_ref();
    let place = place.map(|(file, line)| format!(" at {}", names.line(file, *line)));
    place.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_said_in_fewer_words() {
        let frame = |function: &str, line: Option<u32>| CodeFrame {
            function: function.to_owned(),
            line: line.map(|line| ("/src/a.rs".to_owned(), line)),
        };
        let frames = [
            frame("get<u32>", None),
            frame("index<u32>", Some(5)),
            frame("take", Some(9)),
        ];
        let said = |room| said(&frames, &ShortNames::default(), room);
        let whole = "in get<u32>, inlined into index<u32> at a.rs:5, inlined into take at a.rs:9";
        let plain = "in get<...>, inlined into index<...> at a.rs:5, inlined into take at a.rs:9";
        assert_eq!(said(80), whole);
        assert_eq!(said(whole.len()), whole);
        assert_eq!(plain.len(), whole.len());
        assert_eq!(said(70), "in get<...>, inlined 2 deep at a.rs:9");
        let one = super::said(&frames[1..], &ShortNames::default(), 20);
        assert_eq!(one, "in index<...>, inlined at a.rs:9");
    }
}

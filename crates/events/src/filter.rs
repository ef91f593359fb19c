//! Filters of tracepoints and probes, as the kernel takes them:
//! `prev_pid > 0 && (next_comm ~ "k*" || !(prio & 1))`. They are checked here, since the kernel only says that
//! something is wrong.
//!
//! Source: "Event filtering" in `Documentation/trace/events.rst` (v6.12).

use rprof_abi::tracepoint::TracepointFormat;

use crate::error::FilterProblem;
use crate::probe::argument_fields;
use crate::suggest::suggest;
use crate::{Event, EventError, ProbePoint, Sources, tracepoint_format};

/// Gives an event a filter, beside the one that it has: only what fits both is sampled.
///
/// # Errors
/// An event that is neither tracepoint nor probe, or what is wrong in the filter, and where.
pub fn set_filter(event: &mut Event, filter: &str, sources: &Sources) -> Result<(), EventError> {
    let (name, text) = match (&event.tracepoint, &event.probe) {
        (Some(name), _) => (name, tracepoint_format(sources, name)?),
        (None, Some(point)) => (&event.name, format_of(point)),
        (None, None) => {
            return Err(EventError::FilterWithoutFields {
                event: event.name.clone(),
            });
        }
    };
    // What is not understood is left to the kernel.
    if let Ok(format) = TracepointFormat::parse(text.as_bytes()) {
        check(filter, name, &format)?;
    }
    event.filter = Some(match &event.filter {
        None => filter.to_owned(),
        Some(other) => format!("({other}) && ({filter})"),
    });
    Ok(())
}

/// What a probe has: its arguments, beside the fields of all tracepoints.
fn format_of(point: &ProbePoint) -> String {
    let mut format = OF_PROBES.to_owned();
    for (name, is_text) in argument_fields(point) {
        let kind = if is_text { "__data_loc char[]" } else { "u64" };
        format += &format!("\tfield:{kind} {name};\toffset:0;\tsize:8;\tsigned:0;\n");
    }
    format
}

/// Probes have the fields of all tracepoints (`trace_define_generic_fields` and
/// `trace_define_common_fields` in `kernel/trace/trace_events.c`, v6.12).
const OF_PROBES: &str = "name: probe\nID: 0\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

/// As deep as parentheses may be: the kernel's own limit is near.
const MAX_DEPTH: usize = 32;

/// What any tracepoint has without a field: the CPU, the name of the thread.
const NUMBERS: &[&str] = &["CPU", "cpu"];
const TEXTS: &[&str] = &["COMM", "comm"];

/// Longest first.
const OPERATORS: &[&str] = &["==", "!=", "<=", ">=", "<", ">", "&", "~"];
const OF_TEXTS: &[&str] = &["==", "!=", "~"];

fn check(filter: &str, event: &str, format: &TracepointFormat) -> Result<(), EventError> {
    let mut checker = Checker {
        filter,
        at: 0,
        event,
        format,
    };
    checker.any_of(0)?;
    if checker.rest().is_empty() {
        Ok(())
    } else {
        Err(checker.expected("&& or ||"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    /// Sets of CPUs, and what only newer kernels know.
    Other,
}

impl Kind {
    /// As `filter_assign_type` in `kernel/trace/trace_events_filter.c` (v6.12).
    fn of(type_name: &str) -> Self {
        let is_array = type_name.contains('[') && type_name.contains("char");
        let is_pointer = ["char *", "const char *"].contains(&type_name);
        match type_name.contains("cpumask") {
            true => Self::Other,
            false if is_array || is_pointer => Self::Text,
            false => Self::Number,
        }
    }
}

struct Checker<'f> {
    filter: &'f str,
    at: usize,
    event: &'f str,
    format: &'f TracepointFormat,
}

impl<'f> Checker<'f> {
    fn any_of(&mut self, depth: usize) -> Result<(), EventError> {
        self.all_of(depth)?;
        while self.takes("||") {
            self.all_of(depth)?;
        }
        Ok(())
    }

    fn all_of(&mut self, depth: usize) -> Result<(), EventError> {
        self.one(depth)?;
        while self.takes("&&") {
            self.one(depth)?;
        }
        Ok(())
    }

    fn one(&mut self, depth: usize) -> Result<(), EventError> {
        if depth > MAX_DEPTH {
            return Err(self.expected("fewer parentheses"));
        }
        if !self.rest().starts_with("!=") && self.takes("!") {
            return self.one(depth + 1);
        }
        if !self.takes("(") {
            return self.comparison();
        }
        self.any_of(depth + 1)?;
        if self.takes(")") {
            Ok(())
        } else {
            Err(self.expected("&&, || or )"))
        }
    }

    fn comparison(&mut self) -> Result<(), EventError> {
        let field = self.word();
        if field.is_empty() {
            return Err(self.expected("a field"));
        }
        let kind = self.kind_of(field)?;
        self.skip_space();
        let operator = OPERATORS.iter().find(|one| self.rest().starts_with(**one));
        let Some(&operator) = operator else {
            return Err(self.expected("== != < <= > >= & or ~"));
        };
        if kind == Kind::Text && !OF_TEXTS.contains(&operator) {
            return Err(self.expected("== != or ~, since the field is a string"));
        }
        if kind == Kind::Number && operator == "~" {
            return Err(self.expected("== != < <= > >= or &, since the field is a number"));
        }
        self.takes(operator);
        self.value(kind)
    }

    fn value(&mut self, kind: Kind) -> Result<(), EventError> {
        self.skip_space();
        let rest = self.rest();
        if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
            if kind == Kind::Number {
                return Err(self.expected("a number"));
            }
            let Some(len) = rest[1..].find(quote) else {
                return Err(self.expected("a closing quote"));
            };
            self.at += len + 2;
            return Ok(());
        }
        if let Some(set) = rest.strip_prefix("CPUS{") {
            let Some(len) = set.find('}') else {
                return Err(self.expected("CPUS{...} with a closing brace"));
            };
            self.at += "CPUS{".len() + len + 1;
            return Ok(());
        }
        let start = self.at;
        let is_negative = self.takes("-");
        let word = self.word();
        let number = word.strip_prefix("0x").map_or_else(
            || word.parse::<u64>().is_ok(),
            |digits| u64::from_str_radix(digits, 16).is_ok(),
        );
        let is_right = match kind {
            Kind::Number => number,
            Kind::Text => false,
            Kind::Other => !word.is_empty() && !is_negative,
        };
        if is_right {
            return Ok(());
        }
        self.at = start;
        Err(self.expected(match kind {
            Kind::Number => "a number",
            Kind::Text => "a quoted string",
            Kind::Other => "a value",
        }))
    }

    fn kind_of(&self, field: &str) -> Result<Kind, EventError> {
        // `field.function` and its like
        let (name, modifier) = field
            .split_once('.')
            .map_or((field, false), |(name, _)| (name, true));
        if let Some(field) = self.format.field(name) {
            return Ok(if modifier {
                Kind::Other
            } else {
                Kind::of(&field.type_name)
            });
        }
        if NUMBERS.contains(&name) {
            return Ok(Kind::Number);
        }
        if TEXTS.contains(&name) {
            return Ok(Kind::Text);
        }
        let all = self.format.fields.iter().chain(&self.format.common_fields);
        let names: Vec<String> = all.map(|field| field.name.clone()).collect();
        let why = FilterProblem::NoField {
            field: name.to_owned(),
            event: self.event.to_owned(),
            fields: names.join(", "),
            suggestions: suggest(name, names),
        };
        Err(self.error(self.at - field.len(), why))
    }

    fn rest(&self) -> &'f str {
        self.filter.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes on behind a text, if that is what comes next.
    fn takes(&mut self, text: &str) -> bool {
        self.skip_space();
        let is_there = self.rest().starts_with(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }

    fn word(&mut self) -> &'f str {
        self.skip_space();
        let rest = self.rest();
        let is_of_word = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
        let len = rest
            .find(|letter| !is_of_word(letter))
            .unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn expected(&mut self, expected: &'static str) -> EventError {
        self.skip_space();
        self.error(self.at, FilterProblem::Expected(expected))
    }

    fn error(&self, at: usize, why: FilterProblem) -> EventError {
        EventError::Filter {
            filter: self.filter.to_owned(),
            column: self.filter[..at].chars().count() + 1,
            why: Box::new(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FORMAT: &[u8] = b"name: x\nID: 1\nformat:\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:void * ip;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n";

    fn checked(filter: &str) -> Result<(), String> {
        let format = TracepointFormat::parse(FORMAT).unwrap();
        check(filter, "s:x", &format).map_err(|error| error.to_string())
    }

    #[test]
    fn what_the_kernel_takes_is_taken() {
        for filter in [
            "prev_pid == 0",
            "prev_pid>-1&&common_pid!=0x10",
            " ( prev_pid & 1 ) || !(prev_comm ~ \"k*\" && name == 'x y') ",
            "CPU == 1 && COMM == \"sh\"",
            "ip.function == schedule",
            "((prev_pid < 1))",
        ] {
            assert_eq!(checked(filter), Ok(()), "{filter}");
        }
    }

    #[test]
    fn errors_say_the_column_and_offer_fields() {
        for (filter, message) in [
            ("", "column 1 of the filter '': expected a field"),
            (
                "prev_pid",
                "column 9 of the filter 'prev_pid': expected == != < <= > >= & or ~",
            ),
            (
                "prev_pid >> 1",
                "column 11 of the filter 'prev_pid >> 1': expected a number",
            ),
            (
                "prev_pid == x",
                "column 13 of the filter 'prev_pid == x': expected a number",
            ),
            (
                "prev_pid == 1 or 2",
                "column 15 of the filter 'prev_pid == 1 or 2': expected && or ||",
            ),
            (
                "(prev_pid == 1",
                "column 15 of the filter '(prev_pid == 1': expected &&, || or )",
            ),
            (
                "prev_comm == sh",
                "column 14 of the filter 'prev_comm == sh': expected a quoted string",
            ),
            (
                "prev_comm > \"sh\"",
                "column 11 of the filter 'prev_comm > \"sh\"': expected == != or ~, since the field is a \
                 string",
            ),
            (
                "name == \"x",
                "column 9 of the filter 'name == \"x': expected a closing quote",
            ),
            (
                "prev_pid > 0 && prev_pidd == 1",
                "column 17 of the filter 'prev_pid > 0 && prev_pidd == 1': s:x has no field 'prev_pidd': \
                 did you mean 'prev_pid'? (it has prev_comm, prev_pid, name, ip, common_pid)",
            ),
        ] {
            let error = checked(filter).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
        let deep = format!("{}prev_pid == 1", "(".repeat(100_000));
        assert!(checked(&deep).unwrap_err().contains("fewer parentheses"));
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(filter in "[ ()!&|=<>~a-z_0-9\"'{}.é-]{0,40}") {
            let _ = checked(&filter);
        }
    }
}

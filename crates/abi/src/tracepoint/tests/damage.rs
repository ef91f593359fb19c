//! Damaged formats and raw data: errors or odd text, never a panic, and no deep recursion.

use super::text;
use crate::Endian;
use crate::tracepoint::{NoNames, TracepointData, TracepointFormat};
use proptest::prelude::*;

fn print_error(print: &str) -> Option<String> {
    let text = text(&["int n 8 4 1", "u8 a[4] 12 4 0"], print);
    let format = TracepointFormat::parse(text.as_bytes()).unwrap();
    Some(format.print_error()?.to_string())
}

#[test]
fn what_is_wrong_with_a_print_fmt_is_said() {
    for (print, expected) in [
        ("", "unexpected end"),
        (r#""%d""#, "too few arguments"),
        (r#""%d", REC->x"#, "unknown field x"),
        (r#""%d", f(REC->n)"#, "unknown function f"),
        (r#""%d", (REC->n"#, "unexpected end"),
        (r#""%d", REC->n REC"#, "unexpected REC"),
        (r#""%d", ({ int x = 1; x; })"#, "unexpected {"),
        (r#""%d", 5[1]"#, "unexpected end"),
        (r#""%d", @"#, "syntax error at byte 6"),
        (r#""%d"#, "syntax error at byte 0"),
        (r#""%d", 99999999999999999999"#, "syntax error at byte 6"),
    ] {
        let error = print_error(print).unwrap();
        assert!(error.contains(expected), "{print}: {error}");
    }
}

#[test]
fn formats_without_name_id_or_fields_are_errors() {
    let good = text(&["int n 8 4 1"], "\"x\"");
    for (from, to) in [
        ("name:", "nome:"),
        ("ID: 372", "ID: x"),
        ("offset:8", "offset:-"),
        ("field:int n", "field:n"),
    ] {
        let bad = good.replace(from, to);
        assert!(TracepointFormat::parse(bad.as_bytes()).is_err(), "{to}");
    }
    let long = good + &" ".repeat(64 << 10);
    assert!(TracepointFormat::parse(long.as_bytes()).is_err());
    assert!(TracepointFormat::parse(b"\xff\xfe").is_err());
}

#[test]
fn nesting_is_bounded() {
    // As many as a format may have bytes.
    let many = |part: &str| part.repeat(60_000 / part.len());
    let half = 30_000;
    for print in [
        format!("\"%d\", {}1{}", "(".repeat(half), ")".repeat(half)),
        format!("\"%d\", {}1", many("!")),
        format!("\"%d\", {}1", many("(int)")),
        format!("\"%d\", 1{}", many("+REC->n")),
        format!("\"%d\", REC->a{}", many("[0]")),
        format!("\"%d\", {}1", many("1 ? 1 : ")),
        format!("\"%d\", {}1", many("__print_hex(")),
    ] {
        assert!(print_error(&print).is_some());
    }
    // A long chain of constants is one number.
    assert_eq!(print_error(&format!("\"%d\", 1{}", many("|1"))), None);
}

#[test]
fn damaged_widths_do_not_take_memory() {
    let text = text(
        &["int n 8 4 1"],
        r#""%*d%.*d%99999999999999999999d%*s", REC->n, 1, REC->n, 1, 1, REC->n, "x""#,
    );
    let format = TracepointFormat::parse(text.as_bytes()).unwrap();
    for n in [i32::MAX, i32::MIN] {
        let mut bytes = vec![0; 8];
        bytes.extend_from_slice(&n.to_le_bytes());
        assert!(print(&format, &bytes) < 10_000);
    }
}

/// Length of what is printed.
fn print(format: &TracepointFormat, bytes: &[u8]) -> usize {
    let mut out = Vec::new();
    for (endian, long_size) in [(Endian::Little, 8), (Endian::Big, 4), (Endian::Little, 0)] {
        let data = TracepointData {
            bytes,
            endian,
            long_size,
        };
        format.print(&data, &NoNames, &mut out);
        format.print_fields(&data, &mut out);
    }
    out.len()
}

const FIELDS: [&str; 5] = [
    "int n 8 4 1",
    "__data_loc char[] s 12 4 0",
    "__rel_loc u32[] d 16 4 0",
    "u8 a[28] 20 28 0",
    "void * p 48 8 0",
];

const PRINT: &str = r#""%-8s %*d %pISpc %pI6c %*pbl %*ph %.*s%pS %s %s %s %s %s", __get_str(s), REC->n, -1, REC->a, &REC->a, REC->n, __get_rel_dynamic_array(d), 6, REC->a, (REC->n >> 3), REC->a, (void *)REC->p, __print_array(__get_rel_dynamic_array(d), REC->n, sizeof(u32)), __print_hex(REC->a, REC->n), __get_rel_bitmask(d), __print_flags(REC->n / REC->a[REC->n], "|", { 1UL << 2, "x" }), REC->p ? REC->s : "n""#;

#[test]
fn the_format_that_is_damaged_below_is_good() {
    let good = text(&FIELDS, PRINT);
    let good = TracepointFormat::parse(good.as_bytes()).unwrap();
    assert_eq!(good.print_error(), None);
}

proptest! {
    #[test]
    fn damaged_raw_data_is_printed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let format = TracepointFormat::parse(text(&FIELDS, PRINT).as_bytes()).unwrap();
        prop_assert!(print(&format, &bytes) < 20_000);
    }

    #[test]
    fn damaged_formats_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..128), 1..8),
        bytes in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut text = text(&FIELDS, PRINT).into_bytes();
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Ok(format) = TracepointFormat::parse(&text) {
            prop_assert!(print(&format, &bytes) < 100_000);
        }
    }

    #[test]
    fn shuffled_tokens_do_no_harm(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "(", ")", "REC->n", "REC->a", "[", "]", "?", ":", "*", "-", "~", "<<", "&", "1",
                "(u32 *)", "\"%s\"", ",", "__get_str(s)", "__print_hex(", "sizeof(", "u8", "{", "}",
                "__print_symbolic(", "x",
            ]),
            0..30,
        ),
    ) {
        let print_fmt = format!("\"%s %d %p\", {}", tokens.join(" "));
        let format = TracepointFormat::parse(text(&FIELDS, &print_fmt).as_bytes()).unwrap();
        print(&format, &[0x11; 64]);
    }
}

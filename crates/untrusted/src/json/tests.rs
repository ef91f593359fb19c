//! What is written, byte by byte.

use super::*;

fn written_as(layout: JsonLayout, write: impl FnOnce(&mut JsonWriter<'_>)) -> String {
    let mut out = Vec::new();
    let mut json = JsonWriter::new(&mut out, layout);
    write(&mut json);
    json.finish().unwrap();
    String::from_utf8(out).unwrap()
}

fn written(write: impl FnOnce(&mut JsonWriter<'_>)) -> String {
    written_as(JsonLayout::Compact, write)
}

fn nested(json: &mut JsonWriter<'_>) {
    json.object(|json| {
        json.key("a").list(|json| {
            json.number(1);
            json.null();
            json.list(|_| {});
        });
        json.key("b").object(|_| {});
        json.key("c\n\"")
            .text("\u{1}\u{1f}\u{7f}é/\\\t\r\u{8}\u{c}");
    });
}

#[test]
fn commas_stand_between_values_only() {
    let text = written(nested);
    let expected =
        "{\"a\":[1,null,[]],\"b\":{},\"c\\n\\\"\":\"\\u0001\\u001f\u{7f}é/\\\\\\t\\r\\b\\f\"}";
    assert_eq!(text, expected);
}

#[test]
fn layouts_differ_in_blanks_only() {
    let indented = written_as(JsonLayout::Indented, nested);
    assert!(
        indented.starts_with("{\n  \"a\": [\n    1,\n    null,\n    []\n  ],\n  \"b\": {},\n  \"c"),
        "{indented}"
    );
    assert!(indented.ends_with("\"\n}"), "{indented}");
    let spaced = written_as(JsonLayout::Spaced, nested);
    assert!(
        spaced.starts_with("{\"a\" : [1, null, []], \"b\" : {}, \"c"),
        "{spaced}"
    );
}

#[test]
fn numbers_are_exact() {
    let text = written(|json| {
        json.list(|json| {
            json.number(u64::MAX);
            json.number(0);
            json.signed(i64::MIN);
            for nanos in [0, 1, 1_000_000, 1_500_000, 1_000_010, u64::MAX] {
                json.millis(nanos);
            }
        });
    });
    assert_eq!(
        text,
        "[18446744073709551615,0,-9223372036854775808,0,0.000001,1,1.5,1.00001,18446744073709.551615]"
    );
}

#[test]
fn floats_are_short_and_no_integers() {
    for (value, expected) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (37.5, "37.5"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (-1.25e100, "-1.25e+100"),
        (1e-5, "0.00001"),
        (9.9e-6, "9.9e-6"),
        (100.0 / 3.0, "33.333333333333336"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::NAN, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        assert_eq!(written(|json| json.value(value)), expected);
    }
}

#[test]
fn bytes_and_addresses_are_strings() {
    let text = written(|json| {
        json.list(|json| {
            json.hex(0);
            json.hex(0x7f00);
            json.hex(u64::MAX);
            json.hex_bytes(&[1, 0xab]);
            json.text_of_bytes(b"a\xff\"");
        });
    });
    assert_eq!(
        text,
        "[\"0x0\",\"0x7f00\",\"0xffffffffffffffff\",\"01ab\",\"a\u{fffd}\\\"\"]"
    );
}

#[test]
fn lines_have_whole_values_or_items() {
    let text = written(|json| {
        json.object(|json| json.field("a", 1u64));
        json.end_line();
        json.list(|json| {
            for n in 1..3 {
                json.begin_line();
                json.number(n);
            }
            json.end_line();
        });
        json.end_line();
    });
    assert_eq!(text, "{\"a\":1}\n[\n1,\n2\n]\n");
}

#[test]
fn values_made_before_are_put_in_without_the_last_comma() {
    let text = written(|json| {
        json.list(|json| {
            json.made_before(|_| {});
            json.made_before(|text| text.extend_from_slice(b"{},{},"));
            json.number(3);
        });
    });
    assert_eq!(text, "[{},{},3]");
}

#[test]
fn an_error_of_the_writer_is_told_at_the_end() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut full = Full;
    let mut json = JsonWriter::new(&mut full, JsonLayout::Compact);
    json.list(|json| (0..100_000).for_each(|n| json.number(n)));
    assert_eq!(
        json.finish().unwrap_err().kind(),
        io::ErrorKind::StorageFull
    );
}

//! Fields without a `print fmt`: as text, and for a visitor.

use super::{parse, print, raw};
use crate::tracepoint::TracepointData;
use crate::{Endian, Fields, Shape, Value};

#[test]
fn a_print_fmt_that_is_not_understood_prints_the_fields() {
    let format = parse(
        &[
            "dev_t dev 8 4 0",
            "unsigned long wait 16 8 0",
            "char name[4] 24 4 0",
            "u8 id[2] 28 2 0",
        ],
        r#""%u", jiffies_to_msecs(REC->wait)"#,
    );
    assert_eq!(
        format.print_error().unwrap().to_string(),
        "unknown function jiffies_to_msecs in the print format"
    );
    let bytes = raw(Endian::Little, |encoder| {
        encoder.u64(3);
        encoder.u64(0x1f);
        encoder.bytes(b"ab\0\0\x01\x02");
    });
    assert_eq!(
        print(&format, &bytes, Endian::Little),
        "[FAILED TO PARSE] dev=3 wait=0x1f name=ab id=ARRAY[01, 02]"
    );
}

#[derive(Default)]
struct Seen(Vec<String>);

impl Fields for Seen {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.0.push(format!("{name}={value:?}"));
    }
    fn open(&mut self, name: &str, shape: Shape) {
        self.0.push(format!("{name} {shape:?}"));
    }
    fn close(&mut self) {
        self.0.push("end".to_owned());
    }
}

#[test]
fn a_visitor_sees_typed_values() {
    let format = parse(
        &[
            "char name[4] 8 4 0",
            "u8 id[2] 12 2 0",
            "short n[2] 14 4 1",
            "void * p 18 8 0",
            "int i 26 4 1",
        ],
        r#""x""#,
    );
    let bytes = raw(Endian::Big, |encoder| {
        encoder.bytes(b"ab\0\0\x01\x02\x00\x05\xff\xff");
        encoder.u64(0xff);
        encoder.i32(-2);
    });
    let data = TracepointData {
        bytes: &bytes,
        endian: Endian::Big,
        long_size: 8,
    };
    let mut seen = Seen::default();
    format.visit(&data, &mut seen);
    let expected = "name=Text([97, 98]);id=Bytes([1, 2]);n List;=Signed(5);=Signed(-1);end;\
                    p=Hex(255);i=Signed(-2)";
    assert_eq!(seen.0.join(";"), expected);
    assert_eq!(format.field("common_pid").unwrap().place.offset, 4);
    assert_eq!((format.name.as_str(), format.id), ("test", 372));
}

//! Formats made for tests, raw data for them, and the kernel that they ask for names.

mod conversions;
mod damage;
mod events;
mod values;

use super::{TracepointData, TracepointFormat, TracepointNames};
use crate::{Encoder, Endian};
use std::borrow::Cow;

const COMMON: &str = "\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
";

/// A format file with these fields: `type name offset size signed`.
fn text(fields: &[&str], print: &str) -> String {
    let mut text = format!("name: test\nID: 372\nformat:\n{COMMON}\n");
    for field in fields {
        let mut numbers = field.rsplitn(4, ' ');
        let mut next = || numbers.next().unwrap();
        let (signed, size, offset, declaration) = (next(), next(), next(), next());
        text +=
            &format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
    }
    text + "\nprint fmt: " + print + "\n"
}

fn parse(fields: &[&str], print: &str) -> TracepointFormat {
    TracepointFormat::parse(text(fields, print).as_bytes()).unwrap()
}

/// Raw data: the common fields and then what `fill` appends.
fn raw(endian: Endian, fill: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, endian);
    encoder.u16(372);
    encoder.u16(0);
    encoder.u32(1234);
    fill(&mut encoder);
    bytes
}

struct Kernel;

impl TracepointNames for Kernel {
    fn kernel_symbol(&self, address: u64) -> Option<(Cow<'_, str>, u64)> {
        let offset = address.checked_sub(0xffff_ffff_8100_0000)?;
        Some((Cow::Borrowed("tick_nohz_handler"), offset))
    }

    fn printk_string(&self, address: u64) -> Option<&[u8]> {
        (address == 0xffff_ffff_8200_0000).then_some(b"Rescheduling interrupts")
    }
}

fn print(format: &TracepointFormat, bytes: &[u8], endian: Endian) -> String {
    let data = TracepointData {
        bytes,
        endian,
        long_size: 8,
    };
    let mut out = Vec::new();
    format.print(&data, &Kernel, &mut out);
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn check(fields: &[&str], fmt: &str, fill: impl Fn(&mut Encoder<'_>), expected: &str) {
    let format = parse(fields, fmt);
    assert_eq!(format.print_error(), None);
    for endian in [Endian::Little, Endian::Big] {
        let bytes = raw(endian, &fill);
        assert_eq!(print(&format, &bytes, endian), expected, "{endian:?}");
    }
}

//! Conversions and the kernel's print functions, one by one.

use super::check;

#[test]
fn printf_conversions() {
    let cases = [
        (
            r#""%d|%5d|%-5d|%05d|%+d|% d", REC->n, REC->n, REC->n, REC->n, REC->n, REC->n"#,
            "-7|   -7|-7   |-0007|-7|-7",
        ),
        (
            r#""%u %hu %hhx %lu", REC->n, REC->n, REC->n, REC->n"#,
            "4294967289 65529 f9 18446744073709551609",
        ),
        (
            r##""%x %#x %#X %08x %#o %.4d %.0d", 255, 255, 255, 255, 8, 12, 0"##,
            "ff 0xff 0XFF 000000ff 010 0012 ",
        ),
        (
            r#""%c%c %% [%5s] [%-5s] [%.2s] [%.*s]", 'a', 0x62, "ab", "ab", "abc", 1, "abc""#,
            "ab % [   ab] [ab   ] [ab] [a]",
        ),
        (r#""%*d %-*d|" "%y", 4, 1, 4, 1"#, "   1 1   |>y<"),
        (
            r#""%d %d %d %d", REC->n < 0 && !0, ~0 & 0xf, 7 / 0, REC->n >> 1"#,
            "1 15 0 -4",
        ),
        (r#""%d %d", 1 ? 2 : 3 ? 4 : 5, 2 + 3 * 4 == 14 || 0"#, "2 1"),
        (r#""%lld %d", (s8)0xff, (unsigned char)REC->n"#, "-1 249"),
    ];
    for (fmt, expected) in cases {
        check(&["int n 8 4 1"], fmt, |encoder| encoder.i32(-7), expected);
    }
}

#[test]
fn arrays_bytes_and_masks() {
    check(
        &[
            "__data_loc u16[] values 8 4 0",
            "u8 id[4] 12 4 0",
            "__data_loc cpumask_t cpus 16 4 0",
        ],
        r#""%s %s %s %s %s %d %*pbl %s", __print_array(__get_dynamic_array(values), __get_dynamic_array_len(values) / sizeof(u16), sizeof(u16)), __print_hex(REC->id, 3), __print_hex_str(REC->id, 9), __get_cpumask(cpus), __get_bitmask(cpus), ((u16 *)__get_dynamic_array(values))[1], 6, __get_dynamic_array(cpus), __print_dynamic_array(values, sizeof(u16))"#,
        |encoder| {
            encoder.u32(4 << 16 | 20);
            encoder.bytes(&[1, 2, 3, 4]);
            encoder.u32(8 << 16 | 24);
            encoder.u16(0xabc);
            encoder.u16(7);
            encoder.u64(0x1_8000_00ef);
        },
        "{0xabc,0x7} 01 02 03 01020304 0-3,5-7,31-32 00000001,800000ef 7 0-3,5 {0xabc,0x7}",
    );
}

#[test]
fn addresses_of_networks() {
    let fields = [
        "__u8 mac[6] 8 6 0",
        "__u8 v4[4] 14 4 0",
        "__u8 v6[16] 18 16 0",
        "__u8 sa[28] 34 28 0",
    ];
    check(
        &fields,
        r#""%pM %pI4 %pi4 %pI6c %pI6 %pISpc %pU %pI4", REC->mac, REC->v4, REC->v4, REC->v6, REC->v6, REC->sa, REC->v6, REC->mac"#,
        |encoder| {
            encoder.bytes(&[0xfe, 1, 2, 3, 4, 5, 127, 0, 0, 1]);
            encoder.bytes(&[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            encoder.u16(2);
            encoder.bytes(&[0, 80, 10, 0, 0, 1]);
            encoder.bytes(&[0; 20]);
        },
        "fe:01:02:03:04:05 127.0.0.1 127.000.000.001 fe80::1 \
         fe80:0000:0000:0000:0000:0000:0000:0001 10.0.0.1:80 \
         fe800000-0000-0000-0000-000000000001 INVALIDIPv4",
    );
}

//! What is in a page, read back.

use super::*;
use flate2::read::ZlibDecoder;
use rprof_profile::{FieldValue, TraceValue, testing};
use serde_json::{Value, json};
use std::io::Read;

/// A page taken apart.
struct ReadPage {
    html: String,
    head: Value,
    /// Thread, time, stack and count of each row.
    rows: Vec<(usize, u64, u64, u64)>,
}

fn page(max_bytes: usize) -> Page {
    Page {
        title: "</title><script>alert(1)</script>".to_owned(),
        notes: vec!["3 samples".to_owned()],
        recording: None,
        is_filtered: false,
        code: PageCode::default(),
        max_bytes,
    }
}

fn written(page: &Page, sampled: &SampledProfile) -> Vec<u8> {
    let mut out = Vec::new();
    page.write(sampled, &mut out).unwrap();
    out
}

/// What an element of a page has packed.
fn unpacked(html: &str, id: &str) -> Vec<u8> {
    let (_, text) = html.split_once(&format!("id=\"{id}\">")).unwrap();
    let (text, _) = text.split_once("</script>").unwrap();
    let mut plain = Vec::new();
    let bytes = decoded(text);
    let mut zlib = ZlibDecoder::new(&*bytes);
    zlib.read_to_end(&mut plain).unwrap();
    plain
}

fn read(html: Vec<u8>) -> ReadPage {
    let html = String::from_utf8(html).unwrap();
    let plain = unpacked(&html, "profile");
    let mut numbers = &plain[8..];
    assert_eq!(&plain[..8], b"RPROFPG1");
    let json = usize::try_from(number(&mut numbers)).unwrap();
    let head: Value = serde_json::from_slice(&numbers[..json]).unwrap();
    numbers = &numbers[json..];
    let of = |name: &str| head[name].as_u64().unwrap();
    for _ in 0..4 * of("n_frames") + 2 * of("n_nodes") {
        number(&mut numbers);
    }
    let mut threads = Vec::new();
    for thread in 0..head["threads"].as_array().unwrap().len() {
        for _ in 0..number(&mut numbers) {
            threads.push(thread);
        }
    }
    let mut column = |is_there: bool, is_difference: bool| -> Vec<u64> {
        let mut before = (usize::MAX, 0u64);
        let n = if is_there { threads.len() } else { 0 };
        let read = |at: usize| {
            let coded = number(&mut numbers);
            let half = (coded >> 1).cast_signed() ^ -(coded & 1).cast_signed();
            let base = if before.0 == threads[at] { before.1 } else { 0 };
            before = (threads[at], base.wrapping_add_signed(half));
            if is_difference { before.1 } else { coded }
        };
        (0..n).map(read).collect()
    };
    let (times, stacks) = (column(true, true), column(true, true));
    column(head["has_events"] == true, true);
    column(head["has_cpus"] == true, true);
    let counts = column(head["has_samples"] == true, false);
    let count = |at: usize| counts.get(at).copied().unwrap_or(1);
    let rows = (0..threads.len()).map(|at| (threads[at], times[at], stacks[at], count(at)));
    ReadPage {
        rows: rows.collect(),
        head,
        html,
    }
}

fn number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return number;
        }
    }
}

fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b'=').collect();
    let groups = digits.chunks(4).flat_map(|group| {
        let bits = group
            .iter()
            .fold(0u32, |bits, &byte| bits << 6 | u32::from(digit(byte)));
        let bits = bits << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    groups.collect()
}

#[test]
fn samples_are_by_thread_in_order_of_time() {
    let sampled = testing::sampled(&[
        (1000, "a", "main;f", 5),
        (1010, "b", "main", 5),
        (1020, "a", "main", 5),
        (1030, "a", "", 5),
    ]);
    let read = read(written(&page(Page::MAX_BYTES), &sampled));
    assert_eq!(
        read.rows,
        [(0, 0, 3, 1), (0, 20, 2, 1), (0, 30, 0, 1), (1, 10, 5, 1)]
    );
    assert_eq!(read.head["events"][0]["each"], 5);
    assert_eq!(read.head["start_ns"], "1000");
    assert_eq!(read.head["slot_ns"], 0);
}

#[test]
fn tracepoints_have_their_fields_as_scripts_can_hold_them() {
    let mut sampled = testing::sampled(&[
        (1000, "a", "main", 1),
        (1010, "b", "main", 1),
        (1020, "a", "main", 1),
    ]);
    let strings = &mut sampled.profile.strings;
    let values = [
        ("n", FieldValue::Unsigned(7)),
        ("large", FieldValue::Unsigned(u64::MAX)),
        ("below", FieldValue::Signed(-3)),
        ("flags", FieldValue::Hex(0x8000)),
        ("path", FieldValue::Text(strings.intern("<b>\u{1b}[x"))),
        ("long", FieldValue::Text(strings.intern(&"é".repeat(1000)))),
    ];
    let fields = values.map(|(name, value)| TraceValue {
        name: strings.intern(name),
        value,
    });
    sampled.fields.insert(1, fields.to_vec());
    let head = read(written(&page(Page::MAX_BYTES), &sampled)).head;
    let names = json!([[0, "n", "large", "below", "flags", "path", "long"]]);
    assert_eq!(head["traced_kinds"], names);
    let long = format!("{}…", "é".repeat(200));
    let row = json!([
        0,
        10,
        1,
        7,
        u64::MAX.to_string(),
        -3,
        "0x8000",
        "<b>\\x1b[x",
        long
    ]);
    assert_eq!(head["traced"], json!([row]));
    assert_eq!(head["n_traced_left"], 2);
}

#[test]
fn what_has_no_room_is_joined_and_counted() {
    let names: Vec<String> = (0..40).map(|name| format!("f{name}")).collect();
    let mixed = |number: u64| (number ^ number >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    let noise = |at: u64| mixed(mixed(at.wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> 32;
    let name = |at: u64| &*names[usize::try_from(noise(at + 7) % 40).unwrap()];
    let samples: Vec<(u64, &str, &str, u64)> = (0..20_000)
        .map(|at| (at * 100_000 + noise(at) % 100_000, "a", name(at), 1))
        .collect();
    let sampled = testing::sampled(&samples);
    let whole = written(&page(Page::MAX_BYTES), &sampled);
    let room = whole.len() - 20_000;
    let small = written(&page(room), &sampled);
    assert!(small.len() <= room, "{} of {room}", small.len());
    let (whole, small) = (read(whole), read(small));
    let sum = |read: &ReadPage| read.rows.iter().map(|row| row.3).sum::<u64>();
    assert_eq!((sum(&whole), sum(&small)), (20_000, 20_000));
    assert!(small.rows.len() < whole.rows.len());
    assert!(small.head["slot_ns"].as_u64() >= Some(1_000_000));
    assert_eq!(small.head["n_samples"], 20_000);
}

#[test]
fn with_hardly_any_room_stacks_are_cut_and_still_count() {
    let samples = [
        (0, "a", "main;f;g", 1),
        (1, "b", "main;f", 1),
        (2, "c", "main", 1),
    ];
    let read = read(written(&page(0), &testing::sampled(&samples)));
    assert_eq!(read.rows.iter().map(|row| row.3).sum::<u64>(), 3);
    assert!(read.head["min_samples"].as_u64() > Some(0));
    assert_eq!(read.head["by_name"], true);
}

#[test]
fn names_of_others_are_never_code() {
    let long = "x".repeat(10_000);
    let names = [
        "</script><script>alert(1)</script>",
        "\"'<!--",
        "a\u{1b}[31m\0",
        "\u{202e}gpj",
        &long,
    ];
    let samples: Vec<_> = (0..)
        .zip(names)
        .map(|(time, name)| (time, name, name, 1))
        .collect();
    let sampled = testing::sampled(&samples);
    let html = written(&page(Page::MAX_BYTES), &sampled);
    let empty = written(&page(Page::MAX_BYTES), &SampledProfile::default());
    let read = read(html);
    assert_eq!(
        read.html.matches("</script>").count(),
        4,
        "those of the profile, of the code, of the page and what runs first"
    );
    assert!(!read.html.contains("alert(1)</script>"));
    assert!(
        read.html
            .contains("<title>&lt;/title&gt;&lt;script&gt;alert(1)")
    );
    let strings: Vec<&str> = read.head["strings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(strings.contains(&"</script><script>alert(1)</script>"));
    assert!(strings.contains(&"\\u{202e}gpj") && strings.contains(&&*long));
    assert!(!strings.iter().any(|text| text.contains(char::is_control)));
    assert!(String::from_utf8(empty).unwrap().ends_with("</html>\n"));
}

#[test]
fn the_policy_lets_only_the_pages_own_scripts_run() {
    let read = read(written(
        &page(Page::MAX_BYTES),
        &testing::sampled(&[(0, "a", "main", 1)]),
    ));
    let (_, policy) = read
        .html
        .split_once("Content-Security-Policy\" content=\"")
        .unwrap();
    let (policy, _) = policy.split_once('"').unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    for word in ["unsafe", "http", "*", "data:"] {
        assert!(!policy.contains(word), "{word}: {policy}");
    }
    let script = String::from_utf8(unpacked(&read.html, "page-script")).unwrap();
    let (_, first) = read.html.rsplit_once("<script>").unwrap();
    let (first, _) = first.split_once("</script>").unwrap();
    for script in [first, &script] {
        assert!(policy.contains(&shell::hash(script)), "{policy}");
    }
    for word in [
        "eval(",
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "fetch(",
        "import(",
    ] {
        assert!(!read.html.contains(word), "{word}");
        assert!(!script.contains(word), "{word}");
    }
    assert!(!read.html.contains("src=") && !read.html.contains("href="));
}

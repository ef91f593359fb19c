//! What is printed of a small function.

use super::Given;
use crate::{
    By, CodeListing, Drawing, Folding, JsonFunctions, MarkdownOptions, PercentType, SourceSettings,
    TextOptions, write_markdown, write_text,
};
use rprof_profile::code::ReferenceName;
use rprof_profile::text::Fit;
use std::path::Path;
use std::sync::LazyLock;

/// `main` of a program with two loops, one in the other, compiled by GCC 12 with `-O1`.
const CODE: [u8; 91] = [
    0x89, 0xf9, 0x8b, 0x35, 0xe3, 0x2e, 0x00, 0x00, 0x41, 0xb9, 0x20, 0x4e, 0x00, 0x00, 0xbf, 0x00,
    0x00, 0x00, 0x00, 0x41, 0xb8, 0x01, 0x00, 0x00, 0x00, 0xeb, 0x24, 0x83, 0xe8, 0x01, 0x74, 0x19,
    0x69, 0xd1, 0x6d, 0x4e, 0xc6, 0x41, 0x8d, 0x8a, 0x39, 0x30, 0x00, 0x00, 0xf6, 0xc2, 0x01, 0x75,
    0xea, 0x83, 0xc6, 0x01, 0x44, 0x89, 0xc7, 0xeb, 0xe2, 0x41, 0x83, 0xe9, 0x01, 0x74, 0x07, 0xb8,
    0x20, 0x4e, 0x00, 0x00, 0xeb, 0xda, 0x40, 0x84, 0xff, 0x74, 0x06, 0x89, 0x35, 0x9a, 0x2e, 0x00,
    0x00, 0x83, 0xf9, 0x07, 0x0f, 0x94, 0xc0, 0x0f, 0xb6, 0xc0, 0xc3,
];

fn given() -> Given {
    let counts = [(0x1147, 4), (0x114f, 483), (0x1155, 1410)];
    let main = [("main", "/src/app/a.c", 4)];
    let step = [("step", "/src/app/a.c", 2), ("main", "/src/app/a.c", 4)];
    let mut given = Given::code(0x1129, &CODE)
        .counted("cycles", &counts)
        .framed(0x1129..0x1149, &main)
        .framed(0x1149..0x1155, &step)
        .framed(0x1155..0x117a, &main);
    let counter = ReferenceName {
        symbol: "counter".to_owned(),
        offset: 0,
    };
    given.names.insert(0x4014, counter);
    given
}

static GIVEN: LazyLock<Given> = LazyLock::new(given);

fn listing() -> CodeListing<'static> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("a.c"),
        "int counter;\nstatic int step(int x) { return x * 3; }\n\nint main() { loop(); }\n",
    )
    .unwrap();
    let settings = SourceSettings {
        replaced: vec![("/src/app".to_owned(), dir.path().display().to_string())],
        ..SourceSettings::default()
    };
    GIVEN.listing_of(PercentType::LocalPeriod, settings)
}

fn text(listing: &CodeListing<'_>, options: &TextOptions) -> String {
    let mut out = Vec::new();
    write_text(listing, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Compares with a golden file; with `RPROF_BLESS` writes it.
fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/tests/golden")
        .join(name);
    if std::env::var_os("RPROF_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == golden, "{} is not:\n{found}", path.display());
}

#[test]
fn a_listing_has_counts_lines_inlined_functions_jumps_and_loops() {
    assert_golden("listing.txt", &text(&listing(), &TextOptions::default()));
}

#[test]
fn jumps_are_drawn_with_box_characters_where_they_are_asked_for() {
    let options = TextOptions {
        drawing: Drawing::Boxes,
        by: By::InstructionsOnly,
        has_summary: false,
        has_bytes: true,
        ..TextOptions::default()
    };
    assert_golden("boxes.txt", &text(&listing(), &options));
}

#[test]
fn lines_alone_have_the_same_counts() {
    let options = TextOptions {
        by: By::Lines,
        has_summary: false,
        ..TextOptions::default()
    };
    assert_golden("lines.txt", &text(&listing(), &options));
}

#[test]
fn markdown_has_tables_and_the_code_around_samples() {
    let mut out = Vec::new();
    write_markdown(&listing(), &MarkdownOptions::default(), &mut out).unwrap();
    assert_golden("listing.md", &String::from_utf8(out).unwrap());
}

#[test]
fn json_has_what_the_listing_has() {
    let mut out = Vec::new();
    let mut json = JsonFunctions::begin(&mut out).unwrap();
    json.write(&listing(), &mut out).unwrap();
    json.write(&listing(), &mut out).unwrap();
    json.end(&mut out).unwrap();
    let all: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(all["functions"][1], all["functions"][0]);
    let function = &all["functions"][0];
    assert_eq!(function["events"][0]["samples"], 1897);
    let hot = &function["instructions"][10];
    assert_eq!(hot["address"], 0x1155);
    assert_eq!(hot["bytes"], "f6c201");
    assert_eq!(hot["counts"][0]["samples"], 1410);
    assert_eq!(function["chains"][1][1]["function"], "main");
    assert_eq!(function["lines"][1]["line"], 2);
    assert_eq!(function["loops"].as_array().unwrap().len(), 2);
    let percent: f64 = function["instructions"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["counts"][0]["percent"].as_f64())
        .sum();
    assert!((percent - 100.0).abs() < 1e-6);
}

#[test]
fn colours_come_only_where_they_are_asked_for() {
    let plain = text(&listing(), &TextOptions::default());
    assert!(!plain.contains('\x1b'));
    let options = TextOptions {
        colors: true,
        ..TextOptions::default()
    };
    let colored = text(&listing(), &options);
    assert!(colored.contains("\x1b[31m   74.33\x1b[0m"), "{colored}");
    assert!(colored.contains("\x1b[2m        # 4014 <counter>\x1b[0m"));
}

#[test]
fn lines_are_cut_to_the_screen() {
    let mut given = given();
    let name = "long".repeat(100);
    given.names.get_mut(&0x4014).unwrap().symbol = name.clone();
    given.code.name = name;
    for columns in [40, 70] {
        let options = TextOptions {
            fit: Some(Fit {
                columns,
                ellipsis: "...",
            }),
            ..TextOptions::default()
        };
        let text = text(&given.listing(), &options);
        let code = text.split_once("Instructions").unwrap().1;
        assert!(code.lines().all(|line| line.len() <= columns), "{code}");
    }
}

#[test]
fn what_has_no_samples_is_left_out_if_asked_and_counted() {
    let options = TextOptions {
        folding: Folding::Around(1),
        by: By::InstructionsOnly,
        drawing: Drawing::None,
        has_summary: false,
        ..TextOptions::default()
    };
    assert_golden("folded.txt", &text(&listing(), &options));
}

#[test]
fn notes_are_wrapped_to_the_screen() {
    let mut listing = listing();
    listing.notes = vec!["one two three four five sixty/seven/eight/nine/ten".to_owned()];
    let options = TextOptions {
        fit: Some(Fit {
            columns: 20,
            ellipsis: "...",
        }),
        ..TextOptions::default()
    };
    let text = text(&listing, &options);
    let wrapped = "note: one two three\n  four five sixty/seven/eight/nine/ten\n";
    assert!(text.contains(wrapped), "{text}");
}

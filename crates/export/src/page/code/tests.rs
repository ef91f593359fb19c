//! What is in a stream of code, read back.

use super::super::joined::Rows;
use super::*;
use flate2::read::ZlibDecoder;
use rprof_profile::testing;
use serde_json::Value;
use std::io::Read;

fn function(name: &str, addresses: &[u64]) -> PageFunction {
    let instructions = addresses.iter().map(|&address| PageInstruction {
        address,
        text: format!("add    $0x{address:x},%rax"),
        line: Some(0),
        chain: None,
        target: None,
    });
    let places = addresses.iter().enumerate().map(|(number, &address)| {
        let place = SamplePlace { image: 0, address };
        (place, number)
    });
    PageFunction {
        name: name.to_owned(),
        parts: vec![PagePart {
            symbol: name.to_owned(),
            address: addresses[0] - 4,
            instructions: 0..addresses.len(),
        }],
        instructions: instructions.collect(),
        sources: vec![PageSource {
            path: "/src/a.c".to_owned(),
            lines: vec![(7, Some("secret = 1;".to_owned()))],
        }],
        lines: vec![(0, 7)],
        places: places.collect(),
        ..PageFunction::default()
    }
}

fn unpacked(stream: &[u8]) -> (Value, Vec<u8>) {
    let mut plain = Vec::new();
    ZlibDecoder::new(stream).read_to_end(&mut plain).unwrap();
    assert_eq!(&plain[..8], MAGIC);
    let (mut len, mut at) = (0usize, 8);
    for shift in (0..).step_by(7) {
        len |= usize::from(plain[at] & 0x7f) << shift;
        at += 1;
        if plain[at - 1] < 0x80 {
            break;
        }
    }
    let json = serde_json::from_slice(&plain[at..at + len]).unwrap();
    (json, plain[at + len..].to_vec())
}

#[test]
fn addresses_are_differences_and_a_page_without_text_has_lines() {
    let mut code = PageCode::default();
    assert!(code.add(function("f", &[0x1004, 0x1009])).unwrap());
    assert_eq!(code.n_texts(), 1);
    let (json, rest) = unpacked(&code.stream(None).unwrap());
    let one = &json["functions"][0];
    assert_eq!(one["parts"][0], serde_json::json!(["f", "1000", 2]));
    assert_eq!(one["offsets"], serde_json::json!([4, 5]));
    assert_eq!(one["lines"], serde_json::json!([1, 1]));
    assert_eq!(one["sources"][0][1], serde_json::json!([7, "secret = 1;"]));
    assert!(rest.is_empty());
    code.is_without_text = true;
    assert_eq!(code.n_texts(), 0);
    let (json, _) = unpacked(&code.stream(None).unwrap());
    assert!(!json.to_string().contains("secret"), "{json}");
    assert_eq!(json["functions"][0]["places"], serde_json::json!([0, 7]));
}

#[test]
fn what_is_refused_has_its_reason() {
    let mut code = PageCode::default();
    assert!(code.stream(None).unwrap().is_empty());
    let refused = |function: Option<&str>| PageRefused {
        image: "[JIT] tid 7".to_owned(),
        function: function.map(str::to_owned),
        why: "no bytes".to_owned(),
    };
    code.refused = vec![refused(None), refused(Some("g"))];
    let expected = serde_json::json!([
        ["[JIT] tid 7", null, "no bytes"],
        ["[JIT] tid 7", "g", "no bytes"]
    ]);
    // Whether others have code or not.
    for n_functions in 0..2 {
        let (json, _) = unpacked(&code.stream(None).unwrap());
        assert_eq!(json["functions"].as_array().unwrap().len(), n_functions);
        assert_eq!(json["refused"], expected);
        assert!(code.add(function("f", &[0x1004])).unwrap());
    }
}

#[test]
fn functions_are_in_a_page_while_there_is_room() {
    let mixed = |number: u64| (number ^ (number >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 20;
    let mut code = PageCode::default();
    let mut n_added = 0;
    for number in 0..1000u64 {
        let addresses: Vec<u64> = (1..3000).map(|at| 8 + at * 16 + number * 100_000).collect();
        let mut one = function("f", &addresses);
        for (at, instruction) in (0u64..).zip(&mut one.instructions) {
            instruction.text = format!("{:x}", mixed(mixed(number * 5000 + at)));
        }
        n_added += usize::from(code.add(one).unwrap());
    }
    assert!((1..PageCode::MAX_FUNCTIONS).contains(&n_added), "{n_added}");
    while !code.is_full() {
        assert!(code.add(function("f", &[0x1004])).unwrap());
    }
    let len = code.stream(None).unwrap().len();
    assert!(len <= PageCode::MAX_BYTES + 1000, "{len}");
    let mut small = PageCode::default();
    let added = (0..1000).filter(|_| small.add(function("f", &[0x1004])).unwrap());
    assert_eq!(added.count(), PageCode::MAX_FUNCTIONS);
    assert!(small.is_full());
}

#[test]
fn rows_have_the_rank_of_their_instruction_in_their_frame() {
    let mut sampled = testing::sampled(&[
        (0, "a", "main;f", 1),
        (1, "a", "main;f", 1),
        (2, "a", "main", 1),
        (3, "a", "main;f", 1),
        (4, "a", "main;f", 1),
    ]);
    let place = |address| SamplePlace { image: 0, address };
    let places = vec![place(0x2004), place(0x1004), place(0x1009), place(0x9999)];
    sampled.places = SamplePlaces::new(places, vec![1, 2, 0, 2, 3]);
    let mut code = PageCode::default();
    assert!(code.add(function("f", &[0x1004, 0x1009])).unwrap());
    let (rows, stacks) = (Rows::of(&sampled), Stacks::of(&sampled, |_| true));
    let placed = PlacedRows {
        rows: &rows,
        source: RowSource::of(&sampled, &stacks),
        stacks: &stacks,
        places: &sampled.places,
    };
    let (json, columns) = unpacked(&code.stream(Some(placed)).unwrap());
    assert_eq!(json["has_places"], true);
    // Frames in the order in which stacks have them: main has no instruction here; f has two, the second one first.
    // Then the rows of f: an address that is no instruction of the page's has none.
    assert_eq!(columns, [0, 2, 2, 1, 2, 1, 1, 0]);
}

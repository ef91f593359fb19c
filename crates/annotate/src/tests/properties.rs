//! What holds for any code and any counts.

use super::Given;
use crate::{By, CodeListing, Drawing, Folding, TextOptions, write_markdown, write_text};
use proptest::prelude::*;
use rprof_profile::SampleCount;
use rprof_profile::text::Fit;

const START: u64 = 0x1000;

fn sum<'a>(all: impl Iterator<Item = &'a Vec<SampleCount>>, event: usize) -> u64 {
    all.map(|counts| counts.get(event).map_or(0, |count| count.samples))
        .sum()
}

/// Short jumps between others, so that there are loops.
fn code() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        Just(vec![0x90]),
        any::<i8>().prop_map(|to| vec![0x75, to.cast_unsigned()]),
        (-40_i8..40).prop_map(|to| vec![0xeb, to.cast_unsigned()]),
        Just(vec![0xff, 0xe0]),
        Just(vec![0xc3]),
        proptest::collection::vec(any::<u8>(), 1..6),
    ];
    proptest::collection::vec(one, 0..80).prop_map(|all| all.concat())
}

fn counts(len: u64) -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::btree_map(START..START + len, 1_u64..1000, 0..30)
        .prop_map(|counts| counts.into_iter().collect())
}

fn given() -> impl Strategy<Value = Given> {
    code().prop_flat_map(|code| {
        let len = code.len().max(1) as u64;
        let lines = proptest::collection::vec((0..len, 0..len, 1_u32..20, 1..4_usize), 0..6);
        (Just(code), counts(len), counts(len), lines).prop_map(|(code, one, other, lines)| {
            let mut given = Given::code(START, &code)
                .counted("a", &one)
                .counted("b", &other);
            for (from, to, line, depth) in lines {
                let frames = [
                    ("in", "/s/x.c", line),
                    ("mid", "/t/x.c", 3),
                    ("main", "/s/m.c", 9),
                ];
                let frames = &frames[3 - depth..];
                given = given.framed(START + from..START + to, frames);
            }
            given
        })
    })
}

fn check_sums(given: &Given, listing: &CodeListing<'_>) {
    for (event, counted) in given.code.events.iter().enumerate() {
        let inside = |address: u64| address < START + given.code.parts[0].bytes.len() as u64;
        let all = counted
            .counts
            .iter()
            .filter(|(address, _)| inside(*address));
        let all: u64 = all.map(|(_, count)| count.samples).sum();
        let places = &listing.places;
        let lines = places.lines.iter().map(|it| &it.counts);
        let lines = sum(lines.chain([&places.no_line]), event);
        let functions = sum(places.inlined.iter().map(|it| &it.counts), event);
        let instructions = sum(listing.instructions.iter().map(|it| &it.counts), event);
        assert_eq!((lines, functions, instructions), (all, all, all));
    }
}

fn check_loops(listing: &CodeListing<'_>) {
    let is_in = |mut inner: usize, number: usize| loop {
        match (inner == number, listing.loops[inner].parent) {
            (false, Some(parent)) => inner = parent,
            (is_it, _) => break is_it,
        }
    };
    let members = |number: usize| {
        let all = listing.loops.iter().enumerate();
        let within = all.filter(|(inner, _)| is_in(*inner, number));
        let ranges = within.flat_map(|(_, found)| found.ranges.iter().cloned());
        ranges.flatten().collect::<Vec<usize>>()
    };
    for (number, found) in listing.loops.iter().enumerate() {
        let own = members(number);
        assert_eq!(own.len(), found.n_instructions);
        assert!(
            own.contains(&found.head) && own.contains(&found.span.0) && own.contains(&found.span.1)
        );
        let counts = own.iter().map(|&at| &listing.instructions[at].counts);
        assert_eq!(sum(counts, 0), found.counts[0].samples);
        for other in 0..number {
            let others = members(other);
            let common = own.iter().filter(|at| others.contains(at)).count();
            let is_nested = [0, own.len(), others.len()].contains(&common);
            assert!(is_nested, "{found:?} {:?}", listing.loops[other]);
        }
        if let Some(parent) = found.parent {
            assert_eq!(found.depth, listing.loops[parent].depth + 1);
            let around = members(parent);
            assert!(own.iter().all(|at| around.contains(at)));
        }
    }
}

/// Where an instruction's address ends; other rows have none.
fn address_column(line: &str) -> Option<usize> {
    let mut colons = line.match_indices(":   ");
    let is_address = |before: &str| before.ends_with(|last: char| last.is_ascii_hexdigit());
    let (at, _) = colons.find(|(at, _)| is_address(&line[..*at]))?;
    Some(line[..at].chars().count())
}

fn check_text(listing: &CodeListing<'_>) {
    let folding = [Folding::Automatic, Folding::Around(0), Folding::Around(2)];
    let drawing = [Drawing::Ascii, Drawing::Boxes, Drawing::None];
    for (folding, drawing) in folding.into_iter().zip(drawing) {
        let mut options = TextOptions {
            folding,
            drawing,
            by: By::InstructionsOnly,
            has_summary: false,
            fit: Some(Fit {
                columns: 100,
                ellipsis: "...",
            }),
            ..TextOptions::default()
        };
        let mut out = Vec::new();
        write_text(listing, &options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows = text.lines().filter_map(address_column).count();
        let left_out = text.lines().filter_map(|line| {
            let (_, said) = line.split_once("... ")?;
            said.split_once(" instructions without")
                .map(|(n, _)| n.parse::<usize>().unwrap())
        });
        assert_eq!(
            rows + left_out.sum::<usize>(),
            listing.instructions.len(),
            "{text}"
        );
        // Addresses are in one column: no arrow is wider than the gutter.
        let columns = text.lines().filter_map(address_column);
        let columns: std::collections::BTreeSet<usize> = columns.collect();
        assert!(columns.len() <= 1, "{text}");
        options.by = By::Lines;
        write_text(listing, &options, &mut Vec::new()).unwrap();
    }
    write_markdown(listing, &crate::MarkdownOptions::default(), &mut Vec::new()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sums_agree_loops_nest_and_nothing_is_lost(given in given()) {
        let listing = given.listing();
        check_sums(&given, &listing);
        check_loops(&listing);
        check_text(&listing);
    }
}

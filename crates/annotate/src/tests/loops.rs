//! Facts about loops and jumps.

use super::Given;

/// Heads, depths and samples of loops.
fn loops(given: &Given) -> Vec<(u64, usize, u64)> {
    let listing = given.listing();
    let found = listing.loops.iter().map(|it| {
        let head = &listing.instructions[it.head].instruction;
        (head.address, it.depth, it.counts[0].samples)
    });
    found.collect()
}

#[test]
fn a_jump_back_to_what_dominates_it_is_a_loop() {
    // nop; head: nop; jne head; ret
    let given = Given::code(0x10, &[0x90, 0x90, 0x75, 0xfd, 0xc3]);
    let given = given.counted("cycles", &[(0x10, 1), (0x11, 2), (0x12, 4), (0x14, 8)]);
    assert_eq!(loops(&given), [(0x11, 1, 6)]);
}

#[test]
fn loops_in_loops_count_for_both() {
    // outer: nop; inner: nop; jne inner; jne outer; ret
    let given = Given::code(0x10, &[0x90, 0x90, 0x75, 0xfd, 0x75, 0xfa, 0xc3]);
    let given = given.counted("cycles", &[(0x10, 1), (0x11, 2), (0x14, 4), (0x16, 8)]);
    assert_eq!(loops(&given), [(0x10, 1, 7), (0x11, 2, 2)]);
    assert_eq!(given.listing().loops[1].parent, Some(0));
}

#[test]
fn what_is_entered_at_two_places_is_no_loop() {
    // jne second; first: nop; second: nop; jne first; ret
    let given = Given::code(0x10, &[0x75, 0x01, 0x90, 0x90, 0x75, 0xfc, 0xc3]);
    let given = given.counted("cycles", &[(0x12, 1)]);
    assert!(loops(&given).is_empty());
}

#[test]
fn padding_is_no_way_into_a_loop() {
    // jmp test; nop; head: nop; test: jne head; ret, with the padding before the loop's body
    let given = Given::code(0x10, &[0x90, 0xeb, 0x01, 0x90, 0x90, 0x75, 0xfd, 0xc3]);
    let given = given.counted("cycles", &[(0x14, 1), (0x15, 1)]);
    assert_eq!(loops(&given), [(0x14, 1, 2)]);
}

#[test]
fn cases_of_a_jump_through_a_table_are_part_of_the_loop() {
    // head: jmp *%rax; case: nop; jmp head; case: ret
    let given = Given::code(0x10, &[0xff, 0xe0, 0x90, 0xeb, 0xfb, 0xc3]);
    let given = given.counted("cycles", &[(0x10, 1), (0x12, 2), (0x15, 4)]);
    assert_eq!(loops(&given), [(0x10, 1, 3)]);
}

#[test]
fn more_jumps_than_lanes_are_said_not_to_be_drawn() {
    let n = 20_u8;
    // Branches that go over each other: each lands behind those before it.
    let mut code: Vec<u8> = (0..n)
        .flat_map(|at| [0x75, (n - at - 1) * 2 + at])
        .collect();
    code.extend(std::iter::repeat_n(0x90, n.into()));
    code.push(0xc3);
    let listing = Given::code(0x10, &code)
        .counted("cycles", &[(0x10, 1)])
        .listing();
    assert_eq!(listing.jumps.n_lanes, crate::MAX_LANES);
    let drawn: usize = listing
        .jumps
        .lanes
        .iter()
        .map(|lane| lane.sources.len())
        .sum();
    assert_eq!(drawn + listing.jumps.n_hidden, usize::from(n));
    assert!(listing.jumps.n_hidden > 0);
}

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
    let given = Given::code(0x10, &code).counted("cycles", &[(0x10, 1)]);
    let listing = given.listing();
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

/// A jump of four bytes' distance, from where it ends.
fn jump(opcode: &[u8], from: usize, to: usize) -> Vec<u8> {
    let end = i32::try_from(from + opcode.len() + 4).unwrap();
    let distance = i32::try_from(to).unwrap() - end;
    [opcode, &distance.to_le_bytes()].concat()
}

const BRANCH: [u8; 2] = [0x0f, 0x85];
const JUMP: [u8; 1] = [0xe9];

/// Quadratic work on this number would not end in time.
const MANY: usize = 100_000;

#[test]
fn very_many_nested_loops_are_all_found() {
    // A nop each is the head of a loop; the jumps back come behind all of them, innermost first.
    let mut code = vec![0x90; MANY];
    for head in (0..MANY).rev() {
        code.extend(jump(&BRANCH, code.len(), head));
    }
    code.push(0xc3);
    let given = Given::code(0, &code).counted("cycles", &[(0, 1), (MANY as u64 - 1, 2)]);
    let listing = given.listing();
    assert_eq!(listing.loops.len(), MANY);
    let depths = listing.loops.iter().map(|found| found.depth);
    assert!(depths.eq(1..=MANY));
    let samples = |number: usize| listing.loops[number].counts[0].samples;
    assert_eq!([samples(0), samples(1), samples(MANY - 1)], [3, 2, 2]);
    assert_eq!(listing.loops[0].n_instructions, MANY * 2);
    let text = crate::TextOptions::default();
    crate::write_text(&listing, &text, &mut std::io::sink()).unwrap();
}

#[test]
fn very_many_loops_one_after_the_other_are_all_found() {
    let mut code = Vec::new();
    for _ in 0..MANY {
        let head = code.len();
        code.push(0x90);
        code.extend(jump(&BRANCH, head + 1, head));
    }
    let given = Given::code(0, &code).counted("cycles", &[(0, 1)]);
    let listing = given.listing();
    assert_eq!(listing.loops.len(), MANY);
    assert!(listing.loops.iter().all(|found| found.depth == 1));
}

#[test]
fn very_many_jumps_through_tables_share_their_cases() {
    // head: as many jumps as cases, each case jumps back to the head.
    let mut code = vec![0x90];
    for _ in 0..MANY {
        // jmp *%rax
        code.extend([0xff, 0xe0]);
        code.extend(jump(&JUMP, code.len(), 0));
    }
    let given = Given::code(0, &code).counted("cycles", &[(1, 1), (3, 2)]);
    let listing = given.listing();
    assert_eq!(listing.loops.len(), 1);
    assert_eq!(listing.loops[0].counts[0].samples, 3);
    assert_eq!(listing.loops[0].n_instructions, 1 + 2 * MANY);
}

#[test]
fn a_table_that_is_jumped_through_again_and_again_is_no_loop() {
    // jmp *%rax; case: nop; jmp *%rax; case: nop; jmp *%rax
    let code = [0xff, 0xe0, 0x90, 0x90, 0xff, 0xe0, 0x0c, 0x01, 0xff, 0xe0];
    let given = Given::code(0x10, &code).counted("cycles", &[(0x12, 1)]);
    assert!(loops(&given).is_empty());
}

#[test]
fn very_many_ways_into_what_is_no_loop_are_gone_through_once() {
    // Branches into each other's middle: nothing dominates, and walks up the tree would be long.
    let len = MANY / 4;
    let at = |number: usize| number * 6;
    let mut code = Vec::new();
    for number in 0..len {
        code.extend(jump(&BRANCH, at(number), at((number * 7919 + 13) % len)));
    }
    code.push(0xc3);
    let given = Given::code(0, &code).counted("cycles", &[(0, 1)]);
    let listing = given.listing();
    let all: usize = listing.loops.iter().map(|found| found.ranges.len()).sum();
    assert!(all <= len);
}

//! Facts about x86.

use super::*;

/// The only instruction of bytes at 0x401000, which is all of them.
fn one(syntax: Syntax, bytes: &[u8]) -> Instruction {
    let mut instructions = decode("x86_64", syntax, bytes);
    assert_eq!(instructions.len(), 1, "{instructions:?}");
    instructions.remove(0)
}

#[test]
fn text_is_as_objdump_has_it() {
    let table: &[(&[u8], &str, &str)] = &[
        (&[0x48, 0x89, 0xe5], "mov    %rsp,%rbp", "mov    rbp,rsp"),
        (&[0x75, 0x10], "jne    401012", "jne    401012"),
        (&[0xf3, 0x0f, 0x1e, 0xfa], "endbr64", "endbr64"),
    ];
    for &(bytes, att, intel) in table {
        assert_eq!(one(Syntax::Att, bytes).text, att);
        assert_eq!(one(Syntax::Intel, bytes).text, intel);
    }
}

#[test]
fn jumps_say_where_they_go_and_where_the_text_has_it() {
    let jump = one(Syntax::Att, &[0x75, 0x10]);
    assert_eq!(jump.flow, Flow::Branch(Some(0x40_1012)));
    assert_eq!(&jump.text[jump.written_address().unwrap()], "401012");
}

#[test]
fn memory_relative_to_the_program_counter_is_a_reference() {
    let bytes = [0xff, 0x15, 0xe3, 0x2e, 0, 0];
    let call = one(Syntax::Att, &bytes);
    assert_eq!(call.text, "call   *0x2ee3(%rip)");
    assert_eq!(call.flow, Flow::Call(None));
    assert_eq!(
        call.reference,
        Some(Reference {
            address: 0x40_3ee9,
            is_pointer: true
        })
    );
    assert_eq!(call.written_address(), None);
}

#[test]
fn bytes_that_do_not_decode_are_shown_and_the_next_ones_decoded() {
    let instructions = decode("x86_64", Syntax::Att, &[0x06, 0xc3]);
    assert_eq!(instructions[0].text, "(bad)");
    assert!(!instructions[0].is_valid && instructions[1].is_valid);
    assert_eq!(instructions[1].flow, Flow::Return);
}

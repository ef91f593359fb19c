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
        (&[0x3e, 0x75, 0x10], "jne,pt 401013", "ds jne 401013"),
        (&[0xf3, 0x0f, 0x1e, 0xfa], "endbr64", "endbr64"),
        (&[0xc3], "ret", "ret"),
        (
            &[0x49, 0x0f, 0x50, 0xc7],
            "movmskps %xmm15,%rax",
            "movmskps rax,xmm15",
        ),
        (&[0xf3, 0xc3], "repz ret", "repz ret"),
        (&[0xd1, 0xe8], "shr    %eax", "shr    eax,1"),
        (
            &[0xff, 0x74, 0x24, 0x50],
            "push   0x50(%rsp)",
            "push   QWORD PTR [rsp+0x50]",
        ),
        (&[0x3e, 0xff, 0xe0], "notrack jmp *%rax", "notrack jmp rax"),
        (
            &[0xf2, 0xe9, 0, 0, 0, 0],
            "bnd jmp 401006",
            "bnd jmp 401006",
        ),
        (&[0x48, 0xff, 0xe0], "rex.W jmp *%rax", "rex.W jmp rax"),
        (
            &[0x83, 0x45, 0x00, 0x01],
            "addl   $0x1,0x0(%rbp)",
            "add    DWORD PTR [rbp+0x0],0x1",
        ),
        (
            &[0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0],
            "data16 cs nopw 0x0(%rax,%rax,1)",
            "data16 cs nop WORD PTR [rax+rax*1+0x0]",
        ),
        (
            &[0xf3, 0x48, 0xa5],
            "rep movsq %ds:(%rsi),%es:(%rdi)",
            "rep movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]",
        ),
        (
            &[0xf0, 0x0f, 0xb1, 0x15, 0x8f, 0xea, 0x1a, 0x00],
            "lock cmpxchg %edx,0x1aea8f(%rip)",
            "lock cmpxchg DWORD PTR [rip+0x1aea8f],edx",
        ),
        (
            &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0],
            "mov    %fs:0x28,%rax",
            "mov    rax,QWORD PTR fs:0x28",
        ),
        (
            &[0x62, 0xd2, 0xfd, 0x2b, 0xa3, 0x04, 0xf2],
            "vscatterqpd %ymm0,(%r10,%ymm6,8){%k3}",
            "vscatterqpd QWORD PTR [r10+ymm6*8]{k3},ymm0",
        ),
        (
            &[0x62, 0xf2, 0x7d, 0x18, 0xb8, 0x09],
            "vfmadd231ps (%rcx){1to4},%xmm0,%xmm1",
            "vfmadd231ps xmm1,xmm0,DWORD BCST [rcx]",
        ),
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

#[test]
fn the_scale_of_an_index_that_is_none_is_shown() {
    // What fills the space between functions of 32-bit programs.
    let instructions = decode("i686", Syntax::Att, &[0x8d, 0xb4, 0x26, 0, 0, 0, 0]);
    assert_eq!(instructions[0].text, "lea    0x0(%esi,%eiz,1),%esi");
}

#[test]
fn system_calls_are_no_calls_of_functions() {
    assert_eq!(one(Syntax::Att, &[0x0f, 0x05]).flow, Flow::Next);
    assert_eq!(one(Syntax::Att, &[0x0f, 0x0b]).flow, Flow::Stop);
    assert_eq!(one(Syntax::Att, &[0xff, 0xe0]).flow, Flow::Jump(None));
}

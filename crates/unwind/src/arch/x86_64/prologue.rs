//! Code that keeps frame pointers, and has not made its own yet: the caller's is in the register until then,
//! and who follows it leaves the caller out.

/// `push %rbp`.
pub(super) const PUSH: u8 = 0x55;

/// `mov %rsp, %rbp`, in both encodings.
const MAKES_FRAME: [[u8; 3]; 2] = [[0x48, 0x89, 0xe5], [0x48, 0x8b, 0xec]];

/// Whether code goes on, with nothing that moves the stack pointer, to where a frame begins: the return
/// address is what the stack pointer leads to.
pub(super) fn is_before_frame(mut code: &[u8]) -> bool {
    loop {
        match code {
            [PUSH, rest @ ..] => return makes_frame(rest),
            _ => match skipped(code).and_then(|len| code.get(len..)) {
                Some(rest) => code = rest,
                None => return false,
            },
        }
    }
}

/// Whether the code of a function, from its start to where it is, has moved the stack pointer by no more than
/// the push of a frame pointer.
pub(super) fn is_start(mut code: &[u8]) -> bool {
    loop {
        match code {
            [] | [PUSH] => return true,
            _ => match skipped(code).and_then(|len| code.get(len..)) {
                Some(rest) => code = rest,
                None => return false,
            },
        }
    }
}

/// Whether code makes the stack pointer the frame pointer.
pub(super) fn makes_frame(code: &[u8]) -> bool {
    MAKES_FRAME.iter().any(|bytes| code.starts_with(bytes))
}

/// Bytes from the stack pointer up to the frame pointer once a function has made its frame, if it begins with that: it
/// pushes registers, and makes room of a fixed size. `None` if its code says no more than other instructions.
pub(super) fn frame_bytes(code: &[u8]) -> Option<u64> {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let code = code.strip_prefix(&[PUSH])?;
    let mut code = code.get(3..).filter(|_| makes_frame(code))?;
    let mut pushed = 0;
    loop {
        code = match code {
            // push %rbx, %r12 to %r15
            [0x53, rest @ ..] | [0x41, 0x54..=0x57, rest @ ..] => {
                pushed += 8;
                rest
            }
            // sub $n, %rsp
            [0x48, 0x83, 0xec, n @ 0..=0x7f, ..] => return Some(pushed + u64::from(*n)),
            [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                let room = u32::from_le_bytes([*a, *b, *c, *d]);
                return (room < 1 << 31).then(|| pushed + u64::from(room));
            }
            _ => code.get(moved(code)?..)?,
        }
    }
}

/// Bytes of an instruction that compilers put between pushes: it moves a value to a register, or makes one, but not those
/// that frames are found by.
fn moved(code: &[u8]) -> Option<usize> {
    let (rex, opcode) = match code {
        [rex @ 0x40..=0x4f, rest @ ..] => (*rex, rest),
        _ => (0, code),
    };
    let is_free = |register: u8, bit: u8| rex & bit != 0 || !matches!(register, 4 | 5);
    let prefix = usize::from(rex != 0);
    match *opcode {
        // mov and xor between registers
        [0x89 | 0x31, modrm @ 0xc0..=0xff, ..] => is_free(modrm & 7, 1).then_some(prefix + 2),
        [0x8b, modrm @ 0xc0..=0xff, ..] => is_free(modrm >> 3 & 7, 4).then_some(prefix + 2),
        // mov and lea from memory
        [0x8b | 0x8d, modrm, ..] if is_free(modrm >> 3 & 7, 4) => {
            Some(prefix + 1 + in_memory(&opcode[1..])?)
        }
        // mov $n
        [at @ 0xb8..=0xbf, ..] if rex & 8 == 0 => is_free(at & 7, 1).then_some(prefix + 5),
        _ => None,
    }
}

/// Bytes of an instruction that compilers put in front of frames: checks, the jumps they lead to, and touching
/// the stack ahead.
///
/// Source: Intel SDM volume 2; V8's `CodeGenerator::AssembleCodeStartRegisterCheck` and `BailoutIfDeoptimized`,
/// HotSpot's `MacroAssembler::verified_entry`.
fn skipped(code: &[u8]) -> Option<usize> {
    Some(match *code {
        [0x90, ..] => 1,
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => 4,
        // mov %eax, -n(%rsp)
        [0x89, 0x84, 0x24, _, _, _, 0x80..=0xff, ..] => 7,
        // A jump on a condition.
        [0x70..=0x7f, _, ..] => 2,
        [0x0f, 0x80..=0x8f, ..] => 6,
        // mov from memory, but not to what frames are found by
        [rex @ 0x40..=0x4f, 0x8b, modrm, ..]
            if rex & 4 != 0 || !matches!(modrm >> 3 & 7, 4 | 5) =>
        {
            2 + in_memory(&code[2..])?
        }
        // testb $n, in memory; test between registers
        [0xf6, modrm, ..] if modrm >> 3 & 7 == 0 => 2 + in_memory(&code[1..])?,
        [0x41, 0xf6, modrm, ..] if modrm >> 3 & 7 == 0 => 3 + in_memory(&code[2..])?,
        [0x40..=0x4f, 0x85, 0xc0..=0xff, ..] => 3,
        _ => return None,
    })
}

/// Bytes of an operand in memory: ModRM, SIB and displacement.
fn in_memory(code: &[u8]) -> Option<usize> {
    let &modrm = code.first()?;
    let (mode, base) = (modrm >> 6, modrm & 7);
    let sib = usize::from(base == 4);
    let base = if sib == 1 { *code.get(1)? & 7 } else { base };
    let displacement = match (mode, base) {
        (0, 5) | (2, _) => 4,
        (0, _) => 0,
        (1, _) => 1,
        _ => return None,
    };
    Some(1 + sib + displacement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_before_its_frame_up_to_where_it_pushes_the_frame_pointer() {
        // By V8: it is not to be entered any more if it was deoptimized.
        let v8 = [
            0x48, 0x8b, 0x59, 0xf8, 0xf6, 0x43, 0x35, 1, 0x0f, 0x85, 0x72, 0x66, 0xe4, 0x1f, 0x55,
            0x48, 0x89, 0xe5, 0x56,
        ];
        let at: Vec<usize> = (0..v8.len())
            .filter(|&at| is_before_frame(&v8[at..]))
            .collect();
        assert_eq!(at, [0, 4, 8, 14]);
        assert!(makes_frame(&v8[15..]));
        for before in [
            // By HotSpot; by gcc.
            &[0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff][..],
            &[0xf3, 0x0f, 0x1e, 0xfa],
            &[0x4c, 0x8b, 0x2c, 0x25, 1, 2, 3, 4],
            &[0x48, 0x8b, 0x05, 1, 2, 3, 4],
            &[0x41, 0xf6, 0x84, 0x24, 1, 2, 3, 4, 9],
            &[0x48, 0x85, 0xc0, 0x74, 9],
        ] {
            let code = [before, &[0x55, 0x48, 0x8b, 0xec]].concat();
            assert!(is_before_frame(&code), "{before:x?}");
            assert!(is_start(before) && is_start(&code[..=before.len()]));
            for cut in 0..code.len() {
                assert!(!is_before_frame(&code[..cut]));
            }
        }
    }

    #[test]
    fn the_size_of_a_frame_is_what_is_pushed_and_reserved() {
        let frame = |body: &[u8]| frame_bytes(&[&[0x55, 0x48, 0x89, 0xe5], body].concat());
        assert_eq!(frame(&[0x48, 0x83, 0xec, 0x20]), Some(0x20));
        assert_eq!(frame(&[0x48, 0x81, 0xec, 0, 0x10, 0, 0]), Some(0x1000));
        // push %r15; mov %rdi, %r15; push %r12; push %rbx; mov $1, %ebx; sub $8, %rsp
        let pushes = [
            0x41, 0x57, 0x49, 0x89, 0xff, 0x41, 0x54, 0x53, 0xbb, 1, 0, 0, 0, 0x48, 0x83, 0xec, 8,
        ];
        assert_eq!(frame(&pushes), Some(0x20));
        // lea 8(%rdi), %rsi
        assert_eq!(frame(&[0x48, 0x8d, 0x77, 8, 0x48, 0x83, 0xec, 8]), Some(8));
        for cut in 0..pushes.len() {
            assert_eq!(frame(&pushes[..cut]), None);
        }
        for other in [
            // and $-16, %rsp; mov %rax, %rsp; lea -8(%rsp), %rsp; a call; room that grows
            &[0x48, 0x83, 0xe4, 0xf0, 0x48, 0x83, 0xec, 8][..],
            &[0x48, 0x89, 0xc4, 0x48, 0x83, 0xec, 8],
            &[0x48, 0x8d, 0x64, 0x24, 0xf8, 0x48, 0x83, 0xec, 8],
            &[0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xec, 8],
            &[0x48, 0x81, 0xec, 0, 0, 0, 0x80],
        ] {
            assert_eq!(frame(other), None, "{other:x?}");
        }
        assert_eq!(frame_bytes(&[0x48, 0x83, 0xec, 8]), None);
    }

    #[test]
    fn what_else_comes_before_a_push_is_not_known() {
        for before in [
            // sub $8, %rsp; push %rbx; mov %rbp or %rsp from memory; jmp; call; touching the frame of another
            &[0x48, 0x83, 0xec, 8][..],
            &[0x53],
            &[0x48, 0x8b, 0x6b, 8],
            &[0x48, 0x8b, 0x63, 8],
            &[0x48, 0x8b, 0xec],
            &[0xeb, 0],
            &[0xe8, 0, 0, 0, 0],
            &[0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0x7f],
        ] {
            let code = [before, &[0x55, 0x48, 0x89, 0xe5]].concat();
            assert!(!is_before_frame(&code) && !is_start(before), "{before:x?}");
        }
        assert!(!is_before_frame(&[0x55, 0x48, 0x83, 0xec, 8]));
        assert!(!is_before_frame(&[0x90; 64]));
    }
}

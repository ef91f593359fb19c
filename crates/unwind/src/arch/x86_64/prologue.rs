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

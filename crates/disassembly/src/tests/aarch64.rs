//! Facts about 64-bit ARM.

use super::*;

/// The instructions of words at 0x401000.
fn words(words: &[u32]) -> Vec<Instruction> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    decode("aarch64", Syntax::Att, &bytes)
}

#[test]
fn text_is_as_objdump_has_it() {
    let table = [
        (0xa9bf_7bfd, "stp    x29, x30, [sp, #-16]!"),
        (0xd291_a2a1, "mov    x1, #0x8d15"),
        (0x9100_0421, "add    x1, x1, #0x1"),
        (0x8b2f_40c6, "add    x6, x6, w15, uxtw"),
        (0x3876_c83a, "ldrb   w26, [x1, w22, sxtw]"),
        (0x3700_0618, "tbnz   w24, #0, 4010c0"),
        (0x9a81_22c1, "csel   x1, x22, x1, cs"),
        (0x1e2e_1001, "fmov   s1, #1.000000000000000000e+00"),
        (0x1e60_2008, "fcmp   d0, #0.0"),
        (0x4cdf_2d54, "ld1    {v20.2d-v23.2d}, [x10], #64"),
        (0xd51b_4416, "msr    fpcr, x22"),
        (0xd50b_7423, "dc     zva, x3"),
        (0xd503_245f, "bti    c"),
        (0xd65f_03c0, "ret"),
        (0x0000_0000, "udf    #0"),
        (0xab28_9d1e, ".inst  0xab289d1e ; undefined"),
        (0xe400_e000, ".inst  0xe400e000 ; not decoded"),
    ];
    for (word, text) in table {
        assert_eq!(words(&[word])[0].text, text);
    }
}

#[test]
fn branches_say_where_they_go() {
    let table = [
        (0x1400_0003, Flow::Jump(Some(0x40_100c))),
        (0x5400_0140, Flow::Branch(Some(0x40_1028))),
        (0x3400_0060, Flow::Branch(Some(0x40_100c))),
        (0x9400_0001, Flow::Call(Some(0x40_1004))),
        (0xd61f_0220, Flow::Jump(None)),
        (0xd63f_0020, Flow::Call(None)),
        (0xd65f_03c0, Flow::Return),
        (0xd420_0000, Flow::Stop),
        // What is not decoded is an instruction all the same.
        (0xe400_e000, Flow::Next),
    ];
    for (word, flow) in table {
        let one = words(&[word]).remove(0);
        assert_eq!(one.flow, flow, "{}", one.text);
        if let Flow::Jump(Some(to)) | Flow::Branch(Some(to)) | Flow::Call(Some(to)) = flow {
            assert_eq!(one.text[one.written_address().unwrap()], format!("{to:x}"));
        }
    }
}

#[test]
fn a_page_and_what_is_in_it_are_one_reference() {
    // adrp x16, +0x179000; ldr x17, [x16, #8]; add x16, x16, #8; br x17: an entry of the PLT.
    let entry = words(&[0xb000_0bd0, 0xf940_0611, 0x9100_2210, 0xd61f_0220]);
    let address = 0x57_a000 + 8;
    let data = Reference {
        address,
        is_pointer: false,
    };
    assert_eq!(entry[0].reference.unwrap().address, 0x57_a000);
    assert_eq!(entry[1].reference, Some(data));
    assert_eq!(entry[2].reference, Some(data));
    let jump = entry[3].reference.unwrap();
    assert!(jump.is_pointer && jump.address == address);
}

#[test]
fn a_page_is_forgotten_where_another_value_may_be() {
    let (page, load, call, zero) = (0xb000_0bd0, 0xf940_0611, 0x9400_0001, 0xd280_0010);
    // After a call, and after the register has another value.
    for between in [call, zero] {
        assert_eq!(words(&[page, between, load])[2].reference, None);
    }
    // Where others jump to: `cbz w0` goes to the load.
    assert_eq!(words(&[0x3400_0040, page, load])[2].reference, None);
}

#[test]
fn a_page_is_forgotten_where_a_case_of_a_table_may_begin() {
    let (page, branch, load) = (0xb000_0bd0, 0x3400_0040, 0xf940_0611);
    let (ret, jump) = (0xd65f_03c0, 0xd61f_0060);
    let reference = |last| words(&[page, branch, load, last])[2].reference;
    assert!(reference(ret).is_some());
    assert_eq!(reference(jump), None);
    // Far from the page, too.
    let nop = 0xd503_201f;
    let far = |last| words(&[page, nop, nop, nop, nop, load, last])[5].reference;
    assert!(far(ret).is_some());
    assert_eq!(far(jump), None);
}

#[test]
fn what_is_left_at_the_end_is_shown() {
    let instructions = decode("aarch64", Syntax::Att, &[0xc0, 0x03, 0x5f, 0xd6, 1, 2]);
    assert_eq!(instructions[1].text, ".byte  0x01, 0x02");
    assert_eq!(instructions[1].len, 2);
}

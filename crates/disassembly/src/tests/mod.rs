//! Facts about the whole: what goes in comes out, in every syntax and for every machine.

mod aarch64;
mod any;
mod x86;

use super::*;

/// The instructions of bytes at 0x401000.
fn decode(machine: &str, syntax: Syntax, bytes: &[u8]) -> Vec<Instruction> {
    let decoder = Decoder::of(machine, syntax).unwrap();
    decoder.decode(0x40_1000, bytes)
}

#[test]
fn other_machines_are_refused_with_what_is_known() {
    let error = Decoder::of("riscv64", Syntax::Att).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("\"riscv64\"") && said.contains("x86_64") && said.contains("aarch64"),
        "{said}"
    );
}

#[test]
fn addresses_wrap_at_the_end_of_the_address_space() {
    for machine in ["x86_64", "i686", "aarch64"] {
        let decoder = Decoder::of(machine, Syntax::Att).unwrap();
        let instructions = decoder.decode(u64::MAX - 3, &[0; 12]);
        let lens: usize = instructions.iter().map(|one| usize::from(one.len)).sum();
        assert_eq!(lens, 12);
    }
}

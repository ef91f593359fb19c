//! Any bytes as code of every machine: decoded to the end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_disassembly::{Decoder, Syntax};

fuzz_target!(|bytes: &[u8]| {
    for machine in ["x86_64", "i686", "aarch64"] {
        for syntax in [Syntax::Att, Syntax::Intel] {
            let decoder = Decoder::of(machine, syntax).expect("a machine that is known");
            let instructions = decoder.decode(0xffff_ffff_ffff_fff0, bytes);
            let lens = instructions.iter().map(|one| usize::from(one.len));
            assert_eq!(lens.sum::<usize>(), bytes.len());
            for one in &instructions {
                assert!(one.len > 0 && one.written_address().is_none_or(|range| one.text.get(range).is_some()));
            }
        }
    }
});

//! `sweep MACHINE SYNTAX OBJDUMP EVERY FILE..`
#![allow(clippy::print_stdout)]
#[path = "../tests/objdump/listing.rs"]
mod listing;
#[path = "../tests/objdump/sweep.rs"]
mod sweep;

use rprof_disassembly::{Decoder, Syntax};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (syntax, flags): (_, &[&str]) = match args[1].as_str() {
        "intel" => (Syntax::Intel, &["-M", "intel"]),
        _ => (Syntax::Att, &[]),
    };
    let decoder = Decoder::of(&args[0], syntax).unwrap();
    let mut tally = sweep::Tally::default();
    let every = args[3].parse().unwrap();
    for file in &args[4..] {
        listing::blocks(&args[2], flags, file.as_ref(), |lines| {
            tally.compare(&decoder, lines, every)
        });
    }
    let mut kinds: Vec<_> = tally.kinds.iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (kind, (count, examples)) in kinds {
        println!("{count} {kind}\n{examples}");
    }
    println!(
        "instructions {} blocks {} differ {} texts {} differ {}",
        tally.instructions, tally.blocks, tally.blocks_differ, tally.texts, tally.texts_differ
    );
}

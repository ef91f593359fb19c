//! By which rules two texts say the same.

use rprof_disassembly::Instruction;

use crate::disassembly::listing::Line;

/// What two texts may differ in.
pub(crate) type Rule = (&'static str, fn(&Line, &Instruction) -> bool);

/// The first that holds counts. No other difference is accepted.
pub(crate) const RULES: &[Rule] = &[
    ("equal", |line, one| line.text == one.text),
    ("blanks", |line, one| {
        line.text.split_whitespace().eq(one.text.split_whitespace())
    }),
    ("objdump does not decode, either", |line, one| {
        !one.is_valid && is_data(&line.text)
    }),
    ("objdump does not decode", |line, one| {
        one.is_valid && is_data(&line.text)
    }),
    ("not decoded (newer than the library)", |_, one| {
        one.text.ends_with("; not decoded")
    }),
];

/// Whether it is no instruction: `(bad)`, behind prefixes, too; prefixes alone; numbers.
fn is_data(text: &str) -> bool {
    let text = text.trim_end();
    let is_prefix = |word: &str| {
        word.starts_with("rex") || matches!(word, "cs" | "ds" | "es" | "ss" | "fs" | "gs")
    };
    text.ends_with("(bad)")
        || text.starts_with(".byte")
        || text.starts_with(".inst")
        || text.split_whitespace().all(is_prefix)
}

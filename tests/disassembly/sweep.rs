//! Compares what is decoded with what `objdump` has.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Peekable;
use std::path::Path;
use std::slice::Iter;

use rprof_disassembly::{Decoder, Instruction, Syntax};

use crate::disassembly::listing::{Line, blocks};
use crate::disassembly::rules::RULES;

/// More examples of a kind show nothing new.
const MAX_EXAMPLES: usize = 5;

/// What was found in a file.
pub(crate) struct Sweep {
    decoder: Decoder,
    flags: &'static [&'static str],
    n_instructions: u64,
    /// By rule.
    equal: BTreeMap<&'static str, u64>,
    /// By what it is and the mnemonic, with examples.
    different: BTreeMap<String, (u64, Vec<String>)>,
}

impl Sweep {
    pub(crate) fn of(machine: &str, syntax: Syntax) -> Self {
        Self {
            decoder: Decoder::of(machine, syntax).unwrap(),
            flags: match syntax {
                Syntax::Att => &[],
                Syntax::Intel => &["-M", "intel"],
            },
            n_instructions: 0,
            equal: BTreeMap::new(),
            different: BTreeMap::new(),
        }
    }

    /// Compares all code of a file.
    pub(crate) fn file(&mut self, objdump: &str, file: &Path) {
        blocks(objdump, self.flags, file, |lines| self.compare(lines));
        assert!(
            self.n_instructions > 0,
            "{objdump} has no instructions of {}",
            file.display()
        );
    }

    /// How many instructions have another length, text or reference.
    pub(crate) fn n_different(&self) -> u64 {
        self.different.values().map(|(count, _)| count).sum()
    }

    /// Compares a block, of code without gaps.
    fn compare(&mut self, lines: &[Line]) {
        let Some(first) = lines.first() else { return };
        let bytes: Vec<u8> = lines
            .iter()
            .flat_map(|line| line.bytes.iter().copied())
            .collect();
        let ours = self.decoder.decode(first.address, &bytes);
        let mut ours = ours.iter().peekable();
        for line in lines {
            self.n_instructions += 1;
            // Of a longer one, or behind a shorter one, which was said.
            while ours.next_if(|one| one.address < line.address).is_some() {}
            match ours.next_if(|one| one.address == line.address) {
                Some(one) if usize::from(one.len) == line.bytes.len() => self.text(line, one),
                Some(one) if is_waiting(line, one, &mut ours) => {
                    self.is_equal("fwait is of its own")
                }
                one => self.differ("length", line, one),
            }
        }
    }

    fn text(&mut self, line: &Line, one: &Instruction) {
        let rule = RULES.iter().find(|(_, holds)| holds(line, one));
        match rule {
            None => self.differ("text", line, Some(one)),
            Some(_)
                if line.remark.is_some() && line.remark != one.reference.map(|to| to.address) =>
            {
                self.differ("reference", line, Some(one));
            }
            Some((name, _)) => self.is_equal(name),
        }
    }

    fn is_equal(&mut self, rule: &'static str) {
        *self.equal.entry(rule).or_default() += 1;
    }

    fn differ(&mut self, what: &str, line: &Line, one: Option<&Instruction>) {
        let mnemonic = line.text.split_whitespace().next().unwrap_or_default();
        let (count, examples) = self
            .different
            .entry(format!("{what} {mnemonic}"))
            .or_default();
        *count += 1;
        if examples.len() < MAX_EXAMPLES {
            let ours = one.map_or("none begins there", |one| &one.text);
            examples.push(format!(
                "{:x} {:02x?}: {} | {ours}",
                line.address, line.bytes, line.text
            ));
        }
    }
}

/// Whether `objdump` has two instructions as one, the first of which is `fwait`.
fn is_waiting(line: &Line, one: &Instruction, next: &mut Peekable<Iter<'_, Instruction>>) -> bool {
    let rest = line.bytes.len().checked_sub(usize::from(one.len));
    one.text == "fwait" && next.peek().map(|next| usize::from(next.len)) == rest
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} instructions", self.n_instructions)?;
        for (rule, count) in &self.equal {
            writeln!(f, "{count:12} {rule}")?;
        }
        let mut different: Vec<_> = self.different.iter().collect();
        different.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (kind, (count, examples)) in different {
            writeln!(f, "{count:12} DIFFERENT {kind}")?;
            for example in examples {
                writeln!(f, "{:12} {example}", "")?;
            }
        }
        Ok(())
    }
}

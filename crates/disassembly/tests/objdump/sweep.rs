//! Compares what is decoded with what `objdump` has.

use std::collections::BTreeMap;

use rprof_disassembly::{Decoder, Instruction};

use crate::listing::Line;

/// What was found, over all blocks.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) instructions: u64,
    /// Blocks with another sequence of lengths.
    pub(crate) blocks: u64,
    pub(crate) blocks_differ: u64,
    pub(crate) texts: u64,
    pub(crate) texts_differ: u64,
    pub(crate) kinds: BTreeMap<String, (u64, String)>,
}

impl Tally {
    /// Compares a block: the lengths of all, and the texts of each `every`-th.
    pub(crate) fn compare(&mut self, decoder: &Decoder, lines: &[Line], every: u64) {
        let Some(first) = lines.first() else { return };
        let bytes: Vec<u8> = lines
            .iter()
            .flat_map(|line| line.bytes.iter().copied())
            .collect();
        let ours = decoder.decode(first.address, &bytes);
        self.blocks += 1;
        let mut ours = ours.iter().peekable();
        let mut differs = false;
        for line in lines {
            self.instructions += 1;
            while ours.next_if(|one| one.address < line.address).is_some() {}
            let Some(one) = ours.next_if(|one| one.address == line.address) else {
                differs = true;
                self.differ("length", line, None);
                continue;
            };
            if usize::from(one.len) != line.bytes.len() {
                differs = true;
                let kind = if line.bytes[0] == 0x9b { "length fwait" } else { "length" };
                self.differ(kind, line, Some(one));
            } else if self.instructions % every == 0 {
                self.text(line, one);
            }
        }
        self.blocks_differ += u64::from(differs);
    }

    fn text(&mut self, line: &Line, one: &Instruction) {
        self.texts += 1;
        let theirs: Vec<&str> = line.text.split_whitespace().collect();
        let ours: Vec<&str> = one.text.split_whitespace().collect();
        if theirs != ours {
            self.texts_differ += 1;
            let kind = format!("text {} {}", if one.is_valid { "" } else { one.text.split_once("; ").map_or("BAD", |(_, why)| why) }, theirs.first().unwrap_or(&""));
            self.differ(&kind, line, Some(one));
        } else if line.remark.is_some() && line.remark != one.reference.map(|to| to.address) {
            self.texts_differ += 1;
            self.differ("remark", line, Some(one));
        }
    }

    fn differ(&mut self, kind: &str, line: &Line, one: Option<&Instruction>) {
        let entry = self.kinds.entry(kind.to_owned()).or_default();
        entry.0 += 1;
        if entry.1.lines().count() < 12 {
            let ours = one.map_or("-", |one| &one.text);
            entry.1 += &format!(
                "    {:x} {:02x?}: {} | {}\n",
                line.address, line.bytes, line.text, ours
            );
        }
    }
}

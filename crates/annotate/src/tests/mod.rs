//! Facts about listings, of code made by hand.

mod golden;
mod loops;
mod properties;

use crate::{CodeListing, Disassembled, PercentType, SourceFiles, SourceSettings};
use rprof_disassembly::{Decoder, Instruction, Syntax};
use rprof_profile::code::{
    CodeEvent, CodeFrame, CodeFrames, CodePart, FunctionCode, ReferenceName,
};
use rprof_profile::{EventKind, Level, SampleCount};
use rprof_untrusted::Budget;
use std::collections::BTreeMap;

/// What a listing is made of.
#[derive(Clone, Debug)]
struct Given {
    code: FunctionCode,
    instructions: Vec<Vec<Instruction>>,
    frames: BTreeMap<u64, CodeFrames>,
    names: BTreeMap<u64, ReferenceName>,
}

impl Given {
    /// Code of a function that begins at an address.
    fn code(address: u64, bytes: &[u8]) -> Self {
        let part = CodePart {
            symbol: "main".to_owned(),
            address,
            bytes: bytes.to_vec(),
        };
        let code = FunctionCode {
            name: "main".to_owned(),
            image: "/bin/app".to_owned(),
            file: "/bin/app".to_owned(),
            machine: "x86_64".to_owned(),
            level: Level::User,
            inlined: None,
            parts: vec![part],
            events: Vec::new(),
            notes: Vec::new(),
        };
        let decoder = Decoder::of(&code.machine, Syntax::Att).unwrap();
        Self {
            instructions: vec![decoder.decode(address, bytes)],
            code,
            frames: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    /// With counts of one more event.
    fn counted(mut self, name: &str, counts: &[(u64, u64)]) -> Self {
        let counts = counts.iter().map(|&(address, samples)| {
            let weight = samples * 1000;
            (address, SampleCount { samples, weight })
        });
        let counts: Vec<(u64, SampleCount)> = counts.collect();
        let samples: u64 = counts.iter().map(|(_, count)| count.samples).sum();
        self.code.events.push(CodeEvent {
            name: name.to_owned(),
            kind: EventKind::Cycles,
            precise_ip: 0,
            all: SampleCount {
                samples: samples * 2,
                weight: samples * 2000,
            },
            counts,
        });
        self
    }

    /// With the same frames at all addresses of a range: functions with files and lines, innermost first.
    fn framed(mut self, range: std::ops::Range<u64>, frames: &[(&str, &str, u32)]) -> Self {
        let frames = frames.iter().map(|&(function, file, line)| CodeFrame {
            function: function.to_owned(),
            line: Some((file.to_owned(), line)),
        });
        let frames = CodeFrames(frames.collect());
        for address in range {
            self.frames.insert(address, frames.clone());
        }
        self
    }

    fn listing(&self) -> CodeListing<'_> {
        self.listing_of(PercentType::LocalPeriod, SourceSettings::default())
    }

    fn listing_of(&self, percent_type: PercentType, settings: SourceSettings) -> CodeListing<'_> {
        let given = Disassembled {
            code: &self.code,
            instructions: &self.instructions,
            frames: &self.frames,
            names: &self.names,
            authors: &[],
        };
        let mut sources = SourceFiles::new(settings, &Budget::default());
        CodeListing::new(&given, percent_type, &mut sources)
    }
}

#[test]
fn percentages_are_of_the_function_or_of_the_event_by_weight_or_by_samples() {
    let mut given = Given::code(0x10, &[0x90, 0xc3]).counted("cycles", &[(0x10, 1), (0x11, 3)]);
    given.code.events[0].counts[0].1.weight = 9000;
    let percent = |percent_type| {
        let listing = given.listing_of(percent_type, SourceSettings::default());
        listing
            .share(0, listing.instructions[0].counts[0])
            .to_string()
    };
    assert_eq!(percent(PercentType::LocalPeriod), "75.00");
    assert_eq!(percent(PercentType::LocalHits), "25.00");
    assert_eq!(percent(PercentType::GlobalPeriod), "112.50");
    assert_eq!(percent(PercentType::GlobalHits), "12.50");
}

#[test]
fn a_sample_within_an_instruction_counts_for_it_and_is_said() {
    let code = [0xbf, 0, 0, 0, 0, 0xc3];
    let given = Given::code(0x10, &code).counted("cycles", &[(0x12, 2), (0x15, 1), (0x99, 1)]);
    let listing = given.listing();
    let samples = listing.instructions.iter().map(|it| it.counts[0].samples);
    assert_eq!(samples.collect::<Vec<_>>(), [2, 1]);
    let note = "2 samples of cycles are within an instruction, not at its start: this may not be the code \
        that ran, or it contains data; 1 sample of cycles is outside the instructions shown";
    assert_eq!(listing.notes, [note]);
}

#[test]
fn what_is_said_of_skid_goes_by_the_event() {
    let mut given = Given::code(0x10, &[0xc3]).counted("cycles", &[(0x10, 1)]);
    let mut skid = |kind, precise_ip| {
        given.code.events[0].kind = kind;
        given.code.events[0].precise_ip = precise_ip;
        given.listing().events[0].skid
    };
    assert!(
        skid(EventKind::Cycles, 0)
            .unwrap()
            .contains("EVENT:p or :pp")
    );
    assert!(
        skid(EventKind::Cycles, 1)
            .unwrap()
            .contains("constant skid")
    );
    assert!(skid(EventKind::Cycles, 2).unwrap().contains("some may"));
    assert_eq!(skid(EventKind::Cycles, 3), None);
    assert!(skid(EventKind::CpuTime, 3).unwrap().starts_with("a timer"));
    assert_eq!(skid(EventKind::Occurrence, 0), None);
}

#[test]
fn skid_is_said_once_of_all_events_that_have_it() {
    let mut given = Given::code(0x10, &[0xc3])
        .counted("cycles", &[(0x10, 1)])
        .counted("cpu-clock", &[(0x10, 1)])
        .counted("\x1b[2J", &[(0x10, 1)]);
    for (event, kind) in
        given
            .code
            .events
            .iter_mut()
            .zip([EventKind::Cycles, EventKind::CpuTime, EventKind::Cycles])
    {
        event.kind = kind;
    }
    let listing = given.listing();
    assert_eq!(
        crate::skid_notes(&listing.events),
        [
            "cycles, \\x1b[2J: samples land some instructions late (skid); EVENT:p or :pp has less skid",
            "cpu-clock is a timer; samples land on the instruction after the one that took the time",
        ]
    );
}

#[test]
fn only_events_with_samples_in_the_function_have_columns() {
    let given = Given::code(0x10, &[0xc3])
        .counted("switches", &[])
        .counted("cycles", &[(0x10, 3)])
        .counted("wake-ups", &[]);
    let listing = given.listing();
    let mut text = Vec::new();
    crate::write_text(&listing, &crate::TextOptions::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("3 samples of cycles, 50.00% of all"),
        "{text}"
    );
    assert!(text.contains("100.00 : "), "{text}");
    for absent in ["switches", "wake-ups", "(1)", "(2)", "0.00%,", " 0.00%"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    let mut table = Vec::new();
    crate::write_markdown(&listing, &crate::MarkdownOptions::default(), &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("3 samples of cycles"), "{table}");
    assert!(!table.contains("switches"), "{table}");
    // Where nothing was counted, all say so.
    let nothing = Given::code(0x10, &[0xc3])
        .counted("cycles", &[])
        .counted("faults", &[]);
    assert_eq!(nothing.listing().columns, [0, 1]);
}

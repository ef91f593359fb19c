//! Any name, and any file: frames, or a reason.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_images::{Elf, Located};
use rprof_base::FileOffset;
use rprof_symbols::{Demangling, Detail, Request, symbolize_user};

const FORMS: [Demangling; 4] = [
    Demangling::Off,
    Demangling::Short,
    Demangling::Full,
    Demangling::Folded,
];

fuzz_target!(|bytes: &[u8]| {
    let Ok(binary) = Elf::from_memory(bytes.to_vec(), "input", &Default::default()) else {
        for form in FORMS {
            assert_eq!(form.of(bytes).is_empty(), bytes.is_empty());
        }
        return;
    };
    let offsets: Vec<FileOffset> = (0..bytes.len() as u64)
        .step_by(37)
        .map(FileOffset)
        .collect();
    let located = Located::from(binary);
    let request = Request {
        detail: Detail::Lines,
        demangling: Demangling::Full,
        fde: true,
        n_threads: 1,
        index: false,
    };
    if let Ok(answers) = symbolize_user(&located, &offsets, request) {
        for idx in 0..offsets.len() {
            let frames = answers.frames(idx);
            // The last one is a function of the file's own.
            assert!(frames.last().is_none_or(|frame| !frame.is_inlined));
            assert!(frames.is_empty() || answers.function_start(idx).is_none());
        }
    }
});

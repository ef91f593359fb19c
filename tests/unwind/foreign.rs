//! Code that no compiler made: assembly, code made at run time; and libraries that come and go.

use crate::common::skipped;
use crate::unwind::compare::{WHOLE, Walked, all, walk_all};
use crate::unwind::compile::c;
use crate::unwind::space::Images;
use rprof_unwind::Outcome;
use std::path::Path;

#[test]
fn assembly_of_libcrypto_is_walked() {
    let library = "/lib/x86_64-linux-gnu/libcrypto.so.3";
    if !Path::new(library).exists() {
        skipped("libssl3 (libcrypto.so.3)");
        return;
    }
    let source = include_str!("programs/crypto.c");
    let Some(program) = c(source, &["-O2"]) else {
        return;
    };
    let plan = "for place in ['hashes'] * 3 + ['aes'] + ['updates'] * 2:
    run_to(place)
    steps(100)
    steps(60, 53)";
    let truth = program.truth(plan);
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, Walked::is_whole);
}

#[test]
fn code_made_at_run_time_is_walked_by_frame_pointers_or_not_at_all() {
    let source = include_str!("programs/jit.c");
    let Some(program) = c(source, &["-O2"]) else {
        return;
    };
    let truth = program.truth("runs_to('work'); runs_to('stop', 3)");
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    let addresses = |at: usize| walked[at].frames.iter().map(|frame| frame.avma);
    // gdb takes code that it has no symbol for to have no frame: what is above comes from before.
    let above: Vec<_> = addresses(0).skip(1).collect();
    assert!(walked[0].is_whole(), "{}", walked[0].shown());
    assert_eq!(
        walked[1].outcome,
        Outcome::Complete,
        "{}",
        walked[1].shown()
    );
    let with: Vec<_> = addresses(1).skip(4).collect();
    assert_eq!(with, above, "{}", walked[1].shown());
    for without in &walked[2..] {
        // The callback, and the code that called it.
        assert_eq!(without.frames.len(), 3, "{}", without.shown());
        let is_known = matches!(without.outcome, Outcome::NoInfo { .. });
        assert!(is_known, "{}", without.shown());
    }
}

#[test]
fn a_library_at_the_place_of_another_is_not_taken_for_it() {
    let source = include_str!("programs/plugins.c");
    let Some(program) = c(source, &["-O2"]) else {
        return;
    };
    let plugin = program.folder.path().join("plugin.c");
    std::fs::write(plugin, include_str!("programs/plugin.c")).unwrap();
    for (name, size) in [("one.so", "-DSIZE=200"), ("two.so", "-DSIZE=400")] {
        program.tool(&[
            "gcc", "-O2", "-shared", "-fPIC", size, "-o", name, "plugin.c",
        ]);
    }
    let truth = program.truth("runs_to('stop', 2)");
    let walked = walk_all(&truth, &mut Images::default(), WHOLE);
    all(&walked, Walked::is_whole);
    let callers: Vec<_> = walked.iter().map(|walked| walked.frames[1].avma).collect();
    assert_eq!(callers[0], callers[1]);
}

//! Any bytes as a recording: counted, named (there are no binaries) and written as `report`,
//! `flame --folded` and `script` do.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_images::Locator;
use rprof_perfdata::Reader;
use rprof_profile::Filter;
use rprof_profile::view::SortKey;
use rprof_report::format::{TableOptions, write_folded, write_table};
use rprof_report::script::{Choice, ScriptOptions, write_script};
use rprof_report::{Options, load};
use rprof_symbols::Demangling;
use std::path::{Path, PathBuf};

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = Reader::from_bytes(Path::new("perf.data"), bytes.to_vec()) else {
        return;
    };
    let nowhere = PathBuf::from("/nonexistent");
    let locator = Locator {
        symfs: Some(nowhere.clone()),
        cache: None,
        debug_dir: nowhere,
    };
    let options = Options {
        by_tid: true,
        locator: locator.clone(),
        ..Options::default()
    };
    // Errors are answers, too.
    if let Ok(profile) = load(&reader, &options, &mut |_| {}) {
        let table = TableOptions {
            keys: SortKey::DEFAULT.to_vec(),
            children: reader.has_call_chains(),
            graph: None,
            percent_limit: 0.0,
            show_samples: true,
            colors: false,
        };
        let _ = write_table(&profile, &table, &mut std::io::sink());
        for event in &profile.events {
            let _ = write_folded(&profile, event, &mut std::io::sink());
        }
    }
    let options = ScriptOptions {
        filter: Filter::default(),
        columns: Choice::default(),
        chains: true,
        inlines: true,
        nanoseconds: false,
        locator,
        demangling: Demangling::Short,
    };
    let _ = write_script(&reader, &options, &mut std::io::sink());
});

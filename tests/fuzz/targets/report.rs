//! Any bytes as a recording: counted, named (there are no binaries) and written as `report`,
//! `flame --folded`, `export` and `script` do.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{Dimension, Filter, NodeKey, Others};
use rprof_profile::view::{EventSets, Order, SortKey, Sum, WantedColumns, Weighing};
use rprof_export::{Callgrind, Firefox, Folded, Format, Json, Pprof, Speedscope};
use rprof_analysis::{
    CodeDetail, GroupBy, Options, SortMode, WantedMappings, load, load_code_samples, load_counted_stacks, load_tasks,
};
use rprof_report::{EventTables, Layout, Percentage, TableOptions, TaskDetail, write_table, write_tasks};
use rprof_script::{FieldSelection, ScriptOptions, write_script};
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
        debug_dir: nowhere.clone(),
        // Each run would read all of the running kernel's.
        kallsyms: Some(nowhere),
        ..Locator::default()
    };
    let options = Options {
        group_by: GroupBy::of(&[Dimension::Tid]),
        locator: locator.clone(),
        ..Options::default()
    };
    // Errors are answers, too.
    if let Ok(profile) = load(&reader, &options, &mut |_| {}) {
        let weighing = if reader.has_call_chains() {
Weighing::WithChildren
} else {
Weighing::Own
};
        let wanted = WantedColumns {
            sums: Sum::ALL.to_vec(),
            ..WantedColumns::default()
        };
        let table = TableOptions {
            columns: wanted.columns(SortKey::DEFAULT, weighing),
            hierarchy: false,
            events: EventTables::default(),
            graph: None,
            percent_limit: 0.0,
            limits_trees: false,
            is_filtered: false,
            percentage: Percentage::Absolute,
            time_slices: None,
                colors: false,
                layout: Layout::default(),
        };
        let _ = write_table(&profile, &table, &mut std::io::sink());
        let levels = TableOptions {
            hierarchy: true,
            events: EventTables {
                sets: EventSets::All,
                sort_idx: 1,
                with_empty: true,
            },
            ..table
        };
        let _ = write_table(&profile, &levels, &mut std::io::sink());
        for event in 0..profile.events.len() {
            let _ = Folded { event }.write(&profile, &mut std::io::sink());
        }
        let _ = Json.write(&profile, &mut std::io::sink());
    }
    for (mode, nodes) in [(SortMode::Branch, NodeKey::Srcline), (SortMode::Memory, NodeKey::Address)] {
        let options = Options {
            mode,
            nodes,
            ..options.clone()
        };
        if let Ok(mut profile) = load(&reader, &options, &mut |_| {}) {
            profile.find_parents(|name| name.len() > 4, Order::Caller, Others::Kept);
            let _ = Json.write(&profile, &mut std::io::sink());
        }
    }
    if let Ok((tasks, _)) = load_tasks(&reader, WantedMappings::All) {
        let _ = write_tasks(&tasks, TaskDetail::Mappings, &mut std::io::sink());
    }
    if let Ok(samples) = load_code_samples(&reader, &options, CodeDetail::Fields, &mut |_| {}) {
        let _ = Firefox.write(&samples, &mut std::io::sink());
        let _ = Speedscope.write(&samples, &mut std::io::sink());
    }
    if let Ok(stacks) = load_counted_stacks(&reader, &options, &mut |_| {}) {
        let _ = Pprof.write(&stacks, &mut std::io::sink());
        let _ = Callgrind.write(&stacks, &mut std::io::sink());
    }
    let options = ScriptOptions {
        filter: Filter::default(),
        fields: FieldSelection::default(),
        chains: true,
        inlines: true,
        stop_at: Vec::new(),
        nanoseconds: false,
        times: Default::default(),
        json: false,
        records: rprof_script::ShownRecords {
            rounds: true,
            ..Default::default()
        },
        locator,
        demangling: Demangling::Short,
    };
    let _ = write_script(&reader, &options, &mut |_| {}, &mut std::io::sink());
});

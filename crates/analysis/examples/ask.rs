//! Loads a recording sample by sample, asks it questions, and says how long each took.
//!
//! ```text
//! cargo run --release -p rprof-analysis --example ask -- perf.data
//! ```
//!
//! With `trees` after the file, it only counts stacks, as reports do.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_analysis::{Options, load, load_samples};
use rprof_perfdata::Reader;
use rprof_profile::view::{FirstFrame, Rows, SortKey, Weighing};
use rprof_profile::{Dimension, Fold, NameList, Profile};
use rprof_query::{
    Explorer, FlameLayout, FlameOrder, Focus, SampleSelection, StackFolding, heat_map, lanes,
};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: ask FILE")?;
    let start = Instant::now();
    let reader = Reader::open(Path::new(&path))?;
    if std::env::args_os()
        .nth(2)
        .is_some_and(|what| what == "trees")
    {
        load(&reader, &Options::default(), &mut |_| {})?;
        let (took, peak) = (millis(start), peak_mib().unwrap_or(0));
        println!("{took:>9.1} ms  load as trees, {peak} MiB at most");
        return Ok(());
    }
    let sampled = load_samples(&reader, &Options::default(), &mut |_| {})?;
    println!("{:>9.1} ms  load", millis(start));
    println!(
        "              {} samples, {} threads, {} stack nodes, {} functions, {} MiB at most",
        sampled.samples.len(),
        sampled.threads.len(),
        sampled.stacks.nodes().len(),
        sampled.profile.frames.ids().count(),
        peak_mib().unwrap_or(0),
    );
    let mut explorer = Explorer::new(sampled);
    for (name, selection) in selections(&explorer) {
        let start = Instant::now();
        let event = explorer.select(&selection, &StackFolding::default());
        let took = millis(start);
        let event = event.ok_or("there is no event")?;
        let n_nodes = event.tree.nodes().len();
        println!("{took:>9.1} ms  select {name}: {n_nodes} nodes");
    }
    let folding = StackFolding {
        folds: Fold::ALL.to_vec(),
        ..StackFolding::default()
    };
    let start = Instant::now();
    let event = explorer.select(&SampleSelection::default(), &folding);
    let n_nodes = event.map_or(0, |event| event.tree.nodes().len());
    println!(
        "{:>9.1} ms  select all, folded: {n_nodes} nodes",
        millis(start)
    );
    views(&mut explorer)
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The most memory that the process has had.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib / 1024)
}

fn selections(explorer: &Explorer) -> Vec<(&'static str, SampleSelection)> {
    let all = SampleSelection::default;
    let samples = &explorer.sampled().samples;
    let middle = samples.row(samples.len() / 2);
    let name_of = |profile: &Profile| {
        let node = explorer
            .sampled()
            .stacks
            .nodes()
            .get(middle.stack? as usize)?;
        let frame = profile.frames.of(node.frame);
        Some(frame.filter_name(&profile.strings)?.into_owned())
    };
    let name = name_of(explorer.profile()).unwrap_or_default();
    let mut selections = vec![
        ("all", all()),
        ("all again", all()),
        (
            "one thread",
            SampleSelection {
                threads: vec![middle.thread],
                ..all()
            },
        ),
        (
            "a function",
            SampleSelection {
                frames: NameList::of([&*name]),
                ..all()
            },
        ),
    ];
    let by = |dimension| SampleSelection {
        by: vec![dimension],
        ..all()
    };
    selections.push(("all, by thread", by(Dimension::Tid)));
    selections.push(("all, by CPU", by(Dimension::Cpu)));
    if let Some(cpu) = middle.cpu {
        let cpus = vec![cpu];
        selections.push(("a CPU", SampleSelection { cpus, ..all() }));
    }
    let node = middle.stack.and_then(|stack| {
        let nodes = explorer.sampled().stacks.nodes();
        nodes.get(stack as usize)
    });
    if let Some(node) = node {
        let focus = Some(Focus::Above(node.frame));
        selections.push(("who called a function", SampleSelection { focus, ..all() }));
    }
    if let Some(times) = samples.span_ns() {
        selections.push((
            "half of the time",
            SampleSelection {
                times_ns: Some(*times.start()..=middle.time_ns),
                ..all()
            },
        ));
    }
    selections
}

fn views(explorer: &mut Explorer) -> Result<(), Box<dyn std::error::Error>> {
    let all = SampleSelection::default();
    let event = explorer.select(&all, &StackFolding::default());
    let event = event.ok_or("there is no event")?;
    let (profile, sampled) = (explorer.profile(), explorer.sampled());
    let start = Instant::now();
    let rows = Rows::new(profile, &event, SortKey::DEFAULT, Weighing::WithChildren);
    let n_rows = rows.iter().count();
    println!("{:>9.1} ms  {n_rows} rows", millis(start));
    let start = Instant::now();
    let flame = FlameLayout::of(profile, &event, FirstFrame::Outermost, FlameOrder::Heaviest);
    println!("{:>9.1} ms  {} boxes", millis(start), flame.boxes.len());
    let start = Instant::now();
    let n_lanes = lanes(sampled, &all, 200).map_or(0, |lanes| lanes.lanes.len());
    println!("{:>9.1} ms  {n_lanes} lanes", millis(start));
    let start = Instant::now();
    let n_cells = heat_map(sampled, &all, 50).map_or(0, |map| map.cells.len());
    println!("{:>9.1} ms  {n_cells} cells of a heat map", millis(start));
    Ok(())
}

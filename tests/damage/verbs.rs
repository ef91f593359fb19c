//! What is done with each damaged recording: all that the sub-commands do, without their printing.

use rprof_analysis::{
    CodeDetail, GroupBy, Options, SortMode, WantedMappings, load, load_code_samples,
    load_counted_stacks, load_tasks,
};
use rprof_export::{Callgrind, Firefox, Folded, Format, Pprof, Speedscope};
use rprof_inspect::{DumpForm, JsonFields, OutlineFields, visit_info, write_dump};
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::view::{EventSets, Order, SortKey, Sum, WantedColumns, Weighing};
use rprof_profile::{Dimension, DimensionValues, Filter, NameList, NodeKey, Others};
use rprof_report::{
    EventTables, Graph, Layout, Percentage, TableOptions, TaskDetail, write_csv, write_json,
    write_stats, write_table, write_tasks,
};
use rprof_script::{FieldSelection, ScriptOptions, ShownRecords, write_script};
use rprof_symbols::Demangling;
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;

type Way = (&'static str, fn(&Reader, &Path) -> Said);

/// Every byte goes through these.
const ALWAYS: [Way; 2] = [("dump --json", dump_json), ("info", info)];

/// These take as long as all the rest: threads are started, tables set up.
const IN_TURN: [Way; 5] = [
    ("report", report),
    ("report in other modes", modes),
    ("script", script),
    ("dump", dump),
    ("export", export),
];

/// Which ways a recording is read in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    All,
    /// Those that are quick, and one of the others: another one for the next number.
    Some(usize),
}

/// Reads a recording; returns the ways that found nothing to complain of.
///
/// # Panics
/// If what is written is not well-formed.
pub(crate) fn read(reader: &Reader, root: &Path, ways: Ways) -> Vec<&'static str> {
    let in_turn = match ways {
        Ways::All => &IN_TURN[..],
        Ways::Some(number) => &IN_TURN[number % IN_TURN.len()..][..1],
    };
    let ways = ALWAYS.iter().chain(in_turn);
    let ways = ways.map(|(name, way)| (*name, way(reader, root)));
    let silent = ways.filter(|(_, said)| match said {
        Ok(warnings) => {
            for warning in warnings {
                assert!(
                    !warning.is_empty() && !warning.contains('\n'),
                    "{warning:?}"
                );
            }
            warnings.is_empty()
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    });
    silent.map(|(way, _)| way).collect()
}

type Said = anyhow::Result<Vec<String>>;

fn dump(reader: &Reader, _: &Path) -> Said {
    Ok(write_dump(reader, DumpForm::Text, &mut io::sink())?)
}

fn dump_json(reader: &Reader, _: &Path) -> Said {
    Ok(write_dump(
        reader,
        DumpForm::Json,
        &mut JsonLines::default(),
    )?)
}

fn info(reader: &Reader, _: &Path) -> Said {
    visit_info(reader, &mut OutlineFields::default())?;
    let mut json = JsonFields::new();
    visit_info(reader, &mut json)?;
    let json: Value = serde_json::from_slice(&json.finish()).expect("info is JSON");
    let warnings = json["warnings"].as_array().expect("info lists warnings");
    Ok(warnings.iter().map(ToString::to_string).collect())
}

/// The same on every machine: binaries are found below this folder, and root else.
fn locator(root: &Path) -> Locator {
    Locator {
        symfs: Some(root.to_owned()),
        cache: None,
        debug_dir: root.to_owned(),
        // Each would read all of the running kernel's.
        kallsyms: Some(root.join("kallsyms")),
        ..Locator::default()
    }
}

fn report(reader: &Reader, root: &Path) -> Said {
    let all = Dimension::ALL.iter().copied();
    let all: Vec<Dimension> = all
        .filter(|&one| GroupBy::is_recorded(reader, one))
        .collect();
    let mut said = Vec::new();
    for keys in all.chunks(DimensionValues::MOST) {
        said.extend(report_by(keys, reader, root)?);
    }
    Ok(said)
}

fn report_by(keys: &[Dimension], reader: &Reader, root: &Path) -> Said {
    let options = Options {
        group_by: GroupBy::of(keys),
        locator: locator(root),
        ..Options::default()
    };
    let profile = load(reader, &options, &mut |_| {})?;
    let table = table(SortKey::DEFAULT, reader);
    write_table(&profile, &table, &mut io::sink())?;
    write_stats(&profile, &mut io::sink())?;
    for event in 0..profile.events.len() {
        let folded = Folded { event };
        folded.write(&profile, &mut io::sink())?;
    }
    let mut json = Vec::new();
    rprof_export::Json.write(&profile, &mut json)?;
    let json: Value = serde_json::from_slice(&json).expect("a profile is JSON");
    assert!(json["events"].is_array());
    Ok(profile.warnings)
}

/// A table of these keys with all sums.
fn table(keys: &[SortKey], reader: &Reader) -> TableOptions {
    let has_chains = reader.has_call_chains();
    let graph = Graph {
        order: Order::Caller,
        min_percent: 0.0,
        ..Graph::DEFAULT
    };
    let weighing = if has_chains {
        Weighing::WithChildren
    } else {
        Weighing::Own
    };
    let wanted = WantedColumns {
        sums: Sum::ALL.to_vec(),
        ..WantedColumns::default()
    };
    TableOptions {
        columns: wanted.columns(keys, weighing),
        hierarchy: false,
        spans: true,
        events: EventTables::default(),
        graph: has_chains.then_some(graph),
        percent_limit: 0.0,
        limits_trees: false,
        is_filtered: false,
        percentage: Percentage::Absolute,
        time_slices: None,
        colors: false,
        layout: Layout::default(),
    }
}

/// Branches and accesses to memory, levels, groups, parents, lines and addresses in trees, tasks.
fn modes(reader: &Reader, root: &Path) -> Said {
    let (tasks, mut said) = load_tasks(reader, WantedMappings::All)?;
    write_tasks(&tasks, TaskDetail::Mappings, &mut io::sink())?;
    let modes = [
        (SortMode::Normal, NodeKey::Srcline, SortKey::DEFAULT),
        (SortMode::Normal, NodeKey::Address, SortKey::DEFAULT),
        (
            SortMode::Branch,
            NodeKey::Function,
            SortKey::DEFAULT_OF_BRANCHES,
        ),
        (
            SortMode::Memory,
            NodeKey::Function,
            SortKey::DEFAULT_OF_MEMORY,
        ),
    ];
    for (mode, nodes, keys) in modes {
        let keys = keys.iter().copied().filter(|&key| match key {
            SortKey::Dimension(one) => GroupBy::is_recorded(reader, one),
            _ => true,
        });
        let keys: Vec<SortKey> = keys
            .chain([SortKey::Dimension(Dimension::Parent)])
            .collect();
        let options = Options {
            stacks: mode != SortMode::Branch,
            mode,
            nodes,
            group_by: GroupBy::of(&SortKey::dimensions(&keys)),
            locator: locator(root),
            ..Options::default()
        };
        let mut profile = load(reader, &options, &mut |_| {})?;
        profile.find_parents(|name| name.len() > 4, Order::Caller, Others::Kept);
        let table = TableOptions {
            hierarchy: true,
            events: EventTables {
                sets: EventSets::All,
                sort_idx: 1,
                with_empty: true,
            },
            ..table(&keys, reader)
        };
        write_table(&profile, &table, &mut io::sink())?;
        write_csv(&profile, &table, &mut io::sink())?;
        let mut json = Vec::new();
        write_json(&profile, &table, &mut json)?;
        serde_json::from_slice::<Value>(&json).expect("a report is JSON");
        said.extend(profile.warnings);
    }
    Ok(said)
}

fn export(reader: &Reader, root: &Path) -> Said {
    let options = Options {
        locator: locator(root),
        ..Options::default()
    };
    let sampled = load_code_samples(reader, &options, CodeDetail::Fields, &mut |_| {})?;
    let mut json = Vec::new();
    Firefox.write(&sampled, &mut json)?;
    let firefox: Value = serde_json::from_slice(&json).expect("Firefox's profile is JSON");
    assert!(firefox["threads"].is_array());
    json.clear();
    let written = Speedscope.write(&sampled, &mut json);
    written?;
    let speedscope: Value = serde_json::from_slice(&json).expect("speedscope's profile is JSON");
    assert!(speedscope["profiles"].is_array());
    let stacks = load_counted_stacks(reader, &options, &mut |_| {})?;
    Pprof.write(&stacks, &mut io::sink())?;
    Callgrind.write(&stacks, &mut io::sink())?;
    Ok(sampled.profile.warnings)
}

const ALL_RECORDS: ShownRecords = ShownRecords {
    tasks: true,
    mappings: true,
    namespaces: true,
    cgroups: true,
    switches: true,
    lost: true,
    bpf: true,
    text_pokes: true,
    rounds: true,
};

fn script(reader: &Reader, root: &Path) -> Said {
    let options = ScriptOptions {
        filter: Filter::default(),
        fields: FieldSelection::default(),
        chains: true,
        inlines: true,
        stop_at: Vec::new(),
        keep_stacks: NameList::default(),
        nanoseconds: false,
        times: Default::default(),
        json: false,
        records: ALL_RECORDS,
        locator: locator(root),
        demangling: Demangling::default(),
    };
    let as_json = ScriptOptions {
        json: true,
        ..options.clone()
    };
    write_script(reader, &as_json, &mut |_| {}, &mut JsonLines::default())?;
    Ok(
        write_script(reader, &options, &mut |_| {}, &mut io::sink())?
            .profile
            .warnings,
    )
}

/// Takes lines, each of which must be JSON.
#[derive(Default)]
struct JsonLines {
    line: Vec<u8>,
}

impl Write for JsonLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let parsed = serde_json::from_slice::<Value>(&self.line);
                parsed.unwrap_or_else(|error| {
                    panic!("{error}: {}", String::from_utf8_lossy(&self.line))
                });
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        assert!(self.line.is_empty(), "a line without an end");
        Ok(())
    }
}

//! What is known of recordings from elsewhere than quipper: compressed ones, simpleperf's, one of
//! the other byte order, and those that a fuzzer made.

use crate::common::{corpus, rprof, run, scratch};
use crate::corpus::{dump, events, info, kinds, text};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

fn expected(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    let owned = counts.iter().map(|(name, n)| ((*name).to_owned(), *n));
    owned.collect()
}

/// Counted by a few lines of Python that walk the record headers and give the bodies of
/// COMPRESSED and COMPRESSED2 records to `zstd -dc`; for the pipe, `perf report -D` of perf 6.1
/// counts the same, and reads the other two not at all.
#[test]
fn compressed_records_are_unpacked_to_those_that_were_packed() {
    let Some(corpus) = corpus() else {
        return;
    };
    let dir = corpus.join("linux-perf-data");
    let sleep = [
        ("COMM", 2),
        ("CPU_MAP", 1),
        ("EVENT_UPDATE", 1),
        ("EXIT", 1),
        ("FINISHED_INIT", 1),
        ("FINISHED_ROUND", 1),
        ("ID_INDEX", 1),
        ("MMAP2", 4),
        ("SAMPLE", 7),
        ("THREAD_MAP", 1),
    ];
    for (name, is_compressed) in [("sleep.data", false), ("sleep.compressed2.data", true)] {
        let info = info(&dir.join(name));
        assert_eq!(kinds(&info), expected(&sleep), "{name}");
        assert_eq!(events(&info), expected(&[("cycles:Pu", 7)]), "{name}");
        assert_eq!(info["is_compressed"], is_compressed, "{name}");
        assert_eq!(info["warnings"], Value::Array(Vec::new()), "{name}");
    }
    let piped = [
        ("BPF_EVENT", 14),
        ("COMM", 2),
        ("CPU_MAP", 1),
        ("EVENT_UPDATE", 1),
        ("EXIT", 1),
        ("FINISHED_INIT", 1),
        ("FINISHED_ROUND", 1),
        ("HEADER_ATTR", 1),
        ("HEADER_FEATURE", 21),
        ("ID_INDEX", 1),
        ("KSYMBOL", 15),
        ("MMAP", 45),
        ("MMAP2", 4),
        ("SAMPLE", 8),
        ("THREAD_MAP", 1),
        ("TIME_CONV", 1),
    ];
    let info = info(&dir.join("sleep.compressed.pipe.data"));
    assert_eq!(kinds(&info), expected(&piped));
    assert_eq!(events(&info), expected(&[("cycles:P", 8)]));
    assert_eq!(info["warnings"], Value::Array(Vec::new()));
}

/// The two runs of `sleep 1` map and name the same things, in one order: only addresses, times
/// and numbers of processes differ.
#[test]
fn a_compressed_recording_tells_the_story_of_its_plain_twin() {
    let Some(corpus) = corpus() else {
        return;
    };
    let story = |name: &str| -> Vec<String> {
        let records = dump(&corpus.join("linux-perf-data").join(name));
        let records = records.iter().skip(1);
        // Where a sample falls, and where perf ends a round, is chance.
        let records = records
            .filter(|record| record["kind"] != "SAMPLE" && record["kind"] != "FINISHED_ROUND");
        let said = records.map(|record| {
            let fields = &record["fields"];
            let parts = ["kind", "misc", "size"].map(|name| record[name].to_string());
            let names = [
                "comm", "filename", "len", "pgoff", "maj", "min", "ino", "prot",
            ];
            let names = names.map(|name| fields[name].to_string());
            format!("{} {}", parts.join(" "), names.join(" "))
        });
        said.collect()
    };
    assert_eq!(story("sleep.compressed2.data"), story("sleep.data"));
}

/// A record without the places where the two files keep it.
fn without_place(mut record: Value) -> Value {
    if let Value::Object(fields) = &mut record {
        fields.remove("offset");
        fields.remove("byte_order");
    }
    record
}

#[test]
fn the_other_byte_order_changes_nothing() {
    let Some(corpus) = corpus() else {
        return;
    };
    let little = corpus.join("quipper/perf.data.singleprocess-3.8");
    let big = corpus.join("big-endian/perf.data.singleprocess-3.8.be");
    let records =
        |file: &Path| -> Vec<Value> { dump(file).into_iter().map(without_place).collect() };
    assert_eq!(records(&big), records(&little));
    assert_eq!(dump(&big)[0]["byte_order"], "big");
    for args in [&["report"][..], &["script"], &["flame", "--folded"]] {
        let print = |file: &Path| run(rprof(args).arg("-i").arg(file)).ok();
        let (big, little) = (print(&big), print(&little));
        assert_eq!((big.stdout, big.stderr), (little.stdout, little.stderr));
    }
    // A new file with names is in the same byte order.
    let dir = scratch();
    let named = dir.path().join("named.data");
    let mut embed = rprof(["symbols", "--embed", "-i"]);
    run(embed.arg(&big).arg("-o").arg(&named)).ok();
    assert_eq!(records(&named), records(&big));
    assert_eq!(dump(&named)[0]["byte_order"], "big");
    assert!(info(&named)["features"]["symbols"].is_object());
    let (mut big, mut little) = (info(&big), info(&little));
    // Whoever made the big one left out ids and three sections (they are not in the bits of its
    // header), so its records come earlier.
    let features = little["features"].as_object_mut().unwrap();
    for name in ["event_desc", "cpu_topology", "pmu_mappings"] {
        assert!(features.remove(name).is_some(), "{name}");
    }
    for info in [&mut big, &mut little] {
        let fields = info.as_object_mut().unwrap();
        fields.remove("byte_order");
        fields.remove("header");
    }
    assert_eq!(big, little);
}

#[test]
fn recordings_of_simpleperf_are_read_with_its_own_sections() {
    let Some(corpus) = corpus() else {
        return;
    };
    let dir = corpus.join("simpleperf");
    let two = info(&dir.join("perf_with_two_event_types.data"));
    // Its attrs leave guests in, hence the modifiers; simpleperf was told `cpu-cycles,cpu-clock`.
    assert_eq!(
        events(&two),
        expected(&[("cycles:HG", 8), ("cpu-clock:HG", 2)])
    );
    assert_eq!(two["warnings"], Value::Array(Vec::new()));
    let lbr = info(&dir.join("perf_lbr.data"));
    assert_eq!(events(&lbr), expected(&[("cpu-cycles:u", 19)]));
    assert_eq!(lbr["warnings"], Value::Array(Vec::new()));
    let meta = &lbr["features"]["simpleperf_meta_info"];
    let value = |key: &str| -> String {
        let entries = meta.as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["key"] == key).unwrap();
        text(&entry["value"])
    };
    assert_eq!(value("event_type_info"), "cpu-cycles,0,0");
    assert_eq!(value("clockid"), "monotonic");
    // What simpleperf counted while it recorded.
    assert!(value("record_stat").starts_with("sample_record_count=19,"));
    let files = lbr["features"]["simpleperf_file"].as_array().unwrap();
    let [file] = &files[..] else {
        panic!("{files:?}");
    };
    assert_eq!(file["path"], "/home/yabinc/lbr_test_loop");
    assert_eq!(file["symbols"][0]["name"], "main");
}

/// What simpleperf's own report of these files names, and no file of the phone is here.
#[test]
fn recordings_of_simpleperf_bring_their_names_along() {
    let Some(corpus) = corpus() else {
        return;
    };
    let dir = corpus.join("simpleperf");
    let script = |name: &str| {
        let ran = run(rprof(["script", "-F", "event,ip,sym,dso,trace", "-i"]).arg(dir.join(name)));
        let ran = ran.ok();
        // What the recording is worth, and no other complaint.
        assert!(
            ran.stderr.starts_with("rprof: quality: "),
            "{name}: {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("warning"), "{name}: {}", ran.stderr);
        ran.stdout
    };
    let switches = info(&dir.join("perf_with_tracepoint_event.data"));
    let counted = [("sched:sched_switch", 31), ("cpu-cycles", 14)];
    assert_eq!(events(&switches), expected(&counted));
    let text = script("perf_with_tracepoint_event.data");
    assert!(text.contains("prev_comm=sleep prev_pid=9896"), "{text}");
    assert!(
        text.contains("perf_event_exec ([kernel.kallsyms])"),
        "{text}"
    );
    let text = script("perf_with_jit_symbol.data");
    let unnamed = text.lines().filter(|line| line.contains("[unknown]"));
    let unnamed: Vec<_> = unnamed
        .filter(|line| !line.contains("[kernel.kallsyms]"))
        .collect();
    assert_eq!(unnamed, [""; 0]);
    for named in [
        "java.lang.Thread.run (/apex/com.android.art/javalib/core-oj.jar)",
        "java.lang.Thread.sleep (perf.data_jit_app_cache:15480-17544)",
    ] {
        assert!(text.contains(named), "{named}");
    }
    // Older than `file_offset_of_min_vaddr`: addresses count from where a file is mapped.
    let named = |text: &str, line: &str| text.lines().filter(|one| one.ends_with(line)).count();
    let text = script("perf_with_symbols.data");
    assert_eq!(named(&text, " main (/data/t2)"), 572);
    assert_eq!(named(&text, " func2 (/data/t2)"), 360);
    let text = script("perf_with_symbols_for_nonzero_minvaddr_dso.data");
    assert_eq!(named(&text, " memcpy (/system/lib64/libc.so)"), 316);
    assert_eq!(named(&text, "[unknown])"), 0);
    let text = script("two_process_perf.data");
    assert!(!text.contains("[unknown]") && !text.contains("\tfffffffffffff"));
}

#[test]
fn every_record_of_every_recording_is_whole_and_has_its_event() {
    let Some(corpus) = corpus() else {
        return;
    };
    for file in crate::corpus::recordings(&corpus) {
        let records = dump(&file);
        let counted: u64 = kinds(&info(&file)).iter().map(|(_, count)| count).sum();
        assert_eq!(records.len() as u64 - 1, counted, "{}", file.display());
        for record in &records[1..] {
            assert!(record["damaged"].is_null(), "{record}");
            assert!(!text(&record["kind"]).starts_with("kind_"), "{record}");
        }
    }
}

#[test]
fn what_fuzzers_found_ends_soon_with_an_error() {
    /// Far more than any of these small files needs.
    const LONG: Duration = Duration::from_secs(10);
    let Some(corpus) = corpus() else {
        return;
    };
    let files = std::fs::read_dir(corpus.join("malformed")).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 6);
    for file in files {
        for args in [
            &["report"][..],
            &["script"],
            &["dump"],
            &["dump", "--json"],
            &["info"],
            &["info", "--json"],
            &["flame", "--folded"],
        ] {
            let began = Instant::now();
            // None of these has an event to read records by.
            let error = run(rprof(args).arg("-i").arg(&file)).fails(1);
            assert!(error.starts_with("rprof: error: "), "{error}");
            assert!(began.elapsed() < LONG, "{args:?} {}", file.display());
        }
    }
}

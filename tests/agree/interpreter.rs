//! Frames that are no code: functions of an interpreter stand in call chains beside those of its program, all readers
//! name them, and perf reads the recording.

use super::made::{HOT, Made, PID, WORK};
use crate::common::{fixtures, needs, perf, rprof, run, scratch};
use rprof_abi::{
    Callchain, Encoder, Endian, Record, Sample, SampleId, SampleLayout, SampleType, context,
};
use rprof_perfdata::{FeatureId, SyntheticFunction, SyntheticIdentity, SyntheticImages};
use std::path::{Path, PathBuf};

/// Functions of the interpreter, outermost first.
const FUNCTIONS: [(&str, u32); 2] = [("<module>", 9), ("parse", 3)];

/// A program that works for `parse`, which `<module>` called, and `<module>` itself.
fn recorded(dir: &Path) -> PathBuf {
    let mut images = SyntheticImages::default();
    let toy = images.image(SyntheticIdentity::in_brackets(b"[toy]"));
    let toy = toy.unwrap();
    let [module, parse] = FUNCTIONS.map(|(name, line)| {
        let function = SyntheticFunction {
            name: name.as_bytes(),
            line: Some((b"toy.py", line)),
        };
        let frame = images.frame(None, function);
        images.address(toy, Some(frame)).unwrap().0
    });
    let mut made = Made::new(&[SampleType::CALLCHAIN]);
    let layout = SampleLayout::new(&made.attr, Endian::NATIVE);
    let id = SampleId {
        pid: Some(PID),
        tid: Some(PID),
        time_ns: Some(1),
        ..SampleId::default()
    };
    let (misc, mapping) = images.mapping(toy, PID).unwrap();
    Record::Mmap2(mapping)
        .encode(misc, &id, &layout, &mut made.sideband)
        .unwrap();
    let mut section = Vec::new();
    images
        .into_names()
        .encode(&mut Encoder::new(&mut section, Endian::NATIVE));
    made.features.push((FeatureId::SYMBOLS, section));
    let chain = |frames: &[u64]| {
        let entries = [context::USER].iter().chain(frames);
        entries
            .flat_map(|entry| entry.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    let chains = [
        chain(&[HOT + 4, parse, module, WORK + 8]),
        chain(&[parse, module, WORK + 8]),
        chain(&[module, WORK + 8]),
    ];
    let samples: Vec<Sample<'_>> = [(HOT + 4, 0), (parse, 1), (module, 2)]
        .map(|(ip, nth)| Sample {
            ip: Some(ip),
            period: Some(1000),
            callchain: Some(Callchain::from_encoded(&chains[nth], Endian::NATIVE)),
            ..Sample::default()
        })
        .to_vec();
    let file = dir.join("perf.data");
    made.write(&file, &samples);
    file
}

#[test]
fn functions_of_interpreters_are_frames_in_every_output() {
    let dir = scratch();
    let file = recorded(dir.path());
    let symfs = fixtures().join("spin/root");
    let read = |args: &[&str]| {
        let mut rprof = rprof(args);
        run(rprof.arg("-i").arg(&file).arg("--symfs").arg(&symfs))
            .ok()
            .stdout
    };
    let folded = read(&["flame", "--folded"]);
    let mut lines: Vec<&str> = folded.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "spin;work;<module> 1",
            "spin;work;<module>;parse 1",
            "spin;work;<module>;parse;hot 1",
        ],
        "{folded}"
    );
    let table = read(&["report", "--no-children", "-g", "none", "-s", "dso,sym"]);
    let has_row = |cells: &[&str]| {
        let is_row = |line: &str| cells.iter().all(|cell| line.contains(cell));
        table.lines().any(is_row)
    };
    assert!(has_row(&["33.33%", "[toy]", "parse"]), "{table}");
    assert!(has_row(&["33.33%", "[toy]", "<module>"]), "{table}");
    let lines = read(&["report", "--no-children", "-g", "none", "-s", "srcline"]);
    assert!(
        lines.contains("toy.py:3") && lines.contains("toy.py:9"),
        "{lines}"
    );
    let script = read(&["script", "-F", "ip,sym,dso"]);
    assert!(
        script.contains("parse+0x1 ([toy])") || script.contains("parse ([toy])"),
        "{script}"
    );
}

#[test]
fn perf_reads_recordings_with_functions_of_interpreters() {
    needs!(perf);
    let dir = scratch();
    let file = recorded(dir.path());
    let script = run(perf(["script", "-F", "ip,dso", "-i"]).arg(&file))
        .ok()
        .stdout;
    assert_eq!(script.matches("([toy])").count(), 5, "{script}");
}

//! Names with what terminals obey, in all places where others choose names: what is printed is as
//! many lines as with harmless names, and nothing but characters that can be seen.

use crate::common::{
    Ran, compile_c, copy_of_rprof, has, needs, records_all, rprof, run, scratch, tool, tracefs,
};
use crate::hostile::crafted::{Crafted, sample};
use rprof_abi::{Encoder, Endian, Misc, PerfEventAttr, Record, SampleType, event_type};
use rprof_perfdata::feature::{
    AddressName, EmbeddedNames, SymbolAddress, SymbolFrame, SymbolImage, TracingData,
    encode_string, encode_strings,
};
use rprof_perfdata::{FeatureId, WrittenEvent};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Sets a title, begins a line, turns the direction, hides; no slash, which would end a file's name.
const HOSTILE: &str = "a\x1b]0;b\x07\r\nrprof: forged\u{202e}d\u{200b}\u{9b}2Je";

/// The same as it is to be shown.
const SHOWN: &str = "a\\x1b]0;b\\x07\\x0d\\x0arprof: forged\\u{202e}d\\u{200b}\\x9b2Je";

/// What prints lines for people.
const LINES: [&[&str]; 14] = [
    &["report"],
    &["report", "--no-children", "--sort", "comm,pid,tid,dso,sym"],
    &["report", "--stats"],
    &["script"],
    &["script", "-F", "+srcline,+symoff,+dsoff,+addr,+misc"],
    &["script", "-F", "comm,event,trace"],
    &["flame"],
    &["flame", "--title", HOSTILE],
    &["flame", "--folded"],
    &["export", "--format", "folded"],
    &["symbols"],
    &["info"],
    &["dump"],
    // Fails, and says what events there are.
    &["flame", "--event", "none"],
];

/// What prints text that says where it ends.
const JSON: [&[&str]; 4] = [
    &["export", "--format", "json"],
    &["export", "--format", "speedscope"],
    &["info", "--json"],
    &["dump", "--json"],
];

/// Whether a terminal would obey it, or nobody would see it.
fn is_bad(c: char) -> bool {
    let is_hidden = matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() && !matches!(c, '\n' | '\t') || is_hidden
}

#[track_caller]
fn check(text: &str, way: &[&str]) {
    let bad = text.find(is_bad);
    assert_eq!(
        bad.map(|at| &text[at.saturating_sub(60)..]),
        None,
        "{way:?}"
    );
    let forged = text.lines().find(|line| line.starts_with("rprof: forged"));
    assert_eq!(forged, None, "{way:?}");
}

fn run_way(way: &[&str], file: &Path) -> Ran {
    run(rprof(way).arg("-i").arg(file))
}

/// A format of a tracepoint with one text, which also prints a word of its own.
fn tracepoint(word: &str) -> TracingData {
    let format = format!(
        "name: {word}\nID: 7\nformat:\n\
         \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
         \tfield:char text[120];\toffset:8;\tsize:120;\tsigned:0;\n\n\
         print fmt: \"{} text=%s\", REC->text\n",
        // A string of C.
        word.replace('\\', "\\\\")
    );
    TracingData {
        systems: vec![(word.to_owned(), vec![format.into_bytes()])],
        ..TracingData::default()
    }
}

/// A name and the inlined function in front of it, for the first bytes of a file.
fn symbols(path: &str, name: &str) -> EmbeddedNames {
    let frame = |caller| SymbolFrame {
        caller,
        name: 1,
        line: Some((1, 7)),
    };
    let address = |address| SymbolAddress {
        address,
        name: Some(AddressName {
            frame: 1,
            start: 0,
            offset: address,
        }),
    };
    let image = |path, reason, addresses| SymbolImage {
        path,
        reason,
        addresses,
        ..SymbolImage::default()
    };
    EmbeddedNames {
        strings: [path, name, "/other"]
            .map(|text| text.as_bytes().to_vec())
            .into(),
        frames: vec![frame(None), frame(Some(0))],
        images: vec![
            image(0, None, vec![address(0x10), address(0x20)]),
            image(2, Some(1), Vec::new()),
        ],
    }
}

/// A recording in which everything is called so.
fn recording(dir: &Path, name: &str) -> PathBuf {
    let mut crafted = Crafted::new(name);
    let attr = &crafted.events[0].attr;
    let attr = PerfEventAttr {
        kind: event_type::TRACEPOINT,
        config: 7,
        sample_type: attr.sample_type.with(SampleType::RAW),
        ..attr.clone()
    };
    crafted.events.push(WrittenEvent {
        name: format!("{name}:{name}"),
        attr,
        ids: vec![2],
    });
    let mut feature = |id, encode: &dyn Fn(&mut Encoder<'_>)| {
        let mut bytes = Vec::new();
        encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        crafted.features.push((id, bytes));
    };
    for id in [
        FeatureId::HOSTNAME,
        FeatureId::OSRELEASE,
        FeatureId::VERSION,
        FeatureId::ARCH,
        FeatureId::CPUDESC,
        FeatureId::CPUID,
    ] {
        feature(id, &|encoder| encode_string(name.as_bytes(), encoder));
    }
    let words = [name.as_bytes(), b"-x"];
    feature(FeatureId::CMDLINE, &|encoder| {
        encode_strings(words.into_iter(), encoder);
    });
    let path = format!("/usr/lib/{name}.so");
    feature(FeatureId::SYMBOLS, &|encoder| {
        symbols(&path, name).encode(encoder);
    });
    feature(FeatureId::TRACING_DATA, &|encoder| {
        tracepoint(name).encode(encoder);
    });
    crafted.comm(name.as_bytes());
    crafted.map(path.as_bytes(), 0x1000, 0x1000);
    crafted.map(b"/other", 0x4000, 0x1000);
    for ip in [0x1010, 0x1020, 0x4010, 0x9000] {
        crafted.sample(ip);
    }
    let mut raw = vec![7, 0, 0, 0, 0, 0, 0, 0];
    raw.extend(name.as_bytes());
    raw.resize(8 + 120, 0);
    let traced = rprof_abi::Sample {
        // Four bytes of length come before it.
        raw: Some(&raw[..124]),
        ..sample(0x1010)
    };
    crafted.add_of(1, Misc::USER, &Record::Sample(Box::new(traced)));
    let file = dir.join(format!("{HOSTILE}.data"));
    crafted.write(&file);
    file
}

#[test]
fn names_in_recordings_are_shown_and_forge_no_lines() {
    let (one, other) = (scratch(), scratch());
    let hostile = recording(one.path(), HOSTILE);
    let harmless = recording(other.path(), SHOWN);
    for way in LINES {
        let (ran, twin) = (run_way(way, &hostile), run_way(way, &harmless));
        for (text, twin) in [(&ran.stdout, &twin.stdout), (&ran.stderr, &twin.stderr)] {
            check(text, way);
            assert_eq!(
                text.lines().count(),
                twin.lines().count(),
                "{way:?}\n{text}\n{twin}"
            );
        }
        // Where nothing tells of bytes, they are the same.
        if !matches!(way[0], "info" | "dump") && ran.status.success() {
            assert_eq!(ran.stdout, twin.stdout, "{way:?}");
        }
    }
    let script = run_way(&["script"], &hostile).ok().stdout;
    assert!(
        script.contains(&format!("{SHOWN} text={SHOWN}")),
        "{script}"
    );
    for way in JSON {
        let ran = run_way(way, &hostile).ok();
        check(&ran.stderr, way);
        let bad = |c: char| c.is_control() && c != '\n' && !matches!(c, '\u{7f}'..='\u{9f}');
        assert_eq!(ran.stdout.find(bad), None, "{way:?}");
    }
}

#[test]
fn pictures_are_well_formed_whatever_things_are_called() {
    let dir = scratch();
    let file = recording(dir.path(), "<&\"'>]]>\x01\u{fffe}\u{ffff}\x1b");
    for title in ["<&\"\x01\u{ffff}", ""] {
        let picture = run_way(&["flame", "--title", title], &file).ok().stdout;
        let is_allowed =
            |c: char| !matches!(c, '\0'..'\x20' | '\u{fffe}' | '\u{ffff}') || c == '\n';
        assert_eq!(picture.find(|c| !is_allowed(c)), None);
        if has("python3", "python3") {
            let path = dir.path().join("flame.svg");
            std::fs::write(&path, picture).unwrap();
            let parse = "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])";
            run(tool("python3").args(["-c", parse]).arg(&path)).ok();
        }
    }
}

/// Another user's process, which calls itself something.
const PROGRAM: &str = r#"
#include <sys/prctl.h>
int main(void) {
    prctl(PR_SET_NAME, "\033]0;x\007\n\xe2\x80\xaey");
    WORK(200, ; );
    return 0;
}
"#;

#[test]
fn another_users_process_that_calls_itself_something_forges_no_line_of_roots() {
    needs!(alone);
    let (true, Some(tracefs), true, true) = (
        records_all(),
        tracefs(),
        has("setpriv", "util-linux"),
        has("cc", "gcc"),
    ) else {
        return;
    };
    let dir = scratch();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(dir.path(), everybody).unwrap();
    let program = compile_c(dir.path(), "program", PROGRAM);
    let rprof_here = copy_of_rprof(dir.path());
    let file = dir.path().join("perf.data");
    let mut record = tool(rprof_here);
    record
        .args(["record", "-e", "task:task_rename,cpu-clock", "-o"])
        .arg(&file)
        .args([
            "--",
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ])
        .arg(&program);
    let ran = run(&mut tracefs.within(&record)).ok();
    check(&ran.stderr, &["record"]);
    for way in LINES {
        let ran = run_way(way, &file);
        check(&ran.stdout, way);
        check(&ran.stderr, way);
    }
    let shown = "\\x1b]0;x\\x07\\x0a\\u{202e}y";
    for way in [&["script"][..], &["report", "--sort", "comm"]] {
        let stdout = run_way(way, &file).ok().stdout;
        assert!(stdout.contains(shown), "{way:?}\n{stdout}");
    }
    let script = run_way(&["script"], &file).ok().stdout;
    assert!(script.contains(&format!("newcomm={shown}")), "{script}");
}

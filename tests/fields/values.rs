//! Values of fields are perf's.

use crate::common::nobody::Nobody;
use crate::common::{compile, needs, rprof, run, scratch};
use crate::fields::{both, info, ours, perf_script, perfs};
use std::path::{Path, PathBuf};

/// Touches 64 pages, always the same ones.
const PAGES: &str = r#"
    static char pages[64 * 4096 + 4096];
    int main(void) {
        for (int i = 0; i < 64; i++) ((volatile char *)pages)[(i + 1) * 4096] = 1;
        return 0;
    }"#;

/// The program, and where its pages begin.
fn program(dir: &Path) -> (PathBuf, u64) {
    let program = dir.join("program");
    compile(&program, PAGES, &["-O1", "-no-pie", "-static"]);
    let symbols = run(crate::common::tool("nm").arg(&program)).ok().stdout;
    let line = symbols.lines().find(|line| line.ends_with(" pages"));
    let start = line.unwrap().split(' ').next().unwrap();
    (program, u64::from_str_radix(start, 16).unwrap())
}

/// The lines whose third word is an address of the pages.
fn of_pages(lines: Vec<String>, start: u64) -> Vec<String> {
    let is_in = |line: &String| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| !word.ends_with(':'));
        let addr = words
            .nth(1)
            .and_then(|word| u64::from_str_radix(word, 16).ok());
        addr.is_some_and(|addr| (start..start + 65 * 4096).contains(&addr))
    };
    lines.into_iter().filter(is_in).collect()
}

#[test]
fn addresses_registers_and_sizes_of_page_faults_are_perfs_however_stacks_are_recorded() {
    needs!(cc, "nm" in "binutils");
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let (program, start) = program(dir.path());
    let command = [program.to_str().unwrap()];
    let fields = "-e page-faults:u -c 1 -d -W -R --data-page-size --code-page-size \
                  --transaction --intr-regs=ip,cs --user-regs=ip,ss";
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let printed = "comm,event,addr,ip,data_src,weight,iregs,uregs,data_page_size,code_page_size";
    let of_perf = perfs(dir.path(), &fields, &command);
    let expected = of_pages(perf_script(&of_perf, printed), start);
    assert_eq!(expected.len(), 64, "{expected:#?}");
    for stacks in [
        "--call-graph none",
        "--call-graph fp",
        "--call-graph auto",
        "--call-graph dwarf,1024",
        "--call-graph dwarf,1024 --post-unwind",
    ] {
        let flags: Vec<&str> = stacks.split(' ').chain(fields.iter().copied()).collect();
        let recording = ours(dir.path(), &flags, &command);
        let lines = of_pages(perf_script(&recording, printed), start);
        let mut lines = lines;
        if stacks.ends_with("--post-unwind") {
            // To unwind later takes all registers, which perf prints, too.
            let without = |line: &String| line.split(" ABI:").next().unwrap().to_owned();
            let expected: Vec<String> = expected.iter().map(without).collect();
            lines = lines.iter().map(without).collect();
            assert_eq!(lines, expected, "{stacks}");
            continue;
        }
        assert_eq!(lines, expected, "{stacks}");
    }
}

#[test]
fn physical_addresses_are_recorded_where_that_is_allowed_and_else_left_out_aloud() {
    let Some(_live) = both() else {
        return;
    };
    let flags = ["-e", "page-faults:u", "-c", "1", "-d", "--phys-data"];
    if crate::common::is_root() {
        let dir = scratch();
        let recording = ours(dir.path(), &flags, &["true"]);
        let lines = perf_script(&recording, "phys_addr");
        assert!(lines.iter().any(|line| line.trim() != "0"), "{lines:?}");
    }
    let Some(nobody) = Nobody::new() else {
        return;
    };
    let ran = run(nobody.rprof(&["record"]).args(flags).arg("true")).ok();
    assert!(ran.stderr.contains("physical addresses"), "{}", ran.stderr);
    let read = run(&mut nobody.rprof(&["info", "--json"])).ok();
    assert!(!read.stdout.contains("PHYS_ADDR") && read.stdout.contains("ADDR"));
}

#[test]
fn mappings_of_data_come_with_their_addresses() {
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let flags = ["-e", "page-faults:u", "-c", "1"];
    let mappings = |flags: &[&str]| {
        let info = info(&ours(dir.path(), flags, &["true"]));
        info["records"]["kinds"].to_string()
    };
    let (without, with) = (mappings(&flags), mappings(&[&flags[..], &["-d"]].concat()));
    assert_ne!(without, with);
}

#[test]
fn registers_are_listed_and_unknown_ones_are_refused() {
    for flag in ["--user-regs=?", "--intr-regs=?", "-I=?"] {
        let ran = run(&mut rprof(["record", flag])).ok();
        assert!(!ran.stdout.trim().is_empty() && ran.stderr.is_empty());
    }
    let error = run(&mut rprof(["record", "--user-regs=nosuch", "true"])).fails(2);
    assert!(error.contains("nosuch"), "{error}");
}

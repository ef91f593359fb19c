//! One recording, and all that is compared of it: tables by keys, trees and filters, each the same way for every
//! recording ([`super::sources`] has them).

use super::filters::{LEAST, Row, rows_from};
use super::meant::{NEAR_LEAST, is_of_callers, take_joined, take_named, take_near};
use super::sums::{wrong_children, wrong_nodes, wrong_sums};
use super::{common, trees};
use common::{rprof, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A recording that both tools read.
pub(super) struct Crossed {
    file: PathBuf,
    /// What rows are by where keys are not what is compared.
    by: &'static str,
    /// Names as they are in the files: perf leaves out what tells functions of Rust apart.
    is_mangled: bool,
    n_tables: usize,
    n_rows: usize,
    n_trees: usize,
    wrong: Vec<String>,
}

impl Crossed {
    pub(super) fn new(file: &Path, by: &'static str) -> Self {
        Self {
            file: file.to_owned(),
            by,
            is_mangled: false,
            n_tables: 0,
            n_rows: 0,
            n_trees: 0,
            wrong: Vec::new(),
        }
    }

    /// The same with names as they are in the files.
    pub(super) fn mangled(mut self) -> Self {
        self.is_mangled = true;
        self
    }

    fn names(&self) -> &'static [&'static str] {
        if self.is_mangled {
            &["--no-demangle"]
        } else {
            &[]
        }
    }

    /// Both tools' reports, ours first.
    fn both(&self, args: &[&str]) -> [String; 2] {
        let report = [&["report", "--stdio", "--no-inline"], self.names()].concat();
        let read = |tool: &mut Command| run(tool.arg("-i").arg(&self.file)).ok().stdout;
        // perf's key pid is of threads.
        let own = |arg: &&str| match arg.strip_prefix("pid") {
            Some(more) if more.is_empty() || more.starts_with(',') => format!("tid{more}"),
            _ => (*arg).to_owned(),
        };
        // Without a limit of lines, which perf has not.
        let ours = read(
            rprof(&report)
                .args(["-q", "--no-fde"])
                .args(args.iter().map(own)),
        );
        [ours, read(common::perf(report).args(args))]
    }

    /// Compares rows that are not meant to differ. All that is wrong is shown at the end.
    fn compare(&mut self, args: &[&str]) -> usize {
        let has_callers = args.contains(&"--children");
        let is_near = args.contains(&"-U");
        let least = if is_near { NEAR_LEAST } else { LEAST };
        let [mut ours, mut theirs] = self.both(args).map(|table| {
            let mut rows = rows_from(&table, 0.0);
            rows.retain(|row| !has_callers || !is_of_callers(row));
            rows
        });
        let is_large = |row: &Row| row.0.parse::<f64>().unwrap() >= least;
        let n_rows = theirs.iter().filter(|row| is_large(row)).count();
        take_named(&mut ours, &mut theirs);
        take_joined(&mut ours, &mut theirs);
        ours.retain(is_large);
        theirs.retain(is_large);
        if is_near {
            take_near(&mut ours, &mut theirs);
        }
        if ours.is_empty() && theirs.is_empty() {
            self.n_tables += 1;
            self.n_rows += n_rows;
        } else {
            let line = |tool, (share, cells): &Row| format!("  {tool} {share}% {cells}");
            let own = ours.iter().map(|row| line("ours", row));
            let all = own.chain(theirs.iter().map(|row| line("perf", row)));
            let all = all.collect::<Vec<_>>().join("\n");
            self.wrong.push(format!("{}\n{all}", args.join(" ")));
        }
        n_rows
    }

    /// Tables by each of these keys.
    pub(super) fn keys(&mut self, keys: &[&str]) {
        for key in keys {
            let n_rows = self.compare(&["--no-children", "-g", "none", "-s", key]);
            assert!(n_rows > 0, "{key}: perf has no rows");
        }
    }

    /// Tables with these columns.
    pub(super) fn fields(&mut self, fields: &[&[&str]]) {
        for fields in fields {
            self.compare(&[&["--no-children", "-g", "none"], *fields].concat());
        }
    }

    /// Tables of callers, and trees that are written in each of these ways.
    pub(super) fn trees(&mut self, words: &[&'static str]) {
        if !self.has_chains() {
            return;
        }
        self.compare(&[&["--children", "-g", "none"][..], &["-s", self.by]].concat());
        for way in trees::ways(words) {
            let way = [&way.each_ref().map(String::as_str)[..], &["-s", self.by]].concat();
            let [ours, theirs] = self.both(&way);
            let compared = trees::compared(&ours, &theirs);
            self.n_trees += compared.n_same;
            for (row, own, tree) in compared.wrong {
                let only = [only(&own, &tree, "ours"), only(&tree, &own, "perf")].concat();
                let (way, only) = (way.join(" "), only.join("\n"));
                self.wrong.push(format!("{way}: {row}\n{only}"));
            }
        }
    }

    /// Tables of what filters leave, of all samples and of those.
    pub(super) fn filters(&mut self, percentages: &[&str]) {
        for filter in self.all_filters() {
            let filter: Vec<&str> = filter.iter().map(String::as_str).collect();
            let ids = matches!(filter[0], "--pid" | "--tid");
            let keys = ["-s", if ids { "pid,dso" } else { self.by }];
            for percentage in percentages {
                let flat = ["--no-children", "-g", "none", "--percentage", percentage];
                self.compare(&[&filter[..], &flat, &keys].concat());
            }
        }
    }

    /// Tables without what has no name.
    pub(super) fn named(&mut self) {
        for percentage in ["absolute", "relative"] {
            let flat = [
                "--no-children",
                "-g",
                "none",
                "-U",
                "--percentage",
                percentage,
            ];
            self.compare(&[&flat[..], &["-s", self.by]].concat());
        }
    }

    /// Our percentages alone: they sum to what they claim.
    pub(super) fn sums(&mut self) {
        let comms = self
            .top("comm")
            .first()
            .map_or("*".to_owned(), Clone::clone);
        let report = |args: &[&str]| {
            let mut rprof = rprof(["report", "-s", self.by, "--percentage", "relative", "-i"]);
            run(rprof.arg(&self.file).args(args)).ok().stdout
        };
        let flat = ["--no-children", "-g", "none"];
        let mut wrong = Vec::new();
        for more in [
            &[][..],
            &["--percent-limit", "1"],
            &["--percent-limit", "7"],
            &[
                "-c",
                comms.split(",*").next().unwrap_or("*"),
                "--percent-limit",
                "3",
            ],
            &["--limit", "2"],
        ] {
            wrong.extend(wrong_sums(&report(&[&flat, more].concat())));
        }
        let orders: &[&str] = if self.has_chains() {
            &["caller", "callee"]
        } else {
            &[]
        };
        for order in orders {
            wrong.extend(wrong_children(&report(&["--children", "-g", "none"])));
            let json = ["--format", "json", "--children", "-g", order];
            wrong.extend(wrong_nodes(&report(&json)));
        }
        self.wrong.extend(wrong);
    }

    /// Whether there are trees: without chains of callers, asking for them is an error.
    fn has_chains(&self) -> bool {
        let report = rprof(["report", "-g", "caller", "-i"])
            .arg(&self.file)
            .output();
        report.unwrap().status.success()
    }

    /// Each filter, by names and ids of the recording.
    fn all_filters(&self) -> Vec<Vec<String>> {
        let [comms, dsos, symbols, tasks] = ["comm", "dso", "sym", "tid"].map(|key| self.top(key));
        let mut filters: Vec<Vec<String>> = Vec::new();
        let mut add = |words: &[&str]| {
            filters.push(words.iter().map(|&word| word.to_owned()).collect());
        };
        // perf leaves out the column of which there is one value: all lists have two.
        // perf filters functions by rows.
        let symbols = if self.by.contains("sym") {
            symbols
        } else {
            Vec::new()
        };
        for (flag, names) in [("-c", &comms), ("-d", &dsos), ("-S", &symbols)] {
            for name in names {
                add(&[flag, &format!("{name},none")]);
            }
            if let [first, .., last] = &names[..] {
                add(&[flag, &format!("{first},{last}")]);
            }
        }
        if let ([comm, ..], [dso, ..]) = (&comms[..], &dsos[..]) {
            add(&["-c", &format!("{comm},none"), "-d", &format!("{dso},none")]);
        }
        if let [symbol, ..] = &symbols[..] {
            if self.has_one_event() {
                add(&[&format!("--symbol-filter={}", &symbol[1..])]);
            }
            add(&["-x", "-p", symbol]);
        }
        if let [task, ..] = &tasks[..] {
            add(&["--tid", task.split(':').next().unwrap_or(task)]);
        }
        if self.has_times() {
            for time in ["10%/2", "20%-70%", "0%-33%,50%-90%"] {
                add(&["--time", time]);
            }
        }
        add(&["--percent-limit", "5"]);
        if self.reads(&["-s", "cpu"]) {
            add(&["-C", "0"]);
            add(&["-C", "0-1"]);
        }
        filters
    }

    /// Whether the recording says when its samples were taken: perf refuses shares of the time without.
    fn has_times(&self) -> bool {
        let header = common::perf(["report", "--header-only", "-i"])
            .arg(&self.file)
            .output();
        let header = String::from_utf8_lossy(&header.unwrap().stdout).into_owned();
        let first = header.split_once("# time of first sample : ");
        first.is_some_and(|(_, time)| !time.starts_with("0.000000"))
    }

    /// Whether there is something to be shown so.
    fn reads(&self, args: &[&str]) -> bool {
        let report = ["report", "--no-children", "-g", "none", "-i"];
        run(rprof(report).arg(&self.file).args(args))
            .status
            .success()
    }

    /// perf filters by parts of names only what the first event has.
    fn has_one_event(&self) -> bool {
        let events = super::perf(&["evlist"], &self.file).stdout;
        events.lines().filter(|line| !line.starts_with('#')).count() == 1
    }

    /// Up to two names that have most, among those that a list of names can have.
    fn top(&self, key: &str) -> Vec<String> {
        let report = [
            "report",
            "--no-children",
            "-g",
            "none",
            "-q",
            "--no-inline",
            "-s",
            key,
            "-i",
        ];
        let report = run(rprof(report).arg(&self.file).args(self.names())).ok();
        let table = report.stdout;
        let names = table.lines().filter_map(|line| line.split_once("%  "));
        let names = names.map(|(_, cell)| cell.trim().trim_start_matches("[.] "));
        let names = names.map(|cell| cell.trim_start_matches("[k] "));
        let is_plain = |name: &&str| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || "_.:-[]".contains(c);
            name.len() > 1
                && !name.contains("0x")
                && name.chars().all(is_word)
                && *name != "[unknown]"
        };
        let mut names: Vec<String> = names.filter(is_plain).map(str::to_owned).collect();
        names.truncate(9);
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(name.clone());
                true
            }
        });
        names.truncate(2);
        names
    }

    /// Says what was compared; fails if anything was not the same.
    #[track_caller]
    pub(super) fn finish(self, name: &str, least: [usize; 2]) {
        let Self {
            n_tables,
            n_rows,
            n_trees,
            ..
        } = self;
        println!("{name}: {n_tables} tables, {n_rows} rows, {n_trees} trees are the same");
        assert!(self.wrong.is_empty(), "{name}:\n{}", self.wrong.join("\n"));
        assert!(n_tables >= least[0] && n_trees >= least[1]);
    }
}

/// Lines that others do not have.
fn only(lines: &[String], others: &[String], tool: &str) -> Vec<String> {
    let lines = lines.iter().filter(|line| !others.contains(line));
    lines.map(|line| format!("  {tool} {line}")).collect()
}

//! What `rprof diff` finds: slowdowns that were planted into one of 30 functions, and none where nothing changed.
//!
//! Runs of all variants are recorded in turns; sides are drawn from them, from a fixed seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use super::workloads::{Bench, compile};
use crate::command::{self, captured};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Recordings of each variant.
    pub(super) runs: usize,
    /// How long each takes, about.
    pub(super) seconds: f64,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            runs: 40,
            seconds: 2.0,
        }
    }
}

/// Percent by which a function is slower.
const PLANTED: [u32; 5] = [0, 1, 2, 5, 10];
/// Recordings a side.
const SIDES: [usize; 3] = [1, 5, 10];
/// Pairs of the same.
const SAME: usize = 200;
/// Pairs of each slowdown.
const PAIRS: usize = 50;
/// The function that is slower: one of the middle.
const SLOW: usize = 17;
/// How often samples are taken, a second.
const FREQUENCY: &str = "20000";
/// By what is compared (`--per`).
const MEASURES: [&str; 2] = ["run", "event"];

pub(super) fn run(bench: &Bench, size: Size) -> Result<()> {
    let program = program(bench)?;
    let rounds = rounds(&program, size.seconds)?;
    let pool = record(bench, &program, rounds, size)?;
    println!(
        "\n## what diff finds: 30 functions, {} runs of each variant, {:.1} s, {FREQUENCY} samples a second\n",
        size.runs, size.seconds
    );
    println!("| pairs | planted | runs a side | --per | found | others marked |");
    println!("|---|---:|---:|---|---:|---:|");
    let mut draws = Draws(1);
    let base = pool.first().context("no runs")?;
    for (percent, variant) in PLANTED.iter().zip(&pool) {
        let n_pairs = if *percent == 0 { SAME } else { PAIRS };
        for n_runs in SIDES {
            if 2 * n_runs > size.runs {
                continue;
            }
            let pairs = (0..n_pairs).map(|_| draws.sides(base, variant, n_runs));
            let pairs: Vec<Sides> = pairs.collect();
            for measure in MEASURES {
                let (found, others) = count(bench, &pairs, (measure, *percent == 0))?;
                let found = match percent {
                    0 => String::new(),
                    _ => format!("{found}"),
                };
                println!("| {n_pairs} | {percent} % | {n_runs} | {measure} | {found} | {others} |");
            }
        }
    }
    perf(bench, &pool, &mut draws)
}

/// Recordings before and after.
type Sides = (Vec<PathBuf>, Vec<PathBuf>);

/// In how many pairs the slow function is marked, and in how many anything else.
fn count(bench: &Bench, pairs: &[Sides], how: (&str, bool)) -> Result<(usize, usize)> {
    let (first, second) = pairs.split_at(pairs.len() / 2);
    let half = |pairs: &[Sides]| -> Result<(usize, usize)> {
        let (mut found, mut others) = (0, 0);
        for pair in pairs {
            let marked = marked(bench, pair, how)?;
            found += usize::from(marked.slow);
            others += usize::from(marked.others);
        }
        Ok((found, others))
    };
    // One a CPU: what is found does not depend on how long it takes.
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| half(second));
        (half(first), other.join())
    });
    let (one, other) = (one?, other.map_err(|_| anyhow!("a thread panicked"))??);
    Ok((one.0 + other.0, one.1 + other.1))
}

/// What perf diff has as its first row, of one run a side: it has no other word on what is noise.
fn perf(bench: &Bench, pool: &[Vec<PathBuf>], draws: &mut Draws) -> Result<()> {
    println!(
        "\n| pairs | planted | perf diff: first row is it | its Delta, median | largest Delta of others, median |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (percent, variant) in PLANTED.iter().zip(pool) {
        let base = pool.first().context("no runs")?;
        let (mut first, mut own, mut others) = (0, Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let (before, after) = draws.sides(base, variant, 1);
            let mut perf = bench.perf();
            perf.args(["diff", "-f", "-q", "-t", "|"])
                .args(before)
                .args(after);
            let rows = captured(&mut perf)?;
            let rows = rows.lines().filter_map(delta).collect::<Vec<_>>();
            let slow = format!("f{SLOW:02}");
            first += usize::from(rows.first().is_some_and(|(symbol, _)| *symbol == slow));
            let of = |is_slow: bool| {
                let deltas = rows
                    .iter()
                    .filter(|(symbol, _)| (*symbol == slow) == is_slow);
                deltas.map(|(_, delta)| delta.abs()).fold(0.0, f64::max)
            };
            own.push(of(true));
            others.push(of(false));
        }
        let (own, others) = (middle(own), middle(others));
        println!("| {PAIRS} | {percent} % | {first} | {own:.2} % | {others:.2} % |");
    }
    Ok(())
}

/// A row of perf diff: the symbol, and the difference in percent.
fn delta(line: &str) -> Option<(&str, f64)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let delta = cells.get(1)?.trim_end_matches('%').parse().ok()?;
    let symbol = cells.last()?.rsplit(' ').next()?;
    Some((symbol, delta))
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// What of a comparison is marked.
struct Marked {
    slow: bool,
    /// What should not be: of the same, anything.
    others: bool,
}

fn marked(
    bench: &Bench,
    (before, after): &Sides,
    (measure, is_same): (&str, bool),
) -> Result<Marked> {
    let mut rprof = bench.rprof(&["diff", "--format", "json", "--per", measure]);
    rprof.args(before).arg("--").args(after);
    let json: Value = serde_json::from_str(&captured(&mut rprof)?).context("reading JSON")?;
    let is_sure = |estimate: &Value| estimate["is_sure"] == true;
    let mut marked = Marked {
        slow: false,
        others: is_same && is_sure(&json["events"][0]["total"]),
    };
    for row in json["events"][0]["rows"].as_array().into_iter().flatten() {
        let symbol = row["sym"].as_str().unwrap_or_default();
        let symbol = symbol.rsplit(' ').next().unwrap_or_default();
        let is_it = is_sure(&row["own"]) || (is_same && is_sure(&row["children"]));
        if symbol == format!("f{SLOW:02}") && !is_same {
            marked.slow |= is_it;
        } else {
            marked.others |= is_it;
        }
    }
    Ok(marked)
}

/// Draws sides: the same each time.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }

    /// Different runs before and after; of the same variant, too.
    fn sides(&mut self, base: &[PathBuf], other: &[PathBuf], n: usize) -> Sides {
        let before = self.pick(base.to_vec(), n);
        let left = other.iter().filter(|path| !before.contains(path)).cloned();
        let after = self.pick(left.collect(), n);
        (before, after)
    }

    fn pick(&mut self, mut from: Vec<PathBuf>, n: usize) -> Vec<PathBuf> {
        let n = n.min(from.len());
        (0..n)
            .map(|_| from.swap_remove(self.below(from.len())))
            .collect()
    }
}

/// 30 functions: the first word is how many rounds, the second by how many percent one is slower.
fn program(bench: &Bench) -> Result<PathBuf> {
    let source = bench.file("functions.c");
    let mut text = String::from(
        "#include <stdlib.h>\nstatic volatile unsigned long sink;\n\
         #define WORK(name) __attribute__((noinline)) void name(unsigned long n) \\\n\
         { for (unsigned long i = 0; i < n; i++) sink += i; }\n",
    );
    let mut calls = String::new();
    for function in 0..30 {
        text += &format!("WORK(f{function:02})\n");
        let work = 20_000 * (1 + function % 5);
        calls += &if function == SLOW {
            format!("f{function:02}({work} / 100 * slow);\n")
        } else {
            format!("f{function:02}({work});\n")
        };
    }
    text += &format!(
        "int main(int n, char **words) {{ if (n < 3) return 2;\n\
         unsigned long rounds = atol(words[1]), slow = 100 + atol(words[2]);\n\
         for (unsigned long i = 0; i < rounds; i++) {{\n{calls}}}\nreturn 0; }}\n"
    );
    fs::write(&source, text).context("writing functions.c")?;
    let program = bench.file("functions");
    let flags = ["-O1", "-g", "-fno-omit-frame-pointer"];
    compile("cc", &flags, &source, &program)?;
    Ok(program)
}

/// How many rounds take so long.
fn rounds(program: &Path, seconds: f64) -> Result<u64> {
    let start = Instant::now();
    command::run(Command::new(program).args(["100", "0"]))?;
    let rounds = 100.0 * seconds / start.elapsed().as_secs_f64();
    ensure!(rounds.is_finite(), "the program takes no time");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few thousand"
    )]
    Ok((rounds as u64).max(1))
}

/// Recordings of all variants, in turns.
fn record(bench: &Bench, program: &Path, rounds: u64, size: Size) -> Result<Vec<Vec<PathBuf>>> {
    let folder = bench.file("diff");
    fs::create_dir_all(&folder).context("making a folder for recordings")?;
    let mut pool = vec![Vec::new(); PLANTED.len()];
    for run in 0..size.runs {
        for (percent, runs) in PLANTED.iter().zip(&mut pool) {
            let file = folder.join(format!("slow{percent}.{run}.data"));
            let mut rprof = bench.rprof(&["record", "-q", "-e", "cpu-clock:u", "-F", FREQUENCY]);
            rprof
                .args(["--call-graph", "fp", "-o"])
                .arg(&file)
                .arg("--")
                .arg(program);
            rprof.args([rounds.to_string(), percent.to_string()]);
            command::run(&mut rprof)?;
            runs.push(file);
        }
    }
    Ok(pool)
}

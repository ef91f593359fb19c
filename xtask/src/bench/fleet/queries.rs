//! Engines that are asked, and what their answers take.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::Path;

use crate::command::{captured, command, root};

/// Seconds of each query, by its name.
pub(super) type Times = Vec<(String, f64)>;

/// Queries that are measured.
const QUERIES: [&str; 4] = [
    "top_functions",
    "top_functions_with_children",
    "cores_by_function",
    "losses_by_machine",
];

/// An engine that is installed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Engine {
    name: &'static str,
    module: &'static str,
}

const ENGINES: [Engine; 2] = [
    Engine {
        name: "duckdb",
        module: "duckdb",
    },
    Engine {
        name: "spark",
        module: "pyspark",
    },
];

/// What is asked for.
pub(super) enum Window {
    All,
    /// A day, by a condition on `date` in the query.
    Condition(String),
    /// A day, by the paths of the views.
    Paths(String),
}

impl Window {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::All => "nothing",
            Self::Condition(_) => "condition",
            Self::Paths(_) => "paths",
        }
    }
}

impl Engine {
    /// Those that Python finds.
    pub(super) fn found() -> Result<Vec<Self>> {
        let finds = |engine: &Self| {
            let import = format!("import {}", engine.module);
            captured(command("python3").args(["-c", &import])).is_ok()
        };
        let found: Vec<Self> = ENGINES.into_iter().filter(finds).collect();
        if found.is_empty() {
            bail!(
                "no engine: pip install -r tests/export/requirements.txt, and put its python3 into PATH"
            );
        }
        Ok(found)
    }

    pub(super) fn name(self) -> &'static str {
        self.name
    }

    /// Asks all queries, and the first of them once more before: engines start with that. Times are medians.
    pub(super) fn ask(self, folder: &Path, window: &Window) -> Result<Times> {
        let mut statements = self.views(window)?;
        let round = QUERIES.repeat(ROUNDS);
        let names = [&QUERIES[..1], &round[..]].concat();
        for name in &names {
            let mut query = read(&format!("{name}.sql"))?;
            if let Window::Condition(date) = window {
                let narrow = format!("FROM samples WHERE date = '{date}'\n");
                query = query.replace("FROM samples\n", &narrow);
            }
            statements.push(query.trim_end().trim_end_matches(';').to_owned());
        }
        let answer = self.answer(folder, &statements, &["--times"])?;
        let seconds: Result<Vec<f64>, _> = answer.lines().map(str::parse).collect();
        let seconds = seconds?;
        let medians = QUERIES.iter().enumerate().map(|(number, name)| {
            let rounds = seconds.iter().skip(1 + number).step_by(QUERIES.len());
            let mut rounds: Vec<f64> = rounds.copied().collect();
            rounds.sort_by(f64::total_cmp);
            let median = rounds.get(rounds.len() / 2).copied();
            Ok(((*name).to_owned(), median.context("no answer")?))
        });
        medians.collect()
    }

    /// How many different stacks there are.
    pub(super) fn stacks(self, folder: &Path) -> Result<String> {
        let mut statements = self.views(&Window::All)?;
        statements.push("SELECT count(*) FROM stacks".to_owned());
        let answer = self.answer(folder, &statements, &[])?;
        let digits = |sign: char| !sign.is_ascii_digit();
        Ok(answer.trim().trim_matches(digits).to_owned())
    }

    /// The statements that define the views.
    fn views(self, window: &Window) -> Result<Vec<String>> {
        let mut views = read(&format!("views/{}.sql", self.name))?;
        if let Window::Paths(date) = window {
            views = match self.name {
                "spark" => TABLES.iter().fold(views, |views, table| {
                    let day = format!(
                        "(path 'profiles/{table}/date={date}', basePath 'profiles/{table}')"
                    );
                    views.replace(&format!("(path 'profiles/{table}')"), &day)
                }),
                _ => views.replace("/date=*/", &format!("/date={date}/")),
            };
        }
        let mut statements: Vec<String> = views.split(";\n").map(str::to_owned).collect();
        statements.retain(|statement| !statement.trim().is_empty());
        Ok(statements)
    }

    fn answer(self, folder: &Path, statements: &[String], args: &[&str]) -> Result<String> {
        let asked = folder.join("statements.json");
        fs::write(&asked, serde_json::to_vec(statements)?).context("writing statements")?;
        let mut python = command("python3");
        python.arg(root().join("tests/export/ask.py"));
        python.arg(self.name).args(args).current_dir(folder);
        captured(python.stdin(File::open(&asked)?))
    }
}

/// How often each query is asked.
const ROUNDS: usize = 3;

fn read(path: &str) -> Result<String> {
    let sql = root().join("crates/export/sql");
    fs::read_to_string(sql.join(path)).with_context(|| format!("reading {path}"))
}

const TABLES: [&str; 4] = ["samples", "stacks", "frames", "recordings"];

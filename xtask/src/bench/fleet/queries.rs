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

    /// Asks all queries, the first of them twice: engines start with the first.
    pub(super) fn ask(self, folder: &Path, window: &Window) -> Result<Times> {
        let sql = root().join("crates/export/sql");
        let read = |path: String| {
            fs::read_to_string(sql.join(&path)).with_context(|| format!("reading {path}"))
        };
        let mut views = read(format!("views/{}.sql", self.name))?;
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
        let names = [&QUERIES[..1], &QUERIES[..]].concat();
        for name in &names {
            let mut query = read(format!("{name}.sql"))?;
            if let Window::Condition(date) = window {
                let narrow = format!("FROM samples WHERE date = '{date}'\n");
                query = query.replace("FROM samples\n", &narrow);
            }
            statements.push(query.trim_end().trim_end_matches(';').to_owned());
        }
        let asked = folder.join("statements.json");
        fs::write(&asked, serde_json::to_vec(&statements)?).context("writing statements")?;
        let mut python = command("python3");
        python.arg(root().join("tests/export/ask.py"));
        python.args([self.name, "--times"]).current_dir(folder);
        let answer = captured(python.stdin(File::open(&asked)?))?;
        let seconds: Result<Vec<f64>, _> = answer.lines().map(str::parse).collect();
        let times = names.iter().map(|name| (*name).to_owned()).zip(seconds?);
        Ok(times.skip(1).collect())
    }
}

const TABLES: [&str; 4] = ["samples", "stacks", "frames", "recordings"];

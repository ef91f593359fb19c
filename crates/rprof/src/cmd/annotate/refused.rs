//! Functions whose code cannot be shown.

use crate::say;
use rprof_analysis::FoundFunction;
use rprof_base::Share;
use std::collections::BTreeMap;

/// Functions by why their code cannot be shown.
#[derive(Debug, Default)]
pub(super) struct Refused(BTreeMap<String, Functions>);

/// Functions refused for the same reason.
#[derive(Debug, Default)]
struct Functions {
    names: Vec<String>,
    /// Their weight of the first event.
    weight: u64,
}

impl Refused {
    pub(super) fn add(&mut self, function: &FoundFunction, why: &anyhow::Error) {
        let functions = self.0.entry(format!("{why:#}")).or_default();
        functions.names.push(function.name.clone());
        let own = function.own.first().map_or(0, |own| own.weight);
        functions.weight = functions.weight.saturating_add(own);
    }

    /// One line for each reason, with their share of all.
    pub(super) fn say(&self, all: u64) {
        for (why, functions) in &self.0 {
            let share = Share::of(functions.weight, all);
            match functions.names.as_slice() {
                [only] if why.starts_with(only) => say::warning(why),
                [only] => say::warning(format!("{only} ({share}%): {why}")),
                [first, second, ..] => say::warning(format!(
                    "{} functions with {share}% of all ({first}, {second}{}): {why}",
                    functions.names.len(),
                    if functions.names.len() > 2 {
                        ", ..."
                    } else {
                        ""
                    },
                )),
                [] => {}
            }
        }
    }
}

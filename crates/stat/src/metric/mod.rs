//! Metrics: numbers computed from counts, as users write them, in perf's language of expressions.
//!
//! ```text
//! ipc = instructions / cycles
//! stalled = d_ratio(cycles - busy, cycles) if cycles > 0 else 0
//! ```
//!
//! | written | is |
//! |---|---|
//! | `12`, `0.5`, `1e9`, `0x10` | a number |
//! | `instructions`, `cycles:u`, `L1-dcache-loads`, `cpu@event=0x3c@` | an event's count; `@` stands for `/`, and `\` before a sign makes it a part of the name |
//! | `duration_time` | seconds that were counted |
//! | `#num_cpus_online`, `#num_cpus` | CPUs |
//! | `ipc` | a metric that was defined before |
//! | `a + b`, `-`, `*`, `/`, `%`, `<`, `>`, `&`, `^`, `\|` | arithmetic, in C's order |
//! | `a if b else c` | `a` if `b` is not 0 |
//! | `min(a, b)`, `max(a, b)` | the smaller, the larger |
//! | `d_ratio(a, b)` | `a / b`, and 0 if `b` is 0 |
//!
//! Source: `tools/perf/util/expr.y` and `expr.l` (v6.1).

mod error;
mod eval;
mod lexer;
mod parser;

pub use error::MetricError;
pub(crate) use eval::NoValue;
use eval::{Expression, Values};
use parser::Parser;

/// A number that is computed from counts.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinedMetric {
    /// As it is shown.
    pub name: String,
    /// The events that it needs, each once, in the order in which it names them.
    pub events: Vec<String>,
    expression: Expression,
    /// How long it is, with all that it names.
    n_tokens: usize,
}

/// What an expression may name.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    /// Metrics that were defined before.
    pub metrics: &'n [DefinedMetric],
    /// Whether an event has this name.
    pub is_event: &'n dyn Fn(&str) -> bool,
    /// CPUs that are on line.
    pub n_cpus: u32,
}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

impl DefinedMetric {
    /// Reads a definition: `NAME=EXPRESSION`.
    ///
    /// # Errors
    /// Where it cannot be read, and what was expected there.
    pub fn parse(text: &str, names: Names<'_>) -> Result<Self, MetricError> {
        let Some((name, expression)) = text.split_once('=') else {
            return Err(MetricError::NoName {
                text: text.to_owned(),
            });
        };
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(MetricError::NoName {
                text: text.to_owned(),
            });
        }
        let before = text.len() - expression.len();
        let parsed = Parser::new(expression, names).whole();
        let (expression, events, n_tokens) = parsed.map_err(|what| MetricError::Syntax {
            metric: name.to_owned(),
            column: text
                .get(..before + what.at)
                .map_or(0, |text| text.chars().count())
                + 1,
            what: what.what,
        })?;
        Ok(Self {
            name: name.to_owned(),
            events,
            expression,
            n_tokens,
        })
    }

    /// Reads a file: a definition a line; empty lines and those with `#` are left out. Later ones may name those
    /// before.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn parse_file(text: &str, names: Names<'_>) -> Result<Vec<Self>, MetricError> {
        let mut all = names.metrics.to_vec();
        let n_before = all.len();
        for (nth, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let names = Names {
                metrics: &all,
                ..names
            };
            let parsed = Self::parse(line, names);
            let parsed = parsed.map_err(|error| MetricError::InLine {
                line: nth + 1,
                error: Box::new(error),
            })?;
            all.push(parsed);
        }
        Ok(all.split_off(n_before))
    }

    /// Its value: `count` gives the nth event's.
    pub(crate) fn value(
        &self,
        count: &dyn Fn(usize) -> Option<f64>,
        seconds: f64,
    ) -> Result<f64, NoValue> {
        let value = self.expression.value(&Values { count, seconds })?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(NoValue::NotFinite)
        }
    }
}

#[cfg(test)]
mod tests;

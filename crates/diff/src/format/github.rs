//! Workflow commands of GitHub: a line each for conditions that are true, and for those that may be.
//!
//! docs.github.com, "Workflow commands for GitHub Actions": `::error title={title}::{message}`; `%`, CR and LF are
//! escaped in messages, `:` and `,` in properties, too.

use crate::comparison::Comparison;
use crate::gate::GateOutcome;
use rprof_untrusted::printable;

/// The lines. Runners read them from standard error as from standard output.
pub fn workflow_commands(comparison: &Comparison) -> Vec<String> {
    let gates = comparison.gates.iter();
    let lines = gates.filter_map(|gate| {
        let command = match gate.outcome {
            GateOutcome::Fired => "error",
            GateOutcome::Undecided | GateOutcome::NoSamples => "warning",
            GateOutcome::Held => return None,
        };
        let title = property(&format!("rprof diff {}", gate.condition));
        let message = message(&gate.sentence());
        Some(format!("::{command} title={title}::{message}"))
    });
    lines.collect()
}

fn message(text: &str) -> String {
    printable(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{message, property};

    #[test]
    fn what_commands_take_for_their_own_is_escaped() {
        assert_eq!(property("sym:a,b>+5%"), "sym%3Aa%2Cb>+5%25");
        assert_eq!(message("a: 5 %, b"), "a: 5 %25, b");
        assert!(!message("a\n::error::b").contains('\n'));
    }
}

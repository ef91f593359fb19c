//! Usage errors: their form, and exit code 2.

use crate::say;
use clap::error::ErrorKind;
use rprof_events::EventError;
use std::fmt;
use std::process::ExitCode;

/// Exit code of usage errors.
pub(crate) const CODE: u8 = 2;

/// Arguments that are invalid, or invalid in combination.
#[derive(Debug)]
pub(crate) struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of usage.
pub(crate) fn usage(message: impl fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Usage(message.to_string()))
}

/// An error in an event: a usage error, unless the machine is the reason.
pub(crate) fn of_event(error: EventError) -> anyhow::Error {
    match error {
        EventError::TracefsMissing { .. }
        | EventError::TracefsDenied { .. }
        | EventError::Read { .. }
        | EventError::BadFile { .. } => error.into(),
        _ => usage(error),
    }
}

/// Prints clap's error in the form of all errors, or the requested help.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Somebody who closes stdout has read enough.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(CODE)
        }
        _ => {
            lines(error).iter().for_each(say::line);
            ExitCode::from(CODE)
        }
    }
}

/// clap's text without empty lines and without the hint to --help.
fn lines(error: &clap::Error) -> Vec<String> {
    let text = error.render().to_string();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines = lines.filter(|line| !line.starts_with("For more information"));
    lines
        .map(|line| line.replacen("Usage: ", "usage: ", 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    #[test]
    fn claps_errors_are_lines_like_ours() {
        let said = |words: &[&str]| lines(&Args::try_parse_from(words).unwrap_err());
        assert_eq!(
            said(&["rprof", "info", "--jso"]),
            [
                "error: unexpected argument '--jso' found",
                "  tip: a similar argument exists: '--json'",
                "usage: rprof info --json [FILE]",
            ]
        );
        let value = said(&["rprof", "report", "--max-stack", "0"]);
        assert_eq!(value.len(), 1, "{value:?}");
    }
}

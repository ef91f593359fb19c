//! Messages for the user, on stderr. Text from a recording is made printable first.

use rprof_base::Share;
use rprof_locate::Downloads;
use rprof_profile::{EventProfile, Profile};
use rprof_report::{interpreter_line, quality_advice, quality_line, stacks_line, unnamed_lines};
use rprof_untrusted::printable;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// From now on, only this thread writes to stderr: the program ends, and what others say of their work matters no more.
/// Clears a progress line.
#[cfg(feature = "tui")]
pub(crate) fn hush() {
    let mut stderr = std::io::stderr().lock();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K");
    }
    // Never unlocked.
    std::mem::forget(stderr);
}

/// A line of information.
pub(crate) fn line(message: impl Display) {
    // A reader that has gone away must not end a recording.
    let _ = writeln!(
        std::io::stderr().lock(),
        "rprof: {}",
        printable(&message.to_string())
    );
}

/// A text of several lines, without prefix.
pub(crate) fn block(lines: &[String]) {
    let mut out = std::io::stderr().lock();
    for line in lines {
        let _ = writeln!(out, "{}", printable(line));
    }
}

/// A warning: something could not be used.
pub(crate) fn warning(message: impl Display) {
    line(format_args!("warning: {message}"));
}

/// How many samples of an event were lost.
pub(crate) fn loss(event: &EventProfile) {
    if event.loss.samples > 0 {
        warning(format_args!("{} lost", event.loss));
    }
}

/// How unwound stacks ended, if stacks were unwound.
pub(crate) fn stacks(profile: &Profile) {
    if let Some(summary) = stacks_line(profile) {
        line(format_args!("stacks: {summary}"));
    }
}

/// How good a profile is, and what to do about the worst of it.
pub(crate) fn quality(profile: &Profile) {
    line(format_args!("quality: {}", quality_line(profile)));
    quality_advice(profile).into_iter().for_each(line);
}

/// Images without names, if there are any worth a line.
pub(crate) fn unnamed(profile: &Profile) {
    let lines = unnamed_lines(profile);
    if !lines.is_empty() {
        line("without names:");
    }
    lines.iter().for_each(|one| line(format_args!("  {one}")));
    if let Some(interpreted) = interpreter_line(profile) {
        line(format_args!("interpreted: {interpreted}"));
    }
}

/// The error that ended the command, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    line(format_args!("error: {error:#}"));
}

/// A progress line, if stderr is a terminal and the work takes long.
#[derive(Debug)]
pub(crate) struct Progress {
    start: Instant,
    /// When the line was last updated.
    shown: Option<Instant>,
    what: &'static str,
    /// Total bytes of the work, if known.
    len_bytes: Option<u64>,
}

impl Progress {
    /// Delay before the line is first shown.
    const DELAY: Duration = Duration::from_millis(500);
    /// Minimum time between updates.
    const STEP: Duration = Duration::from_millis(100);

    /// Progress of work on a known number of bytes.
    pub(crate) fn over(what: &'static str, len_bytes: u64) -> Self {
        Self {
            len_bytes: Some(len_bytes),
            ..Self::new(what)
        }
    }

    /// Progress of work of unknown size.
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            start: Instant::now(),
            shown: None,
            what,
            len_bytes: None,
        }
    }

    /// Shows a share from 0 to 1.
    pub(crate) fn show(&mut self, share: f64) {
        let elapsed = self.start.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "for a progress line")]
        let done = self.len_bytes.map(|len| len as f64 * share);
        let rate = done.map_or_else(String::new, |done| rate(done, elapsed));
        let left = left(elapsed, share);
        let share = Share::from_percent(100.0 * share);
        self.line(format_args!("{share:.0} %{rate}{left}"));
    }

    /// Shows how many bytes are done, if the total is unknown.
    pub(crate) fn show_bytes(&mut self, n_bytes: u64) {
        let megabytes = n_bytes / 1_000_000;
        #[expect(clippy::cast_precision_loss, reason = "for a progress line")]
        let rate = rate(n_bytes as f64, self.start.elapsed());
        self.line(format_args!("{megabytes} MB{rate}"));
    }

    fn line(&mut self, text: impl Display) {
        let since = self.shown.map(|shown| shown.elapsed());
        let is_soon = since.is_some_and(|since| since < Self::STEP);
        if is_soon || self.start.elapsed() < Self::DELAY {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        if stderr.is_terminal() {
            self.shown = Some(Instant::now());
            let _ = write!(stderr, "\rrprof: {} {text}\x1b[K", self.what);
        }
    }
}

/// The speed; empty if unknown.
fn rate(done_bytes: f64, elapsed: Duration) -> String {
    let per_second = done_bytes / 1e6 / elapsed.as_secs_f64();
    if per_second.is_finite() && per_second >= 0.0 {
        format!(", {per_second:.0} MB/s")
    } else {
        String::new()
    }
}

/// The remaining time at the present speed; empty if unknown.
fn left(elapsed: Duration, share: f64) -> String {
    let seconds = elapsed.as_secs_f64() * (1.0 - share) / share;
    if seconds.is_finite() && seconds >= 0.0 && share > 0.01 {
        format!(", {:.0} s left", seconds.ceil())
    } else {
        String::new()
    }
}

impl Drop for Progress {
    /// Clears the line.
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// The progress of awaited downloads, if stderr is a terminal; `None` when they are finished.
pub(crate) fn downloads(downloads: Option<Downloads>) {
    let mut stderr = std::io::stderr().lock();
    if !stderr.is_terminal() {
        return;
    }
    let _ = write!(stderr, "\r\x1b[K");
    if let Some(downloads) = downloads {
        let Downloads {
            n_asked,
            n_settled,
            n_bytes,
        } = downloads;
        let megabytes = n_bytes / 1_000_000;
        let _ = write!(
            stderr,
            "rprof: debuginfod: {n_settled} of {n_asked} files, {megabytes} MB"
        );
    }
}

/// Suggests a next command, if stderr is a terminal.
pub(crate) fn next(command: impl FnOnce() -> Option<String>) {
    if std::io::stderr().is_terminal()
        && let Some(command) = command()
    {
        line(format_args!("next: {command}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_what_was_done() {
        assert_eq!(rate(3e6, Duration::from_millis(500)), ", 6 MB/s");
        assert_eq!(rate(0.0, Duration::ZERO), "");
    }

    #[test]
    fn what_is_left_goes_by_what_was_done() {
        let second = Duration::from_secs(1);
        assert_eq!(left(second, 0.25), ", 3 s left");
        assert_eq!(left(second, 1.0), ", 0 s left");
        for share in [0.0, 0.001, f64::NAN, 1.5] {
            assert_eq!(left(second, share), "", "{share}");
        }
    }
}

//! What stands below the counts: times.

use super::Printer;
use crate::CountForm;
use crate::runs::Runs;
use std::io::{self, Write};
use std::time::Duration;

/// Times of the command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footer {
    /// In user code and in the kernel; of a command that was run once.
    pub(crate) cpu: Option<(Duration, Duration)>,
}

impl Footer {
    /// Writes it, for people.
    pub(crate) fn write(
        &self,
        printer: &Printer<'_>,
        runs: &Runs,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if printer.style.form != CountForm::Text || printer.is_interval {
            return Ok(());
        }
        let wall = runs.wall();
        if !printer.is_repeated {
            if runs.has_events() {
                writeln!(out)?;
            }
            writeln!(out, " {:17.9} seconds time elapsed", wall.mean())?;
            if let Some((user, system)) = self.cpu {
                writeln!(out, "\n {:17.9} seconds user", user.as_secs_f64())?;
                writeln!(out, " {:17.9} seconds sys", system.as_secs_f64())?;
            }
            return writeln!(out);
        }
        let precision = precision(wall.deviation());
        writeln!(out)?;
        if printer.style.table {
            table(runs, precision, out)?;
        }
        write!(
            out,
            " {:17.precision$} +- {:.precision$} seconds time elapsed",
            wall.mean(),
            wall.deviation()
        )?;
        let percent = wall.deviation_percent();
        if percent > 0.0 {
            write!(out, "  ( +-{percent:6.2}% )")?;
        }
        writeln!(out, "\n")
    }
}

/// Two digits more than the deviation has before its first.
fn precision(deviation: f64) -> usize {
    let mut digits = 2;
    let mut rest = deviation;
    while rest > 0.0 && rest < 1.0 && digits < 11 {
        rest *= 10.0;
        digits += 1;
    }
    digits
}

/// Each run, with a bar for how far it is from the mean.
fn table(runs: &Runs, precision: usize, out: &mut dyn Write) -> io::Result<()> {
    let mean = runs.wall().mean();
    let number = format!(" {mean:17.precision$}");
    let indent = number.len() - number.trim_start().len();
    writeln!(out, "{:indent$}# Table of individual measurements:", "")?;
    for &wall in runs.walls.iter().flatten() {
        let off = wall - mean;
        let share = if wall > 0.0 { off.abs() / wall } else { 0.0 };
        // One for each 5 %.
        let bar = (0..20)
            .filter(|nth| share * 20.0 >= f64::from(*nth))
            .count();
        let bar = "#".repeat(bar.max(1));
        writeln!(out, " {wall:17.precision$} ({off:+.precision$}) {bar}")?;
    }
    writeln!(out, "\n{:indent$}# Final result:", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_digits_of_their_deviation() {
        for (deviation, expected) in [(0.0, 2), (1.5, 2), (0.5, 3), (0.05, 4), (0.000_020_9, 7)] {
            assert_eq!(precision(deviation), expected, "{deviation}");
        }
    }
}

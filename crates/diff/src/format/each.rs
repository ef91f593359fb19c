//! Many recordings, each compared with the same ones before: a line for each, what regressed first.

use super::amount::amount;
use super::json::{DIFF_EACH_VERSION, write_comparison};
use super::{DiffLayout, change, interval, interval_heading, mark_line, marked};
use crate::comparison::{ComparedEvent, Comparison, Judged};
use crate::each::{ComparedRecording, SureRows};
use rprof_base::Counted;
use rprof_profile::text::{at_right, markdown_cell, padded, width};
use rprof_untrusted::{JsonLayout, JsonWriter, printable};
use std::io::{self, Write};

/// A table in one of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EachForm {
    /// Columns.
    Text,
    /// A table for tickets.
    Markdown,
    /// Comma-separated values.
    Csv,
}

/// Columns of text, which stand at the left: names.
const N_NAMES: usize = 2;

/// Writes a table for each event, then which recordings regressed, and what a reader must know.
///
/// # Errors
/// The writer's.
pub fn write_each(
    compared: &[ComparedRecording],
    form: EachForm,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut names: Vec<&str> = Vec::new();
    let events = compared.iter().flat_map(|one| &one.comparison.events);
    for event in events {
        if !names.contains(&event.name.as_str()) {
            names.push(&event.name);
        }
    }
    for name in names {
        write_event(name, compared, form, layout, out)?;
    }
    if form == EachForm::Csv || layout.quiet {
        return Ok(());
    }
    let bullet = match form {
        EachForm::Markdown => "- ",
        EachForm::Text | EachForm::Csv => "# ",
    };
    for line in closing_lines(compared) {
        writeln!(out, "{bullet}{}", shown(&line, form))?;
    }
    Ok(())
}

fn write_event(
    name: &str,
    compared: &[ComparedRecording],
    form: EachForm,
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines: Vec<(&ComparedRecording, &ComparedEvent)> = compared
        .iter()
        .filter_map(|one| {
            let found = one
                .comparison
                .events
                .iter()
                .find(|event| event.name == name)?;
            Some((one, found))
        })
        .collect();
    // A stable sort: recordings that are alike stay in their order.
    lines.sort_by(|(_, a), (_, b)| {
        let regressed = b.has_regressed().cmp(&a.has_regressed());
        regressed.then_with(|| total_change(b).total_cmp(&total_change(a)))
    });
    let Some((first, _)) = lines.first() else {
        return Ok(());
    };
    let headings = [
        "Before".to_owned(),
        "After".to_owned(),
        "Change".to_owned(),
        interval_heading(&first.comparison),
        "More".to_owned(),
        "Less".to_owned(),
        "Recording".to_owned(),
        "Largest increase (else decrease)".to_owned(),
    ];
    let cells: Vec<[String; 8]> = lines
        .iter()
        .map(|(one, event)| cells_of(one, event))
        .collect();
    if !layout.quiet && form != EachForm::Csv {
        for line in about(name, &first.comparison) {
            let line = shown(&line, form);
            match form {
                EachForm::Markdown => writeln!(out, "{line}\n")?,
                EachForm::Text | EachForm::Csv => writeln!(out, "# {line}")?,
            }
        }
    }
    match form {
        EachForm::Text => write_columns(&headings, &cells, layout, out)?,
        EachForm::Markdown => write_markdown(&headings, &cells, out)?,
        EachForm::Csv => write_csv(name, &lines, out)?,
    }
    writeln!(out)
}

/// What stands above the table of an event.
fn about(name: &str, comparison: &Comparison) -> [String; 2] {
    let (per, n_before) = (&comparison.per, comparison.n_runs.0);
    let before = Counted::new(n_before as u64, "recording", "recordings");
    let about = per.about();
    [
        format!("Event '{name}': each recording against {before} before, by {about} (--per {per})"),
        mark_line(comparison),
    ]
}

/// What the total changed by: that of the largest row, where there is no total.
fn total_change(event: &ComparedEvent) -> f64 {
    let of = |judged: &Judged| judged.estimate.change();
    let most = || event.most_changed().map(|(_, judged)| of(judged));
    event.total.as_ref().map(of).or_else(most).unwrap_or(0.0)
}

fn cells_of(one: &ComparedRecording, event: &ComparedEvent) -> [String; 8] {
    let per = &one.comparison.per;
    let said = |value: f64| amount(value, event.kind, per);
    let (before, after, total, bounds) = match &event.total {
        Some(total) => (
            said(total.estimate.before),
            said(total.estimate.after),
            marked(total),
            interval(total),
        ),
        None => Default::default(),
    };
    let sure = event.sure_rows();
    let most = event.most_changed().map(|(row, judged)| {
        let name = row.cells.iter().map(|cell| cell.trim());
        format!("{} {}", change(judged), name.collect::<Vec<_>>().join(" "))
    });
    [
        before,
        after,
        total,
        bounds,
        sure.n_more.to_string(),
        sure.n_less.to_string(),
        one.name.clone(),
        most.unwrap_or_default(),
    ]
}

fn write_columns(
    headings: &[String; 8],
    cells: &[[String; 8]],
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let dots = |widths: &[usize; 8]| widths.map(|width| ".".repeat(width));
    let mut widths = headings.each_ref().map(|heading| width(heading));
    for row in cells {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = width(&printable(cell)).max(*most);
        }
    }
    let line = |row: &[String; 8]| {
        let all = row.iter().zip(widths).enumerate();
        let parts = all.map(|(at, (cell, width))| {
            if at < row.len() - N_NAMES {
                at_right(cell, width)
            } else {
                padded(&printable(cell), width)
            }
        });
        parts.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    if !layout.quiet {
        writeln!(
            out,
            "#\n# {}\n# {}\n#",
            line(headings),
            line(&dots(&widths))
        )?;
    }
    cells
        .iter()
        .try_for_each(|row| writeln!(out, "  {}", line(row)))
}

fn write_markdown(
    headings: &[String; 8],
    cells: &[[String; 8]],
    out: &mut dyn Write,
) -> io::Result<()> {
    let line = |row: &[String]| {
        let cells = row
            .iter()
            .map(|cell| markdown_cell(&printable(cell.trim())).clone());
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    writeln!(out, "{}", line(headings))?;
    let rules = (0..headings.len()).map(|at| {
        if at < headings.len() - N_NAMES {
            "---:"
        } else {
            "---"
        }
    });
    writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
    cells
        .iter()
        .try_for_each(|row| writeln!(out, "{}", line(row)))
}

fn write_csv(
    name: &str,
    lines: &[(&ComparedRecording, &ComparedEvent)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let heading =
        "event,recording,regressed,before,after,change,low,high,p_value,q_value,is_sure,more,less";
    writeln!(out, "{heading}")?;
    for (one, event) in lines {
        let total = event.total.as_ref().map(|total| {
            let numbers = super::csv::numbers(Some(total)).join(",");
            format!(
                "{},{},{numbers}",
                total.estimate.before, total.estimate.after
            )
        });
        let SureRows { n_more, n_less, .. } = event.sure_rows();
        writeln!(
            out,
            "{},{},{},{},{n_more},{n_less}",
            super::csv::quoted(name),
            super::csv::quoted(&one.name),
            one.has_regressed(),
            total.unwrap_or_else(|| ",".repeat(7)),
        )?;
    }
    Ok(())
}

/// Which recordings regressed; then what a reader must know, what holds for all of them once.
fn closing_lines(compared: &[ComparedRecording]) -> Vec<String> {
    let regressed = compared.iter().filter(|one| one.has_regressed());
    let names: Vec<&str> = regressed.map(|one| one.name.as_str()).collect();
    let all = compared.len();
    let mut lines = vec![if names.is_empty() {
        format!("Regressed: none of {all} significantly")
    } else {
        format!("Regressed: {} of {all}: {}", names.len(), names.join(", "))
    }];
    let notes = compared.iter().flat_map(|one| &one.comparison.notes);
    for note in notes {
        let line = format!("Note: {note}");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    for one in compared {
        let gates = one.comparison.gates.iter();
        lines.extend(gates.map(|gate| format!("Condition: {}: {}", one.name, gate.sentence())));
    }
    lines
}

fn shown(line: &str, form: EachForm) -> String {
    let line = printable(line);
    match form {
        EachForm::Markdown => markdown_cell(&line),
        EachForm::Text | EachForm::Csv => line.into_owned(),
    }
}

/// Writes one object: a comparison for each recording, as that of two.
///
/// # Errors
/// The writer's.
pub fn write_each_json(
    compared: &[ComparedRecording],
    layout: &DiffLayout,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut json = JsonWriter::new(out, JsonLayout::Indented);
    json.object(|json| {
        json.column("recordings", compared, |json, one| {
            json.object(|json| {
                json.key("comparison");
                write_comparison(&one.comparison, layout, json);
                json.field("has_regressed", one.has_regressed());
                json.field("recording", &one.name);
            });
        });
        json.field("schema", "rprof-diff-each");
        json.field("version", DIFF_EACH_VERSION);
    });
    json.end_line();
    json.finish()
}

//! The list as text: a part for each kind, and each event on a line of its own.

use super::counted::Counted;
use super::{Listed, Listing};
use rprof_events::{ListKind, ListedPmu};
use rprof_untrusted::printable;
use std::io::{self, Write};

/// Names that are longer than this push their description away, instead of all others'.
const WIDEST: usize = 44;

/// The parts, in order.
const PARTS: &[(&[ListKind], &str)] = &[
    (&[ListKind::Hardware], "Hardware events"),
    (&[ListKind::Software], "Software events"),
    (&[ListKind::Cache], "Cache events"),
    (&[ListKind::Pmu], "Events and terms of PMUs"),
    (
        &[ListKind::Raw, ListKind::Breakpoint, ListKind::Probe],
        "Templates",
    ),
    (&[ListKind::Tracepoint], "Tracepoints"),
    (&[ListKind::Marker], "Markers (USDT)"),
    (&[ListKind::Function], "Functions"),
];

/// Writes the events that are counted here, and a line for what is not. Warnings are not among it.
///
/// # Errors
/// The writer's.
pub fn write_list(listing: &Listing, out: &mut impl Write) -> io::Result<()> {
    let mut is_first = true;
    for (kinds, title) in PARTS {
        let part = listing.events.iter();
        let part: Vec<&Listed> = part.filter(|one| kinds.contains(&one.event.kind)).collect();
        let pmus: &[ListedPmu] = if kinds.contains(&ListKind::Pmu) {
            &listing.pmus
        } else {
            &[]
        };
        let Some(heading) = heading(title, &part, pmus) else {
            continue;
        };
        if !std::mem::replace(&mut is_first, false) {
            writeln!(out, "#")?;
        }
        writeln!(out, "# {heading}")?;
        write_part(&part, out)?;
        for pmu in pmus {
            write_pmu(pmu, out)?;
        }
    }
    Ok(())
}

/// What stands above a part; `None` if there is nothing to say.
fn heading(title: &str, part: &[&Listed], pmus: &[ListedPmu]) -> Option<String> {
    if part.is_empty() && pmus.is_empty() {
        return None;
    }
    let count = |what| part.iter().filter(|one| one.counted == what).count();
    let (missing, forbidden) = (count(Counted::No), count(Counted::Forbidden));
    let is_hardware = |one: &&Listed| one.event.kind != ListKind::Software;
    let why = if part.iter().all(is_hardware) {
        "no hardware PMU counts them here"
    } else {
        "this kernel does not count them"
    };
    Some(match (missing, forbidden) {
        (0, 0) => title.to_owned(),
        (0, _) => format!(
            "{title} (perf_event_open is not permitted, so they may not be counted here; see rprof doctor)"
        ),
        (n, _) if n == part.len() => format!("{title}: none ({why})"),
        (n, _) => format!("{title} ({n} others omitted: {why})"),
    })
}

fn write_part(part: &[&Listed], out: &mut impl Write) -> io::Result<()> {
    let shown = part.iter().filter(|one| one.counted != Counted::No);
    let rows: Vec<(String, &Listed)> = shown.map(|one| (names(one), *one)).collect();
    let lengths = rows.iter().map(|(names, _)| names.len());
    let width = lengths.filter(|len| *len <= WIDEST).max().unwrap_or(0);
    for (names, one) in rows {
        match about(one) {
            Some(about) => writeln!(out, "  {names:<width$}  {}", printable(&about))?,
            None => writeln!(out, "  {names}")?,
        }
        for field in &one.fields {
            let (name, kind) = (&field.name, &field.type_name);
            let text = format!("{name}: {kind}");
            writeln!(out, "      {}", printable(&text))?;
        }
    }
    Ok(())
}

fn names(listed: &Listed) -> String {
    let event = &listed.event;
    let alias = event.alias.iter().map(|alias| format!(", {alias}"));
    let names = format!("{}{}", event.name, alias.collect::<String>());
    printable(&names).to_string()
}

fn about(listed: &Listed) -> Option<String> {
    let event = &listed.event;
    let about = event.description.clone()?;
    Some(match (&event.scale, &event.unit) {
        (None, None) => about,
        (scale, unit) => {
            let scale = scale.as_deref().unwrap_or("1");
            let unit = unit.as_deref().unwrap_or_default();
            format!("{about} (x {scale} {unit})")
        }
    })
}

/// Its terms with what they set, and where it is opened.
fn write_pmu(pmu: &ListedPmu, out: &mut impl Write) -> io::Result<()> {
    let mut text = pmu.name.clone();
    if let Some(((first, _), others)) = pmu.terms.split_first() {
        let more = if others.is_empty() { "" } else { ",.." };
        text += &format!("/{first}=VALUE{more}/");
        let terms = pmu
            .terms
            .iter()
            .map(|(name, bits)| format!("{name} {bits}"));
        let terms: Vec<String> = terms.collect();
        text += &format!("  terms: {}", terms.join("; "));
    }
    if let Some(cpus) = &pmu.cpus {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        text += &format!("  on CPU {}", cpus.join(","));
    }
    writeln!(out, "  {}", printable(&text))
}

//! Probes: functions and markers of files, and functions of the kernel, at which an event happens.
//!
//! | written | happens where |
//! |---|---|
//! | `uprobe:/path:function`, `uprobe:/path:function+0x10`, `uprobe:/path:0x1234` | there |
//! | `uretprobe:/path:function` | the function returns |
//! | `usdt:/path:provider:name`, `sdt_provider:name@/path`, `sdt_provider:name` | a marker (USDT) is |
//! | `kprobe:function+0x10`, `kretprobe:function` | the same in the kernel |
//!
//! Behind each may stand arguments, in the kernel's words: `(%di,len=%si:u32)`; or, behind a function of a file, names
//! of its parameters: `(len,text:string)`.
//!
//! Functions, providers and names may be patterns. What they are in a file is found by who opens it.

use std::path::{Path, PathBuf};

use rprof_abi::PerfEventAttr;

use crate::modifier::Modifiers;
use crate::pmu::Pmu;
use crate::term::parse_number;
use crate::{Event, EventError, ProbePoint, ProbeSite, ProbedCode, Sources};

/// What probes begin with.
struct Form {
    start: &'static str,
    is_return: bool,
    pmu: &'static str,
    /// Colons within the place: those of modifiers come behind them.
    n_colons: usize,
    /// What to write.
    whole: &'static str,
}

const fn form(start: &'static str, n_colons: usize, whole: &'static str) -> Form {
    let pmu = match start.as_bytes() {
        [b'k', ..] => "kprobe",
        _ => "uprobe",
    };
    let is_return = matches!(start.as_bytes(), [b'u' | b'k', b'r', b'e', b't', ..]);
    Form {
        start,
        is_return,
        pmu,
        n_colons,
        whole,
    }
}

const FORMS: &[Form] = &[
    form("uprobe:", 1, "write uprobe:/path:function"),
    form("uretprobe:", 1, "write uretprobe:/path:function"),
    form("kprobe:", 0, "write kprobe:function"),
    form("kretprobe:", 0, "write kretprobe:function"),
    form("usdt:", 2, "write usdt:/path:provider:name"),
    form(SDT, 1, "write sdt_provider:name@/path"),
];

/// Returns have no places in a function.
const NOT_WHOLE: &str = "a return probe takes no offset: write only a function name or pattern";

/// What perf has before the provider.
const SDT: &str = "sdt_";

/// Whether slashes in this text are those of a path.
pub(crate) fn is_probe(text: &str) -> bool {
    FORMS.iter().any(|form| text.starts_with(form.start))
}

/// Reads a probe; `None` if the text is none.
///
/// # Errors
/// No path, no function, or a kernel without such probes.
pub(crate) fn parse_probe(
    text: &str,
    sources: &Sources,
) -> Result<Option<(Event, Modifiers)>, EventError> {
    let Some(form) = FORMS.iter().find(|form| text.starts_with(form.start)) else {
        return Ok(None);
    };
    let (place, letters) = split_modifiers(&text[form.start.len()..], form.n_colons);
    let (named, arguments) = cut_arguments(place);
    let bad = |what| EventError::BadProbe {
        event: text.to_owned(),
        what,
    };
    let whole = || bad(form.whole);
    let point = match form.start {
        "usdt:" => marker_of_file(named).ok_or_else(whole)?,
        SDT => marker(named).ok_or_else(whole)?,
        _ => {
            let (code, place) = match form.pmu {
                "kprobe" => (ProbedCode::Kernel, named),
                _ => cut_path(named).ok_or_else(whole)?,
            };
            let site = site(place, text)?.ok_or_else(whole)?;
            at(code, site)
        }
    };
    let (is_return, pmu) = (form.is_return, form.pmu);
    if is_return && !matches!(&point.site, ProbeSite::Function { offset: 0, .. }) {
        return Err(bad(NOT_WHOLE));
    }
    let pmu = Pmu::load(sources, pmu.to_owned()).ok_or_else(|| EventError::NoProbes {
        pmu,
        event: text.to_owned(),
    })?;
    let mut event = Event::new(
        text[..form.start.len() + place.len()].to_owned(),
        pmu.kind,
        0,
    );
    event.attr.sample_period = 1;
    if is_return {
        set_bits(&pmu, "retprobe", 1, &mut event.attr)?;
    }
    event.probe = Some(ProbePoint { arguments, ..point });
    Ok(Some((event, Modifiers::parse(letters, text)?)))
}

/// Puts the file offset of a marker's semaphore into an attr: the kernel counts it up while the event is open.
///
/// # Errors
/// The kernel knows no semaphores (before 4.20), or has them elsewhere.
pub fn set_semaphore(
    attr: &mut PerfEventAttr,
    offset: u64,
    sources: &Sources,
) -> Result<(), EventError> {
    match Pmu::load(sources, "uprobe".to_owned()) {
        Some(pmu) => set_bits(&pmu, "ref_ctr_offset", offset, attr),
        None => Ok(()),
    }
}

fn set_bits(pmu: &Pmu, term: &str, value: u64, attr: &mut PerfEventAttr) -> Result<(), EventError> {
    let format = pmu.format(term).ok_or_else(|| EventError::UnknownTerm {
        term: term.to_owned(),
        event: pmu.name.clone(),
        suggestions: crate::Suggestions::default(),
    })??;
    format.set(attr, value);
    Ok(())
}

/// Modifiers are behind the last colon, if that is a single one (C++ and Rust have two within names), and if
/// the place is whole without it.
fn split_modifiers(text: &str, n_colons: usize) -> (&str, &str) {
    match text.rsplit_once(':') {
        Some((place, letters))
            if !letters.is_empty()
                && Modifiers::are(letters)
                && !place.ends_with(':')
                && place.matches(':').count() >= n_colons =>
        {
            (place, letters)
        }
        _ => (text, ""),
    }
}

/// Cuts `/path:rest`.
fn cut_path(text: &str) -> Option<(ProbedCode, &str)> {
    let (path, rest) = text.split_once(':')?;
    let is_whole = !path.is_empty() && !rest.is_empty();
    is_whole.then(|| (ProbedCode::File(PathBuf::from(path)), rest))
}

/// `/path:provider:name`.
fn marker_of_file(text: &str) -> Option<ProbePoint> {
    let (code, rest) = cut_path(text)?;
    let (provider, name) = rest.split_once(':')?;
    named(code, provider, name)
}

/// `provider:name` or `provider:name@/path`.
fn marker(text: &str) -> Option<ProbePoint> {
    let (marker, code) = match text.split_once('@') {
        Some((_, "")) => return None,
        Some((marker, path)) => (marker, ProbedCode::File(Path::new(path).to_owned())),
        None => (text, ProbedCode::Recorded),
    };
    let (provider, name) = marker.split_once(':')?;
    named(code, provider, name)
}

fn named(code: ProbedCode, provider: &str, name: &str) -> Option<ProbePoint> {
    let is_whole = !provider.is_empty() && !name.is_empty();
    let site = || ProbeSite::Marker {
        provider: provider.to_owned(),
        name: name.to_owned(),
    };
    is_whole.then(|| at(code, site()))
}

fn at(code: ProbedCode, site: ProbeSite) -> ProbePoint {
    ProbePoint {
        code,
        site,
        arguments: Vec::new(),
    }
}

/// Cuts the arguments at the end, between parentheses. Those of a C++ name are of types, and belong to it.
fn cut_arguments(place: &str) -> (&str, Vec<String>) {
    let cut = || {
        let inside = place.strip_suffix(')')?;
        let mut depth = 1;
        let opening = inside.rfind(|letter| {
            depth += match letter {
                ')' => 1,
                '(' => -1,
                _ => 0,
            };
            depth == 0
        })?;
        let arguments: Vec<String> = inside[opening + 1..]
            .split(',')
            .map(str::to_owned)
            .collect();
        let are_values = arguments.iter().all(|argument| is_argument(argument));
        are_values.then_some((&place[..opening], arguments))
    };
    cut().unwrap_or((place, Vec::new()))
}

/// Whether the kernel may take it: a value, with or without a name, without anything that ends a word or a line.
fn is_argument(text: &str) -> bool {
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    value.starts_with(['%', '$', '+', '-', '@', '\\'])
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b';')
}

/// The names of a probe's arguments, and whether they are texts (`fetch_type` in `kernel/trace/trace_probe.c`, v6.12).
pub(crate) fn argument_fields(point: &ProbePoint) -> impl Iterator<Item = (String, bool)> {
    let parameters = point.with_parameters();
    let is_by_name = parameters.is_some();
    let arguments = parameters.map_or_else(|| point.arguments.clone(), |point| point.arguments);
    arguments
        .into_iter()
        .enumerate()
        .map(move |(nth, argument)| {
            let name = match argument.split_once('=') {
                Some((name, _)) => name.to_owned(),
                None if is_by_name => argument.split(':').next().unwrap_or_default().to_owned(),
                None => format!("arg{}", nth + 1),
            };
            let kind = argument.rsplit(':').next().unwrap_or_default();
            (name, ["string", "ustring", "symstr"].contains(&kind))
        })
}

/// `function`, `function+offset`, or an address.
fn site(place: &str, event: &str) -> Result<Option<ProbeSite>, EventError> {
    if place.starts_with("0x") {
        return Ok(Some(ProbeSite::Address(parse_number(place, event)?)));
    }
    let (name, offset) = match place.rsplit_once('+') {
        // `operator+`, `operator++`
        Some((name, digits)) if digits.starts_with(|first: char| first.is_ascii_digit()) => {
            (name, parse_number(digits, event)?)
        }
        _ => (place, 0),
    };
    let name = name.to_owned();
    Ok((!name.is_empty()).then_some(ProbeSite::Function { name, offset }))
}

//! Listings as JSON. The README beside this crate says what is in it.

use crate::flow::CodeLoop;
use crate::listed::{CountedEvent, ListedInstruction};
use crate::listing::CodeListing;
use rprof_disassembly::Flow;
use rprof_profile::SampleCount;
use rprof_profile::code::{CallSite, CodeFrame};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Version of the schema: raised when a field changes its name or meaning.
pub const ANNOTATE_VERSION: u64 = 1;

/// One object with one object for each function, which are written one after the other.
#[derive(Debug)]
pub struct JsonFunctions {
    n_written: usize,
}

impl JsonFunctions {
    /// Begins the object.
    ///
    /// # Errors
    /// The writer's.
    pub fn begin(out: &mut dyn Write) -> io::Result<Self> {
        write!(
            out,
            "{{\"schema\":\"rprof-annotate\",\"version\":{ANNOTATE_VERSION},\"functions\":["
        )?;
        Ok(Self { n_written: 0 })
    }

    /// Writes a function.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&mut self, listing: &CodeListing<'_>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.n_written > 0 { b",\n" } else { b"\n" })?;
        self.n_written += 1;
        write_function(listing, out)
    }

    /// Ends the object.
    ///
    /// # Errors
    /// The writer's.
    pub fn end(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n]}\n")
    }
}

fn write_function(listing: &CodeListing<'_>, out: &mut dyn Write) -> io::Result<()> {
    let events: Vec<Value> = listing.events.iter().map(event).collect();
    let mut head = json!({
        "name": listing.name,
        "image": listing.image,
        "file": listing.file,
        "machine": listing.machine,
        "notes": listing.notes,
        "percent_type": listing.percent_type.word(),
        "events": events,
    });
    if let Some(inlined) = &listing.inlined {
        let sites = inlined.sites.iter().map(|site| call_site(listing, site));
        head["inlined_into"] = inlined.into.clone().into();
        head["call_sites"] = sites.collect();
    }
    let head = head.to_string();
    out.write_all(head.trim_end_matches('}').as_bytes())?;
    let parts = listing.parts.iter().map(|part| {
        let instructions = part.instructions.clone();
        let counts = counts(listing, &listing.sum(instructions));
        json!({"symbol": part.symbol, "address": part.address, "n_instructions": part.instructions.len(), "counts": counts})
    });
    write_list("parts", parts, out)?;
    let instructions = listing.instructions.iter();
    let instructions = instructions.map(|it| instruction(listing, it));
    write_list("instructions", instructions, out)?;
    write_list(
        "loops",
        listing.loops.iter().map(|it| code_loop(listing, it)),
        out,
    )?;
    let chains = listing.places.chains.iter().map(|chain| {
        let frames = chain.0.iter().map(|frame| match &frame.line {
            Some((file, line)) => json!({"function": frame.function, "file": file, "line": line}),
            None => json!({"function": frame.function}),
        });
        Value::Array(frames.collect())
    });
    write_list("chains", chains, out)?;
    let lines = listing.places.lines.iter().map(|line| {
        let mut all =
            json!({"file": line.file, "line": line.line, "counts": counts(listing, &line.counts)});
        if let Some(text) = &line.text {
            all["text"] = text.clone().into();
        }
        all
    });
    write_list("lines", lines, out)?;
    let inlined = listing.places.inlined.iter().map(|it| {
        let counts = counts(listing, &it.counts);
        json!({"function": it.function, "inlined": it.is_inlined, "counts": counts})
    });
    write_list("functions", inlined, out)?;
    out.write_all(b"}")
}

fn call_site(listing: &CodeListing<'_>, site: &CallSite) -> Value {
    let CodeFrame { function, line } = &site.caller;
    let counts = counts(listing, &site.counts);
    let mut all = json!({"function": function, "counts": counts});
    if let Some((file, line)) = line {
        all["file"] = file.clone().into();
        all["line"] = (*line).into();
    }
    all
}

/// Writes a list as the next field, a line for each.
fn write_list(name: &str, all: impl Iterator<Item = Value>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (number, value) in all.enumerate() {
        out.write_all(if number > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut *out, &value)?;
    }
    out.write_all(b"]")
}

fn event(event: &CountedEvent) -> Value {
    let mut all = json!({
        "name": event.name,
        "unit": event.kind.unit().unwrap_or("events"),
        "precise_ip": event.precise_ip,
        "samples": event.local.samples,
        "weight": event.local.weight,
        "all_samples": event.all.samples,
        "all_weight": event.all.weight,
        "outside": event.outside.samples,
        "within": event.within.samples,
    });
    if let Some(skid) = event.skid {
        all["skid"] = skid.into();
    }
    all
}

/// By event; empty where nothing was counted.
fn counts(listing: &CodeListing<'_>, counts: &[SampleCount]) -> Value {
    if counts.iter().all(|&count| count == SampleCount::default()) {
        return Value::Array(Vec::new());
    }
    let counts = counts.iter().enumerate().map(|(event, &count)| {
        let percent = listing.share(event, count).percent();
        json!({"samples": count.samples, "weight": count.weight, "percent": percent})
    });
    Value::Array(counts.collect())
}

fn instruction(listing: &CodeListing<'_>, it: &ListedInstruction<'_>) -> Value {
    let own = it.instruction;
    let bytes = it.bytes.iter().map(|byte| format!("{byte:02x}"));
    let mut all = Map::new();
    all.insert("address".to_owned(), own.address.into());
    all.insert("bytes".to_owned(), bytes.collect::<String>().into());
    all.insert("text".to_owned(), it.text.as_ref().into());
    all.insert("counts".to_owned(), counts(listing, &it.counts));
    if !own.is_valid {
        all.insert("valid".to_owned(), false.into());
    }
    let (flow, target) = match own.flow {
        Flow::Next => (None, None),
        Flow::Jump(target) => (Some("jump"), target),
        Flow::Branch(target) => (Some("branch"), target),
        Flow::Call(target) => (Some("call"), target),
        Flow::Return => (Some("return"), None),
        Flow::Stop => (Some("stop"), None),
    };
    let fields = [
        ("flow", flow.map(Value::from)),
        ("target", target.map(Value::from)),
        ("reference", own.reference.map(|it| it.address.into())),
        ("line", it.line.map(Value::from)),
        ("chain", it.chain.map(Value::from)),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            all.insert(name.to_owned(), value);
        }
    }
    all.into()
}

fn code_loop(listing: &CodeListing<'_>, it: &CodeLoop) -> Value {
    let address = |at: usize| {
        let found = listing.instructions.get(at);
        found.map_or(0, |found| found.instruction.address)
    };
    let ranges = it
        .ranges
        .iter()
        .map(|range| json!([range.start, range.end]));
    let ranges: Vec<Value> = ranges.collect();
    let mut all = json!({
        "head": address(it.head),
        "first": address(it.span.0),
        "last": address(it.span.1),
        "depth": it.depth,
        "n_instructions": it.n_instructions,
        "instructions": ranges,
        "counts": counts(listing, &it.counts),
    });
    if let Some(parent) = it.parent {
        all["parent"] = parent.into();
    }
    all
}

//! Listings as JSON. `crates/JSON.md` says what is in it.

use crate::flow::CodeLoop;
use crate::listed::{CountedEvent, ListedInstruction};
use crate::listing::CodeListing;
use rprof_disassembly::Flow;
use rprof_profile::SampleCount;
use rprof_profile::code::CodeFrame;
use rprof_untrusted::{JsonLayout, JsonWriter};
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
    let mut json = JsonWriter::new(out, JsonLayout::Compact);
    json.object(|json| {
        write_head(listing, json);
        write_lines("parts", &listing.parts, json, |part, json| {
            json.field("address", part.address);
            write_counts(listing, &listing.sum(part.instructions.clone()), json);
            json.field("n_instructions", part.instructions.len());
            json.field("symbol", &part.symbol);
        });
        write_lines("instructions", &listing.instructions, json, |it, json| {
            write_instruction(listing, it, json);
        });
        write_lines("loops", &listing.loops, json, |it, json| {
            write_loop(listing, it, json);
        });
        write_chains(listing, json);
        write_lines("lines", &listing.places.lines, json, |line, json| {
            write_counts(listing, &line.counts, json);
            json.field("file", &line.file);
            json.field("line", line.line);
            json.field_if("text", line.text.as_ref());
        });
        write_lines("functions", &listing.places.inlined, json, |it, json| {
            write_counts(listing, &it.counts, json);
            json.field("function", &it.function);
            json.field("inlined", it.is_inlined);
        });
    });
    json.finish()
}

fn write_head(listing: &CodeListing<'_>, json: &mut JsonWriter<'_>) {
    if let Some(inlined) = &listing.inlined {
        json.column("call_sites", &inlined.sites, |json, site| {
            json.object(|json| {
                write_counts(listing, &site.counts, json);
                write_frame(&site.caller, json);
            });
        });
    }
    json.column("events", &listing.events, |json, event| {
        json.object(|json| write_event(event, json));
    });
    json.field("file", &listing.file);
    json.field("image", &listing.image);
    json.field_if("inlined_into", listing.inlined.as_ref().map(|it| &it.into));
    json.field("machine", &listing.machine);
    json.field("name", &listing.name);
    json.column("notes", &listing.notes, |json, note| json.text(note));
    json.field("percent_type", listing.percent_type.word());
}

/// Writes a field that is a list of objects, a line for each.
fn write_lines<T>(
    name: &str,
    all: &[T],
    json: &mut JsonWriter<'_>,
    write: impl Fn(&T, &mut JsonWriter<'_>),
) {
    json.begin_line();
    json.key(name).list(|json| {
        for one in all {
            json.begin_line();
            json.object(|json| write(one, json));
        }
    });
}

fn write_chains(listing: &CodeListing<'_>, json: &mut JsonWriter<'_>) {
    json.begin_line();
    json.key("chains").list(|json| {
        for chain in &listing.places.chains {
            json.begin_line();
            json.list(|json| {
                for frame in &chain.0 {
                    json.object(|json| write_frame(frame, json));
                }
            });
        }
    });
}

fn write_frame(frame: &CodeFrame, json: &mut JsonWriter<'_>) {
    let line = frame.line.as_ref();
    json.field_if("file", line.map(|(file, _)| file));
    json.field("function", &frame.function);
    json.field_if("line", line.map(|(_, line)| *line));
}

fn write_event(event: &CountedEvent, json: &mut JsonWriter<'_>) {
    json.field("all_samples", event.all.samples);
    json.field("all_weight", event.all.weight);
    json.field("name", &event.name);
    json.field("outside", event.outside.samples);
    json.field("precise_ip", u32::from(event.precise_ip));
    json.field("samples", event.local.samples);
    json.field_if("skid", event.skid);
    json.field("unit", event.kind.unit().unwrap_or("events"));
    json.field("weight", event.local.weight);
    json.field("within", event.within.samples);
}

/// Writes counts by event; none where nothing was counted.
fn write_counts(listing: &CodeListing<'_>, counts: &[SampleCount], json: &mut JsonWriter<'_>) {
    let is_empty = counts.iter().all(|&count| count == SampleCount::default());
    let counts = if is_empty { &[] } else { counts };
    json.column(
        "counts",
        counts.iter().enumerate(),
        |json, (event, count)| {
            json.object(|json| {
                json.field("percent", listing.share(event, *count).percent());
                json.field("samples", count.samples);
                json.field("weight", count.weight);
            });
        },
    );
}

fn write_instruction(
    listing: &CodeListing<'_>,
    it: &ListedInstruction<'_>,
    json: &mut JsonWriter<'_>,
) {
    let own = it.instruction;
    let (flow, target) = match own.flow {
        Flow::Next => (None, None),
        Flow::Jump(target) => (Some("jump"), target),
        Flow::Branch(target) => (Some("branch"), target),
        Flow::Call(target) => (Some("call"), target),
        Flow::Return => (Some("return"), None),
        Flow::Stop => (Some("stop"), None),
    };
    json.field("address", own.address);
    json.key("bytes").hex_bytes(it.bytes);
    json.field_if("chain", it.chain);
    write_counts(listing, &it.counts, json);
    json.field_if("flow", flow);
    json.field_if("line", it.line);
    json.field_if("reference", own.reference.map(|it| it.address));
    json.field_if("target", target);
    json.field("text", &*it.text);
    json.field_if("valid", Some(false).filter(|_| !own.is_valid));
}

fn write_loop(listing: &CodeListing<'_>, it: &CodeLoop, json: &mut JsonWriter<'_>) {
    let address = |at: usize| {
        let found = listing.instructions.get(at);
        found.map_or(0, |found| found.instruction.address)
    };
    write_counts(listing, &it.counts, json);
    json.field("depth", it.depth);
    json.field("first", address(it.span.0));
    json.field("head", address(it.head));
    json.column("instructions", &it.ranges, |json, range| {
        json.list(|json| {
            json.value(range.start);
            json.value(range.end);
        });
    });
    json.field("last", address(it.span.1));
    json.field("n_instructions", it.n_instructions);
    json.field_if("parent", it.parent);
}

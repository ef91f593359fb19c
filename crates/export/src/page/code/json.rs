//! Code as JSON: numbers of instructions, lines and functions are those within a function; 0 is none, so that others
//! are one more.

use super::{PageCode, PageFrame, PageFunction};
use rprof_untrusted::{JsonLayout, JsonWriter, printable};
use std::io;

/// All functions.
pub(super) fn of_all(code: &PageCode, has_places: bool) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut json = JsonWriter::new(&mut out, JsonLayout::Compact);
    json.object(|json| {
        json.key("has_places").boolean(has_places);
        json.key("n_left_out").number(code.n_left_out as u64);
        json.key("n_texts").number(code.n_texts() as u64);
        json.column("refused", &code.refused, |json, refused| {
            json.list(|json| {
                json.text(&printable(&refused.image));
                match &refused.function {
                    Some(function) => json.text(&printable(function)),
                    None => json.null(),
                }
                json.text(&printable(&refused.why));
            });
        });
        json.column("functions", &code.functions, |json, function| {
            write(function, code.is_without_text, json);
        });
    });
    json.finish()?;
    Ok(out)
}

/// One function.
pub(super) fn of_function(function: &PageFunction, is_without_text: bool) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut json = JsonWriter::new(&mut out, JsonLayout::Compact);
    write(function, is_without_text, &mut json);
    json.finish()?;
    Ok(out)
}

fn write(function: &PageFunction, is_without_text: bool, json: &mut JsonWriter<'_>) {
    json.object(|json| {
        json.key("name").text(&printable(&function.name));
        json.key("image").text(&printable(&function.image));
        json.key("file").text(&printable(&function.file));
        json.column("notes", &function.notes, |json, note| {
            json.text(&printable(note));
        });
        json.column("parts", &function.parts, |json, part| {
            json.list(|json| {
                json.text(&printable(&part.symbol));
                // Addresses of the kernel have more bits than numbers of scripts.
                json.text(&format!("{:x}", part.address));
                json.number(part.instructions.len() as u64);
            });
        });
        instructions(function, json);
        json.column("sources", &function.sources, |json, source| {
            json.list(|json| {
                json.text(&printable(&source.path));
                json.list(|json| {
                    for (line, text) in &source.lines {
                        json.number((*line).into());
                        match text {
                            Some(text) if !is_without_text => json.text(&printable(text)),
                            _ => json.null(),
                        }
                    }
                });
            });
        });
        json.key("places").list(|json| {
            for &(source, line) in &function.lines {
                json.number(source as u64);
                json.number(line.into());
            }
        });
        json.column("inlined", &function.chains, |json, chain| {
            json.list(|json| {
                for PageFrame { function, call } in chain {
                    json.text(&printable(function));
                    match call {
                        Some((file, line)) => json.text(&printable(&format!("{file}:{line}"))),
                        None => json.null(),
                    }
                }
            });
        });
        loops(function, json);
        counts(function, json);
    });
}

fn instructions(function: &PageFunction, json: &mut JsonWriter<'_>) {
    let all = &function.instructions;
    json.key("offsets").list(|json| {
        for part in &function.parts {
            let mut before = part.address;
            for one in all.get(part.instructions.clone()).unwrap_or_default() {
                json.number(one.address.wrapping_sub(before));
                before = one.address;
            }
        }
    });
    json.column("texts", all, |json, one| json.text(&printable(&one.text)));
    let mut numbers = |name: &str, of: fn(&super::PageInstruction) -> Option<usize>| {
        json.column(name, all, |json, one| {
            json.number(of(one).map_or(0, |number| number as u64 + 1));
        });
    };
    numbers("lines", |one| one.line);
    numbers("chains", |one| one.chain);
    numbers("targets", |one| one.target);
    json.key("left").list(|json| {
        for &(before, n) in &function.left_out {
            json.number(before as u64);
            json.number(n as u64);
        }
    });
}

fn loops(function: &PageFunction, json: &mut JsonWriter<'_>) {
    json.column("loops", &function.loops, |json, one| {
        json.object(|json| {
            json.key("first").number(one.span.0 as u64);
            json.key("last").number(one.span.1 as u64);
            json.key("head").number(one.head as u64);
            json.key("depth").number(one.depth as u64);
            let parent = one.parent.map_or(0, |parent| parent as u64 + 1);
            json.key("parent").number(parent);
            json.key("n").number(one.n_instructions as u64);
            json.key("ranges").list(|json| {
                for range in &one.ranges {
                    json.number(range.start as u64);
                    json.number(range.end as u64);
                }
            });
        });
    });
}

fn counts(function: &PageFunction, json: &mut JsonWriter<'_>) {
    json.column("events", &function.events, |json, event| {
        json.object(|json| {
            json.key("event").number(event.event as u64);
            json.key("samples").number(event.all.samples);
            json.key("weight").number(event.all.weight);
            json.column("at", &event.at, |json, (at, _)| json.number(*at as u64));
            json.column("n", &event.at, |json, (_, count)| {
                json.number(count.samples)
            });
            json.column("weights", &event.at, |json, (_, count)| {
                json.number(count.weight);
            });
        });
    });
}

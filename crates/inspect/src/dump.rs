//! Every record of a recording, in the file's order, with all its fields.

use crate::Error;
use crate::fields::{JsonFields, TextFields};
use rprof_abi::{CpuMode, Fields, RawRecord, Record, SampleId, Value};
use rprof_base::Counted;
use rprof_perfdata::{FileRecord, Reader, Step, file_kind, kind_name};
use rprof_untrusted::Untrusted;
use std::io::{self, Write};

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpForm {
    /// A line of text for each.
    Text,
    /// A JSON object on a line for each, after one that says what the file is.
    Json,
}

/// Version of the JSON form: raised when a field changes its name or meaning.
pub const DUMP_VERSION: u64 = 1;

/// Writes all records; returns what could not be used, one sentence each.
///
/// # Errors
/// [`Error`] if the file cannot be read, or `out` not be written.
pub fn write_dump(
    reader: &Reader,
    form: DumpForm,
    out: &mut dyn Write,
) -> Result<Vec<String>, Error> {
    if form == DumpForm::Json {
        write_head(reader, out).map_err(Error::Write)?;
    }
    let mut failed = None;
    let mut n_bad = 0u64;
    let walked = reader.walk(reader.data(), |offset, raw| {
        let record = DumpedRecord::of(reader, offset, raw);
        n_bad += u64::from(matches!(record.body, Body::Damaged(_)));
        let written = match form {
            DumpForm::Text => record.write_text(out),
            DumpForm::Json => record.write_json(out),
        };
        match written {
            Ok(()) => Step::On,
            Err(error) => {
                failed = Some(error);
                Step::Stop
            }
        }
    })?;
    if let Some(error) = failed {
        return Err(Error::Write(error));
    }
    out.flush().map_err(Error::Write)?;
    let warnings = reader.warnings().iter().chain(&walked);
    let mut warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    if n_bad > 0 {
        let bad = Counted::new(
            n_bad,
            "record is damaged; its line says how",
            "records are damaged; their lines say how",
        );
        warnings.push(bad.to_string());
    }
    Ok(warnings)
}

fn write_head(reader: &Reader, out: &mut dyn Write) -> io::Result<()> {
    let mut json = JsonFields::new();
    let fields: &mut dyn Fields = &mut json;
    fields.field("schema", Value::Text(b"rprof-dump"));
    fields.field("version", Value::Unsigned(DUMP_VERSION));
    crate::info::visit_form(reader, fields);
    fields.list("events", reader.events(), |fields, event| {
        fields.field("", Value::Text(event.name.raw().as_bytes()));
    });
    write_line(json.finish(), out)
}

fn write_line(mut line: Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    line.push(b'\n');
    out.write_all(&line)
}

/// A record with what is known of it.
struct DumpedRecord<'a> {
    reader: &'a Reader,
    offset: u64,
    raw: RawRecord<'a>,
    /// The event that it belongs to.
    event: Option<&'a str>,
    body: Body<'a>,
}

enum Body<'a> {
    Kernel(Record<'a>, SampleId),
    File(FileRecord<'a>),
    Damaged(String),
}

impl<'a> DumpedRecord<'a> {
    fn of(reader: &'a Reader, offset: u64, raw: RawRecord<'a>) -> Self {
        let (event, body) = if raw.kind.0 >= file_kind::HEADER_ATTR.0 {
            let body = match FileRecord::parse(raw, reader.endian()) {
                Ok(record) => Body::File(record),
                Err(error) => Body::Damaged(error.to_string()),
            };
            (None, body)
        } else {
            match reader
                .event_of(raw)
                .and_then(|idx| reader.events().get(idx))
            {
                None => (None, Body::Damaged("no event has its id".to_owned())),
                Some(event) => {
                    let body = match Record::parse(raw, &event.layout) {
                        Ok((record, id)) => Body::Kernel(record, id),
                        Err(error) => Body::Damaged(error.to_string()),
                    };
                    (Some(event.name.raw()), body)
                }
            }
        };
        Self {
            reader,
            offset,
            raw,
            event,
            body,
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let location = self.reader.location(self.offset);
        if let Some(file) = &location.file {
            write!(out, "{} ", Untrusted::new(file))?;
        }
        write!(out, "{:#x}", location.offset)?;
        if let Some(unpacked) = location.unpacked {
            write!(out, "+{unpacked:#x}")?;
        }
        write!(
            out,
            " [{}] {}",
            self.raw.len_bytes(),
            kind_name(self.raw.kind)
        )?;
        if let Some(mode) = mode_name(self.raw) {
            write!(out, " {mode}")?;
        }
        let mut text = TextFields::default();
        match &self.body {
            Body::Kernel(record, id) => {
                record.visit(&mut text);
                if !matches!(record, Record::Sample(_)) && *id != SampleId::default() {
                    let fields: &mut dyn Fields = &mut text;
                    fields.object("id", |fields| id.visit(fields));
                }
            }
            Body::File(record) => record.visit(&mut text),
            Body::Damaged(what) => {
                text.field("damaged", Value::Text(what.as_bytes()));
                text.field("body", Value::Bytes(self.raw.body));
            }
        }
        let text = text.finish();
        if !text.is_empty() {
            out.write_all(b": ")?;
        }
        write_line(text, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let location = self.reader.location(self.offset);
        let mut json = JsonFields::new();
        let fields: &mut dyn Fields = &mut json;
        if let Some(file) = &location.file {
            fields.field("file", Value::Text(file.as_bytes()));
        }
        fields.field("offset", Value::Unsigned(location.offset));
        fields.if_some("unpacked", location.unpacked, Value::Unsigned);
        fields.field("size", Value::Unsigned(self.raw.len_bytes() as u64));
        fields.field("kind", Value::Text(kind_name(self.raw.kind).as_bytes()));
        fields.field("misc", Value::Hex(self.raw.misc.0.into()));
        if let Some(mode) = mode_name(self.raw) {
            fields.field("mode", Value::Text(mode.as_bytes()));
        }
        if let Some(event) = self.event {
            fields.field("event", Value::Text(event.as_bytes()));
        }
        match &self.body {
            Body::Kernel(record, id) => {
                fields.object("fields", |fields| record.visit(fields));
                if !matches!(record, Record::Sample(_)) {
                    fields.object("id", |fields| id.visit(fields));
                }
            }
            Body::File(record) => fields.object("fields", |fields| record.visit(fields)),
            Body::Damaged(what) => {
                fields.field("damaged", Value::Text(what.as_bytes()));
                fields.field("body", Value::Bytes(self.raw.body));
            }
        }
        write_line(json.finish(), out)
    }
}

/// Where a record was made, for kinds that say it.
fn mode_name(raw: RawRecord<'_>) -> Option<&'static str> {
    match raw.misc.cpu_mode() {
        _ if raw.kind.name().is_none() => None,
        CpuMode::Kernel => Some("kernel"),
        CpuMode::User => Some("user"),
        CpuMode::Hypervisor => Some("hypervisor"),
        CpuMode::GuestKernel => Some("guest kernel"),
        CpuMode::GuestUser => Some("guest user"),
        CpuMode::Unknown | CpuMode::Reserved(_) => None,
    }
}

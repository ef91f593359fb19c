//! Records that hold samples in a form that is not read.

use rprof_abi::RawRecord;
use rprof_base::Counted;
use rprof_perfdata::{FileRecord, Form, Reader, file_kind};

/// Records that hold samples in a form that is not read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IgnoredRecords {
    n_aux: u64,
    aux_bytes: u64,
    n_compressed: u64,
    /// Of kinds that nobody knows here.
    n_unknown: u64,
    /// After records, where nothing was looked for.
    format_bytes: u64,
}

impl IgnoredRecords {
    /// Adds what is ignored of another block.
    pub(super) fn add(&mut self, other: Self) {
        self.n_aux += other.n_aux;
        self.aux_bytes = self.aux_bytes.saturating_add(other.aux_bytes);
        self.n_compressed += other.n_compressed;
        self.n_unknown += other.n_unknown;
        self.format_bytes = self.format_bytes.saturating_add(other.format_bytes);
    }

    pub(super) fn take(&mut self, raw: RawRecord<'_>, reader: &Reader) {
        match raw.kind {
            file_kind::AUXTRACE => {
                self.n_aux += 1;
                if let Ok(FileRecord::Auxtrace(aux)) = FileRecord::parse(raw, reader.endian()) {
                    self.aux_bytes = self.aux_bytes.saturating_add(aux.len_bytes);
                }
            }
            // Unpacked when the file was opened, unless its header does not say that it is
            // compressed.
            file_kind::COMPRESSED | file_kind::COMPRESSED2 => self.n_compressed += 1,
            file_kind::HEADER_TRACING_DATA if reader.form() != Form::Pipe => {
                let len = reader.payload_len(raw);
                self.format_bytes = self.format_bytes.saturating_add(len);
            }
            kind if file_kind::name(kind).is_none() => self.n_unknown += 1,
            _ => {}
        }
    }

    pub(super) fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.n_aux > 0 {
            notes.push(format!(
                "{} bytes of hardware trace (AUXTRACE) are ignored: only samples are shown; perf can decode \
                 the trace",
                self.aux_bytes
            ));
        }
        if self.n_compressed > 0 {
            notes.push(format!(
                "{}: the file's header does not say that it is \
                 compressed",
                Counted::new(
                    self.n_compressed,
                    "compressed record is ignored",
                    "compressed records are ignored"
                )
            ));
        }
        if self.format_bytes > 0 {
            notes.push(format!(
                "{} bytes after records of tracepoint formats are ignored: a file has them in a section of \
                 their own",
                self.format_bytes
            ));
        }
        if self.n_unknown > 0 {
            notes.push(format!(
                "{}",
                Counted::new(
                    self.n_unknown,
                    "record of an unknown kind is ignored",
                    "records of unknown kinds are ignored"
                )
            ));
        }
        notes
    }
}

//! What tracepoints wrote, as the kernel would print it.

use crate::text;
use rprof_abi::tracepoint::TracepointNames;
use rprof_analysis::{Kernel, Recording, TracepointFormats};
use rprof_base::Avma;
use rprof_machine::{AddressLocation, Key};
use rprof_symbols::KernelSymbols;
use rprof_untrusted::Untrusted;
use std::borrow::Cow;

/// Prints what tracepoints wrote.
pub(crate) struct Traces<'a> {
    recording: &'a Recording<'a>,
    formats: &'a TracepointFormats,
    symbols: Option<KernelSymbols<'a>>,
}

impl<'a> Traces<'a> {
    pub(crate) fn new(
        recording: &'a Recording<'a>,
        formats: &'a TracepointFormats,
        kernel: Option<&'a Kernel<'_>>,
    ) -> Self {
        let images = recording.index.history.images();
        let reference = images
            .iter()
            .find_map(|(_, image)| image.reference_symbol());
        let list = kernel.and_then(|kernel| kernel.symbols.as_ref().ok());
        Self {
            recording,
            formats,
            symbols: list.map(|list| KernelSymbols::new(list, reference)),
        }
    }

    /// Appends what an event's raw data says.
    pub(crate) fn append(&self, event: usize, raw: &[u8], out: &mut Vec<u8>) {
        if let Some(format) = self.formats.of_event(event) {
            let mut printed = Vec::new();
            let data = self.formats.data(raw, self.recording.reader.endian());
            format.print(&data, self, &mut printed);
            text::printed(out, &printed);
        }
    }
}

impl TracepointNames for Traces<'_> {
    fn kernel_symbol(&self, address: u64) -> Option<(Cow<'_, str>, u64)> {
        let history = &self.recording.index.history;
        // At the end of the recording: modules that were unloaded have no names any more.
        let location = history.resolve(history.kernel_epoch(Key::LAST), Avma(address));
        if !matches!(location, AddressLocation::Kernel { .. }) {
            return None;
        }
        let (name, offset) = self.symbols.as_ref()?.name(Avma(address))?;
        Some((Untrusted::of_bytes(name).into_raw(), offset))
    }

    fn printk_string(&self, address: u64) -> Option<&[u8]> {
        self.formats.string(address)
    }
}

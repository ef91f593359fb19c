//! Names of all addresses that samples hit, as a section for the recording itself.

use crate::Error;
use crate::index::{EmbeddedSymbols, SampleOrder, has_stack, kernel_avma};
use crate::locations::OtherAddress;
use crate::pass::{Query, WantedFrames, find_locations, has_data_addresses};
use crate::recording::Recording;
use crate::samples::DecodedSample;
use crate::stacks::First;
use crate::symbolize::{sampled_functions, symbolize_all};
use foldhash::fast::RandomState;
use rprof_abi::sample::BranchStack;
use rprof_abi::{Encoder, SampleType};
use rprof_base::{Avma, Interner};
use rprof_locate::Locator;
use rprof_machine::{JitCode, RecordedImage};
use rprof_perfdata::feature::{
    AddressName, EmbeddedNames, SymbolAddress, SymbolFrame, SymbolImage, SymbolPiece,
};
use rprof_perfdata::{Form, Reader};
use rprof_profile::Filter;
use rprof_symbols::{Demangling, Detail, Request, Symbolized};
use std::path::PathBuf;

/// What is to be put into a recording as [`rprof_perfdata::FeatureId::SYMBOLS`].
#[derive(Clone, Debug)]
pub struct SymbolSection {
    /// The section, in the recording's byte order.
    pub bytes: Vec<u8>,
    /// The file that it goes into.
    pub path: PathBuf,
    /// Addresses that samples hit, in images that may have names.
    pub addresses: usize,
    /// Those that have a name.
    pub named: usize,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

/// Looks up names, inlined functions and lines of everything that samples hit: stacks, the ends of
/// branches, and data.
/// Files come first, then what is embedded already.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn symbol_section(
    reader: &Reader,
    locator: &Locator,
    progress: &mut dyn FnMut(usize),
) -> Result<SymbolSection, Error> {
    let recording = Recording::open(reader, locator, SampleOrder::Any)?;
    let filter = Filter::default();
    let query = Query::of(&recording, &filter, WantedFrames::All, First::Both)?;
    let beside_stacks = |decoded: &DecodedSample<'_>, visit: &mut dyn FnMut(OtherAddress)| {
        for_each_beside_stack(reader, decoded, &mut |avma| {
            visit(OtherAddress::ByMapping(avma));
        });
    };
    let found = find_locations(&query, beside_stacks, progress)?;
    let locations = found.locations;
    let embedded = EmbeddedSymbols::after_files(reader, &recording.index.history);
    let mut builder = Builder::default();
    let (mut addresses, mut named) = (0, 0);
    // As files have them: the reader of the recording chooses how they are demangled.
    let request = Request {
        detail: Detail::Lines,
        demangling: Demangling::Off,
        ..Request::default()
    };
    let all = symbolize_all(&recording, &locations, request, &embedded)?;
    for (batch, result) in all.batches {
        let (Some((id, image)), Some(result)) = (batch.image, result) else {
            continue;
        };
        let own = &locations[batch.locations];
        let mut of_image = builder.image(image);
        addresses += own.len();
        if image.is_jitdump() {
            let pieces = sampled_functions(&recording, (id, image), own, &embedded);
            of_image.pieces = pieces.into_iter().map(piece).collect();
        }
        match result {
            Ok(symbolized) => {
                let reason = symbolized.missing_reason().map(ToString::to_string);
                of_image.reason = reason.map(|reason| builder.string(&reason));
                for (idx, location) in own.iter().enumerate() {
                    let name = builder.name(&symbolized, idx);
                    named += usize::from(name.is_some());
                    let address = location.address;
                    of_image.addresses.push(SymbolAddress { address, name });
                }
            }
            Err(reason) => of_image.reason = Some(builder.string(&reason.to_string())),
        }
        builder.images.push(of_image);
    }
    let mut bytes = Vec::new();
    builder
        .finish()
        .encode(&mut Encoder::new(&mut bytes, reader.endian()));
    let warnings = recording.warnings().chain(all.warnings);
    let warnings = warnings.chain(found.ignored.warnings());
    let copies = reader.events().iter().any(has_stack);
    let copies = copies.then(|| {
        "the recording holds stack dumps: to unwind them, the binaries are still needed".to_owned()
    });
    Ok(SymbolSection {
        bytes,
        path: match reader.form() {
            Form::Directory => reader.path().join("data"),
            Form::File | Form::Pipe => reader.path().to_owned(),
        },
        addresses,
        named,
        warnings: warnings.chain(copies).collect(),
    })
}

/// The addresses that tables count by beside those of stacks: where branches began and led to, and data.
fn for_each_beside_stack(
    reader: &Reader,
    decoded: &DecodedSample<'_>,
    visit: &mut dyn FnMut(Avma),
) {
    let event = reader.events().get(decoded.event);
    let has_branches =
        event.is_some_and(|event| event.attr.sample_type.has(SampleType::BRANCH_STACK));
    let has_data = event.is_some_and(has_data_addresses);
    if !has_branches && !has_data {
        return;
    }
    let fields = decoded.all_fields(reader).unwrap_or_default();
    for branch in fields.branch_stack.iter().flat_map(BranchStack::entries) {
        visit(Avma(branch.from));
        visit(Avma(branch.to));
    }
    let data = fields.addr.filter(|_| has_data);
    data.into_iter().map(Avma).for_each(visit);
}

fn piece((time_ns, code): (Option<u64>, JitCode)) -> SymbolPiece {
    SymbolPiece {
        time_ns,
        start: code.start.0,
        len: code.len,
        offset: code.offset.0,
    }
}

/// Gives strings and frames their numbers, each once.
#[derive(Default)]
struct Builder {
    strings: Interner<u32, Vec<u8>, RandomState>,
    frames: Interner<u32, SymbolFrame, RandomState>,
    images: Vec<SymbolImage>,
}

impl Builder {
    fn string(&mut self, text: &str) -> u32 {
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, text: &[u8]) -> u32 {
        self.strings.intern_ref(text)
    }

    fn image(&mut self, image: &RecordedImage) -> SymbolImage {
        let build_id = image.build_id.as_ref();
        SymbolImage {
            path: self.bytes(&image.path),
            build_id: build_id.map_or(Vec::new(), |id| id.as_bytes().to_vec()),
            inode: image.inode,
            device: image.device,
            avma: kernel_avma(image.kind),
            reason: None,
            addresses: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// What the address with this index is called.
    fn name(&mut self, symbolized: &Symbolized, idx: usize) -> Option<AddressName> {
        let frames = symbolized.frames(idx);
        let function = frames.last()?;
        // What is deeper than a section holds loses its middle.
        let n_inner = (frames.len() - 1).min(EmbeddedNames::MAX_DEPTH - 1);
        let mut caller = None;
        for frame in [function].into_iter().chain(frames[..n_inner].iter().rev()) {
            let line = frame.line.map(|line| {
                let file = self.string(symbolized.name(line.file));
                (file, line.line.min(u32::MAX - 1))
            });
            let frame = SymbolFrame {
                caller,
                name: self.string(symbolized.name(frame.name)),
                line,
            };
            caller = Some(self.frames.intern(frame));
        }
        Some(AddressName {
            frame: caller?,
            start: function.start,
            offset: function.offset,
        })
    }

    fn finish(self) -> EmbeddedNames {
        EmbeddedNames {
            strings: self.strings.into_values(),
            frames: self.frames.into_values(),
            images: self.images,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_symbols::{Collector, Frame};

    #[test]
    fn frames_are_shared_and_too_many_lose_their_middle() {
        let mut collector = Collector::default();
        let mut add = |names: &[String]| {
            for (at, name) in names.iter().enumerate() {
                let name = collector.name(name.as_bytes(), |_| name.clone());
                collector.frame(Frame {
                    name,
                    start: 0x10,
                    offset: 1,
                    size: None,
                    is_inlined: at + 1 < names.len(),
                    line: None,
                });
            }
            collector.end_address();
        };
        let names = |inner: &[&str]| {
            inner
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        add(&names(&["a", "b", "main"]));
        add(&names(&["c", "b", "main"]));
        add(&names(&[]));
        let deep: Vec<String> = (0..500).map(|n| format!("f{n}")).collect();
        add(&deep);
        let symbolized = collector.finish();
        let mut builder = Builder::default();
        let first = builder.name(&symbolized, 0).unwrap();
        builder.name(&symbolized, 1).unwrap();
        assert_eq!(builder.frames.len(), 4);
        assert_eq!(builder.name(&symbolized, 2), None);
        let deep = builder.name(&symbolized, 3).unwrap();
        let symbols = builder.finish();
        let chain = |frame| -> Vec<_> {
            let frames = symbols.chain(frame);
            frames
                .map(|one| String::from_utf8_lossy(symbols.string(one.name)))
                .collect()
        };
        assert_eq!(chain(first.frame), ["a", "b", "main"]);
        let deep = chain(deep.frame);
        assert_eq!(deep.len(), EmbeddedNames::MAX_DEPTH);
        assert_eq!(
            (&*deep[0], &*deep[126], &*deep[127]),
            ("f0", "f126", "f499")
        );
    }
}

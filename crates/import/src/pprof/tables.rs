//! The tables of a profile: strings, mappings, functions, and locations, which become addresses.

use crate::Error;
use crate::names::{Level, build_id, image_identity};
use crate::recording::{AddError, Recording, StackAddress};
use foldhash::HashMap;
use rprof_perfdata::feature::EmbeddedNames;
use rprof_perfdata::{SyntheticFunction, SyntheticImages};
use rprof_pprof::{PprofFunction, PprofLine, PprofMapping, PprofPart, PprofParts, PprofValueType};
use rprof_untrusted::{Budget, Held};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// A location but for its lines.
struct KnownLocation {
    mapping: u64,
    address: u64,
    /// Positions in the lines of all.
    lines: Range<usize>,
}

/// All but the samples. Ids lead to positions.
pub(super) struct Tables<'p> {
    pub(super) sample_types: Vec<PprofValueType>,
    /// The default one, as a string; 0 if there is none.
    pub(super) default_type: i64,
    pub(super) texts: Vec<&'p [u8]>,
    mappings: HashMap<u64, PprofMapping>,
    /// The first one is the program.
    first_mapping: Option<u64>,
    functions: HashMap<u64, PprofFunction>,
    locations: HashMap<u64, KnownLocation>,
    lines: Vec<PprofLine>,
    /// Memory that they take.
    _held: Held,
}

/// Bytes that an entry of a table takes beside itself.
const ENTRY_BYTES: usize = 32;

impl<'p> Tables<'p> {
    /// Reads them.
    ///
    /// # Errors
    /// [`Error`]: it is no profile, or too large.
    pub(super) fn read(path: &Path, profile: &'p [u8], budget: &Budget) -> Result<Self, Error> {
        let mut tables = Self {
            sample_types: Vec::new(),
            default_type: 0,
            texts: Vec::new(),
            mappings: HashMap::default(),
            first_mapping: None,
            functions: HashMap::default(),
            locations: HashMap::default(),
            lines: Vec::new(),
            _held: budget.hold_nothing(),
        };
        for part in PprofParts::new(profile) {
            let part = part.map_err(|error| Error::profile(path, error))?;
            let bytes = tables.add(part);
            let held = tables._held.grow(bytes as u64);
            held.map_err(|_| Error::memory(path, budget))?;
        }
        Ok(tables)
    }

    /// Adds a part; how many bytes it takes.
    fn add(&mut self, part: PprofPart<'p>) -> usize {
        match part {
            PprofPart::SampleType(kind) => {
                self.sample_types.push(kind);
                size_of::<PprofValueType>()
            }
            PprofPart::DefaultSampleType(kind) => {
                self.default_type = kind;
                0
            }
            PprofPart::Text(text) => {
                self.texts.push(text);
                2 * size_of::<&[u8]>()
            }
            PprofPart::Mapping(mapping) => {
                self.first_mapping.get_or_insert(mapping.id);
                self.mappings.entry(mapping.id).or_insert(mapping);
                ENTRY_BYTES + size_of::<PprofMapping>()
            }
            PprofPart::Function(function) => {
                self.functions.entry(function.id).or_insert(function);
                ENTRY_BYTES + size_of::<PprofFunction>()
            }
            PprofPart::Location(location) => {
                let start = self.lines.len();
                self.lines.extend(location.line);
                let known = KnownLocation {
                    mapping: location.mapping_id,
                    address: location.address,
                    lines: start..self.lines.len(),
                };
                let n_lines = self.lines.len() - start;
                self.locations.entry(location.id).or_insert(known);
                ENTRY_BYTES + size_of::<KnownLocation>() + 2 * n_lines * size_of::<PprofLine>()
            }
            PprofPart::Sample(_) | PprofPart::Other | PprofPart::Unknown => 0,
        }
    }

    /// A string; empty for a number of none.
    pub(super) fn text_bytes(&self, number: i64) -> &'p [u8] {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.texts.get(at)).copied().unwrap_or(b"")
    }

    /// The same, as text.
    pub(super) fn text(&self, number: i64) -> Cow<'p, str> {
        String::from_utf8_lossy(self.text_bytes(number))
    }

    /// What the program is called.
    pub(super) fn program(&self) -> &'p [u8] {
        let first = self.first_mapping.and_then(|id| self.mappings.get(&id));
        let path = first.map_or(&b""[..], |mapping| self.text_bytes(mapping.filename));
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        if name.is_empty() { b"[unknown]" } else { name }
    }
}

/// Locations as addresses.
pub(super) struct Locations<'p> {
    tables: &'p Tables<'p>,
    /// Those that are known: positions in `addresses`.
    known: HashMap<(u64, Level), Range<usize>>,
    addresses: Vec<StackAddress>,
    stack: Vec<StackAddress>,
}

impl<'p> Locations<'p> {
    pub(super) fn new(tables: &'p Tables<'p>) -> Self {
        Self {
            tables,
            known: HashMap::default(),
            addresses: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// The addresses of a stack, innermost first.
    pub(super) fn stack(
        &mut self,
        ids: &[u64],
        recording: &mut Recording,
    ) -> Result<&[StackAddress], AddError> {
        self.stack.clear();
        let mut least = Level::Kernel;
        for &id in ids {
            // What the kernel was called by is no kernel code.
            least = least.min(self.level(id));
            let known = match self.known.get(&(id, least)) {
                Some(known) => known.clone(),
                None => self.add(id, least, recording)?,
            };
            let addresses = self.addresses.get(known).unwrap_or_default();
            self.stack.extend_from_slice(addresses);
        }
        Ok(&self.stack)
    }

    fn mapping(&self, location: &KnownLocation) -> Option<&'p PprofMapping> {
        self.tables.mappings.get(&location.mapping)
    }

    fn level(&self, id: u64) -> Level {
        let Some(location) = self.tables.locations.get(&id) else {
            return Level::User;
        };
        let mapping = self.mapping(location);
        let name = mapping.map_or(&b""[..], |one| self.tables.text_bytes(one.filename));
        // The upper half of all addresses is the kernel's, on all architectures that are unwound.
        if name.starts_with(b"[kernel") || location.address >> 63 == 1 {
            Level::Kernel
        } else {
            Level::User
        }
    }

    /// Makes addresses for a location: one, unless more functions are inlined there than one can have.
    fn add(
        &mut self,
        id: u64,
        level: Level,
        recording: &mut Recording,
    ) -> Result<Range<usize>, AddError> {
        let tables = self.tables;
        let start = self.addresses.len();
        let location = tables.locations.get(&id);
        let location = location
            .ok_or_else(|| AddError::Sample(format!("location {id} is not in the profile")))?;
        let mapping = self.mapping(location);
        let image = image_identity(
            mapping.map_or(&b""[..], |one| tables.text_bytes(one.filename)),
            mapping.and_then(|one| build_id(tables.text_bytes(one.build_id))),
            level,
        );
        let too_many = || AddError::Sample("too many functions".to_owned());
        let image = recording.images.image(image).ok_or_else(too_many)?;
        let lines = tables.lines.get(location.lines.clone());
        let lines = lines.unwrap_or_default();
        recording.hold(LINE_BYTES * (lines.len() as u64 + 1))?;
        // The outermost functions come last, and are there first.
        let mut frames = Vec::new();
        for inlined in lines.rchunks(EmbeddedNames::MAX_DEPTH) {
            let outermost_first = inlined.iter().rev();
            frames.push(outermost_first.fold(None, |caller, line| {
                Some(tables.frame(line, caller, &mut recording.images))
            }));
        }
        if frames.is_empty() {
            frames.push(None);
        }
        for frame in frames.into_iter().rev() {
            let address = recording.images.address(image, frame);
            self.addresses.push(StackAddress {
                address: address.ok_or_else(too_many)?.0,
                image,
                is_kernel: level == Level::Kernel,
            });
        }
        let known = start..self.addresses.len();
        self.known.insert((id, level), known.clone());
        Ok(known)
    }
}

/// Bytes that are taken for a line of a location: its frame, its address and the names of both.
const LINE_BYTES: u64 = 256;

impl Tables<'_> {
    /// The frame of a line.
    fn frame(&self, line: &PprofLine, caller: Option<u32>, images: &mut SyntheticImages) -> u32 {
        let function = self.functions.get(&line.function_id);
        let text = |number: Option<i64>| self.text_bytes(number.unwrap_or(0));
        let names = [
            text(function.map(|function| function.name)),
            text(function.map(|function| function.system_name)),
        ];
        let name = names.into_iter().find(|name| !name.is_empty());
        let file = text(function.map(|function| function.filename));
        let number = u32::try_from(line.line).unwrap_or(0);
        let function = SyntheticFunction {
            name: name.unwrap_or(b"[unknown]"),
            line: (!file.is_empty()).then_some((file, number)),
        };
        images.frame(caller, function)
    }
}

//! Addresses of a sample beside its stack: of data, and where branches came from and went.

use crate::fields::{Field, FieldSet, has_named_addr};
use crate::frames::dso;
use crate::text;
use rprof_abi::CpuMode;
use rprof_abi::sample::BranchStack;
use rprof_analysis::{Address, DecodedSample, Location, Mappings, Query, Symbols};
use rprof_base::Avma;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::Level;

/// Such an address, looked up.
pub(crate) struct DataAddress<'a> {
    pub(crate) key: Location,
    image: Option<&'a RecordedImage>,
}

impl<'a> DataAddress<'a> {
    pub(crate) fn of(query: &Query<'a>, mappings: Mappings, address: Address) -> Self {
        let history = &query.recording.index.history;
        let key = mappings.location(history, address);
        Self {
            key,
            image: history.images().of(ImageId(key.image)),
        }
    }

    /// Appends the function's name, and how far into it the address is.
    pub(crate) fn symbol(&self, symbols: Option<&Symbols>, offset: bool, out: &mut Vec<u8>) {
        let name = symbols.and_then(|symbols| {
            let location = symbols.number(self.key);
            let frame = symbols.functions.of(*symbols.frames(location).last()?);
            let name = symbols.strings.of(frame.name?);
            Some((name, symbols.offset(location)))
        });
        let Some((name, bytes)) = name else {
            out.extend_from_slice(b"[unknown]");
            return;
        };
        text::name(out, &name);
        if offset {
            out.extend_from_slice(b"+0x");
            text::hex(out, bytes, 0);
        }
    }

    /// Appends the image in parentheses.
    pub(crate) fn dso(&self, fields: FieldSet, out: &mut Vec<u8>) {
        out.push(b'(');
        text::name_of_bytes(out, &dso(self.image));
        if fields.has(Field::Dsoff) {
            offset_in_dso(self.image, self.key.address, out);
        }
        out.push(b')');
    }
}

/// Appends the offset in a file after its name.
pub(crate) fn offset_in_dso(image: Option<&RecordedImage>, address: u64, out: &mut Vec<u8>) {
    if image.is_some_and(|image| image.kind == ImageKind::User) {
        out.extend_from_slice(b"+0x");
        text::hex(out, address, 0);
    }
}

/// An address that a sample names: kernel or user by its value, whatever ran.
pub(crate) fn address_of(mode: CpuMode, avma: u64) -> Address {
    let in_kernel = avma >> 63 == 1;
    let level = match (mode, in_kernel) {
        (CpuMode::GuestKernel | CpuMode::GuestUser, true) => Level::GuestKernel,
        (CpuMode::GuestKernel | CpuMode::GuestUser, false) => Level::GuestUser,
        (CpuMode::Hypervisor, _) => Level::Hypervisor,
        (_, true) => Level::Kernel,
        (_, false) => Level::User,
    };
    Address {
        level: Some(level),
        avma: Avma(avma),
        is_return: false,
    }
}

/// The addresses of a sample that are to be named.
pub(crate) fn for_each_named(
    query: &Query<'_>,
    fields: FieldSet,
    decoded: &DecodedSample<'_>,
    visit: &mut dyn FnMut(Address),
) {
    let attr = query
        .recording
        .reader
        .events()
        .get(decoded.recorded_event());
    let has_addr = fields.has(Field::Addr)
        && fields.has(Field::Sym)
        && attr.is_some_and(|event| has_named_addr(&event.attr));
    if !has_addr && !fields.has(Field::Brstacksym) {
        return;
    }
    let mode = decoded.raw.misc.cpu_mode();
    let whole = decoded
        .all_fields(query.recording.reader)
        .unwrap_or_default();
    if let Some(addr) = whole.addr.filter(|_| has_addr) {
        visit(address_of(mode, addr));
    }
    let branches = whole.branch_stack.filter(|_| fields.has(Field::Brstacksym));
    for branch in branches.iter().flat_map(BranchStack::entries) {
        visit(address_of(mode, branch.from));
        visit(address_of(mode, branch.to));
    }
}

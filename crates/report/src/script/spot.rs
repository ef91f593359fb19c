//! Addresses of a sample beside its stack: of data, and where branches came from and went.

use super::columns::{Column, Columns, has_named_addr};
use super::frames::{Named, dso};
use super::text;
use crate::load::{Address, Context, PlaceKey, Seen, Space};
use rprof_abi::CpuMode;
use rprof_abi::sample::BranchStack;
use rprof_base::Avma;
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_profile::Level;

/// Such an address, looked up.
pub(super) struct Spot<'a> {
    pub(super) key: PlaceKey,
    image: Option<&'a RecordedImage>,
}

impl<'a> Spot<'a> {
    pub(super) fn of(context: &Context<'a>, space: Space, address: Address) -> Self {
        let history = &context.skimmed.history;
        let key = space.place(history, address);
        Self {
            key,
            image: history.images().of(ImageId(key.image)),
        }
    }

    /// Appends the function's name, and how far into it the address is.
    pub(super) fn symbol(&self, named: Option<Named<'_>>, offset: bool, out: &mut Vec<u8>) {
        let name = named.and_then(|named| {
            let place = named.names.place(self.key);
            let frame = named.profile.frames.of(*named.names.frames(place).last()?);
            let name = named.profile.strings.of(frame.name?);
            Some((name, named.names.offset(place)))
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
    pub(super) fn dso(&self, columns: Columns, out: &mut Vec<u8>) {
        out.push(b'(');
        text::name_of_bytes(out, &dso(self.image));
        if columns.has(Column::Dsoff) {
            offset_in_dso(self.image, self.key.address, out);
        }
        out.push(b')');
    }
}

/// Appends the offset in a file behind its name.
pub(super) fn offset_in_dso(image: Option<&RecordedImage>, address: u64, out: &mut Vec<u8>) {
    if image.is_some_and(|image| image.kind == ImageKind::User) {
        out.extend_from_slice(b"+0x");
        text::hex(out, address, 0);
    }
}

/// An address that a sample names: kernel or user by its value, whatever ran.
pub(super) fn address_of(mode: CpuMode, avma: u64) -> Address {
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
pub(super) fn for_each_named(
    context: &Context<'_>,
    columns: Columns,
    seen: &Seen<'_>,
    visit: &mut dyn FnMut(Address),
) {
    let attr = context.reader.events().get(seen.event);
    let has_addr = columns.has(Column::Addr)
        && columns.has(Column::Sym)
        && attr.is_some_and(|event| has_named_addr(&event.attr));
    if !has_addr && !columns.has(Column::Brstacksym) {
        return;
    }
    let mode = seen.raw.misc.cpu_mode();
    let whole = context.whole(seen).unwrap_or_default();
    if let Some(addr) = whole.addr.filter(|_| has_addr) {
        visit(address_of(mode, addr));
    }
    let branches = whole
        .branch_stack
        .filter(|_| columns.has(Column::Brstacksym));
    for branch in branches.iter().flat_map(BranchStack::entries) {
        visit(address_of(mode, branch.from));
        visit(address_of(mode, branch.to));
    }
}

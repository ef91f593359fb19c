//! What DWARF says of a function and of its parameters.

use crate::value::{DwarfEntry, MOST_HOPS, Slice, Unit, Value, referred};
use gimli::{
    AttributeValue, DwAt, EndianSlice, Expression, Operation, RunTimeEndian, UnitOffset,
    constants as dw,
};
use rprof_base::Svma;
use rprof_images::{Elf, RawSection, SectionBytes};

/// A function of an x86-64 file, as its DWARF describes it.
pub(super) struct FunctionDwarf {
    /// Whether its language is C or C++, and it has no calling convention of its own.
    pub(super) is_called_as_c: bool,
    /// What it returns, if anything.
    pub(super) returned: Option<Value>,
    pub(super) parameters: Vec<Parameter>,
}

pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) stored: Stored,
}

/// Where a parameter is when its function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// In a register, by its DWARF number.
    Register(u16),
    /// This many bytes above the caller's frame, where the caller put it.
    AboveFrame(i64),
    /// The function will store it in its frame; it is not there yet.
    InFrame,
    Nowhere,
}

impl FunctionDwarf {
    /// The function that starts at an address; `None` if the file has no readable DWARF of it, or is of another
    /// architecture than x86-64.
    pub(super) fn read(elf: &Elf, address: Svma) -> Option<Self> {
        if elf.machine_name() != Some("x86_64") {
            return None;
        }
        let load = |id: gimli::SectionId| -> Result<SectionBytes, ()> {
            let packed = elf.raw_section(id.name());
            // What is damaged counts as empty.
            Ok(packed.and_then(RawSection::decompress).unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(load).ok()?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, RunTimeEndian::Little));
        let mut headers = dwarf.units();
        // Units behind a damaged one cannot be found.
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = dwarf.unit(header) else {
                continue;
            };
            let unit = unit.unit_ref(&dwarf);
            if !covers(unit, address) {
                continue;
            }
            if let Some(offset) = function_at(unit, address) {
                let function = Self::of_entry(unit, offset, address)?;
                return Some(Self {
                    is_called_as_c: function.is_called_as_c && !is_clone(elf, address),
                    ..function
                });
            }
        }
        None
    }

    fn of_entry(unit: Unit<'_>, offset: UnitOffset, address: Svma) -> Option<Self> {
        let entry = unit.entry(offset).ok()?;
        let is_own_frame = matches!(
            expression(entry.attr_value(dw::DW_AT_frame_base))
                .and_then(|base| only_operation(unit, base)),
            Some(Operation::CallFrameCFA)
        );
        let mut tree = unit.entries_tree(Some(offset)).ok()?;
        let mut children = tree.root().ok()?.children();
        let mut parameters = Vec::new();
        while let Ok(Some(child)) = children.next() {
            if child.entry().tag() == dw::DW_TAG_formal_parameter {
                parameters.push(Parameter::of(unit, child.entry(), address, is_own_frame));
            }
        }
        let convention = attribute(unit, &entry, dw::DW_AT_calling_convention);
        let is_normal = matches!(
            convention,
            None | Some(AttributeValue::CallingConvention(dw::DW_CC_normal))
        );
        let returned = attribute(unit, &entry, dw::DW_AT_type);
        Some(Self {
            is_called_as_c: is_normal && is_c(unit),
            returned: returned.map(|returned| Value::of_type(unit, returned)),
            parameters,
        })
    }
}

impl Parameter {
    fn of<'a>(unit: Unit<'a>, entry: &DwarfEntry<'a>, address: Svma, is_own_frame: bool) -> Self {
        let name = attribute(unit, entry, dw::DW_AT_name)
            .and_then(|name| unit.attr_string(name).ok())
            .map(|name| name.to_string_lossy().into_owned());
        let kind = attribute(unit, entry, dw::DW_AT_type);
        Self {
            name: name.unwrap_or_default(),
            value: kind.map_or(Value::UNKNOWN, |kind| Value::of_type(unit, kind)),
            stored: stored(unit, entry, address, is_own_frame),
        }
    }
}

/// Whether the compiler made the function there of another one, whose parameters it may lack (`f.isra.0`).
fn is_clone(elf: &Elf, address: Svma) -> bool {
    let mut is_clone = false;
    elf.for_each_function(&mut |function| {
        is_clone |= function.address == address && function.name.contains('.');
    });
    is_clone
}

/// Whether a unit may have code at an address.
fn covers(unit: Unit<'_>, address: Svma) -> bool {
    let Ok(mut ranges) = unit.unit_ranges() else {
        return false;
    };
    let mut is_empty = true;
    while let Ok(Some(range)) = ranges.next() {
        is_empty = false;
        if (range.begin..range.end).contains(&address.0) {
            return true;
        }
    }
    // Some compilers say it of functions only.
    is_empty
}

/// The entry of the function that starts there.
fn function_at(unit: Unit<'_>, address: Svma) -> Option<UnitOffset> {
    let mut entries = unit.entries();
    while let Ok(Some(entry)) = entries.next_dfs() {
        if entry.tag() != dw::DW_TAG_subprogram {
            continue;
        }
        let start = entry.attr_value(dw::DW_AT_low_pc);
        let start = start.and_then(|start| unit.attr_address(start).ok().flatten());
        let begins = match start {
            Some(start) => start == address.0,
            // Compilers split functions: each part is a range.
            None => a_range_begins(unit, entry, address),
        };
        if begins {
            return Some(entry.offset());
        }
    }
    None
}

fn a_range_begins<'a>(unit: Unit<'a>, entry: &DwarfEntry<'a>, address: Svma) -> bool {
    let Ok(mut ranges) = unit.die_ranges(entry) else {
        return false;
    };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin == address.0 {
            return true;
        }
    }
    false
}

/// An attribute of an entry, or of what it is an instance of.
fn attribute<'a>(
    unit: Unit<'a>,
    entry: &DwarfEntry<'a>,
    name: DwAt,
) -> Option<AttributeValue<Slice<'a>>> {
    if let Some(value) = entry.attr_value(name) {
        return Some(value);
    }
    let origin = |entry: &DwarfEntry<'a>| {
        let origin = entry.attr_value(dw::DW_AT_abstract_origin);
        let origin = origin.or_else(|| entry.attr_value(dw::DW_AT_specification));
        referred(unit, origin?)
    };
    let mut origins = std::iter::successors(origin(entry), origin).take(MOST_HOPS);
    origins.find_map(|entry| entry.attr_value(name))
}

/// Whether a unit's functions are called as those of C.
fn is_c(unit: Unit<'_>) -> bool {
    let root = unit.entry(unit.header.root_offset()).ok();
    let language = root.and_then(|root| root.attr_value(dw::DW_AT_language));
    matches!(
        language,
        Some(AttributeValue::Language(
            dw::DW_LANG_C
                | dw::DW_LANG_C89
                | dw::DW_LANG_C99
                | dw::DW_LANG_C11
                | dw::DW_LANG_C17
                | dw::DW_LANG_C_plus_plus
                | dw::DW_LANG_C_plus_plus_03
                | dw::DW_LANG_C_plus_plus_11
                | dw::DW_LANG_C_plus_plus_14
                | dw::DW_LANG_C_plus_plus_17
                | dw::DW_LANG_C_plus_plus_20
        ))
    )
}

/// Where a parameter is at the first instruction.
fn stored<'a>(unit: Unit<'a>, entry: &DwarfEntry<'a>, address: Svma, is_own_frame: bool) -> Stored {
    let location = entry.attr_value(dw::DW_AT_location);
    let throughout = expression(location);
    let found = throughout.or_else(|| listed(unit, location?, address));
    match found.and_then(|expression| only_operation(unit, expression)) {
        // Where it is throughout the function, it is only once the function has moved it there.
        Some(Operation::Register { .. }) if throughout.is_some() => Stored::InFrame,
        Some(Operation::Register { register }) => Stored::Register(register.0),
        Some(Operation::FrameOffset { offset }) if offset >= 0 && is_own_frame => {
            Stored::AboveFrame(offset)
        }
        Some(Operation::FrameOffset { .. }) => Stored::InFrame,
        _ => Stored::Nowhere,
    }
}

/// The place at an address, of a list of places.
fn listed<'a>(
    unit: Unit<'a>,
    list: AttributeValue<Slice<'a>>,
    address: Svma,
) -> Option<Expression<Slice<'a>>> {
    let mut places = unit.attr_locations(list).ok()??;
    while let Ok(Some(place)) = places.next() {
        if (place.range.begin..place.range.end).contains(&address.0) {
            return Some(place.data);
        }
    }
    None
}

fn expression<'a>(value: Option<AttributeValue<Slice<'a>>>) -> Option<Expression<Slice<'a>>> {
    match value? {
        AttributeValue::Exprloc(expression) => Some(expression),
        _ => None,
    }
}

/// The operation of an expression that has one.
fn only_operation<'a>(
    unit: Unit<'a>,
    expression: Expression<Slice<'a>>,
) -> Option<Operation<Slice<'a>>> {
    let mut operations = expression.operations(unit.encoding());
    let only = operations.next().ok()??;
    matches!(operations.next(), Ok(None)).then_some(only)
}

//! Scopes of C++ functions that DWARF has no linkage name of: inlined ones, mostly, whose entry is
//! called `generate_n<...>` and stands in a namespace.

use super::Slice;
use crate::batch::Batch;
use foldhash::HashMap;
use gimli::{
    AttributeValue, DebugInfoOffset, DwLang, DwTag, DwoId, UnitHeader, UnitOffset, UnitRef,
    constants,
};
use std::rc::Rc;

/// Entries that stand around each other, or are followed to one another.
const MOST_ENTRIES: usize = 32;

/// With more a name is left without its scope, bytes.
const LONGEST: usize = 16 << 10;

/// Where a unit begins, and which it is of those that are in files of their own.
type UnitKey = (Option<DebugInfoOffset>, Option<DwoId>);

/// Units that were read for their scopes, and names that were made of them, by one thread.
#[derive(Debug, Default)]
pub(super) struct Scopes<'a> {
    units: HashMap<UnitKey, Unit>,
    /// All units, in the order of the file, once one refers to another.
    headers: Option<Vec<UnitHeader<Slice<'a>>>>,
    /// Those of them that were referred to.
    others: HashMap<usize, Option<Rc<gimli::Unit<Slice<'a>>>>>,
}

#[derive(Debug, Default)]
struct Unit {
    /// In the order of the file: each ends before those around it do.
    scopes: Vec<Scope>,
    /// The number of a function's whole name, by its entry.
    names: HashMap<usize, Option<u32>>,
}

/// An entry that others stand in.
#[derive(Debug)]
struct Scope {
    start: usize,
    end: usize,
    around: Option<usize>,
    /// A function whose inside was passed over.
    is_closed: bool,
}

/// A function as DWARF has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'a> {
    /// Its entry, in its unit.
    pub(super) entry: UnitOffset,
    /// Its name, without scopes.
    pub(super) name: &'a [u8],
}

/// Whether a name may need its scopes: linkage names say them. The language of split units is not
/// known before they are read.
pub(super) fn may_be_scoped(language: Option<DwLang>, name: &[u8]) -> bool {
    language.is_none_or(is_cpp) && !name.starts_with(b"_Z") && !name.starts_with(b"_R")
}

fn is_cpp(language: DwLang) -> bool {
    matches!(
        language,
        constants::DW_LANG_C_plus_plus
            | constants::DW_LANG_C_plus_plus_03
            | constants::DW_LANG_C_plus_plus_11
            | constants::DW_LANG_C_plus_plus_14
            | constants::DW_LANG_C_plus_plus_17
            | constants::DW_LANG_C_plus_plus_20
    )
}

/// The language that a unit says itself.
fn language_of(unit: UnitRef<'_, Slice<'_>>) -> Option<DwLang> {
    let mut entries = unit.entries_raw(None).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    for attribute in abbreviation.attributes() {
        let attribute = entries.read_attribute(*attribute).ok()?;
        if let (constants::DW_AT_language, AttributeValue::Language(language)) =
            (attribute.name(), attribute.value())
        {
            return Some(language);
        }
    }
    None
}

impl<'a> Scopes<'a> {
    /// The number of the name of a function with its scopes; `None` if it stands in none.
    pub(super) fn name(
        &mut self,
        unit: UnitRef<'_, Slice<'a>>,
        function: Function<'a>,
        batch: &mut Batch<'a>,
    ) -> Option<u32> {
        // Programs that were optimized at link time have all code in one unit.
        match origin(unit, function.entry)? {
            AttributeValue::UnitRef(entry) => {
                self.name_in(unit, Function { entry, ..function }, batch)
            }
            AttributeValue::DebugInfoRef(origin) => {
                let (other, entry) = self.other(unit, origin)?;
                let other = UnitRef::new(unit.dwarf, &other);
                self.name_in(other, Function { entry, ..function }, batch)
            }
            _ => None,
        }
    }

    fn name_in(
        &mut self,
        unit: UnitRef<'_, Slice<'a>>,
        function: Function<'a>,
        batch: &mut Batch<'a>,
    ) -> Option<u32> {
        let key = (unit.header.debug_info_offset(), unit.dwo_id);
        let known = self.units.entry(key).or_insert_with(|| Unit {
            scopes: if language_of(unit).is_some_and(is_cpp) {
                scopes_of(unit, None)
            } else {
                Vec::new()
            },
            names: HashMap::default(),
        });
        let scopes = &known.scopes;
        let number = known.names.entry(function.entry.0);
        *number.or_insert_with(|| {
            let whole = whole_name(unit, scopes, function)?;
            Some(batch.made(whole))
        })
    }

    /// The unit of another entry, and where in it that is.
    fn other(
        &mut self,
        unit: UnitRef<'_, Slice<'a>>,
        entry: DebugInfoOffset,
    ) -> Option<(Rc<gimli::Unit<Slice<'a>>>, UnitOffset)> {
        let headers = self.headers.get_or_insert_with(|| {
            let mut headers = Vec::new();
            let mut units = unit.dwarf.units();
            while let Ok(Some(header)) = units.next() {
                headers.push(header);
            }
            headers
        });
        let begins = |header: &UnitHeader<_>| header.debug_info_offset().map(|start| start.0);
        let n_before = headers.partition_point(|header| begins(header) <= Some(entry.0));
        let idx = n_before.checked_sub(1)?;
        let header = headers.get(idx)?;
        let at = entry.to_unit_offset(header)?;
        let read = || unit.dwarf.unit(*header).ok().map(Rc::new);
        let other = self.others.entry(idx).or_insert_with(read);
        Some((other.clone()?, at))
    }
}

/// What an inlined function is a copy of; a function that is none of itself.
fn origin<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    entry: UnitOffset,
) -> Option<AttributeValue<Slice<'a>>> {
    let mut entries = unit.entries_raw(Some(entry)).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    for attribute in abbreviation.attributes() {
        let attribute = entries.read_attribute(*attribute).ok()?;
        if attribute.name() == constants::DW_AT_abstract_origin {
            return Some(attribute.value());
        }
    }
    Some(AttributeValue::UnitRef(entry))
}

/// All entries that others stand in: of a unit without what is inside functions, or of one function.
fn scopes_of(unit: UnitRef<'_, Slice<'_>>, function: Option<UnitOffset>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    // As much as can be read.
    let _ = read_scopes(unit, function, &mut scopes);
    scopes
}

fn read_scopes(
    unit: UnitRef<'_, Slice<'_>>,
    function: Option<UnitOffset>,
    scopes: &mut Vec<Scope>,
) -> gimli::Result<()> {
    let mut open: Vec<(usize, isize)> = Vec::new();
    let mut entries = unit.entries_raw(function)?;
    let mut depth_there = 0;
    while !entries.is_empty() {
        let start = entries.next_offset().0;
        let depth = depth_there + entries.next_depth();
        let Some(abbreviation) = entries.read_abbreviation()? else {
            continue;
        };
        while let Some((idx, _)) = open.pop_if(|(_, around)| *around >= depth) {
            if let Some(scope) = scopes.get_mut(idx) {
                scope.end = start;
            }
        }
        if function.is_some() && open.is_empty() && !scopes.is_empty() {
            break;
        }
        let is_function = abbreviation.tag() == constants::DW_TAG_subprogram;
        let mut sibling = None;
        for attribute in abbreviation.attributes() {
            // Most of a unit is inside functions.
            if is_function && function.is_none() && attribute.name() == constants::DW_AT_sibling {
                sibling = match entries.read_attribute(*attribute)?.value() {
                    AttributeValue::UnitRef(next) if next.0 > start => Some(next),
                    _ => None,
                };
            } else {
                entries.skip_attributes(&[*attribute])?;
            }
        }
        if abbreviation.has_children() && is_scope(abbreviation.tag()) {
            let around = open.last().map(|(idx, _)| *idx);
            if sibling.is_none() {
                open.push((scopes.len(), depth));
            }
            scopes.push(Scope {
                start,
                end: sibling.map_or(usize::MAX, |sibling| sibling.0),
                around,
                is_closed: sibling.is_some(),
            });
        }
        if let Some(sibling) = sibling {
            entries = unit.entries_raw(Some(sibling))?;
            depth_there = depth;
        }
    }
    Ok(())
}

fn is_scope(tag: DwTag) -> bool {
    is_class(tag)
        || matches!(
            tag,
            constants::DW_TAG_namespace | constants::DW_TAG_subprogram
        )
}

fn is_class(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_class_type
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_union_type
    )
}

/// The innermost scope that an entry stands in.
fn innermost(scopes: &[Scope], entry: usize) -> Option<&Scope> {
    let n_before = scopes.partition_point(|scope| scope.start < entry);
    let mut idx = n_before.checked_sub(1)?;
    loop {
        let scope = scopes.get(idx)?;
        if entry < scope.end {
            return Some(scope);
        }
        idx = scope.around?;
    }
}

/// The same, also inside functions.
fn around(unit: UnitRef<'_, Slice<'_>>, scopes: &[Scope], entry: usize) -> Option<UnitOffset> {
    let scope = innermost(scopes, entry)?;
    let start = UnitOffset(scope.start);
    if !scope.is_closed {
        return Some(start);
    }
    let inside = scopes_of(unit, Some(start));
    innermost(&inside, entry).map(|scope| UnitOffset(scope.start))
}

/// What an entry says of itself, or what it is a copy of.
struct Declared<'a> {
    at: UnitOffset,
    tag: DwTag,
    name: Option<&'a [u8]>,
}

/// The first entry that says what others of the same thing leave out; `None` if that is in another
/// unit.
fn declared<'a>(unit: UnitRef<'_, Slice<'a>>, mut at: UnitOffset) -> Option<Declared<'a>> {
    let mut name = None;
    for _ in 0..MOST_ENTRIES {
        let mut entries = unit.entries_raw(Some(at)).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        let mut next = None;
        for attribute in abbreviation.attributes() {
            let attribute = entries.read_attribute(*attribute).ok()?;
            match attribute.name() {
                constants::DW_AT_name if name.is_none() => {
                    name = unit.attr_string(attribute.value()).ok();
                }
                constants::DW_AT_abstract_origin | constants::DW_AT_specification => {
                    next = Some(attribute.value());
                }
                _ => {}
            }
        }
        match next {
            None => {
                return Some(Declared {
                    at,
                    tag: abbreviation.tag(),
                    name: name.map(|name| name.slice()),
                });
            }
            Some(AttributeValue::UnitRef(next)) => at = next,
            Some(_) => return None,
        }
    }
    None
}

/// The name of a function, after the names of its scopes.
fn whole_name<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    scopes: &[Scope],
    function: Function<'a>,
) -> Option<Vec<u8>> {
    let Function { entry, name } = function;
    let function = declared(unit, entry).filter(|function| function.name == Some(name))?;
    let mut whole = name.to_vec();
    let mut inner = function;
    for _ in 0..MOST_ENTRIES {
        let Some(outer) = around(unit, scopes, inner.at.0) else {
            return (whole.len() > name.len()).then_some(whole);
        };
        let outer = declared(unit, outer)?;
        let is_function = |tag| tag == constants::DW_TAG_subprogram;
        // A function that another one only declares is not a part of it.
        if !(is_function(inner.tag) && is_function(outer.tag)) {
            let name = outer.name.or(match outer.tag {
                constants::DW_TAG_namespace => Some(&b"(anonymous namespace)"[..]),
                tag if is_class(tag) => Some(b"{unnamed type}"),
                _ => None,
            })?;
            if whole.len() + name.len() > LONGEST {
                return None;
            }
            whole.splice(..0, name.iter().chain(b"::").copied());
        }
        inner = outer;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::{Detail, Request, symbolize_user};
    use rprof_base::FileOffset;
    use rprof_images::SymbolTable;
    use rprof_locate::{Locator, Recorded};
    use std::collections::BTreeSet;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::Command;

    const PROGRAM: &str = r"
        #define INLINED inline __attribute__((always_inline))
        typedef unsigned Number;
        int volatile sink;
        static INLINED Number plain(Number x) { while (x > 7) x = x * x % 5 + x / 3; return x; }
        namespace outer {
            static INLINED Number in_namespace(Number x) { return plain(x * 3) ^ x; }
            namespace {
                template <class T> struct Class {
                    T value;
                    INLINED T method(T x) const { return in_namespace(x) % value; }
                    struct Inner { static INLINED T deep(T x) { return plain(x + 1) * 9; } };
                };
            }
        }
        __attribute__((noinline)) int work(int n) {
            auto lambda = [&](Number x) __attribute__((always_inline)) { return plain(x) + n; };
            struct Local { static INLINED Number of(Number x) { return x * 11 % 13; } };
            outer::Class<Number> object = { 9 };
            Number sum = 0;
            for (int i = 0; i < n; i++)
                sum += lambda(i) + object.method(i) + outer::Class<Number>::Inner::deep(i) + Local::of(sum);
            return sum;
        }
        int main() { sink = work(1000); }
    ";

    /// Names of all that is inlined into `work`; `None` if nothing here compiles C++.
    fn inlined(dir: &Path, options: &[&str]) -> Option<BTreeSet<String>> {
        let (source, program) = (dir.join("program.cpp"), dir.join("program"));
        std::fs::write(&source, PROGRAM).unwrap();
        let compiled = Command::new("c++")
            .args(["-O2", "-g", "-o"])
            .args([&program, &source])
            .args(options)
            .current_dir(dir)
            .status();
        compiled.ok().filter(std::process::ExitStatus::success)?;
        let path = program.as_os_str().as_bytes();
        let recorded = Recorded {
            path,
            ..Recorded::default()
        };
        let located = Locator::default().locate(recorded).unwrap();
        let mut code = None;
        let table = SymbolTable::Static;
        let visit = |symbol: rprof_images::ElfSymbol<'_>| {
            if symbol.name.starts_with(b"_Z4worki") {
                code = Some((symbol.address, symbol.size));
            }
        };
        located.binary.for_each_symbol(table, visit).unwrap();
        let (start, size) = code.unwrap();
        let start = located.binary.file_offset(start).unwrap();
        let offsets: Vec<_> = (0..size).map(|at| FileOffset(start.0 + at)).collect();
        let request = Request {
            detail: Detail::Inlines,
            ..Request::default()
        };
        let symbolized = symbolize_user(&located, &offsets, request).unwrap();
        let frames = (0..offsets.len()).flat_map(|idx| symbolized.frames(idx));
        let inlined = frames.filter(|frame| frame.is_inlined);
        Some(
            inlined
                .map(|frame| symbolized.name(frame.name).to_owned())
                .collect(),
        )
    }

    #[test]
    fn inlined_functions_have_their_scopes() {
        for options in [
            &["-gdwarf-4"][..],
            &["-gdwarf-5"],
            &["-gsplit-dwarf"],
            &["-flto"],
            &["-flto"],
        ] {
            let dir = tempfile::tempdir().unwrap();
            let Some(names) = inlined(dir.path(), options) else {
                return;
            };
            for name in [
                "plain",
                "outer::in_namespace",
                "outer::(anonymous namespace)::Class<unsigned int>::method",
                "outer::(anonymous namespace)::Class<unsigned int>::Inner::deep",
            ] {
                assert!(names.contains(name), "{options:?} {name}: {names:#?}");
            }
            let of_lambda = |name: &&String| name.ends_with("operator()");
            let lambda = names.iter().find(of_lambda).unwrap();
            assert!(lambda.starts_with("work"), "{lambda}");
        }
    }
}

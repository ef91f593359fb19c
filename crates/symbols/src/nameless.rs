//! Functions without names: code that unwind tables describe (FDEs), and no symbol covers.

use crate::symbolized::Symbolized;
use rprof_base::{FileOffset, Svma};
use rprof_images::{Elf, FrameSection, FunctionSearch, Located};
use std::ops::Range;

/// Finds where the functions begin that addresses without a name are in: by `.eh_frame`, else by
/// `.debug_frame`, of the debug file, too, or of what the program has inside.
pub(crate) fn add_function_starts(
    located: &Located,
    offsets: &[FileOffset],
    symbolized: &mut Symbolized,
) {
    let binary = &located.binary;
    let addresses = (0u32..).zip(offsets).filter_map(|(idx, &offset)| {
        let is_nameless = symbolized.frames(idx as usize).is_empty();
        Some((idx, binary.svma(offset).filter(|_| is_nameless)?))
    });
    let left: Vec<(u32, Svma)> = addresses.collect();
    let found = functions_at(located, left).into_iter();
    let mut found: Vec<(u32, Svma)> = found.map(|(idx, range)| (idx, range.start)).collect();
    found.sort_unstable();
    symbolized.set_function_starts(found);
    symbolized.note_over_budget(located.is_over_budget());
}

/// The code of the function that an address is in, as unwind tables have it.
pub fn function_range(located: &Located, address: Svma) -> Option<Range<Svma>> {
    let found = functions_at(located, vec![(0, address)]);
    found.into_iter().next().map(|(_, range)| range)
}

/// The functions that addresses are in, each with its number.
fn functions_at(located: &Located, mut left: Vec<(u32, Svma)>) -> Vec<(u32, Range<Svma>)> {
    let binary = &located.binary;
    let base = binary.base();
    let of_debug = || located.debug.as_ref()?.debug_frame(base);
    let of_mini = || {
        let mini: Elf = located.mini()?;
        mini.debug_frame(base)
    };
    let sections: [&dyn Fn() -> Option<FrameSection>; 4] = [
        &|| binary.eh_frame(),
        &|| binary.debug_frame(base),
        &of_debug,
        &of_mini,
    ];
    let mut found = Vec::new();
    for section in sections {
        if left.is_empty() {
            break;
        }
        let Some(section) = section() else {
            continue;
        };
        let mut search = FunctionSearch::new(&section, base);
        left.retain(|&(idx, address)| {
            let function = search.function(address);
            let is_left = function.is_none();
            found.extend(function.map(|range| (idx, range)));
            is_left
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Reason, Request, symbolize_user};
    use rprof_base::{FileOffset, Svma};
    use rprof_images::{Elf, Located};
    use std::process::Command;

    /// Functions that follow each other.
    const SOURCE: &str = "
        __attribute__((noinline)) int one(int n) { return n * n + 7; }
        __attribute__((noinline)) int two(int n) { return one(n) * 3; }
        int main(int n, char **words) { return two(n); }
    ";

    #[test]
    fn addresses_without_names_are_in_functions_by_unwind_tables() {
        let dir = tempfile::tempdir().unwrap();
        let (source, program) = (dir.path().join("a.c"), dir.path().join("a"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut cc = Command::new("cc");
        let built = cc.arg("-O1").arg("-o").arg(&program).arg(&source).status();
        if !built.is_ok_and(|status| status.success()) {
            return;
        }
        let elf = |path| Elf::open(path, &Default::default()).unwrap();
        let whole = elf(&program);
        let mut functions = Vec::new();
        whole.for_each_function(&mut |function| {
            if matches!(function.name, "one" | "two" | "main") {
                functions.push((function.address, function.size));
            }
        });
        functions.sort_unstable();
        assert_eq!(functions.len(), 3);
        let stripped = dir.path().join("stripped");
        let mut strip = Command::new("strip");
        let done = strip.arg("-o").arg(&stripped).arg(&program).status();
        if !done.is_ok_and(|status| status.success()) {
            return;
        }
        let offset = |at: Svma| whole.file_offset(at).unwrap();
        let mut offsets: Vec<FileOffset> = functions
            .iter()
            .flat_map(|&(start, size)| [start, Svma(start.0 + size - 1)])
            .map(offset)
            .collect();
        offsets.push(FileOffset(u64::MAX));
        let located = Located::from(elf(&stripped));
        let request = Request {
            fde: true,
            ..Request::default()
        };
        let symbolized = symbolize_user(&located, &offsets, request).unwrap();
        let starts: Vec<Option<Svma>> = (0..offsets.len())
            .map(|idx| symbolized.function_start(idx))
            .collect();
        let mut expected: Vec<Option<Svma>> = functions
            .iter()
            .flat_map(|&(start, _)| [Some(start); 2])
            .collect();
        expected.push(None);
        assert_eq!(starts, expected);
        assert!((0..offsets.len()).all(|idx| symbolized.frames(idx).is_empty()));
        // What it says of names is the same as without.
        assert!(
            symbolized
                .missing_reason()
                .is_some_and(|reason| matches!(reason, Reason::Stripped | Reason::OnlyExported))
        );
        let plain = symbolize_user(&located, &offsets, Request::default());
        assert!(plain.is_err() || plain.is_ok_and(|plain| plain.function_start(0).is_none()));
    }
}

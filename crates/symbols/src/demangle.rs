//! Mangled names to readable ones: the one place for it.

use cpp_demangle::{DemangleOptions, Symbol};

/// The readable form of a symbol's name, as perf prints it: Rust without hashes, C++ without
/// parameters; what is not mangled, or cannot be read, as it is.
pub fn demangle(mangled: &[u8]) -> String {
    let text = String::from_utf8_lossy(mangled);
    if is_rust(&text)
        && let Ok(name) = rustc_demangle::try_demangle(&text)
    {
        return format!("{name:#}");
    }
    if text.starts_with("_Z") {
        // Compilers append suffixes to clones (.cold, .part.0, .isra.0); perf leaves them out.
        let core = text.split_once('.').map_or(&text[..], |(core, _)| core);
        let options = DemangleOptions::new().no_params().no_return_type();
        let name = Symbol::new(core)
            .ok()
            .and_then(|symbol| symbol.demangle_with_options(&options).ok());
        if let Some(name) = name {
            // Of an empty argument pack a comma is left.
            return without_qualifiers(&name).replace(", >", ">");
        }
    }
    text.into_owned()
}

/// What stands behind a method's parameters goes with them, as in perf.
fn without_qualifiers(mut name: &str) -> &str {
    // `operator T const` would be a conversion.
    let is_conversion = name
        .rsplit_once("operator ")
        .is_some_and(|(_, of)| !of.contains("::"));
    if is_conversion {
        return name;
    }
    let qualifiers = [" const", " volatile", " &&", " &"];
    while let Some(shorter) = qualifiers
        .iter()
        .find_map(|qualifier| name.strip_suffix(qualifier))
    {
        name = shorter;
    }
    name
}

/// v0 names start with `_R`; legacy ones look like C++ but end with a hash of 16 digits.
fn is_rust(name: &str) -> bool {
    if name.starts_with("_R") {
        return true;
    }
    if !name.starts_with("_ZN") {
        return false;
    }
    let core = name
        .find(".llvm.")
        .and_then(|at| name.get(..at))
        .unwrap_or(name);
    let core = core.split_once("E.").map_or(core, |(core, _)| core);
    let core = core.strip_suffix('E').unwrap_or(core);
    let hash = core.len().checked_sub(19).and_then(|at| core.get(at..));
    hash.and_then(|hash| hash.strip_prefix("17h"))
        .is_some_and(|hash| hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_of_methods_are_left_out() {
        assert_eq!(demangle(b"_ZNK3Foo3barEv"), "Foo::bar");
        assert_eq!(demangle(b"_ZNKR3Foo3barEv"), "Foo::bar");
        assert_eq!(demangle(b"_ZNK3FooclEv"), "Foo::operator()");
        let packed = demangle(b"_ZN4llvm15AnalysisManagerINS_8FunctionEJEE5clearEv");
        assert_eq!(packed, "llvm::AnalysisManager<llvm::Function>::clear");
    }

    #[test]
    fn names_of_each_language_are_read() {
        for (mangled, expected) in [
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RNvCskwGfYPst2Cb_3foo3bar", "foo::bar"),
            ("_ZN3foo3barEi", "foo::bar"),
            (
                "_ZN4DeepILi60EE3runER3RngRSt6vectorImSaImEE",
                "Deep<60>::run",
            ),
            ("_ZSt4sortIPiEvT_S1_", "std::sort<int*>"),
            ("_ZN3foo3barEi.cold", "foo::bar"),
            ("main", "main"),
            ("_Znonsense", "_Znonsense"),
            ("_Zé", "_Zé"),
        ] {
            assert_eq!(demangle(mangled.as_bytes()), expected);
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_visible() {
        assert_eq!(demangle(b"a\xffb"), "a\u{fffd}b");
    }
}

//! Names of each language in each form; deep, endless and broken ones.

use super::bounded::LONGEST;
use super::*;
use proptest::prelude::*;

fn demangle(mangled: &[u8]) -> String {
    Demangling::Short.of(mangled)
}

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
fn each_form_shows_what_it_says() {
    let rust = "_ZN4core3fmt5write17h0123456789abcdefE";
    let cpp = "_ZSt4sortIPiEvT_S1_";
    let of = |form: Demangling| [rust, cpp].map(|name| form.of(name.as_bytes()));
    assert_eq!(of(Demangling::Off), [rust, cpp]);
    assert_eq!(
        of(Demangling::Short),
        ["core::fmt::write", "std::sort<int*>"]
    );
    assert_eq!(
        of(Demangling::Full),
        [
            "core::fmt::write::h0123456789abcdef",
            "void std::sort<int*>(int*, int*)"
        ]
    );
    assert_eq!(
        of(Demangling::Folded),
        ["core::fmt::write", "std::sort<...>"]
    );
}

#[test]
fn bytes_that_are_no_text_stay_visible() {
    assert_eq!(demangle(b"a\xffb"), "a\u{fffd}b");
}

/// `f<A<A<...int...>>>`.
fn nested(levels: usize) -> String {
    format!("_Z1fI{}i{}Evv", "1AI".repeat(levels), "E".repeat(levels))
}

#[test]
fn deep_templates_are_read_on_any_stack() {
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let asked = small.spawn(|| {
        for levels in [1, 10, 50, 100, 1000, 10_000] {
            let expected = format!("f<{}int{}>", "A<".repeat(levels), ">".repeat(levels));
            let name = demangle(nested(levels).as_bytes()).replace(' ', "");
            match name.strip_suffix("...") {
                Some(name) => assert!(expected.starts_with(name) && expected.len() > LONGEST),
                None => assert_eq!(name, expected),
            }
        }
        // Types that nest otherwise.
        for opener in [
            "P", "R", "K", "A1_", "F", "PFv", "M1A", "DpT", "N1A", "XL", "Xcv", "Dt", "Z", "ZN1A",
            "UlP", "Z1f1aE", "XadL_Z", "Xsr1A", "XplLi1E", "TpTp", "U1a", "DOL", "X1aI", "Xsr1aI",
        ] {
            let name = format!("_Z1f{}", opener.repeat(10_000));
            let _ = demangle(name.as_bytes());
            let name = format!("_Z1fI{}i{}Evv", opener.repeat(10_000), "E".repeat(10_000));
            let _ = demangle(name.as_bytes());
        }
        // Broken ones that can be read in very many ways.
        for opener in ["S_I", "T_I", "S0_I", "SaI", "StI"] {
            for (begin, end) in [("_Z1fI", "iEvv"), ("_ZN1fI", "EEvv"), ("_ZZ", "E1f")] {
                let name = format!("{begin}{}{end}", opener.repeat(1000));
                let _ = demangle(name.as_bytes());
                let name = format!("{begin}{}i{}{end}", opener.repeat(1000), "E".repeat(1000));
                let _ = demangle(name.as_bytes());
            }
        }
        // As many readings as deep names may have, of very much.
        let name = format!("_ZN1fI{}{}", "S_I".repeat(4), "1AI".repeat(10_000));
        assert_eq!(demangle(name.as_bytes()), cut(name));
        // More than can be: as it is.
        let name = nested(1_000_000);
        assert_eq!(demangle(name.as_bytes()), cut(name));
    });
    asked.unwrap().join().unwrap();
}

#[test]
fn names_that_grow_without_bounds_are_cut() {
    // Each parameter is a pair of the one before.
    let mut name = String::from("_Z1f1AIiiE");
    let digit = |n: usize| "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().nth(n);
    for n in 0..34 {
        let part = digit(n).unwrap();
        name.push_str(&format!("S_IS{part}_S{part}_E"));
    }
    let shown = Demangling::Full.of(name.as_bytes());
    assert!(shown.len() <= LONGEST + 3, "{}", shown.len());
    // A Rust name of this many bytes becomes a million.
    let mut name = String::from("_RINvC1a1b");
    let mut at = name.len() - 2;
    name.push_str("TmmE");
    for _ in 0..18 {
        let back = base_62(at);
        at = name.len() - 2;
        name.push_str(&format!("TB{back}_B{back}_E"));
    }
    name.push('E');
    let shown = demangle(name.as_bytes());
    assert!(name.len() < 300 && shown.starts_with("a::b::<"), "{shown}");
    assert!(
        shown.len() > LONGEST && shown.ends_with("..."),
        "{}",
        shown.len()
    );
    assert!(shown.len() < 2 * LONGEST);
    let deep = format!("_R{}{}u", "INvC1a1b".repeat(10_000), "E".repeat(10_000));
    assert!(demangle(deep.as_bytes()).len() < 1 << 20);
}

/// A number as back references have it; 0 has no digits.
fn base_62(number: usize) -> String {
    let digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let digit = |n: usize| digits.chars().nth(n).unwrap().to_string();
    match number {
        0 => String::new(),
        n if n <= 62 => digit(n - 1),
        n => digit((n - 1) / 62) + &digit((n - 1) % 62),
    }
}

#[test]
fn of_long_names_only_what_is_shown_is_kept() {
    for name in [
        vec![b'a'; 10 << 20],
        [b"_R", &vec![b'a'; 10 << 20][..]].concat(),
    ] {
        let shown = Demangling::Short.of(&name);
        assert!(shown.capacity() < 4 * LONGEST && shown.ends_with("..."));
    }
}

proptest! {
    #[test]
    fn any_bytes_have_a_form(
        prefix in prop::sample::select(vec!["", "_Z", "_ZN", "_R", "_RNv", "_ZTV"]),
        rest in "[A-Z0-9a-z_.$]{0,60}",
        noise in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut name = format!("{prefix}{rest}").into_bytes();
        name.extend(noise);
        for form in [Demangling::Off, Demangling::Short, Demangling::Full, Demangling::Folded] {
            let shown = form.of(&name);
            prop_assert!(shown.is_empty() == name.is_empty());
        }
    }
}

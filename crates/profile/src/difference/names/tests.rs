//! Names of each language's compilers.

use super::*;
use proptest::prelude::*;

#[test]
fn hashes_and_suffixes_of_copies_are_not_of_the_name() {
    for (name, stable) in [
        ("main", "main"),
        ("f.isra.0", "f"),
        ("f.part.2.constprop.1", "f"),
        ("f.cold.12", "f"),
        ("f.localalias", "f"),
        ("f.localalias.1", "f"),
        ("f.lto_priv.0", "f"),
        ("f.llvm.1234567890123", "f"),
        ("f.__uniq.1234.llvm.99", "f"),
        ("f.specialized.1", "f"),
        ("a::f(int) [clone .isra.0]", "a::f(int)"),
        ("a::f(int) [clone .part.1] [clone .cold]", "a::f(int)"),
        ("a::f(int) (.isra.0)", "a::f(int)"),
        ("a::f(int) [.cold]", "a::f(int)"),
        ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
        (
            "core::fmt::write::h0123456789abcdeg",
            "core::fmt::write::h0123456789abcdeg",
        ),
        (
            "<core[5e1c30d4d8bd1f8e]::A as b[12345678]::B>::f",
            "<core::A as b::B>::f",
        ),
        ("a::f[abi:cxx11]", "a::f[abi:cxx11]"),
        ("A::operator[]", "A::operator[]"),
        ("operator new[]", "operator new[]"),
        ("<[u8; 12345678]>::f", "<[u8; 12345678]>::f"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("memcpy@plt", "memcpy@plt"),
        ("JS:*parse /srv/a.js:1:2", "JS:parse /srv/a.js:1:2"),
        ("LazyCompile:~parse a.js:1", "LazyCompile:parse a.js:1"),
        (
            "void [app] Program::Main()[OptimizedTier1]",
            "void [app] Program::Main()",
        ),
        ("runtime.goexit.abi0", "runtime.goexit"),
        ("main.init\u{b7}f", "main.init"),
        (".cold", ".cold"),
        (".llvm.12", ".llvm.12"),
        ("main.f.avx2", "main.f.avx2"),
        ("f.cold", "f.cold"),
        ("ArrayList.clone", "ArrayList.clone"),
        ("System.exit", "System.exit"),
        ("runtime.exit", "runtime.exit"),
        ("Pool.part", "Pool.part"),
        ("Pool.llvm", "Pool.llvm"),
        ("Pool.startup.1", "Pool.startup.1"),
        ("", ""),
    ] {
        assert_eq!(stable_name(name), stable, "{name}");
    }
    assert!(matches!(stable_name("f.isra.0"), Cow::Borrowed(_)));
}

#[test]
fn type_arguments_and_numbers_of_lambdas_are_not_of_the_source() {
    for (name, source) in [
        (
            "std::vector<int, std::allocator<int> >::push",
            "std::vector<...>::push",
        ),
        (
            "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt",
            "<alloc::vec::Vec<...> as core::fmt::Debug>::fmt",
        ),
        (
            "<impl core::ops::Add for a::B<u8>>::add",
            "<impl core::ops::Add for a::B<...>>::add",
        ),
        ("A<int>::operator<", "A<...>::operator<"),
        ("A<int>::operator<=>", "A<...>::operator<=>"),
        ("A<int>::operator->", "A<...>::operator->"),
        ("a::{closure#3}::{closure#0}", "a::{closure}::{closure}"),
        ("a::{{closure}}", "a::{closure}"),
        ("a::{{closure}}::h0123456789abcdef", "a::{closure}"),
        (
            "main::{lambda(int)#2}::operator()",
            "main::{lambda(int)}::operator()",
        ),
        ("main::{unnamed type#1}::f", "main::{unnamed type}::f"),
        ("main::$_12::operator()", "main::$_::operator()"),
        (
            "main::'lambda0'(int)::operator()",
            "main::'lambda'(int)::operator()",
        ),
        ("main.main.func1.2", "main.main.func"),
        ("main.main.func3", "main.main.func"),
        ("main.main.func1.deferwrap2", "main.main.func.deferwrap"),
        ("main.function1", "main.function1"),
        ("main.Map[go.shape.int,go.shape.string]", "main.Map[...]"),
        ("f._omp_fn.0", "f._omp_fn"),
        ("buffer.1234", "buffer"),
        ("Main.lambda$run$3", "Main.lambda$run"),
        ("Main$$Lambda$14/0x0000000800c4.run", "Main$$Lambda$.run"),
        ("f.cold", "f.cold"),
        ("memcpy2", "memcpy2"),
        (".12", ".12"),
    ] {
        assert_eq!(source_name(&stable_name(name)), source, "{name}");
    }
}

#[test]
fn parts_without_a_number_may_be_of_a_function() {
    for (name, whole) in [
        ("f.cold", Some("f")),
        ("f.part.0.cold", Some("f")),
        ("f.warm", Some("f")),
        ("f", None),
        ("f.exit", None),
        (".cold", None),
    ] {
        assert_eq!(whole_name(name).as_deref(), whole, "{name}");
    }
}

#[test]
fn methods_of_jit_code_keep_their_names() {
    for (name, stable) in [
        ("Pool.clone.1", "Pool.clone.1"),
        ("f [clone .isra.0]", "f [clone .isra.0]"),
        ("JS:*parse /srv/a.js:1:2", "JS:parse /srv/a.js:1:2"),
        ("void Main()[OptimizedTier1]", "void Main()"),
        ("", ""),
    ] {
        assert_eq!(jit_name(name), stable, "{name}");
    }
}

proptest! {
    #[test]
    fn any_name_has_names_that_stay_what_they_are(
        name in "([a-z]{0,2}|::|<|>|\\{|\\}|#1|\\.cold|\\.isra|\\.0|::h0123456789abcdef|\\[0123abcd\\]|\\[go.shape.|\\]|\\$_1|\u{b7}f|\u{e4}|@@G_2| \\[clone \\.x\\]|'lambda|/0x1f|\\$\\$Lambda){0,8}"
    ) {
        let stable = stable_name(&name).into_owned();
        prop_assert!(stable.len() <= name.len());
        prop_assert_eq!(stable.is_empty(), name.is_empty());
        prop_assert_eq!(stable_name(&stable), stable.as_str());
    }
}

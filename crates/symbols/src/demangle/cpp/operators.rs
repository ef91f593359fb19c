//! Operators, and what else two letters say.

use super::tree::{Abbreviation, Builtin};

/// What follows in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    None,
    One,
    /// `++`: an underscore says that it stands in front.
    Step,
    /// `sizeof (int)`.
    Type,
    Two,
    /// `static_cast<int>(x)`.
    NamedCast,
    /// `a.b`.
    Member,
    Index,
    Three,
    Call,
    Cast,
    New,
    Fold,
    /// `sizeof...`.
    Pack,
    List,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operator {
    code: [u8; 2],
    pub(super) text: &'static str,
    pub(super) operands: Operands,
}

const fn operator(code: [u8; 2], text: &'static str, operands: Operands) -> Operator {
    Operator {
        code,
        text,
        operands,
    }
}

/// Sorted by code.
const OPERATORS: &[Operator] = &[
    operator(*b"aN", "&=", Operands::Two),
    operator(*b"aS", "=", Operands::Two),
    operator(*b"aa", "&&", Operands::Two),
    operator(*b"ad", "&", Operands::One),
    operator(*b"an", "&", Operands::Two),
    operator(*b"at", "alignof ", Operands::Type),
    operator(*b"aw", "co_await ", Operands::One),
    operator(*b"az", "alignof ", Operands::One),
    operator(*b"cc", "const_cast", Operands::NamedCast),
    operator(*b"cl", "()", Operands::Call),
    operator(*b"cm", ",", Operands::Two),
    operator(*b"co", "~", Operands::One),
    operator(*b"cp", "()", Operands::Call),
    operator(*b"cv", "()", Operands::Cast),
    operator(*b"dV", "/=", Operands::Two),
    operator(*b"da", "delete[] ", Operands::One),
    operator(*b"dc", "dynamic_cast", Operands::NamedCast),
    operator(*b"de", "*", Operands::One),
    operator(*b"dl", "delete ", Operands::One),
    operator(*b"ds", ".*", Operands::Two),
    operator(*b"dt", ".", Operands::Member),
    operator(*b"dv", "/", Operands::Two),
    operator(*b"eO", "^=", Operands::Two),
    operator(*b"eo", "^", Operands::Two),
    operator(*b"eq", "==", Operands::Two),
    operator(*b"fL", "...", Operands::Fold),
    operator(*b"fR", "...", Operands::Fold),
    operator(*b"fl", "...", Operands::Fold),
    operator(*b"fr", "...", Operands::Fold),
    operator(*b"ge", ">=", Operands::Two),
    operator(*b"gs", "::", Operands::One),
    operator(*b"gt", ">", Operands::Two),
    operator(*b"ix", "[]", Operands::Index),
    operator(*b"lS", "<<=", Operands::Two),
    operator(*b"le", "<=", Operands::Two),
    operator(*b"ls", "<<", Operands::Two),
    operator(*b"lt", "<", Operands::Two),
    operator(*b"mI", "-=", Operands::Two),
    operator(*b"mL", "*=", Operands::Two),
    operator(*b"mi", "-", Operands::Two),
    operator(*b"ml", "*", Operands::Two),
    operator(*b"mm", "--", Operands::Step),
    operator(*b"na", "new[]", Operands::New),
    operator(*b"ne", "!=", Operands::Two),
    operator(*b"ng", "-", Operands::One),
    operator(*b"nt", "!", Operands::One),
    operator(*b"nw", "new", Operands::New),
    operator(*b"nx", "noexcept", Operands::One),
    operator(*b"oR", "|=", Operands::Two),
    operator(*b"oo", "||", Operands::Two),
    operator(*b"or", "|", Operands::Two),
    operator(*b"pL", "+=", Operands::Two),
    operator(*b"pl", "+", Operands::Two),
    operator(*b"pm", "->*", Operands::Two),
    operator(*b"pp", "++", Operands::Step),
    operator(*b"ps", "+", Operands::One),
    operator(*b"pt", "->", Operands::Member),
    operator(*b"qu", "?", Operands::Three),
    operator(*b"rM", "%=", Operands::Two),
    operator(*b"rS", ">>=", Operands::Two),
    operator(*b"rc", "reinterpret_cast", Operands::NamedCast),
    operator(*b"rm", "%", Operands::Two),
    operator(*b"rs", ">>", Operands::Two),
    operator(*b"sP", "sizeof...", Operands::List),
    operator(*b"sZ", "sizeof...", Operands::Pack),
    operator(*b"sc", "static_cast", Operands::NamedCast),
    operator(*b"ss", "<=>", Operands::Two),
    operator(*b"st", "sizeof ", Operands::Type),
    operator(*b"sz", "sizeof ", Operands::One),
    operator(*b"te", "typeid ", Operands::One),
    operator(*b"ti", "typeid ", Operands::Type),
    operator(*b"tr", "throw", Operands::None),
    operator(*b"tw", "throw ", Operands::One),
];

/// The operator of a code.
pub(super) fn operator_of(code: [u8; 2]) -> Option<&'static Operator> {
    let found = OPERATORS.binary_search_by_key(&code, |operator| operator.code);
    found.ok().and_then(|at| OPERATORS.get(at))
}

impl Operator {
    pub(super) fn letters(&self) -> [u8; 2] {
        self.code
    }
}

const fn plain(name: &'static str) -> Builtin {
    Builtin { name, suffix: None }
}

const fn number(name: &'static str, suffix: &'static str) -> Builtin {
    Builtin {
        name,
        suffix: Some(suffix),
    }
}

/// The type that one letter stands for.
pub(super) fn builtin_of(letter: u8) -> Option<&'static Builtin> {
    Some(match letter {
        b'a' => const { &plain("signed char") },
        b'b' => const { &plain("bool") },
        b'c' => const { &plain("char") },
        b'd' => const { &plain("double") },
        b'e' => const { &plain("long double") },
        b'f' => const { &plain("float") },
        b'g' => const { &plain("__float128") },
        b'h' => const { &plain("unsigned char") },
        b'i' => const { &number("int", "") },
        b'j' => const { &number("unsigned int", "u") },
        b'l' => const { &number("long", "l") },
        b'm' => const { &number("unsigned long", "ul") },
        b'n' => const { &plain("__int128") },
        b'o' => const { &plain("unsigned __int128") },
        b's' => const { &plain("short") },
        b't' => const { &plain("unsigned short") },
        b'v' => const { &plain("void") },
        b'w' => const { &plain("wchar_t") },
        b'x' => const { &number("long long", "ll") },
        b'y' => const { &number("unsigned long long", "ull") },
        b'z' => const { &plain("...") },
        _ => return None,
    })
}

/// The type of the letter after a `D`.
pub(super) fn newer_builtin_of(letter: u8) -> Option<&'static Builtin> {
    Some(match letter {
        b'a' => const { &plain("auto") },
        b'c' => const { &plain("decltype(auto)") },
        b'd' => const { &plain("decimal64") },
        b'e' => const { &plain("decimal128") },
        b'f' => const { &plain("decimal32") },
        b'h' => const { &plain("half") },
        b'i' => const { &plain("char32_t") },
        b'n' => const { &plain("decltype(nullptr)") },
        b's' => const { &plain("char16_t") },
        b'u' => const { &plain("char8_t") },
        _ => return None,
    })
}

const fn abbreviation(
    code: u8,
    short: &'static str,
    full: &'static str,
    last: &'static str,
) -> Abbreviation {
    Abbreviation {
        code,
        short,
        full,
        last,
    }
}

/// `S` and a letter; `St` is a scope, no name.
#[rustfmt::skip]
const ABBREVIATIONS: &[Abbreviation] = &[
    abbreviation(b'a', "std::allocator", "std::allocator", "allocator"),
    abbreviation(b'b', "std::basic_string", "std::basic_string", "basic_string"),
    abbreviation(b's', "std::string",
        "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"),
    abbreviation(b'i', "std::istream",
        "std::basic_istream<char, std::char_traits<char> >", "basic_istream"),
    abbreviation(b'o', "std::ostream",
        "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"),
    abbreviation(b'd', "std::iostream",
        "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"),
];

pub(super) fn abbreviation_of(letter: u8) -> Option<&'static Abbreviation> {
    ABBREVIATIONS.iter().find(|name| name.code == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_sorted_by_code() {
        assert!(OPERATORS.is_sorted_by(|a, b| a.code < b.code));
    }
}

//! Names of functions without template arguments.

/// Leaves out what stands between `<` and `>`: `foo<int>` is `foo<...>`. What begins with `<`, as
/// `<Foo as Bar>::method`, keeps its outermost pair.
pub fn without_type_arguments(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    // For each open `<`, whether it is shown.
    let mut open: Vec<bool> = Vec::new();
    let mut is_hidden = false;
    let mut rest = name;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        // `operator<<` is a name, `binary_operator<int>` is none of these; `->` is an arrow.
        let is_inside =
            before.is_some_and(|before: char| before.is_alphanumeric() || before == '_');
        let whole = [
            "operator<=>",
            "operator<<",
            "operator<",
            "operator>>",
            "operator>",
            "operator->",
            "->",
            "=>",
        ]
        .into_iter()
        .find(|whole| rest.starts_with(whole) && !(is_inside && whole.starts_with('o')));
        let len = whole.map_or(first.len_utf8(), str::len);
        let (part, after) = rest.split_at(len);
        rest = after;
        before = part.chars().next_back();
        match part {
            "<" => {
                // Where a path begins: nothing before it that it could be the arguments of. Implementations of a module
                // (`imp::<impl Display for u32>::fmt`) are not alike either.
                let begins = rest.starts_with("impl ")
                    || matches!(
                        out.chars().next_back(),
                        None | Some('<' | '(' | '&' | '*' | ' ' | '[' | ',')
                    );
                if !is_hidden {
                    out.push_str(if begins { "<" } else { "<..." });
                }
                open.push(is_hidden);
                is_hidden |= !begins;
            }
            ">" => match open.pop() {
                Some(was_hidden) => {
                    is_hidden = was_hidden;
                    if !is_hidden {
                        out.push('>');
                    }
                }
                None => out.push('>'),
            },
            part if !is_hidden => out.push_str(part),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_arguments_are_folded() {
        for (name, expected) in [
            (
                "std::vector<int, std::allocator<int>>::push",
                "std::vector<...>::push",
            ),
            (
                "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt",
                "<alloc::vec::Vec<...> as core::fmt::Debug>::fmt",
            ),
            (
                "a::b<c>::{closure#0}<<d as e>::f>",
                "a::b<...>::{closure#0}<...>",
            ),
            ("operator<< <int>", "operator<< <int>"),
            ("Foo<A>::operator->", "Foo<...>::operator->"),
            ("apply<fn() -> u8>::x", "apply<...>::x"),
            ("std::operator< <char>", "std::operator< <char>"),
            ("binary_operator<int>::x", "binary_operator<...>::x"),
            ("a<my_operator>::x", "a<...>::x"),
            (
                "fmt::imp::<impl Display for Vec<u32>>::fmt",
                "fmt::imp::<impl Display for Vec<...>>::fmt",
            ),
            ("odd>name<", "odd>name<..."),
        ] {
            assert_eq!(without_type_arguments(name), expected);
        }
    }
}

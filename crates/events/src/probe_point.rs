//! The place of a probe, as it is named.

use std::path::PathBuf;

/// Where a probe is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbePoint {
    /// Whose code.
    pub code: ProbedCode,
    /// Where in it.
    pub site: ProbeSite,
    /// What samples have of it, in the kernel's words: `%di`, `len=%si:u32`, `+8(%dx):string`, `$retval`.
    pub arguments: Vec<String>,
}

impl ProbePoint {
    /// The point with the names between parentheses behind its function's name as the parameters to record:
    /// `f(len,text:string)`; `None` if there are none. They may as well be the types of a C++ name, which is known
    /// where the function is looked for.
    pub fn with_parameters(&self) -> Option<Self> {
        let ProbeSite::Function { name, offset: 0 } = &self.site else {
            return None;
        };
        let (function, parameters) = name.strip_suffix(')')?.split_once('(')?;
        let arguments: Vec<String> = parameters.split(',').map(str::to_owned).collect();
        let are_names = arguments.iter().all(|argument| is_parameter(argument));
        (!function.is_empty() && are_names).then(|| Self {
            code: self.code.clone(),
            site: ProbeSite::Function {
                name: function.to_owned(),
                offset: 0,
            },
            arguments,
        })
    }
}

/// Whether this is a name of C, maybe with a label before it and one of the kernel's types behind: `n=len:u32`.
fn is_parameter(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let (label, value) = text.split_once('=').unwrap_or(("_", text));
    let (name, kind) = value.split_once(':').unwrap_or((value, "_"));
    is_name(label) && is_name(name) && is_name(kind)
}

/// The code that a probe is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedCode {
    /// The kernel's.
    Kernel,
    /// A file's.
    File(PathBuf),
    /// What is recorded: the command's file, or those that the processes have mapped.
    Recorded,
}

/// Where in its code a probe is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeSite {
    /// In a function, this many bytes from its start; or where all functions of a pattern start.
    Function {
        /// Its name.
        name: String,
        /// Bytes.
        offset: u64,
    },
    /// At an address of the file (SVMA).
    Address(u64),
    /// At markers (USDT).
    Marker {
        /// Whose.
        provider: String,
        /// Which.
        name: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_parentheses_are_parameters() {
        let read = |name: &str| {
            let point = ProbePoint {
                code: ProbedCode::Kernel,
                site: ProbeSite::Function {
                    name: name.to_owned(),
                    offset: 0,
                },
                arguments: Vec::new(),
            };
            let point = point.with_parameters()?;
            match point.site {
                ProbeSite::Function { name, .. } => Some((name, point.arguments.join(" "))),
                _ => None,
            }
        };
        let both = |name: &str, arguments: &str| Some((name.to_owned(), arguments.to_owned()));
        assert_eq!(read("f(len)"), both("f", "len"));
        assert_eq!(
            read("shop::f(len,n=_x:u32,text:string)"),
            both("shop::f", "len n=_x:u32 text:string")
        );
        for name in [
            "f",
            "f()",
            "f(char const*)",
            "f(%di)",
            "(len)",
            "f(len) const",
            "f(a b)",
        ] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}

//! Licence expressions: may we use what is licensed like this?

use anyhow::{Result, bail, ensure};

/// Whether `expression` can be satisfied with licences that are in `allowed`.
///
/// Knows AND, OR, WITH, parentheses, and the slash of old manifests, which means OR.
///
/// # Errors
///
/// If `expression` is none.
pub(super) fn satisfies(expression: &str, allowed: &[String]) -> Result<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        allowed,
    };
    let satisfied = parser.any()?;
    if let Some(word) = parser.words.first() {
        bail!("unexpected {word} in licence {expression}");
    }
    Ok(satisfied)
}

/// The words that are left.
struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<bool> {
        let mut satisfied = self.all()?;
        while self.take("OR") {
            satisfied |= self.all()?;
        }
        Ok(satisfied)
    }

    fn all(&mut self) -> Result<bool> {
        let mut satisfied = self.one()?;
        while self.take("AND") {
            satisfied &= self.one()?;
        }
        Ok(satisfied)
    }

    fn one(&mut self) -> Result<bool> {
        if self.take("(") {
            let satisfied = self.any()?;
            ensure!(self.take(")"), "a parenthesis stays open");
            return Ok(satisfied);
        }
        let mut licence = self.name()?.to_owned();
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.name()?);
        }
        Ok(self.allowed.contains(&licence))
    }

    fn name(&mut self) -> Result<&'a str> {
        match self.words {
            [word, rest @ ..] if !["AND", "OR", "WITH", "(", ")"].contains(word) => {
                self.words = rest;
                Ok(word)
            }
            [word, ..] => bail!("expected a licence, not {word}"),
            [] => bail!("expected a licence, not the end"),
        }
    }

    fn take(&mut self, expected: &str) -> bool {
        match self.words {
            [word, rest @ ..] if *word == expected => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn satisfied(expression: &str) -> Option<bool> {
        let allowed = [
            "MIT",
            "Zlib",
            "Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ];
        satisfies(expression, &allowed.map(str::to_owned)).ok()
    }

    #[test]
    fn expressions_are_evaluated() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("mit", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("MIT AND Zlib", true),
            ("GPL-3.0/MIT", true),
            ("Unlicense / GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
            ("(MIT OR GPL-3.0) AND (ISC OR GPL-3.0)", false),
            ("Apache-2.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-3.0 OR Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH LLVM-exception", false),
        ] {
            assert_eq!(satisfied(expression), Some(expected), "{expression}");
        }
    }

    #[test]
    fn and_binds_stronger_than_or() {
        assert_eq!(satisfied("MIT OR GPL-3.0 AND GPL-2.0"), Some(true));
        assert_eq!(satisfied("GPL-3.0 AND MIT OR GPL-2.0"), Some(false));
    }

    #[test]
    fn nonsense_is_an_error() {
        for expression in [
            "", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Zlib", "MIT WITH",
        ] {
            assert_eq!(satisfied(expression), None, "{expression}");
        }
    }
}

//! The letters of a name, from first to last; next to nothing is read twice.

use super::fail::Fail;
use super::tree::{Id, List, Node, Qualifiers, Reference, Tree};

/// What was read, or why it could not be.
pub(super) type Parsed<T> = Result<T, Fail>;

/// Each can double the time, if they stand in each other.
const MOST_TRIES: u32 = 8;

#[derive(Debug)]
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    pub(super) tree: Tree<'a>,
    /// What `S_`, `S0_` and so on stand for.
    known: Vec<Id>,
    /// Levels that may still be opened.
    levels: u32,
    /// Parts that may still be read in two ways, one in the other.
    tries: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, levels: u32) -> Self {
        Self {
            text,
            at: 0,
            tree: Tree::default(),
            known: Vec::new(),
            levels,
            tries: MOST_TRIES,
        }
    }

    /// A whole name; what compilers append after a dot to the names of clones is left out, as is
    /// a version after an `@`.
    pub(super) fn read(mut self) -> Parsed<(Tree<'a>, Id)> {
        self.must_eat("_Z")?;
        let root = self.encoding()?;
        match self.peek() {
            0 | b'.' | b'@' => Ok((self.tree, root)),
            _ => Err(Fail::NotMangled),
        }
    }

    /// One level further in.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.levels = self.levels.checked_sub(1).ok_or(Fail::TooDeep)?;
        let result = read(self);
        self.levels += 1;
        result
    }

    /// Reads, or is where it was before.
    pub(super) fn try_to_read<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        self.tries = self.tries.checked_sub(1).ok_or(Fail::NotMangled)?;
        let (at, n_known, levels) = (self.at, self.known.len(), self.levels);
        let result = read(self);
        if result.is_err() {
            self.at = at;
            self.known.truncate(n_known);
            self.levels = levels;
        }
        result
    }

    /// The byte that is next; 0 at the end.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        let byte = self.text.as_bytes().get(self.at + ahead);
        byte.copied().unwrap_or_default()
    }

    /// Skips this many ASCII bytes.
    pub(super) fn skip(&mut self, n_bytes: usize) {
        self.at += n_bytes;
    }

    pub(super) fn next(&mut self) -> Parsed<u8> {
        let byte = *self.text.as_bytes().get(self.at).ok_or(Fail::NotMangled)?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn eat(&mut self, what: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_next = rest.starts_with(what.as_bytes());
        if is_next {
            self.at += what.len();
        }
        is_next
    }

    pub(super) fn must_eat(&mut self, what: &str) -> Parsed<()> {
        if self.eat(what) {
            Ok(())
        } else {
            Err(Fail::NotMangled)
        }
    }

    pub(super) fn add(&mut self, node: Node<'a>) -> Id {
        self.tree.add(node)
    }

    /// Adds what later parts can refer to.
    pub(super) fn add_known(&mut self, node: Node<'a>) -> Id {
        let id = self.add(node);
        self.remember(id);
        id
    }

    pub(super) fn remember(&mut self, id: Id) {
        self.known.push(id);
    }

    /// What was remembered under that number.
    pub(super) fn known(&self, number: usize) -> Parsed<Id> {
        self.known.get(number).copied().ok_or(Fail::NotMangled)
    }

    /// As many letters as are of that kind.
    pub(super) fn take_while(&mut self, is_taken: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_taken(**byte)).count();
        let taken = self.text.get(self.at..self.at + len).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    /// A decimal number, which has to be there.
    pub(super) fn number(&mut self) -> Parsed<usize> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        digits.parse().map_err(|_| Fail::NotMangled)
    }

    /// `_` is 0, `0_` is 1 and so on.
    pub(super) fn count(&mut self) -> Parsed<usize> {
        self.count_of(10)
    }

    /// The same, of digits and capital letters.
    pub(super) fn count_of(&mut self, radix: u32) -> Parsed<usize> {
        if self.eat("_") {
            return Ok(0);
        }
        let is_digit = |byte: u8| byte.is_ascii_digit() || radix > 10 && byte.is_ascii_uppercase();
        let digits = self.take_while(is_digit);
        self.must_eat("_")?;
        let number = usize::from_str_radix(digits, radix).map_err(|_| Fail::NotMangled)?;
        number.checked_add(1).ok_or(Fail::NotMangled)
    }

    /// An identifier after its length.
    pub(super) fn identifier(&mut self) -> Parsed<&'a str> {
        let len = self.number()?;
        let end = self.at.checked_add(len).ok_or(Fail::NotMangled)?;
        let name = self.text.get(self.at..end).ok_or(Fail::NotMangled)?;
        if name.is_empty() {
            return Err(Fail::NotMangled);
        }
        self.at = end;
        Ok(name)
    }

    /// All that `read` reads, up to where `is_end` sees an end, and over an `E` there.
    pub(super) fn list_until_e(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Parsed<Id>,
    ) -> Parsed<List> {
        let mut ids = Vec::new();
        while !self.eat("E") {
            ids.push(read(self)?);
        }
        Ok(self.tree.list(&ids))
    }

    /// `restrict`, `volatile`, `const`, in this order.
    pub(super) fn qualifiers(&mut self) -> Qualifiers {
        Qualifiers {
            is_restrict: self.eat("r"),
            is_volatile: self.eat("V"),
            is_const: self.eat("K"),
            reference: None,
        }
    }

    /// Of a method or of a function's type: `R` or `O`.
    pub(super) fn reference(&mut self) -> Option<Reference> {
        if self.eat("R") {
            return Some(Reference::Lvalue);
        }
        self.eat("O").then_some(Reference::Rvalue)
    }
}

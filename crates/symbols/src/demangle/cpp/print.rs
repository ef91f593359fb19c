//! The text of a tree, as binutils write it.

mod expressions;
mod names;
mod types;

use super::super::bounded::Bounded;
use super::fail::Fail;
use super::tree::{Id, List, Node, Qualifiers, Tree};
use std::fmt::Write;

/// Whether something was written.
pub(super) type Printed = Result<(), Fail>;

/// Nodes that are looked at for one name. Parts can be named again and again and show nothing.
const MOST_STEPS: u32 = 1 << 18;

/// The arguments that parameters of a template stand for, and those around it.
#[derive(Clone, Copy, Debug)]
struct Scope {
    arguments: List,
    outer: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Printer<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    out: Bounded,
    scopes: Vec<Scope>,
    /// The one that counts now.
    scope: Option<usize>,
    /// The element of packs that is shown; all of them if there is none.
    element: Option<usize>,
    /// What the lambda's template declares whose parameters are shown.
    pub(super) lambda: Option<List>,
    /// Where commas were taken back, last.
    pub(super) trimmed: Option<usize>,
    levels: u32,
    steps: u32,
}

impl<'t, 'a> Printer<'t, 'a> {
    /// The text of a name: as much of it as is kept of names.
    pub(super) fn print(
        tree: &'t Tree<'a>,
        root: Id,
        is_full: bool,
        levels: u32,
    ) -> Result<String, Fail> {
        let mut printer = Self {
            tree,
            out: Bounded::default(),
            scopes: Vec::new(),
            scope: None,
            element: None,
            lambda: None,
            trimmed: None,
            levels,
            steps: MOST_STEPS,
        };
        let printed = if is_full {
            printer.show(root)
        } else {
            printer.short(root)
        };
        match printed {
            Ok(()) | Err(Fail::Full) => Ok(printer.out.text),
            Err(fail) => Err(fail),
        }
    }

    /// Without parameters, what is returned, and what is said of `this`.
    fn short(&mut self, root: Id) -> Printed {
        match self.tree.node(root) {
            Node::Typed(name, _) => self.in_template(name, |printer| printer.short(name)),
            Node::Method(name, _) => self.show(name),
            _ => self.show(root),
        }
    }

    pub(super) fn push(&mut self, text: &str) -> Printed {
        self.out.write_str(text).map_err(|_| Fail::Full)
    }

    pub(super) fn push_number(&mut self, number: usize) -> Printed {
        write!(self.out, "{number}").map_err(|_| Fail::Full)
    }

    pub(super) fn ends_with(&self, end: char) -> bool {
        self.out.text.ends_with(end)
    }

    pub(super) fn len(&self) -> usize {
        self.out.text.len()
    }

    /// One level further in.
    pub(super) fn deeper<R>(
        &mut self,
        print: impl FnOnce(&mut Self) -> Result<R, Fail>,
    ) -> Result<R, Fail> {
        self.steps = self.steps.checked_sub(1).ok_or(Fail::NotMangled)?;
        self.levels = self.levels.checked_sub(1).ok_or(Fail::TooDeep)?;
        let result = print(self);
        self.levels += 1;
        result
    }

    pub(super) fn show(&mut self, id: Id) -> Printed {
        self.left(id)?;
        self.right(id)
    }

    /// What stands between two texts.
    pub(super) fn between(&mut self, open: &str, id: Id, close: &str) -> Printed {
        self.push(open)?;
        self.show(id)?;
        self.push(close)
    }

    /// All of them between two texts.
    pub(super) fn list_between(&mut self, open: &str, list: List, close: &str) -> Printed {
        self.push(open)?;
        self.show_list(list)?;
        self.push(close)
    }

    /// All of them, with commas between; what shows nothing at the end has none.
    pub(super) fn show_list(&mut self, list: List) -> Printed {
        let tree = self.tree;
        let mut end = self.len();
        for (idx, id) in tree.items(list).iter().enumerate() {
            if idx > 0 {
                self.push(", ")?;
            }
            let before = self.len();
            self.show(*id)?;
            if self.len() > before {
                end = self.len();
            }
        }
        if end < self.len() {
            self.out.text.truncate(end);
            self.trimmed = Some(end);
        }
        Ok(())
    }

    /// What is made of a template can name its parameters.
    pub(super) fn in_template<R>(
        &mut self,
        name: Id,
        print: impl FnOnce(&mut Self) -> Result<R, Fail>,
    ) -> Result<R, Fail> {
        let Some((_, arguments)) = self.tree.template_of(name) else {
            return print(self);
        };
        let outer = self.scope;
        self.scopes.push(Scope { arguments, outer });
        self.scope = Some(self.scopes.len() - 1);
        let result = print(self);
        self.scopes.pop();
        self.scope = outer;
        result
    }

    /// What a parameter stands for: it may name parameters of what is around.
    pub(super) fn with_argument<R>(
        &mut self,
        number: usize,
        print: impl FnOnce(&mut Self, Id) -> Result<R, Fail>,
    ) -> Result<R, Fail> {
        let scope = self.scope.and_then(|at| self.scopes.get(at).copied());
        let scope = scope.ok_or(Fail::NotMangled)?;
        let arguments = self.tree.items(scope.arguments);
        let mut argument = *arguments.get(number).ok_or(Fail::NotMangled)?;
        if let (Node::Pack(list), Some(idx)) = (self.tree.node(argument), self.element) {
            argument = *self.tree.items(list).get(idx).ok_or(Fail::NotMangled)?;
        }
        let inner = std::mem::replace(&mut self.scope, scope.outer);
        let result = self.deeper(|printer| print(printer, argument));
        self.scope = inner;
        result
    }

    /// Each element of the first pack in a pattern.
    pub(super) fn expand(&mut self, pattern: Id) -> Printed {
        let Some(len) = self.pack_len(pattern)? else {
            self.operand(pattern)?;
            return self.push("...");
        };
        let before = self.element;
        for idx in 0..len {
            if idx > 0 {
                self.push(", ")?;
            }
            self.element = Some(idx);
            self.show(pattern)?;
        }
        self.element = before;
        Ok(())
    }

    /// From now on packs are shown whole; what was shown of them before.
    pub(super) fn show_all_of_packs(&mut self) -> Option<usize> {
        self.element.take()
    }

    pub(super) fn show_element(&mut self, element: Option<usize>) {
        self.element = element;
    }

    /// Elements of the first pack that is named.
    pub(super) fn pack_len(&mut self, id: Id) -> Result<Option<usize>, Fail> {
        self.deeper(|printer| {
            if let Node::Param(number) = printer.tree.node(id) {
                return Ok(printer
                    .pack(number)
                    .map(|list| printer.tree.items(list).len()));
            }
            for child in printer.tree.children(id) {
                if let Some(len) = printer.pack_len(child)? {
                    return Ok(Some(len));
                }
            }
            Ok(None)
        })
    }

    fn pack(&self, number: usize) -> Option<List> {
        if self.lambda.is_some() {
            return None;
        }
        let scope = self.scopes.get(self.scope?)?;
        let argument = self.tree.items(scope.arguments).get(number)?;
        match self.tree.node(*argument) {
            Node::Pack(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn qualifiers(&mut self, qualifiers: Qualifiers) -> Printed {
        let texts = [
            (qualifiers.is_const, " const"),
            (qualifiers.is_volatile, " volatile"),
            (qualifiers.is_restrict, " restrict"),
        ];
        for (is_said, text) in texts {
            if is_said {
                self.push(text)?;
            }
        }
        match qualifiers.reference {
            Some(reference) => {
                self.push(" ")?;
                self.push(reference.text())
            }
            None => Ok(()),
        }
    }
}

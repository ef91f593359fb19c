//! Types: what stands before a name and what after it, as in `void (*name)(int)`.

use super::super::fail::Fail;
use super::super::tree::{Exceptions, Id, Node, Qualifiers, Reference};
use super::names::Returned;
use super::{Printed, Printer};

impl Printer<'_, '_> {
    pub(super) fn left(&mut self, id: Id) -> Printed {
        self.deeper(|printer| printer.left_here(id))
    }

    fn left_here(&mut self, id: Id) -> Printed {
        match self.tree.node(id) {
            Node::Builtin(builtin) => self.push(builtin.name),
            Node::Param(number) => match self.lambda {
                Some(_) => self.lambda_param(number),
                None => self.with_argument(number, Self::left),
            },
            Node::Pack(list) => self.show_list(list),
            Node::Expansion(pattern) => self.expand(pattern),
            Node::Pointer(of) => {
                self.opened(of)?;
                self.push("*")
            }
            Node::Reference(of, reference) => self.reference(of, reference),
            Node::Const(of, qualifiers) => self.qualified(of, qualifiers),
            Node::Suffixed(of, text) => {
                self.left(of)?;
                self.push(text)
            }
            Node::Vendor(of, name) => {
                self.left(of)?;
                self.push(" ")?;
                self.show(name)
            }
            Node::Member { class, of } => {
                self.opened(of)?;
                if !self.is_declarator(of)? {
                    self.push(" ")?;
                }
                self.show(class)?;
                self.push("::*")
            }
            Node::Array(of, _) => self.left(of),
            Node::Vector(of, len) => {
                self.left(of)?;
                self.between(" __vector(", len, ")")
            }
            Node::Function { returned, .. } => match returned {
                Some(returned) => self.returned(returned),
                None => Ok(()),
            },
            Node::Typed(name, function) => self.typed(name, function, Returned::Shown),
            Node::Decltype(expression) => self.between("decltype (", expression, ")"),
            node => self.name_or_expression(node),
        }
    }

    pub(super) fn right(&mut self, id: Id) -> Printed {
        self.deeper(|printer| match printer.tree.node(id) {
            Node::Param(number) if printer.lambda.is_none() => {
                printer.with_argument(number, Self::right)
            }
            Node::Pointer(of) | Node::Reference(of, _) | Node::Member { of, .. } => {
                if printer.is_declarator(of)? {
                    printer.push(")")?;
                }
                printer.right(of)
            }
            Node::Const(of, qualifiers) => {
                printer.right(of)?;
                if printer.is_function(of)? {
                    printer.qualifiers(qualifiers)
                } else {
                    Ok(())
                }
            }
            Node::Suffixed(of, _) | Node::Vendor(of, _) => printer.right(of),
            Node::Array(of, len) => printer.array(of, len),
            Node::Function {
                returned,
                params,
                qualifiers,
                exceptions,
            } => {
                printer.list_between("(", params, ")")?;
                printer.qualifiers(qualifiers)?;
                printer.exceptions(exceptions)?;
                match returned {
                    Some(returned) => printer.right(returned),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        })
    }

    /// What stands before the name of what returns it.
    pub(super) fn returned(&mut self, returned: Id) -> Printed {
        self.left(returned)?;
        if self.ends_with(' ') || self.is_open(returned)? {
            Ok(())
        } else {
            self.push(" ")
        }
    }

    /// What a pointer points to, up to the pointer.
    fn opened(&mut self, of: Id) -> Printed {
        self.left(of)?;
        match (self.is_declarator(of)?, self.is_function(of)?) {
            (true, true) => self.push("("),
            (true, false) => self.push(" ("),
            (false, _) => Ok(()),
        }
    }

    fn reference(&mut self, of: Id, reference: Reference) -> Printed {
        let inner = self.look(of, |printer, inner| match printer.tree.node(inner) {
            Node::Reference(_, reference) => Ok(Some(reference)),
            _ => Ok(None),
        })?;
        match (inner, reference) {
            // `T&& &` is `T&`.
            (Some(Reference::Rvalue), Reference::Lvalue) => self.look(of, |printer, inner| {
                let Node::Reference(of, _) = printer.tree.node(inner) else {
                    return Err(Fail::NotMangled);
                };
                printer.opened(of)?;
                printer.push("&")
            }),
            (Some(_), _) => self.left(of),
            (None, _) => {
                self.opened(of)?;
                self.push(reference.text())
            }
        }
    }

    fn qualified(&mut self, of: Id, qualifiers: Qualifiers) -> Printed {
        self.left(of)?;
        if self.is_function(of)? {
            return Ok(());
        }
        let inner = self.look(of, |printer, inner| match printer.tree.node(inner) {
            Node::Const(_, qualifiers) => Ok(qualifiers),
            _ => Ok(Qualifiers::default()),
        })?;
        self.qualifiers(qualifiers.without(inner))
    }

    fn array(&mut self, of: Id, len: Option<Id>) -> Printed {
        if !self.ends_with(']') {
            self.push(" ")?;
        }
        self.push("[")?;
        if let Some(len) = len {
            self.show(len)?;
        }
        self.push("]")?;
        self.right(of)
    }

    fn exceptions(&mut self, exceptions: Exceptions) -> Printed {
        match exceptions {
            Exceptions::Any => Ok(()),
            Exceptions::None => self.push(" noexcept"),
            Exceptions::If(condition) => self.between(" noexcept(", condition, ")"),
            Exceptions::Only(types) => self.list_between(" throw(", types, ")"),
        }
    }

    /// Calls `look` with a type; of a template's parameter with its argument.
    fn look<R>(&mut self, id: Id, look: fn(&mut Self, Id) -> Result<R, Fail>) -> Result<R, Fail> {
        match self.tree.node(id) {
            Node::Param(number) if self.lambda.is_none() => {
                self.with_argument(number, |printer, argument| printer.look(argument, look))
            }
            _ => look(self, id),
        }
    }

    fn is_function(&mut self, id: Id) -> Result<bool, Fail> {
        self.look(id, |printer, id| match printer.tree.node(id) {
            Node::Function { .. } => Ok(true),
            Node::Const(of, _) => printer.deeper(|printer| printer.is_function(of)),
            _ => Ok(false),
        })
    }

    /// Functions and arrays: pointers to them stand in parentheses.
    fn is_declarator(&mut self, id: Id) -> Result<bool, Fail> {
        self.look(id, |printer, id| match printer.tree.node(id) {
            Node::Function { .. } | Node::Array(..) => Ok(true),
            Node::Const(of, _) => printer.deeper(|printer| printer.is_declarator(of)),
            _ => Ok(false),
        })
    }

    /// Whether a parenthesis is open after the left part.
    fn is_open(&mut self, id: Id) -> Result<bool, Fail> {
        self.look(id, |printer, id| match printer.tree.node(id) {
            Node::Pointer(of)
            | Node::Reference(of, _)
            | Node::Member { of, .. }
            | Node::Const(of, _)
            | Node::Suffixed(of, _)
            | Node::Vendor(of, _) => {
                printer.deeper(|printer| Ok(printer.is_declarator(of)? || printer.is_open(of)?))
            }
            _ => Ok(false),
        })
    }
}

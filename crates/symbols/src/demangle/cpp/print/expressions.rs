//! Expressions: operands stand in parentheses, unless they are names.

use super::super::fail::Fail;
use super::super::operators::{Operands, Operator};
use super::super::tree::{Id, List, Node};
use super::{Printed, Printer};

impl Printer<'_, '_> {
    pub(super) fn name_or_expression(&mut self, node: Node<'_>) -> Printed {
        match node {
            Node::Literal(of, value) => self.literal(of, value),
            Node::FunctionParam(0) => self.push("this"),
            Node::FunctionParam(number) => {
                self.push("{parm#")?;
                self.push_number(number)?;
                self.push("}")
            }
            Node::Nullary(operator) => self.push(operator.text),
            Node::Unary(operator, of) => self.unary(operator, of),
            Node::Postfix(operator, of) => {
                self.operand(of)?;
                self.push(operator.text)
            }
            Node::Binary(operator, left, right) => self.binary(operator, left, right),
            Node::Conditional(condition, yes, no) => {
                self.operand(condition)?;
                self.push("?")?;
                self.operand(yes)?;
                self.push(" : ")?;
                self.operand(no)
            }
            Node::Call(of, arguments) => {
                self.callee(of)?;
                self.list_between("(", arguments, ")")
            }
            Node::NamedCast(operator, to, of) => {
                self.push(operator.text)?;
                self.between("<", to, ">(")?;
                self.show(of)?;
                self.push(")")
            }
            Node::Cast(to, of) => {
                self.between("(", to, ")")?;
                self.operand(of)
            }
            Node::CastList(to, arguments) => {
                self.between("(", to, ")")?;
                self.list_between("(", arguments, ")")
            }
            Node::Braces(of, parts) => {
                if let Some(of) = of {
                    self.show(of)?;
                }
                self.list_between("{", parts, "}")
            }
            _ => self.rarer(node),
        }
    }

    fn rarer(&mut self, node: Node<'_>) -> Printed {
        match node {
            Node::New {
                operator,
                placement,
                of,
                arguments,
            } => {
                self.push(operator.text)?;
                self.push(" ")?;
                if !self.tree.items(placement).is_empty() {
                    self.list_between("(", placement, ")")?;
                    self.push(" ")?;
                }
                self.show(of)?;
                match arguments {
                    Some(arguments) => self.list_between("(", arguments, ")"),
                    None => Ok(()),
                }
            }
            Node::Fold {
                operator,
                kind,
                first,
                second,
            } => self.fold(operator, kind, (first, second)),
            Node::PackLength(of) => {
                let len = self.pack_len(of)?.ok_or(Fail::NotMangled)?;
                self.push_number(len)
            }
            Node::ListLength(list) => self.list_len(list),
            _ => self.name(node),
        }
    }

    /// What an operator works on.
    pub(super) fn operand(&mut self, id: Id) -> Printed {
        let is_simple = matches!(
            self.tree.node(id),
            Node::Name(_) | Node::Qualified(..) | Node::Braces(..) | Node::FunctionParam(_)
        );
        if is_simple {
            return self.show(id);
        }
        self.between("(", id, ")")
    }

    /// A function that is called shows no types.
    fn callee(&mut self, of: Id) -> Printed {
        match self.tree.node(of) {
            Node::Typed(name, _) => self.in_template(name, |printer| printer.operand(name)),
            _ => self.operand(of),
        }
    }

    fn unary(&mut self, operator: &'static Operator, of: Id) -> Printed {
        self.push(operator.text)?;
        match (operator.letters(), self.tree.node(of)) {
            // The address of a method.
            ([b'a', b'd'], Node::Typed(name, _))
                if matches!(self.tree.node(name), Node::Qualified(..)) =>
            {
                self.show(name)
            }
            ([b'g', b's'], _) => self.show(of),
            _ if operator.operands == Operands::Type || operator.letters() == *b"nx" => {
                self.between("(", of, ")")
            }
            _ => self.operand(of),
        }
    }

    fn binary(&mut self, operator: &'static Operator, left: Id, right: Id) -> Printed {
        if operator.operands == Operands::Index {
            self.operand(left)?;
            self.push("[")?;
            self.show(right)?;
            return self.push("]");
        }
        // It would end the template's arguments.
        let is_greater = operator.text == ">";
        if is_greater {
            self.push("(")?;
        }
        self.operand(left)?;
        self.push(operator.text)?;
        self.operand(right)?;
        if is_greater { self.push(")") } else { Ok(()) }
    }

    fn fold(
        &mut self,
        operator: &'static Operator,
        kind: u8,
        (first, second): (Id, Option<Id>),
    ) -> Printed {
        let around = self.show_all_of_packs();
        self.push("(")?;
        match (kind, second) {
            (b'l', _) => {
                self.push("...")?;
                self.push(operator.text)?;
                self.operand(first)?;
            }
            (_, None) => {
                self.operand(first)?;
                self.push(operator.text)?;
                self.push("...")?;
            }
            (_, Some(second)) => {
                self.operand(first)?;
                self.push(operator.text)?;
                self.push("...")?;
                self.push(operator.text)?;
                self.operand(second)?;
            }
        }
        self.show_element(around);
        self.push(")")
    }

    fn list_len(&mut self, list: List) -> Printed {
        let tree = self.tree;
        let mut len = 0;
        for id in tree.items(list) {
            len += match tree.node(*id) {
                Node::Expansion(pattern) => self.pack_len(pattern)?.unwrap_or_default(),
                Node::Pack(list) => tree.items(list).len(),
                _ => 1,
            };
        }
        self.push_number(len)
    }

    fn literal(&mut self, of: Id, value: &str) -> Printed {
        let (sign, digits) = match value.strip_prefix('n') {
            Some(digits) => ("-", digits),
            None => ("", value),
        };
        if let Node::Builtin(builtin) = self.tree.node(of) {
            match (builtin.name, value) {
                ("bool", "0") => return self.push("false"),
                ("bool", "1") => return self.push("true"),
                ("float" | "double" | "long double" | "__float128", _) => {
                    self.between("(", of, ")")?;
                    self.push(sign)?;
                    self.push("[")?;
                    self.push(digits)?;
                    return self.push("]");
                }
                _ => {}
            }
            if let Some(suffix) = builtin.suffix {
                self.push(sign)?;
                self.push(digits)?;
                return self.push(suffix);
            }
        }
        self.between("(", of, ")")?;
        self.push(sign)?;
        self.push(digits)
    }
}

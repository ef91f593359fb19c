//! Expressions: in arguments of templates and in `decltype`.

use super::fail::Fail;
use super::operators::{Operands, Operator, operator_of};
use super::parser::{Parsed, Parser};
use super::tree::{Id, List, Node};

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self) -> Parsed<Id> {
        self.deeper(Self::expression_here)
    }

    fn expression_here(&mut self) -> Parsed<Id> {
        match (self.peek(), self.peek_at(1)) {
            (b'L', _) => self.literal(),
            (b'T', _) => self.template_param(),
            (b's', b'r') => self.unresolved(),
            (b's', b'p') => {
                self.skip(2);
                let of = self.expression()?;
                Ok(self.add(Node::Expansion(of)))
            }
            (b'f', b'p') => {
                self.skip(2);
                self.function_param()
            }
            (b'f', b'L') if self.peek_at(2).is_ascii_digit() => {
                self.skip(2);
                self.number()?;
                self.must_eat("p")?;
                self.function_param()
            }
            (b'0'..=b'9', _) | (b'o', b'n') => {
                self.eat("on");
                self.unresolved_base()
            }
            (b'i', b'l') => {
                self.skip(2);
                self.braces(None)
            }
            (b't', b'l') => {
                self.skip(2);
                let of = self.typ()?;
                self.braces(Some(of))
            }
            (b'u', _) => {
                self.skip(1);
                let name = self.source_name()?;
                let arguments = self.list_until_e(Self::template_arg)?;
                Ok(self.add(Node::Call(name, arguments)))
            }
            _ => self.operation(),
        }
    }

    fn braces(&mut self, of: Option<Id>) -> Parsed<Id> {
        let parts = self.list_until_e(Self::expression)?;
        Ok(self.add(Node::Braces(of, parts)))
    }

    /// Which parameter of the function; 0 is `this`.
    fn function_param(&mut self) -> Parsed<Id> {
        if self.eat("T") {
            return Ok(self.add(Node::FunctionParam(0)));
        }
        self.qualifiers();
        let number = self.count()?;
        let number = number.checked_add(1).ok_or(Fail::NotMangled)?;
        Ok(self.add(Node::FunctionParam(number)))
    }

    /// A name that depends on arguments of the template.
    fn unresolved(&mut self) -> Parsed<Id> {
        self.skip(2);
        let scope = match self.peek() {
            b'0'..=b'9' => match self.try_to_read(Self::unresolved_scope) {
                // Older GCC has a type there.
                Err(Fail::NotMangled) => self.typ()?,
                scope => scope?,
            },
            _ => self.typ()?,
        };
        self.eat("on");
        let name = self.unqualified(Some(scope))?;
        let name = self.add(Node::Qualified(scope, name));
        self.with_template_args(name)
    }

    /// Names up to an `E`, which nothing refers to later.
    fn unresolved_scope(&mut self) -> Parsed<Id> {
        let mut scope = self.unresolved_base()?;
        while !self.eat("E") {
            let name = self.unqualified(Some(scope))?;
            let name = self.add(Node::Qualified(scope, name));
            scope = self.with_template_args(name)?;
        }
        match (self.peek(), self.peek_at(1)) {
            (b'0'..=b'9', _) | (b'o' | b'd', b'n') => Ok(scope),
            _ => Err(Fail::NotMangled),
        }
    }

    fn unresolved_base(&mut self) -> Parsed<Id> {
        self.eat("on");
        let name = self.unqualified(None)?;
        self.with_template_args(name)
    }

    fn with_template_args(&mut self, name: Id) -> Parsed<Id> {
        if self.peek() != b'I' {
            return Ok(name);
        }
        let arguments = self.template_args()?;
        Ok(self.add(Node::Template(name, arguments)))
    }

    fn operation(&mut self) -> Parsed<Id> {
        let code = [self.next()?, self.next()?];
        let operator = operator_of(code).ok_or(Fail::NotMangled)?;
        let node = match operator.operands {
            Operands::None => Node::Nullary(operator),
            Operands::One => Node::Unary(operator, self.expression()?),
            Operands::Step => {
                if self.eat("_") {
                    Node::Unary(operator, self.expression()?)
                } else {
                    Node::Postfix(operator, self.expression()?)
                }
            }
            Operands::Type => Node::Unary(operator, self.typ()?),
            Operands::Two | Operands::Index => {
                let left = self.expression()?;
                Node::Binary(operator, left, self.expression()?)
            }
            Operands::NamedCast => {
                let to = self.typ()?;
                Node::NamedCast(operator, to, self.expression()?)
            }
            Operands::Member => {
                let of = self.expression()?;
                let member = match (self.peek(), self.peek_at(1)) {
                    (b's', b'r') | (b'T', _) | (b'L', _) => self.expression()?,
                    _ => self.unresolved_base()?,
                };
                Node::Binary(operator, of, member)
            }
            Operands::Three => {
                let condition = self.expression()?;
                let yes = self.expression()?;
                Node::Conditional(condition, yes, self.expression()?)
            }
            Operands::Call => {
                let of = self.expression()?;
                Node::Call(of, self.list_until_e(Self::expression)?)
            }
            Operands::Cast => self.cast()?,
            Operands::New => self.new_expression(operator)?,
            Operands::Fold => self.fold(code)?,
            Operands::Pack => Node::PackLength(self.expression()?),
            Operands::List => Node::ListLength(self.list_until_e(Self::template_arg)?),
        };
        Ok(self.add(node))
    }

    fn cast(&mut self) -> Parsed<Node<'a>> {
        let to = self.typ()?;
        if self.eat("_") {
            return Ok(Node::CastList(to, self.list_until_e(Self::expression)?));
        }
        Ok(Node::Cast(to, self.expression()?))
    }

    fn new_expression(&mut self, operator: &'static Operator) -> Parsed<Node<'a>> {
        let mut placement = Vec::new();
        while !self.eat("_") {
            placement.push(self.expression()?);
        }
        let placement = self.tree.list(&placement);
        let of = self.typ()?;
        let arguments: Option<List> = if self.eat("pi") {
            Some(self.list_until_e(Self::expression)?)
        } else {
            self.must_eat("E")?;
            None
        };
        Ok(Node::New {
            operator,
            placement,
            of,
            arguments,
        })
    }

    fn fold(&mut self, [_, kind]: [u8; 2]) -> Parsed<Node<'a>> {
        let code = [self.next()?, self.next()?];
        let operator = operator_of(code).ok_or(Fail::NotMangled)?;
        let first = self.expression()?;
        let second = match kind {
            b'L' | b'R' => Some(self.expression()?),
            _ => None,
        };
        Ok(Node::Fold {
            operator,
            kind,
            first,
            second,
        })
    }

    /// A value of a type, or a function or a variable.
    pub(super) fn literal(&mut self) -> Parsed<Id> {
        self.must_eat("L")?;
        if self.peek() == b'_' || self.peek() == b'Z' {
            self.eat("_");
            self.must_eat("Z")?;
            let of = self.encoding()?;
            self.must_eat("E")?;
            return Ok(of);
        }
        let of = self.typ()?;
        if self.eat("E") {
            return Ok(of);
        }
        let value = self.take_while(|byte| byte != b'E');
        self.must_eat("E")?;
        Ok(self.add(Node::Literal(of, value)))
    }
}

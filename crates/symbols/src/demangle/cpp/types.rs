//! Types and arguments of templates.

use super::fail::Fail;
use super::names::Role;
use super::operators::{builtin_of, newer_builtin_of};
use super::parser::{Parsed, Parser};
use super::tree::{Exceptions, Id, List, Node, Qualifiers, Reference};

impl<'a> Parser<'a> {
    pub(super) fn typ(&mut self) -> Parsed<Id> {
        self.deeper(Self::typ_here)
    }

    fn typ_here(&mut self) -> Parsed<Id> {
        if let Some(builtin) = builtin_of(self.peek()) {
            self.skip(1);
            return Ok(self.add(Node::Builtin(builtin)));
        }
        let node = match (self.peek(), self.peek_at(1)) {
            (b'r' | b'V' | b'K', _) => return self.qualified_type(),
            (b'P', _) => Node::Pointer(self.inner()?),
            (b'R', _) => Node::Reference(self.inner()?, Reference::Lvalue),
            (b'O', _) => Node::Reference(self.inner()?, Reference::Rvalue),
            (b'C', _) => Node::Suffixed(self.inner()?, " _Complex"),
            (b'G', _) => Node::Suffixed(self.inner()?, " _Imaginary"),
            (b'F', _) => self.function()?,
            (b'A', _) => self.array()?,
            (b'M', _) => {
                let class = self.inner()?;
                let of = self.typ()?;
                Node::Member { class, of }
            }
            (b'D', next) => return self.newer_type(next),
            (b'T', b's' | b'u' | b'e') => {
                self.skip(2);
                return self.known_name();
            }
            (b'T', _) => {
                let param = self.template_param()?;
                self.remember(param);
                return self.with_arguments(param);
            }
            (b'S', next) if next != b't' => {
                let of = self.substitution(Role::Type)?;
                return self.with_arguments(of);
            }
            (b'U', next) if next != b't' && next != b'l' => self.vendor_qualified()?,
            (b'u', _) => {
                self.skip(1);
                let name = self.source_name()?;
                return self.vendor_type(name);
            }
            _ => return self.known_name(),
        };
        Ok(self.add_known(node))
    }

    /// The type after the next letter.
    fn inner(&mut self) -> Parsed<Id> {
        self.skip(1);
        self.typ()
    }

    fn known_name(&mut self) -> Parsed<Id> {
        let name = self.name()?;
        self.remember(name);
        Ok(name)
    }

    /// `T_` and `S_` are templates if arguments follow.
    fn with_arguments(&mut self, name: Id) -> Parsed<Id> {
        if self.peek() != b'I' {
            return Ok(name);
        }
        let arguments = self.template_args()?;
        Ok(self.add_known(Node::Template(name, arguments)))
    }

    fn vendor_type(&mut self, name: Id) -> Parsed<Id> {
        let node = match self.peek() {
            b'I' => Node::Template(name, self.template_args()?),
            _ => {
                self.remember(name);
                return Ok(name);
            }
        };
        Ok(self.add_known(node))
    }

    fn qualified_type(&mut self) -> Parsed<Id> {
        let said = self.qualifiers();
        let mut node = match (self.peek(), self.peek_at(1)) {
            (b'F', _) | (b'D', b'o' | b'O' | b'w' | b'x') => self.function()?,
            _ => Node::Const(self.typ()?, said),
        };
        // Those of a function's type are a part of it.
        if let Node::Function { qualifiers, .. } = &mut node {
            let reference = qualifiers.reference;
            *qualifiers = Qualifiers { reference, ..said };
        }
        Ok(self.add_known(node))
    }

    fn vendor_qualified(&mut self) -> Parsed<Node<'a>> {
        self.skip(1);
        let mut name = self.source_name()?;
        if self.peek() == b'I' {
            let arguments = self.template_args()?;
            name = self.add(Node::Template(name, arguments));
        }
        Ok(Node::Vendor(self.typ()?, name))
    }

    /// The type of a function, with what it can throw.
    fn function(&mut self) -> Parsed<Node<'a>> {
        let exceptions = if self.eat("Do") {
            Exceptions::None
        } else if self.eat("DO") {
            let condition = self.expression()?;
            self.must_eat("E")?;
            Exceptions::If(condition)
        } else if self.eat("Dw") {
            Exceptions::Only(self.list_until_e(Self::typ)?)
        } else {
            Exceptions::Any
        };
        // Safe in transactions.
        self.eat("Dx");
        self.function_type(exceptions)
    }

    fn function_type(&mut self, exceptions: Exceptions) -> Parsed<Node<'a>> {
        self.must_eat("F")?;
        // Of C.
        self.eat("Y");
        let returned = Some(self.typ()?);
        let params = self.params()?;
        let reference = self.reference();
        self.must_eat("E")?;
        Ok(Node::Function {
            returned,
            params,
            qualifiers: Qualifiers {
                reference,
                ..Qualifiers::default()
            },
            exceptions,
        })
    }

    fn array(&mut self) -> Parsed<Node<'a>> {
        self.skip(1);
        let len = match self.peek() {
            b'_' => None,
            _ => Some(self.len()?),
        };
        self.must_eat("_")?;
        Ok(Node::Array(self.typ()?, len))
    }

    /// Digits or an expression.
    fn len(&mut self) -> Parsed<Id> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        match digits {
            "" => self.expression(),
            digits => Ok(self.add(Node::Name(digits))),
        }
    }

    /// What begins with a `D`, and that letter.
    fn newer_type(&mut self, next: u8) -> Parsed<Id> {
        if let Some(builtin) = newer_builtin_of(next) {
            self.skip(2);
            return Ok(self.add(Node::Builtin(builtin)));
        }
        let node = match next {
            b'F' => return self.float(),
            b't' | b'T' => {
                let node = self.decltype()?;
                self.remember(node);
                return Ok(node);
            }
            b'p' => {
                self.skip(2);
                Node::Expansion(self.typ()?)
            }
            b'v' => {
                self.skip(2);
                self.eat("_");
                let len = self.len()?;
                self.must_eat("_")?;
                Node::Vector(self.typ()?, len)
            }
            b'o' | b'O' | b'w' | b'x' => self.function()?,
            _ => return self.known_name(),
        };
        Ok(self.add_known(node))
    }

    /// `DF16_` and so on.
    fn float(&mut self) -> Parsed<Id> {
        self.skip(2);
        let bits = self.take_while(|byte| byte.is_ascii_digit());
        let name = match (bits, self.next()?) {
            ("16", b'b') => "std::bfloat16_t",
            ("16", b'_') => "_Float16",
            ("32", b'_') => "_Float32",
            ("64", b'_') => "_Float64",
            ("128", b'_') => "_Float128",
            ("32", b'x') => "_Float32x",
            ("64", b'x') => "_Float64x",
            _ => return Err(Fail::NotMangled),
        };
        Ok(self.add(Node::Name(name)))
    }

    pub(super) fn decltype(&mut self) -> Parsed<Id> {
        self.skip(2);
        let expression = self.expression()?;
        self.must_eat("E")?;
        Ok(self.add(Node::Decltype(expression)))
    }

    pub(super) fn template_param(&mut self) -> Parsed<Id> {
        self.must_eat("T")?;
        let number = self.count()?;
        Ok(self.add(Node::Param(number)))
    }

    /// Arguments after it are the operator's, not the type's.
    pub(super) fn conversion_type(&mut self) -> Parsed<Id> {
        match self.peek() {
            b'T' => {
                let param = self.template_param()?;
                self.remember(param);
                Ok(param)
            }
            b'P' | b'R' | b'O' => self.deeper(|parser| {
                let letter = parser.next()?;
                let of = parser.conversion_type()?;
                Ok(parser.add_known(match letter {
                    b'P' => Node::Pointer(of),
                    b'R' => Node::Reference(of, Reference::Lvalue),
                    _ => Node::Reference(of, Reference::Rvalue),
                }))
            }),
            b'r' | b'V' | b'K' => self.deeper(|parser| {
                let qualifiers = parser.qualifiers();
                let of = parser.conversion_type()?;
                Ok(parser.add_known(Node::Const(of, qualifiers)))
            }),
            _ => self.typ(),
        }
    }

    pub(super) fn template_args(&mut self) -> Parsed<List> {
        match self.next()? {
            b'I' | b'J' => self.list_until_e(Self::template_arg),
            _ => Err(Fail::NotMangled),
        }
    }

    pub(super) fn template_arg(&mut self) -> Parsed<Id> {
        self.deeper(|parser| match parser.peek() {
            b'X' => {
                parser.skip(1);
                let expression = parser.expression()?;
                parser.must_eat("E")?;
                Ok(expression)
            }
            b'L' => parser.literal(),
            b'I' | b'J' => {
                let arguments = parser.template_args()?;
                Ok(parser.add(Node::Pack(arguments)))
            }
            _ => parser.typ(),
        })
    }
}

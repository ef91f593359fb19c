//! Names of functions, classes and variables.

use super::fail::Fail;
use super::operators::{Operands, abbreviation_of, operator_of};
use super::parser::{Parsed, Parser};
use super::tree::{Exceptions, Head, Id, List, Node, Qualifiers};

/// What a name is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A constructor or destructor may follow.
    Prefix,
    Type,
}

impl<'a> Parser<'a> {
    /// A function with its parameters, a variable, or what the compiler made for one.
    pub(super) fn encoding(&mut self) -> Parsed<Id> {
        self.deeper(|parser| match parser.peek() {
            b'T' | b'G' => parser.special(),
            _ => parser.function_or_variable(),
        })
    }

    fn function_or_variable(&mut self) -> Parsed<Id> {
        let name = self.name()?;
        if self.is_end() {
            return Ok(name);
        }
        let returned = if self.says_what_it_returns(name) {
            Some(self.typ()?)
        } else {
            None
        };
        let params = self.params()?;
        let function = self.add(Node::Function {
            returned,
            params,
            qualifiers: Qualifiers::default(),
            exceptions: Exceptions::Any,
        });
        Ok(self.add(Node::Typed(name, function)))
    }

    /// Where an encoding or its parameters can end.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.peek(), 0 | b'E' | b'.' | b'@')
    }

    /// Functions made of templates do, unless their name says it.
    fn says_what_it_returns(&self, name: Id) -> bool {
        let Some((name, _)) = self.tree.template_of(name) else {
            return false;
        };
        !matches!(
            self.tree.node(self.tree.last_of(name)),
            Node::Constructor(_) | Node::Destructor(_) | Node::ConversionOperator(_)
        )
    }

    fn special(&mut self) -> Parsed<Id> {
        let text = match [self.next()?, self.next()?] {
            [b'T', b'V'] => "vtable for ",
            [b'T', b'T'] => "VTT for ",
            [b'T', b'I'] => "typeinfo for ",
            [b'T', b'S'] => "typeinfo name for ",
            [b'T', b'F'] => "typeinfo fn for ",
            [b'T', b'J'] => "java Class for ",
            [b'T', b'C'] => return self.construction_table(),
            [b'T', b'A'] => {
                let of = self.template_arg()?;
                return Ok(self.add(Node::Special("template parameter object for ", of)));
            }
            [b'T', kind @ (b'h' | b'v' | b'c')] => return self.thunk(kind),
            [b'T', b'H'] => return self.special_name("TLS init function for "),
            [b'T', b'W'] => return self.special_name("TLS wrapper function for "),
            [b'G', b'V'] => return self.special_name("guard variable for "),
            [b'G', b'R'] => {
                let name = self.name()?;
                let number = self.temporary_number()?;
                return Ok(self.add(Node::Temporary(name, number)));
            }
            [b'G', b'A'] => return self.special_encoding("hidden alias for "),
            [b'G', b'T'] => {
                return match self.next()? {
                    b'n' => self.special_encoding("non-transaction clone for "),
                    _ => self.special_encoding("transaction clone for "),
                };
            }
            _ => return Err(Fail::NotMangled),
        };
        let of = self.typ()?;
        Ok(self.add(Node::Special(text, of)))
    }

    fn special_name(&mut self, text: &'static str) -> Parsed<Id> {
        let name = self.name()?;
        Ok(self.add(Node::Special(text, name)))
    }

    fn special_encoding(&mut self, text: &'static str) -> Parsed<Id> {
        let encoding = self.encoding()?;
        Ok(self.add(Node::Special(text, encoding)))
    }

    /// Older compilers leave out the underscore.
    fn temporary_number(&mut self) -> Parsed<usize> {
        if self.is_end() {
            Ok(0)
        } else {
            self.count_of(36)
        }
    }

    fn construction_table(&mut self) -> Parsed<Id> {
        let of = self.typ()?;
        self.offset()?;
        self.must_eat("_")?;
        let base = self.typ()?;
        Ok(self.add(Node::ConstructionTable { base, of }))
    }

    fn thunk(&mut self, kind: u8) -> Parsed<Id> {
        let text = match kind {
            b'h' => "non-virtual thunk to ",
            b'v' => "virtual thunk to ",
            _ => "covariant return thunk to ",
        };
        if kind == b'c' {
            for _ in 0..2 {
                let kind = self.next()?;
                self.call_offset(kind)?;
            }
        } else {
            self.call_offset(kind)?;
        }
        self.special_encoding(text)
    }

    fn call_offset(&mut self, kind: u8) -> Parsed<()> {
        self.offset()?;
        self.must_eat("_")?;
        match kind {
            b'h' => Ok(()),
            b'v' => {
                self.offset()?;
                self.must_eat("_")
            }
            _ => Err(Fail::NotMangled),
        }
    }

    fn offset(&mut self) -> Parsed<()> {
        self.eat("n");
        self.number().map(|_| ())
    }

    /// A name with all its scopes.
    pub(super) fn name(&mut self) -> Parsed<Id> {
        match (self.peek(), self.peek_at(1)) {
            (b'N', _) => self.nested(),
            (b'Z', _) => self.deeper(Self::local),
            (b'S', next) if next != b't' => {
                let template = self.substitution(Role::Type)?;
                match self.peek() {
                    b'I' => self.template(template),
                    _ => Ok(template),
                }
            }
            _ => self.unscoped(),
        }
    }

    fn unscoped(&mut self) -> Parsed<Id> {
        let is_std = self.eat("St");
        let mut name = self.unqualified(None)?;
        if is_std {
            let std = self.add(Node::Name("std"));
            name = self.add(Node::Qualified(std, name));
        }
        if self.peek() != b'I' {
            return Ok(name);
        }
        self.remember(name);
        self.template(name)
    }

    fn template(&mut self, name: Id) -> Parsed<Id> {
        let arguments = self.template_args()?;
        Ok(self.add(Node::Template(name, arguments)))
    }

    fn nested(&mut self) -> Parsed<Id> {
        self.must_eat("N")?;
        let mut qualifiers = self.qualifiers();
        qualifiers.reference = self.reference();
        let mut name = None;
        while !self.eat("E") {
            let (longer, is_new) = self.prefix(name)?;
            // The caller remembers the whole, as a type.
            if is_new && self.peek() != b'E' {
                self.remember(longer);
            }
            name = Some(longer);
        }
        let name = name.ok_or(Fail::NotMangled)?;
        Ok(if qualifiers.is_empty() {
            name
        } else {
            self.add(Node::Method(name, qualifiers))
        })
    }

    /// One part more of a name, and whether it can be referred to from now on.
    fn prefix(&mut self, before: Option<Id>) -> Parsed<(Id, bool)> {
        Ok(match (self.peek(), self.peek_at(1), before) {
            (b'S', b't', None) => {
                self.skip(2);
                (self.add(Node::Name("std")), false)
            }
            (b'S', _, None) => (self.substitution(Role::Prefix)?, false),
            (b'T', _, None) => (self.template_param()?, true),
            (b'D', b't' | b'T', None) => (self.decltype()?, true),
            (b'I', _, Some(name)) => (self.template(name)?, true),
            (b'M', _, Some(name)) => {
                // Of what initializes a member.
                self.skip(1);
                (name, false)
            }
            (_, _, None) => (self.unqualified(None)?, true),
            (_, _, Some(scope)) => {
                let name = self.unqualified(Some(scope))?;
                (self.add(Node::Qualified(scope, name)), true)
            }
        })
    }

    /// `S_` and the like, of which constructors follow if it is a prefix.
    pub(super) fn substitution(&mut self, role: Role) -> Parsed<Id> {
        self.must_eat("S")?;
        let Some(of) = abbreviation_of(self.peek()) else {
            let number = self.count_of(36)?;
            return self.known(number);
        };
        self.skip(1);
        let is_full = role == Role::Prefix && matches!(self.peek(), b'C' | b'D');
        let id = self.add(Node::Abbreviation { of, is_full });
        if self.peek() != b'B' {
            return Ok(id);
        }
        let tagged = self.tags(id)?;
        self.remember(tagged);
        Ok(tagged)
    }

    /// One name in a scope, which constructors take theirs from.
    pub(super) fn unqualified(&mut self, scope: Option<Id>) -> Parsed<Id> {
        let is_internal = self.eat("L");
        let name = match (self.peek(), self.peek_at(1)) {
            (b'0'..=b'9', _) => self.source_name()?,
            (b'a'..=b'z', _) => self.operator_name()?,
            (b'C' | b'D', b'0'..=b'9' | b'I') => self.constructor(scope)?,
            (b'D', b'C') => {
                self.skip(2);
                let names = self.list_until_e(Self::source_name)?;
                self.add(Node::Binding(names))
            }
            (b'U', b't') => {
                self.skip(2);
                let number = self.count()?;
                self.add(Node::Unnamed(number))
            }
            (b'U', b'l') => self.lambda()?,
            _ => return Err(Fail::NotMangled),
        };
        if is_internal {
            self.discriminator()?;
        }
        self.tags(name)
    }

    pub(super) fn source_name(&mut self) -> Parsed<Id> {
        let name = self.identifier()?;
        // `_GLOBAL_`, any separator, `N`.
        let is_anonymous = name
            .strip_prefix("_GLOBAL_")
            .is_some_and(|rest| matches!(rest.as_bytes(), [b'.' | b'_' | b'$', b'N', ..]));
        Ok(self.add(Node::Name(if is_anonymous {
            "(anonymous namespace)"
        } else {
            name
        })))
    }

    fn tags(&mut self, mut name: Id) -> Parsed<Id> {
        while self.eat("B") {
            let tag = self.identifier()?;
            name = self.add(Node::Tagged(name, tag));
        }
        Ok(name)
    }

    fn operator_name(&mut self) -> Parsed<Id> {
        let code = [self.next()?, self.next()?];
        Ok(match code {
            [b'c', b'v'] => {
                let to = self.conversion_type()?;
                self.add(Node::ConversionOperator(to))
            }
            [b'l', b'i'] => {
                let suffix = self.identifier()?;
                self.add(Node::LiteralOperator(suffix))
            }
            [b'v', b'0'..=b'9'] => {
                let name = self.identifier()?;
                self.add(Node::VendorOperator(name))
            }
            _ => {
                let operator = operator_of(code).ok_or(Fail::NotMangled)?;
                if operator.operands == Operands::Fold {
                    return Err(Fail::NotMangled);
                }
                self.add(Node::Operator(operator))
            }
        })
    }

    fn constructor(&mut self, scope: Option<Id>) -> Parsed<Id> {
        let class = self.tree.last_of(scope.ok_or(Fail::NotMangled)?);
        let kind = self.next()?;
        if kind == b'D' {
            self.next()?;
            return Ok(self.add(Node::Destructor(class)));
        }
        let is_inherited = self.eat("I");
        self.next()?;
        if is_inherited {
            self.typ()?;
        }
        Ok(self.add(Node::Constructor(class)))
    }

    fn lambda(&mut self) -> Parsed<Id> {
        self.skip(2);
        let mut head = Vec::new();
        while let (b'T', b'y' | b'n' | b't' | b'p') = (self.peek(), self.peek_at(1)) {
            head.push(self.head()?);
        }
        let head = self.tree.list(&head);
        let params = self.params()?;
        self.must_eat("E")?;
        let number = self.count()?;
        Ok(self.add(Node::Lambda {
            head,
            params,
            number,
        }))
    }

    /// A declared parameter of a lambda's template.
    fn head(&mut self) -> Parsed<Id> {
        self.deeper(|parser| {
            parser.must_eat("T")?;
            let head = match parser.next()? {
                b'y' => Head::Type,
                b'n' => Head::Value(parser.typ()?),
                b't' => Head::Template(parser.list_until_e(Self::head)?),
                b'p' => Head::Pack(parser.head()?),
                _ => return Err(Fail::NotMangled),
            };
            Ok(parser.add(Node::Head(head)))
        })
    }

    fn local(&mut self) -> Parsed<Id> {
        self.must_eat("Z")?;
        let function = self.encoding()?;
        self.must_eat("E")?;
        let mut argument = None;
        let name = match self.peek() {
            b's' => {
                self.skip(1);
                self.add(Node::Name("string literal"))
            }
            b'd' => {
                self.skip(1);
                argument = Some(self.count()?);
                self.name()?
            }
            _ => self.name()?,
        };
        self.discriminator()?;
        // What is said of `this` goes after the parameters.
        let (name, qualifiers) = match self.tree.node(name) {
            Node::Method(name, qualifiers) => (name, Some(qualifiers)),
            _ => (name, None),
        };
        let local = self.add(Node::Local {
            function,
            argument,
            name,
        });
        Ok(match qualifiers {
            Some(qualifiers) => self.add(Node::Method(local, qualifiers)),
            None => local,
        })
    }

    /// Which of several of that name: `_1` or `__12_`.
    fn discriminator(&mut self) -> Parsed<()> {
        let (is_short, is_long) = match (self.peek(), self.peek_at(1)) {
            (b'_', b'_') => (false, true),
            (b'_', b'0'..=b'9') => (true, false),
            _ => (false, false),
        };
        if is_long {
            self.skip(2);
            self.number()?;
            self.must_eat("_")?;
        }
        if is_short {
            self.skip(2);
        }
        Ok(())
    }

    /// Types of parameters; `v` alone is none.
    pub(super) fn params(&mut self) -> Parsed<List> {
        if self.eat("v") {
            return Ok(List::default());
        }
        let mut params = Vec::new();
        while !self.is_end() && !self.is_reference_of_this() {
            params.push(self.typ()?);
        }
        if params.is_empty() {
            Err(Fail::NotMangled)
        } else {
            Ok(self.tree.list(&params))
        }
    }

    /// At the end of a function's type.
    fn is_reference_of_this(&self) -> bool {
        matches!((self.peek(), self.peek_at(1)), (b'R' | b'O', b'E'))
    }
}

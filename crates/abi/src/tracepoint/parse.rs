//! Parses the expressions of a `print fmt`: C's operators with C's precedence, casts, and the
//! functions of [`super::call`].

use super::cast::type_in_parentheses;
use super::error::PrintError;
use super::expr::{Binary, Cast, Expr, Number, Unary};
use super::field::{FieldPlace, TracepointField};
use super::lexer::Token;

/// Calls, parentheses and signs inside each other: real formats have about 60 (masks of flags).
const MAX_DEPTH: usize = 128;

/// Operations of one argument, constants folded: `a + b + c ...` nests to the left, and
/// evaluation recurses into it.
const MAX_OPERATIONS: usize = 300;

/// Parser over the tokens of one format.
pub(super) struct Parser<'a> {
    tokens: &'a [Token<'a>],
    fields: &'a [TracepointField],
    depth: usize,
    operations: usize,
}

pub(super) type Parsed = Result<Expr, PrintError>;

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token<'a>], fields: &'a [TracepointField]) -> Self {
        Self {
            tokens,
            fields,
            depth: 0,
            operations: 0,
        }
    }

    pub(super) fn peek(&self) -> Option<&'a Token<'a>> {
        self.tokens.first()
    }

    pub(super) fn next(&mut self) -> Option<&'a Token<'a>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Takes the operator if it is next.
    pub(super) fn take(&mut self, operator: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Op(op)) if *op == operator);
        if is_next {
            self.next();
        }
        is_next
    }

    pub(super) fn expect(&mut self, operator: &str) -> Result<(), PrintError> {
        if self.take(operator) {
            return Ok(());
        }
        Err(self.unexpected())
    }

    pub(super) fn unexpected(&self) -> PrintError {
        let found = match self.peek() {
            None => "end".to_owned(),
            Some(Token::Word(word)) => (*word).to_owned(),
            Some(Token::Number(number)) => number.to_string(),
            Some(Token::Text(_)) => "string".to_owned(),
            Some(Token::Op(op)) => (*op).to_owned(),
        };
        PrintError::Unexpected { found }
    }

    pub(super) fn word(&mut self) -> Result<&'a str, PrintError> {
        match self.peek() {
            Some(Token::Word(word)) => {
                self.next();
                Ok(word)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// String literals, one after the other.
    pub(super) fn text(&mut self) -> Result<Vec<u8>, PrintError> {
        let mut all: Option<Vec<u8>> = None;
        while let Some(Token::Text(text)) = self.peek() {
            self.next();
            all.get_or_insert_default().extend_from_slice(text);
        }
        all.ok_or_else(|| self.unexpected())
    }

    pub(super) fn field(&self, name: &str) -> Result<FieldPlace, PrintError> {
        match self.fields.iter().find(|field| field.name == name) {
            Some(field) => Ok(field.place),
            None => Err(PrintError::UnknownField {
                name: name.to_owned(),
            }),
        }
    }

    /// An argument of the conversions.
    pub(super) fn argument(&mut self) -> Parsed {
        self.operations = 0;
        self.expr()
    }

    /// The value of a constant; `None` if nobody knows it.
    pub(super) fn constant(&mut self) -> Result<Option<u64>, PrintError> {
        let operations = self.operations;
        let expr = self.expr()?;
        self.operations = operations;
        Ok(match expr {
            Expr::Number(number) => Some(number.bits),
            _ => None,
        })
    }

    /// An expression up to a comma or closing bracket.
    pub(super) fn expr(&mut self) -> Parsed {
        let outer = self.depth;
        self.deeper()?;
        let condition = self.binary(0)?;
        let expr = if self.take("?") {
            let yes = self.expr()?;
            self.expect(":")?;
            let no = self.expr()?;
            self.operation(Expr::Choice(Box::new([condition, yes, no])))?
        } else {
            condition
        };
        self.depth = outer;
        Ok(expr)
    }

    fn operation(&mut self, expr: Expr) -> Parsed {
        if matches!(expr, Expr::Number(_)) {
            return Ok(expr);
        }
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            return Err(PrintError::TooDeep);
        }
        Ok(expr)
    }

    fn deeper(&mut self) -> Result<(), PrintError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(PrintError::TooDeep);
        }
        Ok(())
    }

    /// Operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((operator, tightness)) = self.binary_operator() {
            if tightness < level {
                break;
            }
            self.next();
            let right = self.binary(tightness + 1)?;
            left = match (&left, &right) {
                (Expr::Number(a), Expr::Number(b)) => Expr::Number(operator.apply(*a, *b)),
                _ => self.operation(Expr::Binary(operator, Box::new([left, right])))?,
            };
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<(Binary, u8)> {
        match self.peek()? {
            Token::Op(operator) => Binary::from_operator(operator),
            _ => None,
        }
    }

    fn unary(&mut self) -> Parsed {
        let outer = self.depth;
        self.deeper()?;
        let expr = if self.take("-") {
            self.apply(Unary::Minus)?
        } else if self.take("!") {
            self.apply(Unary::Not)?
        } else if self.take("~") {
            self.apply(Unary::Complement)?
        } else if self.take("+") {
            self.unary()?
        } else if self.take("*") {
            let pointer = self.unary()?;
            self.element(pointer, Expr::Number(Number::ZERO))?
        } else if self.take("&") {
            // The address of an array: conversions that take one read its bytes.
            self.unary()?
        } else {
            self.postfix()?
        };
        self.depth = outer;
        Ok(expr)
    }

    fn apply(&mut self, operator: Unary) -> Parsed {
        match self.unary()? {
            Expr::Number(number) => Ok(Expr::Number(operator.apply(number))),
            of => self.operation(Expr::Unary(operator, Box::new(of))),
        }
    }

    /// `array[index]`, if the array is something whose bytes are in the sample.
    fn element(&mut self, array: Expr, index: Expr) -> Parsed {
        match array.inner() {
            Expr::Field(_) | Expr::Dynamic(_) => {
                self.operation(Expr::Index(Box::new([array, index])))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn postfix(&mut self) -> Parsed {
        let mut expr = self.primary()?;
        while self.take("[") {
            let index = self.expr()?;
            self.expect("]")?;
            expr = self.element(expr, index)?;
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed {
        match self.peek() {
            Some(Token::Number(number)) => {
                self.next();
                // As C has it: signed if it fits.
                let is_signed = i64::try_from(*number).is_ok();
                let bits = *number;
                Ok(Expr::Number(Number { bits, is_signed }))
            }
            Some(Token::Text(_)) => Ok(Expr::Text(self.text()?.into())),
            Some(Token::Word(word)) => {
                self.next();
                self.named(word)
            }
            Some(Token::Op("(")) if self.is_record() => {
                self.tokens = self.tokens.get(3..).unwrap_or_default();
                self.named("REC")
            }
            Some(Token::Op("(")) => match self.cast() {
                Some((cast, rest)) => {
                    self.tokens = rest;
                    let of = self.unary()?;
                    self.operation(Expr::Cast(cast, Box::new(of)).folded())
                }
                None => {
                    self.next();
                    let expr = self.expr()?;
                    self.expect(")")?;
                    Ok(expr)
                }
            },
            _ => Err(self.unexpected()),
        }
    }

    fn named(&mut self, word: &'a str) -> Parsed {
        if word == "REC" {
            self.expect("->")?;
            let name = self.word()?;
            return Ok(Expr::Field(self.field(name)?));
        }
        if self.take("(") {
            return self.call(word);
        }
        // perf takes several words in a row as one unknown name.
        while let Some(Token::Word(_)) = self.peek() {
            self.next();
        }
        Ok(Expr::Name)
    }

    /// Whether `(REC)` is next.
    fn is_record(&self) -> bool {
        let record = [Token::Op("("), Token::Word("REC"), Token::Op(")")];
        self.tokens.starts_with(&record)
    }

    /// `(type)` in front of an operand, and the tokens after it.
    fn cast(&self) -> Option<(Cast, &'a [Token<'a>])> {
        let (cast, rest) = type_in_parentheses(self.tokens)?;
        let begins_operand = match rest.first()? {
            Token::Word(_) | Token::Number(_) | Token::Text(_) | Token::Op("(") => true,
            // `(name) - 1` subtracts from a name, `(int) - 1` casts.
            Token::Op(op) => cast != Cast::Unknown && ["-", "+", "!", "~", "*", "&"].contains(op),
        };
        begins_operand.then_some((cast, rest))
    }
}

//! [`Piece`]: a `print fmt` made ready for printing. Goes in: its tokens; comes out: literal text
//! and conversions, each with its argument.

use super::error::PrintError;
use super::expr::Expr;
use super::field::TracepointField;
use super::lexer::tokens;
use super::parse::Parser;
use super::pointer::Pointer;
use super::printf::{Amount, Radix, Spec};
use std::collections::VecDeque;

/// A part of what is printed.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Literal(Box<[u8]>),
    Number {
        spec: Spec,
        radix: Radix,
        value: Expr,
    },
    Character {
        spec: Spec,
        value: Expr,
    },
    Text {
        spec: Spec,
        value: Expr,
    },
    Pointer {
        spec: Spec,
        kind: Pointer,
        value: Expr,
    },
}

/// Parses what stands after `print fmt:`.
pub(super) fn pieces(text: &str, fields: &[TracepointField]) -> Result<Vec<Piece>, PrintError> {
    let tokens = tokens(text)?;
    let mut parser = Parser::new(&tokens, fields);
    let format = parser.text()?;
    let mut arguments = VecDeque::new();
    while parser.take(",") {
        arguments.push_back(parser.argument()?);
    }
    if parser.peek().is_some() {
        return Err(parser.unexpected());
    }
    Builder {
        rest: &format,
        arguments,
        pieces: Vec::new(),
        literal: Vec::new(),
    }
    .build()
}

/// Walks the format string and hands out the arguments.
struct Builder<'a> {
    rest: &'a [u8],
    arguments: VecDeque<Expr>,
    pieces: Vec<Piece>,
    literal: Vec<u8>,
}

impl Builder<'_> {
    fn build(mut self) -> Result<Vec<Piece>, PrintError> {
        while let Some(byte) = self.byte() {
            match byte {
                b'%' if self.rest.first() == Some(&b'%') => {
                    self.byte();
                    self.literal.push(b'%');
                }
                b'%' => self.conversion()?,
                _ => self.literal.push(byte),
            }
        }
        self.flush();
        Ok(self.pieces)
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            let text = std::mem::take(&mut self.literal).into();
            self.pieces.push(Piece::Literal(text));
        }
    }

    fn argument(&mut self) -> Result<Expr, PrintError> {
        (self.arguments.pop_front()).ok_or(PrintError::TooFewArguments)
    }

    fn conversion(&mut self) -> Result<(), PrintError> {
        let spec = self.spec()?;
        let Some(letter) = self.byte() else {
            return Ok(());
        };
        let radix = match letter {
            b'd' | b'i' => Some(Radix::Signed),
            b'u' => Some(Radix::Unsigned),
            b'o' => Some(Radix::Octal),
            b'x' => Some(Radix::Hex),
            b'X' => Some(Radix::HexUpper),
            b'c' | b's' | b'p' => None,
            // perf's mark of a conversion that does not exist.
            _ => {
                self.literal.extend_from_slice(&[b'>', letter, b'<']);
                return Ok(());
            }
        };
        let value = self.argument()?;
        self.flush();
        self.pieces.push(match (letter, radix) {
            (_, Some(radix)) => Piece::Number { spec, radix, value },
            (b'c', None) => Piece::Character { spec, value },
            (b's', None) => Piece::Text { spec, value },
            (_, None) => {
                let (kind, rest) = Pointer::parse(self.rest);
                self.rest = rest;
                Piece::Pointer { spec, kind, value }
            }
        });
        Ok(())
    }

    /// Flags, width, precision and length.
    fn spec(&mut self) -> Result<Spec, PrintError> {
        let mut spec = Spec::default();
        while let Some(flag) = self.rest.first() {
            match flag {
                b'-' => spec.is_left = true,
                b'+' => spec.has_plus = true,
                b' ' => spec.has_space = true,
                b'#' => spec.has_hash = true,
                b'0' => spec.has_zero = true,
                _ => break,
            }
            self.byte();
        }
        spec.width = self.amount()?;
        if self.rest.first() == Some(&b'.') {
            self.byte();
            spec.precision = match self.amount()? {
                Amount::None => Amount::Fixed(0),
                amount => amount,
            };
        }
        spec.size = self.length();
        Ok(spec)
    }

    fn amount(&mut self) -> Result<Amount, PrintError> {
        if self.rest.first() == Some(&b'*') {
            self.byte();
            return Ok(Amount::Argument(Box::new(self.argument()?)));
        }
        let mut amount: Option<usize> = None;
        while let Some(digit @ b'0'..=b'9') = self.rest.first() {
            let value = amount.unwrap_or(0).saturating_mul(10);
            amount = Some(value.saturating_add(usize::from(digit - b'0')));
            self.byte();
        }
        Ok(amount.map_or(Amount::None, Amount::Fixed))
    }

    /// Bytes of the argument, 0 for a `long`.
    fn length(&mut self) -> u8 {
        let mut size = 4;
        while let Some(letter) = self.rest.first() {
            size = match (letter, size) {
                (b'h', 2) => 1,
                (b'h', _) => 2,
                (b'l', 0) | (b'L' | b'q', _) => 8,
                (b'l' | b'z' | b'Z' | b't', _) => 0,
                _ => break,
            };
            self.byte();
        }
        size
    }
}

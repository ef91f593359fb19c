//! The functions of a `print fmt`: the kernel's `__print_*` and `__get_*` macros.
//!
//! Source: include/trace/stages/stage3_trace_output.h (v6.18).

use super::cast::type_in_parentheses;
use super::error::PrintError;
use super::expr::{Binary, Cast, Expr, Names, Number};
use super::field::FieldPlace;
use super::lexer::Token;
use super::parse::{Parsed, Parser};

const NS_PER_SECOND: u64 = 1_000_000_000;

impl Parser<'_> {
    /// A call, after its opening parenthesis.
    pub(super) fn call(&mut self, function: &str) -> Parsed {
        let expr = match function {
            "__print_flags" | "__print_flags_u64" => self.flags()?,
            "__print_symbolic" | "__print_symbolic_u64" => {
                let value = Box::new(self.expr()?);
                let names = self.names()?;
                Expr::Symbols { value, names }
            }
            "__print_hex" => self.hex(b" ")?,
            "__print_hex_str" => self.hex(b"")?,
            "__print_array" => self.array()?,
            "__print_dynamic_array" => {
                let bytes = Box::new(Expr::Dynamic(self.named_field()?));
                self.expect(",")?;
                let element_len = Box::new(self.expr()?);
                let count = None;
                Expr::Array {
                    bytes,
                    count,
                    element_len,
                }
            }
            "__get_str"
            | "__get_rel_str"
            | "__get_dynamic_array"
            | "__get_rel_dynamic_array"
            | "__get_sockaddr"
            | "__get_rel_sockaddr" => Expr::Dynamic(self.named_field()?),
            "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => {
                Expr::DynamicLen(self.named_field()?)
            }
            "__get_bitmask" | "__get_rel_bitmask" => Expr::Bitmask(self.named_field()?),
            "__get_cpumask" | "__get_rel_cpumask" => Expr::CpuMask(self.named_field()?),
            "__print_ns_to_secs" => self.nanoseconds(Binary::Divide)?,
            "__print_ns_without_secs" => self.nanoseconds(Binary::Remainder)?,
            "__builtin_expect" => {
                let value = self.expr()?;
                self.expect(",")?;
                self.expr()?;
                value
            }
            "sizeof" => self.size_of()?,
            _ => {
                return Err(PrintError::UnknownFunction {
                    name: function.to_owned(),
                });
            }
        };
        self.expect(")")?;
        Ok(expr)
    }

    fn named_field(&mut self) -> Result<FieldPlace, PrintError> {
        let name = self.word()?;
        self.field(name)
    }

    fn flags(&mut self) -> Parsed {
        let value = Box::new(self.expr()?);
        self.expect(",")?;
        // Old formats leave it out.
        let delimiter = match self.peek() {
            Some(Token::Text(_)) => self.text()?,
            _ => Vec::new(),
        };
        Ok(Expr::Flags {
            value,
            delimiter: delimiter.into(),
            names: self.names()?,
        })
    }

    /// `, { value, "name" }` any number of times. What ends the kernel's arrays, `{ }` or an entry
    /// without name, may be among them.
    fn names(&mut self) -> Result<Names, PrintError> {
        let mut names = Vec::new();
        while self.take(",") {
            self.expect("{")?;
            if self.take("}") {
                continue;
            }
            let value = self.name_value()?;
            self.expect(",")?;
            match self.expr()?.inner() {
                Expr::Text(name) => names.push((value, name.clone())),
                Expr::Number(Number { bits: 0, .. }) => {}
                _ => return Err(self.unexpected()),
            }
            self.expect("}")?;
        }
        Ok(names.into())
    }

    fn name_value(&mut self) -> Result<Option<u64>, PrintError> {
        if let Some(Token::Word(word)) = self.peek()
            && let Some(value) = known_constant(word)
        {
            self.next();
            return Ok(Some(value));
        }
        self.constant()
    }

    fn hex(&mut self, delimiter: &'static [u8]) -> Parsed {
        let bytes = self.expr()?;
        self.expect(",")?;
        let of = Box::new([bytes, self.expr()?]);
        Ok(Expr::Hex { of, delimiter })
    }

    fn array(&mut self) -> Parsed {
        let bytes = Box::new(self.expr()?);
        self.expect(",")?;
        let count = Some(Box::new(self.expr()?));
        self.expect(",")?;
        let element_len = Box::new(self.expr()?);
        Ok(Expr::Array {
            bytes,
            count,
            element_len,
        })
    }

    fn nanoseconds(&mut self, operator: Binary) -> Parsed {
        let value = self.expr()?;
        let second = Expr::Number(Number::unsigned(NS_PER_SECOND));
        Ok(Expr::Binary(operator, Box::new([value, second])))
    }

    /// `sizeof(type)` or `sizeof(REC->field)`; the closing parenthesis stays.
    fn size_of(&mut self) -> Parsed {
        let size = |bytes: u64| Expr::Number(Number::unsigned(bytes));
        if let Some(Token::Word("REC")) = self.peek() {
            return match self.expr()? {
                Expr::Field(place) => Ok(size(place.size as u64)),
                _ => Err(self.unexpected()),
            };
        }
        match self.type_name() {
            Some(Cast::Int(kind)) if kind.size > 0 => Ok(size(u64::from(kind.size))),
            Some(Cast::Int(_) | Cast::Pointer(_)) => Ok(Expr::SizeofLong),
            _ => Err(self.unexpected()),
        }
    }

    /// A type up to the closing parenthesis, whose opening one is already taken.
    fn type_name(&mut self) -> Option<Cast> {
        let mut tokens = vec![Token::Op("(")];
        while let Some(token @ (Token::Word(_) | Token::Op("*"))) = self.peek() {
            tokens.push(token.clone());
            self.next();
        }
        tokens.push(Token::Op(")"));
        type_in_parentheses(&tokens).map(|(cast, _)| cast)
    }
}

/// Names of enum values that kernels before 4.1 left in the formats.
///
/// Source: include/linux/interrupt.h and include/linux/hrtimer.h (v6.18).
fn known_constant(name: &str) -> Option<u64> {
    const SOFTIRQS: [&str; 10] = [
        "HI_SOFTIRQ",
        "TIMER_SOFTIRQ",
        "NET_TX_SOFTIRQ",
        "NET_RX_SOFTIRQ",
        "BLOCK_SOFTIRQ",
        "IRQ_POLL_SOFTIRQ",
        "TASKLET_SOFTIRQ",
        "SCHED_SOFTIRQ",
        "HRTIMER_SOFTIRQ",
        "RCU_SOFTIRQ",
    ];
    match name {
        "HRTIMER_NORESTART" => Some(0),
        "HRTIMER_RESTART" => Some(1),
        "BLOCK_IOPOLL_SOFTIRQ" => Some(5),
        _ => (0..)
            .zip(SOFTIRQS)
            .find(|(_, known)| *known == name)
            .map(|(value, _)| value),
    }
}

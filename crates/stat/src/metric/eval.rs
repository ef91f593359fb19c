//! Expressions and their values.

/// What is computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    /// The count of an event, by its number in the metric.
    Event(usize),
    /// Seconds that were counted.
    Seconds,
    Negative(Box<Self>),
    Two(Operator, Box<(Self, Self)>),
    /// The first if the second is not 0, else the third.
    If(Box<(Self, Self, Self)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Divided,
    Remainder,
    Less,
    Greater,
    And,
    Xor,
    Or,
    Min,
    Max,
    /// 0 where the divisor is.
    Ratio,
}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    DividedByZero,
    NotCounted,
    /// Beyond all numbers, or no number any more: neither is JSON.
    TooLarge,
}

/// What counts are.
pub(super) struct Values<'v> {
    pub(super) count: &'v dyn Fn(usize) -> Option<f64>,
    pub(super) seconds: f64,
}

impl Expression {
    pub(super) fn value(&self, values: &Values<'_>) -> Result<f64, NoValue> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Event(nth) => (values.count)(*nth).ok_or(NoValue::NotCounted),
            Self::Seconds => Ok(values.seconds),
            Self::Negative(of) => Ok(-of.value(values)?),
            Self::Two(operator, both) => {
                operator.value(both.0.value(values)?, both.1.value(values)?)
            }
            Self::If(all) => match all.1.value(values)? {
                0.0 => all.2.value(values),
                _ => all.0.value(values),
            },
        }
    }
}

impl Operator {
    fn value(self, a: f64, b: f64) -> Result<f64, NoValue> {
        let is = |fact: bool| if fact { 1.0 } else { 0.0 };
        Ok(match self {
            Self::Plus => a + b,
            Self::Minus => a - b,
            Self::Times => a * b,
            Self::Divided | Self::Remainder if b == 0.0 => return Err(NoValue::DividedByZero),
            Self::Divided => a / b,
            Self::Remainder => a % b,
            Self::Ratio if b == 0.0 => 0.0,
            Self::Ratio => a / b,
            Self::Less => is(a < b),
            Self::Greater => is(a > b),
            Self::And => bits(a, b, |a, b| a & b),
            Self::Xor => bits(a, b, |a, b| a ^ b),
            Self::Or => bits(a, b, |a, b| a | b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        })
    }
}

/// Of whole numbers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "perf's, too; it saturates"
)]
fn bits(a: f64, b: f64, of: impl Fn(i64, i64) -> i64) -> f64 {
    of(a as i64, b as i64) as f64
}

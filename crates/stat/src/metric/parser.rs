//! From the text of an expression to what is computed.

use super::Names;
use super::error::At;
use super::eval::{Expression, Operator};
use super::lexer::{Token, token};

/// Parentheses, signs and conditions within each other.
const MOST_DEEP: usize = 100;

/// Words and signs of an expression, with those of the metrics that it names.
const MOST_TOKENS: usize = 4096;

pub(super) struct Parser<'p> {
    text: &'p str,
    names: Names<'p>,
    /// Where the next token begins.
    at: usize,
    next: Token,
    /// Bytes of the next token.
    len: usize,
    events: Vec<String>,
    n_deep: usize,
    n_tokens: usize,
}

/// Weakest first, as in perf's grammar; those of one row from the left.
const LEVELS: &[&[(char, Operator)]] = &[
    &[('|', Operator::Or)],
    &[('^', Operator::Xor)],
    &[('&', Operator::And)],
    &[('<', Operator::Less), ('>', Operator::Greater)],
    &[('+', Operator::Plus), ('-', Operator::Minus)],
    &[
        ('*', Operator::Times),
        ('/', Operator::Divided),
        ('%', Operator::Remainder),
    ],
];

const FUNCTIONS: &[(&str, Operator)] = &[
    ("min", Operator::Min),
    ("max", Operator::Max),
    ("d_ratio", Operator::Ratio),
];

impl<'p> Parser<'p> {
    pub(super) fn new(text: &'p str, names: Names<'p>) -> Self {
        Self {
            text,
            names,
            at: 0,
            next: Token::End,
            len: 0,
            events: Vec::new(),
            n_deep: 0,
            n_tokens: 0,
        }
    }

    /// All of the text, with the events that it names, and how many tokens it has.
    pub(super) fn whole(mut self) -> Result<(Expression, Vec<String>, usize), At> {
        self.advance()?;
        let expression = self.conditional()?;
        match self.next {
            Token::End => Ok((expression, self.events, self.n_tokens)),
            _ => Err(self.expected("an operator or the end")),
        }
    }

    fn grow(&mut self, n_tokens: usize) -> Result<(), At> {
        self.n_tokens += n_tokens;
        if self.n_tokens > MOST_TOKENS {
            return Err(At::new(self.at, format!("more than {MOST_TOKENS} tokens")));
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), At> {
        self.grow(1)?;
        let rest = self.text.get(self.at + self.len..).unwrap_or_default();
        let start = rest.trim_start();
        self.at = self.text.len() - start.len();
        let names = self.names;
        let is_known = |name: &str| (names.is_event)(name) || is_metric(&names, name);
        (self.next, self.len) = token(start, self.at, &is_known)?;
        Ok(())
    }

    fn expected(&self, what: &str) -> At {
        let found = self.next.in_words();
        At::new(self.at, format!("expected {what}, found {found}"))
    }

    fn deeper(&mut self) -> Result<(), At> {
        self.n_deep += 1;
        if self.n_deep > MOST_DEEP {
            let what = format!("more than {MOST_DEEP} levels of nesting");
            return Err(At::new(self.at, what));
        }
        Ok(())
    }

    /// `a if b else c`.
    fn conditional(&mut self) -> Result<Expression, At> {
        self.deeper()?;
        let then = self.level(0)?;
        let result = if self.is_word("if") {
            self.advance()?;
            let condition = self.level(0)?;
            if !self.is_word("else") {
                return Err(self.expected("'else'"));
            }
            self.advance()?;
            Expression::If(Box::new((then, condition, self.conditional()?)))
        } else {
            then
        };
        self.n_deep -= 1;
        Ok(result)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.next, Token::Name(name) if name == word)
    }

    fn level(&mut self, nth: usize) -> Result<Expression, At> {
        let Some(operators) = LEVELS.get(nth) else {
            return self.operand();
        };
        let mut left = self.level(nth + 1)?;
        while let Token::Sign(sign) = self.next
            && let Some((_, operator)) = operators.iter().find(|(of, _)| *of == sign)
        {
            self.advance()?;
            let right = self.level(nth + 1)?;
            left = Expression::Two(*operator, Box::new((left, right)));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, At> {
        match self.next.clone() {
            Token::Number(number) => {
                self.advance()?;
                Ok(Expression::Number(number))
            }
            Token::Sign('-') => {
                self.deeper()?;
                self.advance()?;
                let of = self.operand()?;
                self.n_deep -= 1;
                Ok(Expression::Negative(Box::new(of)))
            }
            Token::Sign('(') => {
                self.advance()?;
                let inner = self.conditional()?;
                self.sign(')')?;
                Ok(inner)
            }
            Token::Name(name) if name != "if" && name != "else" => self.named(&name),
            _ => Err(self.expected("a number, an event or '('")),
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), At> {
        if self.next != Token::Sign(sign) {
            return Err(self.expected(&format!("'{sign}'")));
        }
        self.advance()
    }

    fn named(&mut self, name: &str) -> Result<Expression, At> {
        let at = self.at;
        self.advance()?;
        if let Some((_, operator)) = FUNCTIONS.iter().find(|(of, _)| *of == name) {
            self.sign('(')?;
            let first = self.conditional()?;
            self.sign(',')?;
            let second = self.conditional()?;
            self.sign(')')?;
            return Ok(Expression::Two(*operator, Box::new((first, second))));
        }
        match name {
            "duration_time" => return Ok(Expression::Seconds),
            "#num_cpus" | "#num_cpus_online" => {
                return Ok(Expression::Number(self.names.n_cpus.into()));
            }
            _ => {}
        }
        let metric = self.names.metrics.iter().find(|metric| metric.name == name);
        if let Some(metric) = metric {
            self.grow(metric.n_tokens)?;
            let events: Vec<usize> = metric.events.iter().map(|name| self.event(name)).collect();
            return Ok(renumbered(&metric.expression, &events));
        }
        if name.starts_with('#') || !(self.names.is_event)(name) {
            let what = format!("'{name}' is not an event, a metric or a function");
            Err(At::new(at, what))
        } else {
            Ok(Expression::Event(self.event(name)))
        }
    }

    /// The number of an event in this metric.
    fn event(&mut self, name: &str) -> usize {
        let known = self.events.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.events.push(name.to_owned());
            self.events.len() - 1
        })
    }
}

fn is_metric(names: &Names<'_>, name: &str) -> bool {
    names.metrics.iter().any(|metric| metric.name == name)
}

/// The same with other numbers of events.
fn renumbered(expression: &Expression, events: &[usize]) -> Expression {
    let again = |of: &Expression| renumbered(of, events);
    match expression {
        Expression::Number(number) => Expression::Number(*number),
        Expression::Seconds => Expression::Seconds,
        Expression::Event(nth) => {
            Expression::Event(events.get(*nth).copied().unwrap_or(usize::MAX))
        }
        Expression::Negative(of) => Expression::Negative(Box::new(again(of))),
        Expression::Two(operator, both) => {
            Expression::Two(*operator, Box::new((again(&both.0), again(&both.1))))
        }
        Expression::If(all) => {
            Expression::If(Box::new((again(&all.0), again(&all.1), again(&all.2))))
        }
    }
}

//! Frames of functions that are inlined into each other, from DWARF or from Go's tables.

use crate::batch::Batch;
use crate::symbolized::{Frame, Line};
use rprof_base::Svma;

/// The function that all those are inlined into that were added at an address.
#[derive(Debug, Default)]
pub(crate) struct Outermost {
    /// `None` if only a symbol has its name.
    pub(crate) frame: Option<Frame>,
    pub(crate) line: Option<Line>,
}

/// Frames at one address, each inlined into the next.
pub(crate) struct Chain {
    address: Svma,
    /// Where the symbol begins that they are in, if there is one.
    symbol: Option<u64>,
    named: Option<Frame>,
    /// The line in the last function, which has no name: that of the symbol, if it is the outermost.
    nameless: Option<Option<Line>>,
}

impl Chain {
    pub(crate) fn new(address: Svma, symbol: Option<u64>) -> Self {
        Self {
            address,
            symbol,
            named: None,
            nameless: None,
        }
    }

    fn frame(&self, name: u32, line: Option<Line>) -> Frame {
        let start = self.symbol.unwrap_or(self.address.0);
        Frame {
            name,
            start,
            offset: self.address.0.wrapping_sub(start),
            size: None,
            is_inlined: false,
            line,
        }
    }

    /// The last with a name turns out to be inlined.
    fn pass_on(&mut self, batch: &mut Batch<'_>) {
        if let Some(inlined) = self.named.take() {
            batch.frame(Frame {
                is_inlined: true,
                ..inlined
            });
        }
    }

    pub(crate) fn add(&mut self, name: Option<u32>, line: Option<Line>, batch: &mut Batch<'_>) {
        match name {
            Some(name) => {
                self.pass_on(batch);
                self.named = Some(self.frame(name, line));
                self.nameless = None;
            }
            // Assembly, or the file with the functions is not there.
            None => self.nameless = Some(line),
        }
    }

    /// The function that has all of the code.
    pub(crate) fn outermost(mut self, batch: &mut Batch<'_>) -> Outermost {
        match self.nameless.filter(|_| self.symbol.is_some()) {
            Some(line) => {
                self.pass_on(batch);
                Outermost { frame: None, line }
            }
            None => Outermost {
                frame: self.named,
                line: self.named.and_then(|frame| frame.line),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What frames of these names and lines are: the inlined ones, and the outermost's line.
    fn chain(
        symbol: Option<u64>,
        frames: &[(Option<&'static str>, u32)],
    ) -> (Vec<(String, u32)>, Option<u32>) {
        let mut batch = Batch::default();
        let mut chain = Chain::new(Svma(0x1007), symbol);
        for &(name, line) in frames {
            let name = name.map(|name| batch.function(name.as_bytes()));
            let file = batch.file("x.s");
            chain.add(name, Some(Line { file, line }), &mut batch);
        }
        let outermost = chain.outermost(&mut batch);
        batch.end_address();
        let symbolized = Batch::join(vec![batch], crate::Demangling::default(), 1);
        let shown = |frame: &Frame| {
            assert!(frame.is_inlined);
            (
                symbolized.name(frame.name).to_owned(),
                frame.line.unwrap().line,
            )
        };
        let inlined = symbolized.frames(0).iter().map(shown).collect();
        (inlined, outermost.line.map(|line| line.line))
    }

    #[test]
    fn a_line_counts_for_the_function_that_it_is_in_and_no_other() {
        let symbol = Some(0x1000);
        let inner = || vec![("inner".to_owned(), 1)];
        assert_eq!(chain(symbol, &[(None, 7)]), (Vec::new(), Some(7)));
        let both = [(Some("inner"), 1), (Some("outer"), 2)];
        assert_eq!(chain(symbol, &both), (inner(), Some(2)));
        let nameless = [(Some("inner"), 1), (None, 2)];
        assert_eq!(chain(symbol, &nameless), (inner(), Some(2)));
        let between = [(Some("inner"), 1), (None, 2), (Some("outer"), 3)];
        assert_eq!(chain(symbol, &between), (inner(), Some(3)));
        // Without a symbol, what has a name is all there is to show.
        assert_eq!(chain(None, &[(None, 7)]), (Vec::new(), None));
        assert_eq!(chain(None, &nameless), (Vec::new(), Some(1)));
    }
}

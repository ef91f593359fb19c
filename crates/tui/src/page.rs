//! A text to read: help, the code of a function.

use crate::cursor::Step;

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// Code, with a percentage at the start of each sampled line.
    Code,
    /// The key help, wrapped to the screen's width.
    Keys,
    /// Anything else.
    Text,
}

/// A text that is longer than the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) kind: PageKind,
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// The first column on the screen.
    pub(crate) left: usize,
    /// Line numbers of code, hottest first.
    hot: Vec<usize>,
    /// Index of the hot line last jumped to.
    nth: Option<usize>,
}

impl Page {
    /// A text.
    pub(crate) fn text(title: String, lines: Vec<String>) -> Self {
        Self {
            kind: PageKind::Text,
            title,
            lines,
            top: 0,
            left: 0,
            hot: Vec::new(),
            nth: None,
        }
    }

    /// The help.
    pub(crate) fn keys(lines: Vec<String>) -> Self {
        Self {
            kind: PageKind::Keys,
            ..Self::text("Keys".to_owned(), lines)
        }
    }

    /// Code, scrolled to the hottest line.
    pub(crate) fn code(title: String, lines: Vec<String>, height: usize) -> Self {
        // Above are sums by source line.
        let heading = lines.iter().position(|line| line.ends_with("Instructions"));
        let mut hot: Vec<(usize, f64)> = lines
            .iter()
            .enumerate()
            .skip(heading.unwrap_or(0))
            .filter_map(|(number, line)| Some((number, percent_of(line)?)))
            .collect();
        hot.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut page = Self {
            kind: PageKind::Code,
            hot: hot.into_iter().map(|(number, _)| number).collect(),
            ..Self::text(title, lines)
        };
        page.next_hot(height);
        page
    }

    /// Jumps to the next hottest line.
    pub(crate) fn next_hot(&mut self, height: usize) {
        let nth = self.nth.map_or(0, |nth| nth + 1);
        let nth = if nth < self.hot.len() { nth } else { 0 };
        if let Some(&line) = self.hot.get(nth) {
            self.nth = Some(nth);
            self.top = line.saturating_sub(height / 2);
            self.fit(height);
        }
    }

    /// The line last jumped to.
    pub(crate) fn marked(&self) -> Option<usize> {
        self.hot.get(self.nth?).copied()
    }

    pub(crate) fn step(&mut self, step: Step, height: usize) {
        let page = height.saturating_sub(1).max(1);
        self.top = match step {
            Step::Up => self.top.saturating_sub(1),
            Step::Down => self.top.saturating_add(1),
            Step::PageUp => self.top.saturating_sub(page),
            Step::PageDown => self.top.saturating_add(page),
            Step::Home => 0,
            Step::End => usize::MAX,
        };
        self.fit(height);
    }

    pub(crate) fn fit(&mut self, height: usize) {
        self.top = self.top.min(self.lines.len().saturating_sub(height));
    }
}

/// The percentage at the start of a line of code.
pub(crate) fn percent_of(line: &str) -> Option<f64> {
    let word = line.split_whitespace().next()?;
    let number = word.strip_suffix('%').unwrap_or(word);
    let percent = number.contains('.').then(|| number.parse::<f64>().ok())??;
    (percent > 0.0).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_begins_where_it_is_hottest() {
        let mut lines: Vec<String> = (0..100).map(|n| format!("   {n:x}:  nop")).collect();
        lines[2] = "  92.50 | a.c:1".to_owned();
        lines[4] = " Percent | Instructions".to_owned();
        lines[20] = "  12.50  14: add".to_owned();
        lines[60] = "  80.00  3c: mul".to_owned();
        let mut page = Page::code("f".to_owned(), lines, 10);
        assert_eq!((page.top, page.marked()), (55, Some(60)));
        page.next_hot(10);
        assert_eq!((page.top, page.marked()), (15, Some(20)));
        page.next_hot(10);
        assert_eq!(page.marked(), Some(60));
        page.step(Step::End, 10);
        assert_eq!(page.top, 90);
        page.step(Step::Home, 10);
        assert_eq!(page.top, 0);
    }
}

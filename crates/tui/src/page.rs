//! A text to read: help, the code of a function.

use crate::cursor::Step;
use crate::matcher::Matcher;
use rprof_base::Share;
use rprof_profile::code::{CodeLine, CodeLineKind};

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    Code,
    /// The key help, wrapped to the screen's width.
    Keys,
    Text,
}

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageLine {
    pub(crate) text: String,
    /// Its share of code as it is printed, if that is not 0.
    pub(crate) percent: Option<f64>,
    /// Where its instruction is.
    address: Option<u64>,
    /// Where that leads.
    leads_to: Option<LeadsTo>,
}

/// Where an instruction leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeadsTo {
    /// An address of the same function.
    Address(u64),
    /// Another function.
    Function(String),
}

impl From<String> for PageLine {
    fn from(text: String) -> Self {
        Self {
            text,
            percent: None,
            address: None,
            leads_to: None,
        }
    }
}

impl From<CodeLine> for PageLine {
    fn from(line: CodeLine) -> Self {
        let share = line.share.map(Share::percent);
        let percent = share.map(|percent| (percent * 100.0).round() / 100.0);
        let callee = line.callee.map(LeadsTo::Function);
        Self {
            text: line.text,
            percent: percent.filter(|&percent| percent > 0.0),
            address: line.address,
            leads_to: callee.or(line.target.map(LeadsTo::Address)),
        }
    }
}

/// A text that is longer than the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub(crate) kind: PageKind,
    pub(crate) title: String,
    pub(crate) lines: Vec<PageLine>,
    /// The source line with most samples, and what it has; the table of lines is at the beginning of the page.
    pub(crate) hottest_line: Option<String>,
    /// Whether it is code that was inlined into several functions.
    pub(crate) has_choice: bool,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// The first column on the screen.
    pub(crate) left: usize,
    /// Line numbers of code, hottest first.
    hot: Vec<usize>,
    /// Index of the hot line last jumped to.
    nth: Option<usize>,
    /// What is searched for, and the lines that match, ascending.
    search: Option<(Matcher, Vec<usize>)>,
    /// The line last jumped to.
    mark: Option<usize>,
    /// The page that is shown again after this one.
    pub(crate) under: Option<Box<Self>>,
}

/// The first row of the table of source lines.
fn hottest_line(lines: &[CodeLine]) -> Option<String> {
    let is_table = |line: &CodeLine| line.kind == CodeLineKind::LinesHeading;
    let table = lines.iter().position(is_table)?;
    let row = lines.get(table + 1)?;
    let is_row = row.kind == CodeLineKind::TableRow;
    let words: Vec<&str> = row.text.split_whitespace().collect();
    is_row.then(|| words.join(" "))
}

impl Page {
    fn new(kind: PageKind, title: String, lines: Vec<PageLine>) -> Self {
        Self {
            kind,
            title,
            lines,
            hottest_line: None,
            has_choice: false,
            top: 0,
            left: 0,
            hot: Vec::new(),
            nth: None,
            search: None,
            mark: None,
            under: None,
        }
    }

    pub(crate) fn text(title: String, lines: Vec<String>) -> Self {
        let lines = lines.into_iter().map(PageLine::from).collect();
        Self::new(PageKind::Text, title, lines)
    }

    /// The help.
    pub(crate) fn keys(lines: Vec<String>) -> Self {
        Self {
            kind: PageKind::Keys,
            ..Self::text("Keys".to_owned(), lines)
        }
    }

    /// Code, scrolled to the hottest line.
    pub(crate) fn code(title: String, lines: Vec<CodeLine>, height: usize) -> Self {
        // Above are sums by source line.
        let is_heading = |line: &CodeLine| line.kind == CodeLineKind::CodeHeading;
        let heading = lines.iter().position(is_heading).unwrap_or(0);
        let hottest_line = hottest_line(&lines);
        let lines: Vec<PageLine> = lines.into_iter().map(PageLine::from).collect();
        let code = lines.iter().enumerate().skip(heading);
        let mut hot: Vec<(usize, f64)> = code
            .filter_map(|(number, line)| Some((number, line.percent?)))
            .collect();
        hot.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut page = Self {
            hot: hot.into_iter().map(|(number, _)| number).collect(),
            hottest_line,
            ..Self::new(PageKind::Code, title, lines)
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
            self.go_to(line, height);
        }
    }

    fn go_to(&mut self, line: usize, height: usize) {
        self.mark = Some(line);
        self.top = line.saturating_sub(height / 2);
        self.fit(height);
    }

    /// The line last jumped to.
    pub(crate) fn marked(&self) -> Option<usize> {
        self.mark
    }

    /// Where the line last jumped to leads, if it is on the screen.
    pub(crate) fn leads_to(&self, height: usize) -> Option<&LeadsTo> {
        let shown = self.top..self.top.saturating_add(height);
        let mark = self.mark.filter(|mark| shown.contains(mark))?;
        self.lines.get(mark)?.leads_to.as_ref()
    }

    /// Goes to the instruction at an address. Returns whether there is one.
    pub(crate) fn go_to_address(&mut self, address: u64, height: usize) -> bool {
        let mut lines = self.lines.iter();
        let line = lines.position(|line| line.address == Some(address));
        if let Some(line) = line {
            self.go_to(line, height);
        }
        line.is_some()
    }

    /// The first of the other functions that it calls, in the order of the code, from the top of the screen on and then
    /// round.
    pub(crate) fn callees(&self, most: usize) -> Vec<String> {
        let (before, after) = self.lines.split_at(self.top.min(self.lines.len()));
        let mut callees: Vec<String> = Vec::new();
        for line in after.iter().chain(before) {
            if callees.len() == most {
                break;
            }
            if let Some(LeadsTo::Function(name)) = &line.leads_to
                && !callees.contains(name)
            {
                callees.push(name.clone());
            }
        }
        callees
    }

    /// Searches its lines, and goes to the first match from the top of the screen on. Without a matcher, the search ends.
    pub(crate) fn search(&mut self, matcher: Option<Matcher>, height: usize) {
        self.search = matcher.map(|matcher| {
            let lines = self.lines.iter().enumerate();
            let matching = lines.filter(|(_, line)| matcher.matches(&line.text));
            let matching = matching.map(|(number, _)| number).collect();
            (matcher, matching)
        });
        if self.search.is_some() {
            self.mark = None;
            self.next_match(false, height);
        }
    }

    /// Puts other lines in place of these; a search ends.
    pub(crate) fn set_lines(&mut self, lines: Vec<String>, height: usize) {
        self.lines = lines.into_iter().map(PageLine::from).collect();
        (self.search, self.mark) = (None, None);
        self.fit(height);
    }

    /// What is searched for.
    pub(crate) fn searched(&self) -> Option<&Matcher> {
        self.search.as_ref().map(|(matcher, _)| matcher)
    }

    /// Whether the line with this number matches the search, if there is one.
    pub(crate) fn is_match(&self, number: usize) -> bool {
        let matches = self.search.as_ref().map(|(_, matches)| matches);
        matches.is_some_and(|matches| matches.binary_search(&number).is_ok())
    }

    /// Goes to the next match, or the one before, and round the end.
    pub(crate) fn next_match(&mut self, is_back: bool, height: usize) {
        let Some((_, matches)) = &self.search else {
            return;
        };
        // What was scrolled away is not where one is.
        let shown = self.top..self.top.saturating_add(height);
        let from = match self.mark.filter(|mark| shown.contains(mark)) {
            Some(mark) if is_back => mark,
            Some(mark) => mark + 1,
            None => self.top,
        };
        let at = matches.partition_point(|&line| line < from);
        let next = if is_back {
            matches[..at].last().or(matches.last())
        } else {
            matches.get(at).or(matches.first())
        };
        if let Some(line) = next.copied() {
            self.go_to(line, height);
        }
    }

    /// Where the search is, if there is one: `/rax: 3 of 17`.
    pub(crate) fn search_text(&self) -> Option<String> {
        let (matcher, matches) = self.search.as_ref()?;
        let typed = matcher.typed();
        let nth = self.mark.and_then(|mark| matches.binary_search(&mark).ok());
        Some(match (matches.len(), nth) {
            (0, _) => format!("{typed}: no match"),
            (n, Some(nth)) => format!("{typed}: {} of {n}", nth + 1),
            (n, None) => format!("{typed}: {n} matches"),
        })
    }

    /// Moves long lines.
    pub(crate) fn sideways(&mut self, is_left: bool) {
        self.left = if is_left {
            self.left.saturating_sub(8)
        } else {
            self.left.saturating_add(8).min(10_000)
        };
    }

    pub(crate) fn step(&mut self, step: Step, height: usize) {
        self.top = step.from(self.top, height);
        self.fit(height);
    }

    pub(crate) fn fit(&mut self, height: usize) {
        self.top = self.top.min(self.lines.len().saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_source_line_is_the_first_of_its_table() {
        let line = |kind, text: &str| CodeLine::new(kind, text.to_owned());
        let lines = vec![
            line(CodeLineKind::TableHeading, "  Percent : Functions"),
            line(CodeLineKind::TableRow, "    90.00 : f"),
            line(CodeLineKind::LinesHeading, "  Percent : Lines"),
            line(CodeLineKind::TableRow, "    67.33 : a.c:10  x++;"),
            line(CodeLineKind::TableRow, "    32.67 : a.c:11  y++;"),
        ];
        let page = Page::code(String::new(), lines.clone(), 10);
        assert_eq!(page.hottest_line.as_deref(), Some("67.33 : a.c:10 x++;"));
        let page = Page::code(String::new(), lines[..2].to_vec(), 10);
        assert_eq!(page.hottest_line, None);
    }

    #[test]
    fn a_search_goes_from_match_to_match_and_round_the_end() {
        let lines = ["a", "call x", "b", "call y", "c", "call z"];
        let mut page = Page::text(String::new(), lines.map(str::to_owned).into());
        page.step(Step::Down, 2);
        page.step(Step::Down, 2);
        page.search(Some(Matcher::parse("call").unwrap()), 2);
        assert_eq!(page.marked(), Some(3));
        let said = |page: &Page| page.search_text().unwrap();
        assert_eq!(said(&page), "/call: 2 of 3");
        let mut steps = Vec::new();
        for is_back in [false, false, true, true] {
            page.next_match(is_back, 2);
            steps.push(page.marked().unwrap());
        }
        assert_eq!(steps, [5, 1, 5, 3]);
        // From what is on the screen.
        page.step(Step::Home, 2);
        page.next_match(false, 2);
        assert_eq!(page.marked(), Some(1));
        page.search(Some(Matcher::parse("nothing").unwrap()), 2);
        assert_eq!(said(&page), "/nothing: no match");
        page.search(None, 2);
        assert_eq!(page.search_text(), None);
    }

    #[test]
    fn code_begins_where_it_is_hottest() {
        let line = |n: usize| CodeLine {
            share: match n {
                2 => Some(Share::from_percent(92.5)),
                20 => Some(Share::from_percent(12.5)),
                60 => Some(Share::from_percent(80.0)),
                // It is printed as 0.00.
                70 => Some(Share::from_percent(0.004)),
                _ => None,
            },
            ..CodeLine::new(
                match n {
                    4 => CodeLineKind::CodeHeading,
                    0..4 => CodeLineKind::TableRow,
                    _ => CodeLineKind::Instruction,
                },
                format!("   {n:x}:  nop"),
            )
        };
        let lines = (0..100).map(line).collect();
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

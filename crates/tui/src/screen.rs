//! Where on the screen what is: drawing and clicks ask here.

use ratatui_core::layout::{Position, Rect};

/// Parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) all: Rect,
    /// The views, and which recording this is.
    pub(crate) tabs: Rect,
    /// Event and zooms.
    pub(crate) what: Option<Rect>,
    pub(crate) heading: Option<Rect>,
    pub(crate) body: Rect,
    /// What is selected, messages, what is typed.
    pub(crate) status: Rect,
    pub(crate) quality: Option<Rect>,
    /// The keys of the view.
    pub(crate) keys: Option<Rect>,
}

impl Screen {
    /// Fewer columns or lines show nothing.
    pub(crate) const MIN: (u16, u16) = (20, 4);

    /// `None` if it is too small.
    pub(crate) fn new((columns, lines): (u16, u16), has_heading: bool) -> Option<Self> {
        if columns < Self::MIN.0 || lines < Self::MIN.1 {
            return None;
        }
        let line = |y| Rect::new(0, y, columns, 1);
        let (is_roomy, is_tall) = (lines >= 7, lines >= 10);
        let mut top = 1;
        let what = is_roomy.then(|| line(1));
        top += u16::from(what.is_some());
        let heading = (is_tall && has_heading).then(|| line(top));
        top += u16::from(heading.is_some());
        let keys = is_tall.then(|| line(lines - 1));
        let lines = lines - u16::from(keys.is_some());
        let quality = is_roomy.then(|| line(lines - 1));
        let status = lines - 1 - u16::from(quality.is_some());
        Some(Self {
            all: Rect::new(0, 0, columns, lines + u16::from(keys.is_some())),
            tabs: line(0),
            what,
            heading,
            body: Rect::new(0, top, columns, status - top),
            status: line(status),
            quality,
            keys,
        })
    }

    /// Lines of the body.
    pub(crate) fn height(&self) -> usize {
        self.body.height.into()
    }

    /// Columns of the body.
    pub(crate) fn columns(&self) -> usize {
        self.body.width.into()
    }

    /// Where the views' names are.
    pub(crate) fn tabs(&self, names: &[&str]) -> Vec<Rect> {
        let wide = |name: &&str| cells(name.len() + 4);
        let all: u16 = names.iter().map(wide).sum();
        let is_narrow = self.all.width < all.max(40);
        let mut x = 0;
        let tabs = names.iter().map(|name| {
            let width = if is_narrow { 3 } else { wide(name) };
            let rect = Rect::new(x, 0, width, 1);
            x += width;
            rect
        });
        tabs.collect()
    }

    /// The index of the view whose name is there.
    pub(crate) fn tab_at(&self, at: Position, names: &[&str]) -> Option<usize> {
        let tabs = self.tabs(names);
        tabs.iter().position(|tab| tab.contains(at))
    }

    /// Columns and where they begin: names of threads, then time.
    pub(crate) fn lane(&self) -> Lane {
        let columns = self.columns();
        let names = (columns / 3).clamp(8, 30);
        Lane {
            names,
            slots: columns.saturating_sub(names),
        }
    }
}

/// Columns of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Of the thread's name and its share.
    pub(crate) names: usize,
    /// Of the time.
    pub(crate) slots: usize,
}

/// A number of columns or lines.
pub(crate) fn cells(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_place() {
        assert_eq!(Screen::new((19, 24), true), None);
        assert_eq!(Screen::new((80, 3), true), None);
        for lines in 4..40 {
            for has_heading in [false, true] {
                let screen = Screen::new((80, lines), has_heading).unwrap();
                let others = [screen.what, screen.heading, screen.quality, screen.keys];
                let n_others = others.into_iter().flatten().count();
                assert_eq!(screen.height() + n_others + 2, usize::from(lines));
                assert!(screen.height() >= 2);
            }
        }
    }

    #[test]
    fn tabs_are_on_the_screen() {
        for columns in [20, 39, 40, 80] {
            let screen = Screen::new((columns, 24), true).unwrap();
            let names = ["rows", "calls", "flame", "threads"];
            let tabs = screen.tabs(&names);
            assert!(tabs.iter().all(|tab| tab.right() <= columns));
            assert_eq!(screen.tab_at(Position::new(0, 0), &names), Some(0));
        }
    }
}

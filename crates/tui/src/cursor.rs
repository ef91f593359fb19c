//! A line that is selected in a list, and the part of the list that is on the screen.

/// How a cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

impl Step {
    /// Where it leads from a line, of which `height` are seen; perhaps beyond the last one.
    pub(crate) fn from(self, at: usize, height: usize) -> usize {
        let page = height.saturating_sub(1).max(1);
        match self {
            Self::Up => at.saturating_sub(1),
            Self::Down => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown => at.saturating_add(page),
            Self::Home => 0,
            Self::End => usize::MAX,
        }
    }
}

/// A selected line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The line.
    pub(crate) at: usize,
    /// The first line on the screen.
    pub(crate) top: usize,
}

impl Cursor {
    /// Moves in a list of `n` lines, of which `height` are seen.
    pub(crate) fn step(&mut self, step: Step, n: usize, height: usize) {
        self.at = step.from(self.at, height);
        self.fit(n, height);
    }

    /// Selects the line that is there on the screen, if any. Returns whether it already was.
    pub(crate) fn click(&mut self, y: u16, n: usize, height: usize) -> bool {
        let line = self.top + usize::from(y);
        let is_selected = line == self.at;
        if line < n {
            self.go(line, n, height);
        }
        is_selected
    }

    pub(crate) fn go(&mut self, at: usize, n: usize, height: usize) {
        self.at = at;
        self.fit(n, height);
    }

    /// Back into a list that has changed, and onto the screen.
    pub(crate) fn fit(&mut self, n: usize, height: usize) {
        self.at = self.at.min(n.saturating_sub(1));
        let height = height.max(1);
        self.top = self
            .top
            .min(self.at)
            .max((self.at + 1).saturating_sub(height));
        self.top = self.top.min(n.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_line_is_on_the_screen() {
        let mut cursor = Cursor::default();
        for (step, at, top) in [
            (Step::Up, 0, 0),
            (Step::Down, 1, 0),
            (Step::PageDown, 4, 1),
            (Step::End, 9, 6),
            (Step::Down, 9, 6),
            (Step::PageUp, 6, 6),
            (Step::Up, 5, 5),
            (Step::Home, 0, 0),
        ] {
            cursor.step(step, 10, 4);
            assert_eq!((cursor.at, cursor.top), (at, top), "{step:?}");
        }
    }

    #[test]
    fn a_list_may_become_shorter_or_empty() {
        let mut cursor = Cursor { at: 9, top: 6 };
        cursor.fit(3, 4);
        assert_eq!(cursor, Cursor { at: 2, top: 0 });
        cursor.fit(0, 0);
        assert_eq!(cursor, Cursor::default());
    }
}

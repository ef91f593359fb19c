//! A terminal whose size is bounded: it may say that it has 65,535 columns and as many lines, and each cell of
//! a screen takes memory.

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};

/// More columns are not used.
const MAX_COLUMNS: u16 = 2000;

/// More lines are not used.
const MAX_LINES: u16 = 500;

/// As much of a terminal as is used: columns and lines.
pub(super) fn used(columns: u16, lines: u16) -> (u16, u16) {
    (columns.min(MAX_COLUMNS), lines.min(MAX_LINES))
}

/// A backend that is not larger than what is used.
#[derive(Debug)]
pub(super) struct Bounded<B>(pub(super) B);

impl<B: Backend> Backend for Bounded<B> {
    type Error = B::Error;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Self::Error>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> Result<(), Self::Error> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> Result<Position, Self::Error> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> Result<(), Self::Error> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> Result<(), Self::Error> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> Result<(), Self::Error> {
        self.0.clear_region(clear_type)
    }

    fn size(&self) -> Result<Size, Self::Error> {
        let Size { width, height } = self.0.size()?;
        Ok(Size::from(used(width, height)))
    }

    fn window_size(&mut self) -> Result<WindowSize, Self::Error> {
        self.0.window_size()
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::backend::TestBackend;

    #[test]
    fn what_is_larger_than_any_screen_is_not_used() {
        let size = |columns, lines| Bounded(TestBackend::new(columns, lines)).size().unwrap();
        assert_eq!(size(80, 24), Size::new(80, 24));
        assert_eq!(size(2001, 3), Size::new(MAX_COLUMNS, 3));
        assert_eq!(used(u16::MAX, u16::MAX), (MAX_COLUMNS, MAX_LINES));
    }
}

//! Texts and bars within a part of the screen.

use crate::look::Look;
use crate::screen::cells;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rprof_base::Share;
use rprof_profile::text::{Fit, width};

/// Draws into a part of the screen's buffer.
#[derive(Debug)]
pub(crate) struct Pen<'b> {
    pub(crate) buffer: &'b mut Buffer,
    pub(crate) look: Look,
}

impl Pen<'_> {
    /// Draws a text, as much as fits; returns the column where it ends.
    pub(crate) fn text(&mut self, at: Rect, text: &str, style: Style) -> u16 {
        let at = at.intersection(*self.buffer.area());
        if at.is_empty() {
            return at.x;
        }
        let (end, _) = self
            .buffer
            .set_stringn(at.x, at.y, text, at.width.into(), style);
        end
    }

    /// Draws a text, cut in the middle if it is too long.
    pub(crate) fn cut(&mut self, at: Rect, text: &str, style: Style) -> u16 {
        let text = self.fit().cut(text, at.width.into());
        self.text(at, &text, style)
    }

    /// Draws a text at the right end, if all of it fits.
    pub(crate) fn right(&mut self, at: Rect, text: &str, style: Style) {
        let columns = cells(width(text));
        let text = if columns >= at.width {
            self.fit()
                .cut(text, usize::from(at.width).saturating_sub(1))
                .into_owned()
        } else {
            text.to_owned()
        };
        let columns = cells(width(&text));
        let fill = at.width.saturating_sub(columns);
        let at = Rect::new(at.x + fill, at.y, columns, 1);
        self.text(at, &text, style);
    }

    /// Sets the style of a whole line or frame.
    pub(crate) fn fill(&mut self, at: Rect, style: Style) {
        self.buffer
            .set_style(at.intersection(*self.buffer.area()), style);
    }

    /// Draws a bar: self first, then the rest of the total. 100 % fills the column.
    pub(crate) fn bar(&mut self, at: Rect, own: u64, total: u64, whole: u64) {
        let eighths = |part| eighths_of(Share::of(part, whole), usize::from(at.width));
        let (own, total) = (eighths(own), eighths(total));
        let (full, half) = if self.look.has_blocks {
            ('\u{2588}', '\u{2591}')
        } else {
            ('#', '-')
        };
        for x in 0..at.width {
            let begin = usize::from(x) * 8;
            let cell = Rect::new(at.x + x, at.y, 1, 1);
            // The end of the own part has its own sign; of the rest, half a column is one.
            let part = own.saturating_sub(begin).min(8);
            if part == 8 || part >= 4 && !self.look.has_blocks {
                self.text(cell, &full.to_string(), self.look.own_bar());
            } else if part > 0 && self.look.has_blocks && total <= begin + 8 {
                let sign =
                    char::from_u32(0x2590 - u32::try_from(part).unwrap_or(0)).unwrap_or(full);
                self.text(cell, &sign.to_string(), self.look.own_bar());
            } else if total >= begin + 4 {
                self.text(cell, &half.to_string(), self.look.children_bar());
            }
        }
    }

    pub(crate) fn fit(&self) -> Fit {
        Fit {
            columns: self.buffer.area().width.into(),
            ellipsis: self.look.ellipsis(),
        }
    }
}

/// Length of a share's bar in eighths of columns, at least one if the share is not zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a bar is a picture of a share from 0 to 1"
)]
fn eighths_of(share: Share, columns: usize) -> usize {
    let whole = columns * 8;
    let eighths = (share.percent() / 100.0 * whole as f64).round().max(0.0) as usize;
    eighths.max(usize::from(share.percent() > 0.0)).min(whole)
}

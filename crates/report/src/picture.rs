//! A flame graph as SVG: boxes whose texts and colours the caller chooses one by one, and a script that zooms and
//! searches.

use rprof_base::Share;
use std::io::{self, Write};

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// Where a box is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// From 0, the outermost.
    pub(crate) depth: usize,
    /// In units of which the picture has [`Picture::whole`] side by side.
    pub(crate) start: u64,
    /// In these units, too.
    pub(crate) width: u64,
}

/// A box and what it says.
#[derive(Clone, Debug)]
pub(crate) struct PictureBox<'l> {
    pub(crate) label: &'l str,
    /// Its numbers, in parentheses after its label.
    pub(crate) said: String,
    pub(crate) color: Rgb,
    pub(crate) extent: Extent,
}

/// A picture: its title, its notes and how it is drawn; boxes are laid out in it.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Lines below everything: what colours and names mean.
    pub(crate) legend: Vec<String>,
    /// In pixels; `None` is as wide as the window.
    pub(crate) width: Option<usize>,
    /// Hang from the top.
    pub(crate) inverted: bool,
    /// The width of everything, in the units of [`Extent`].
    pub(crate) whole: u64,
    /// The number of levels.
    pub(crate) n_levels: usize,
}

const STYLE: &str = include_str!("picture/picture.css");
const SCRIPT: &str = include_str!("picture/picture.js");

/// Pixels at both sides.
const MARGIN: usize = 10;

/// Pixels of a level, with those between it and the next one.
const LEVEL: usize = 16;

/// Hundredths of the pixels of a letter in a box.
const LETTER: u128 = 725;

/// Pixels at both sides of a text in its box.
const PADDING: u64 = 3;

/// Pixels above boxes: title and subtitle, and for those that hang from the top, details.
const HEAD: usize = 60;
const HEAD_WITH_DETAILS: usize = 76;

/// Pixels below boxes, with and without details.
const FOOT_WITH_DETAILS: usize = 34;
const FOOT: usize = 22;

/// Pixels of a letter outside of boxes, in the widest of usual fonts.
const TEXT_LETTER: usize = 8;

/// Pixels of a line of the legend.
const LEGEND_LINE: usize = 18;

impl Picture {
    /// Pixels of a picture as wide as the window, before a browser makes it so.
    const USUAL_WIDTH: usize = crate::flame::FlameOptions::USUAL_WIDTH;

    fn pixels(&self) -> usize {
        self.width.unwrap_or(Self::USUAL_WIDTH)
    }

    /// Letters of a line of text below or above the boxes.
    pub(crate) fn letters(width: Option<usize>) -> usize {
        let pixels = width.unwrap_or(Self::USUAL_WIDTH);
        (pixels.saturating_sub(2 * MARGIN) / TEXT_LETTER).max(8)
    }

    fn height(&self) -> usize {
        let around = if self.inverted {
            HEAD_WITH_DETAILS + FOOT
        } else {
            HEAD + FOOT_WITH_DETAILS
        };
        around + self.n_levels * LEVEL
    }

    /// With the legend below.
    fn whole_height(&self) -> usize {
        self.height() + self.legend.len() * LEGEND_LINE
    }

    /// Writes the picture; boxes may come in any order.
    pub(crate) fn write<'l>(
        &self,
        boxes: impl Iterator<Item = PictureBox<'l>>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (width, height) = (self.pixels(), self.whole_height());
        let inner = width - 2 * MARGIN;
        write!(
            out,
            "<?xml version=\"1.0\" standalone=\"no\"?>\n\
             <svg version=\"1.1\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n\
             <style type=\"text/css\">\n{STYLE}</style>\n\
             <rect id=\"background\" width=\"100%\" height=\"{height}\"/>\n"
        )?;
        self.write_texts(out)?;
        writeln!(out, "<svg id=\"frames\" x=\"{MARGIN}\" width=\"{inner}\">")?;
        for one in boxes {
            self.write_box(&one, out)?;
        }
        writeln!(
            out,
            "</svg>\n<script type=\"text/ecmascript\"><![CDATA[\n\
             const FLUID = {}, INVERTED = {};\n{SCRIPT}]]></script>\n</svg>",
            self.width.is_none(),
            self.inverted
        )?;
        out.flush()
    }

    fn write_texts(&self, out: &mut impl Write) -> io::Result<()> {
        let right = self.pixels() - MARGIN;
        let foot = self.height() - 17;
        let details = if self.inverted {
            HEAD_WITH_DETAILS - 12
        } else {
            foot
        };
        let (title, subtitle) = (escaped(&self.title), escaped(&self.subtitle));
        write!(
            out,
            "<text id=\"title\" x=\"50%\" y=\"24\">{title}</text>\n\
             <text id=\"subtitle\" x=\"50%\" y=\"48\">{subtitle}</text>\n\
             <text id=\"unzoom\" class=\"hidden\" x=\"{MARGIN}\" y=\"24\">Reset Zoom</text>\n\
             <text id=\"search\" x=\"{right}\" y=\"24\">Search</text>\n\
             <text id=\"details\" x=\"{MARGIN}\" y=\"{details}\"></text>\n\
             <text id=\"matched\" x=\"{right}\" y=\"{foot}\"></text>\n"
        )?;
        let lines = self
            .legend
            .iter()
            .zip((self.height()..).step_by(LEGEND_LINE));
        for (line, y) in lines {
            let (line, y) = (escaped(line), y + 10);
            writeln!(
                out,
                "<text class=\"legend\" x=\"{MARGIN}\" y=\"{y}\">{line}</text>"
            )?;
        }
        Ok(())
    }

    fn write_box(&self, one: &PictureBox<'_>, out: &mut impl Write) -> io::Result<()> {
        let inner = self.pixels() - 2 * MARGIN;
        let Extent {
            depth,
            start,
            width,
        } = one.extent;
        let (x, percent) = (self.percent(start), self.percent(width));
        let y = if self.inverted {
            HEAD_WITH_DETAILS + depth * LEVEL
        } else {
            HEAD + (self.n_levels - 1 - depth) * LEVEL
        };
        let hundredths = u128::from(width) * inner as u128 * 100 / u128::from(self.whole.max(1));
        let room = hundredths.saturating_sub(200 * u128::from(PADDING)) / LETTER;
        let [red, green, blue] = one.color;
        writeln!(
            out,
            "<g><title>{} ({})</title>\
             <rect x=\"{x:.4}%\" y=\"{y}\" width=\"{percent:.4}%\" height=\"{}\" fill=\"rgb({red},{green},{blue})\"/>\
             <text x=\"{:.4}%\" y=\"{}\">{}</text></g>",
            escaped(one.label),
            escaped(&one.said),
            LEVEL - 1,
            x + Share::of(PADDING, inner as u64).percent(),
            y + 11,
            escaped(&fitted(
                one.label,
                usize::try_from(room).unwrap_or(usize::MAX)
            )),
        )
    }

    fn percent(&self, part: u64) -> f64 {
        Share::of(part, self.whole).percent()
    }
}

/// As much of a label as has room.
fn fitted(label: &str, room: usize) -> String {
    match label.chars().count() {
        _ if room < 3 => String::new(),
        n if n <= room => label.to_owned(),
        _ => label.chars().take(room - 2).chain("..".chars()).collect(),
    }
}

/// As it stands in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(inverted: bool) -> Picture {
        Picture {
            title: "a <b>".to_owned(),
            subtitle: "]]> &".to_owned(),
            legend: vec!["grey: <same>".to_owned()],
            width: Some(520),
            inverted,
            whole: 200,
            n_levels: 2,
        }
    }

    fn written(picture: &Picture) -> String {
        let one = |label, depth, start| PictureBox {
            label,
            said: "1 -> 2".to_owned(),
            color: [1, 2, 3],
            extent: Extent {
                depth,
                start,
                width: 200 - start,
            },
        };
        let boxes = [
            one("all", 0, 0),
            one("f<int>(unsigned, unsigned, unsigned)", 1, 100),
        ];
        let mut out = Vec::new();
        picture.write(boxes.into_iter(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_box_is_where_it_was_put_and_says_what_it_was_given() {
        let svg = written(&picture(false));
        let expected = "<g><title>f&lt;int&gt;(unsigned, unsigned, unsigned) (1 -&gt; 2)</title>\
             <rect x=\"50.0000%\" y=\"60\" width=\"50.0000%\" height=\"15\" fill=\"rgb(1,2,3)\"/>\
             <text x=\"50.6000%\" y=\"71\">f&lt;int&gt;(unsigned, unsigned, unsi..</text></g>";
        assert!(svg.contains(expected), "{svg}");
        assert!(
            svg.contains("<rect x=\"0.0000%\" y=\"76\" width=\"100.0000%\""),
            "{svg}"
        );
        let inverted = written(&picture(true));
        assert!(
            inverted.contains("<rect x=\"0.0000%\" y=\"76\""),
            "{inverted}"
        );
        assert!(
            inverted.contains("<rect x=\"50.0000%\" y=\"92\""),
            "{inverted}"
        );
    }

    #[test]
    fn the_legend_is_below_everything() {
        let with = picture(false);
        let without = Picture {
            legend: Vec::new(),
            ..with.clone()
        };
        let height = without.height();
        let svg = written(&with);
        assert!(svg.contains(&format!("viewBox=\"0 0 520 {}\"", height + LEGEND_LINE)));
        let line = format!(
            "<text class=\"legend\" x=\"10\" y=\"{}\">grey: &lt;same&gt;</text>",
            height + 10
        );
        assert!(svg.contains(&line), "{svg}");
        assert!(written(&without).contains(&format!("viewBox=\"0 0 520 {height}\"")));
    }

    #[test]
    fn texts_cannot_end_what_they_are_in() {
        let svg = written(&picture(false));
        assert!(
            svg.contains(">a &lt;b&gt;<") && svg.contains(">]]&gt; &amp;<"),
            "{svg}"
        );
        assert_eq!(svg.matches("]]>").count(), 1, "{svg}");
    }
}

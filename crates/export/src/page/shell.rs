//! The file around the profile: HTML, style, scripts. Nothing in it is from a recording but the title, escaped.

use super::plain;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rprof_base::{base64_text, base64_write};
use rprof_untrusted::printable;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

const HTML: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");

/// What runs first, in old browsers, too: it unpacks the script of the page.
const FIRST: &str = include_str!("assets/first.js");

/// One idea each; together they are one script. A view registers itself in its own.
const SCRIPTS: &[&str] = &[
    include_str!("assets/text.js"),
    include_str!("assets/decode.js"),
    include_str!("assets/columns.js"),
    include_str!("assets/profile.js"),
    include_str!("assets/wakes.js"),
    include_str!("assets/selection.js"),
    include_str!("assets/filters.js"),
    include_str!("assets/nodes.js"),
    include_str!("assets/transforms.js"),
    include_str!("assets/layout.js"),
    include_str!("assets/preorder.js"),
    include_str!("assets/growing.js"),
    include_str!("assets/unfolding.js"),
    include_str!("assets/processes.js"),
    include_str!("assets/around.js"),
    include_str!("assets/in_time.js"),
    include_str!("assets/difference.js"),
    include_str!("assets/noise.js"),
    include_str!("assets/ranges.js"),
    include_str!("assets/views.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/legend.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/waits.js"),
    include_str!("assets/bars.js"),
    include_str!("assets/flame.js"),
    include_str!("assets/pointer.js"),
    include_str!("assets/menu.js"),
    include_str!("assets/save.js"),
    include_str!("assets/flame_view.js"),
    include_str!("assets/sandwich.js"),
    include_str!("assets/call_tree.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/counters.js"),
    include_str!("assets/heat.js"),
    include_str!("assets/lane_list.js"),
    include_str!("assets/lane_keys.js"),
    include_str!("assets/lanes.js"),
    include_str!("assets/threads_view.js"),
    include_str!("assets/stack_chart.js"),
    include_str!("assets/rows.js"),
    include_str!("assets/changes.js"),
    include_str!("assets/table.js"),
    include_str!("assets/wait_table.js"),
    include_str!("assets/event_chart.js"),
    include_str!("assets/events_view.js"),
    include_str!("assets/thread_times.js"),
    include_str!("assets/summary.js"),
    include_str!("assets/code.js"),
    include_str!("assets/code_counts.js"),
    include_str!("assets/code_rows.js"),
    include_str!("assets/highlight.js"),
    include_str!("assets/code_table.js"),
    include_str!("assets/code_view.js"),
    include_str!("assets/state.js"),
    include_str!("assets/undo.js"),
    include_str!("assets/shares.js"),
    include_str!("assets/only.js"),
    include_str!("assets/typed.js"),
    include_str!("assets/address.js"),
    include_str!("assets/details.js"),
    include_str!("assets/about.js"),
    include_str!("assets/keys.js"),
    include_str!("assets/ahead.js"),
    include_str!("assets/main.js"),
];

/// Of a title.
const MAX_TITLE: usize = 200;

/// Texts of a page that are HTML.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageText<'a> {
    pub(super) title: &'a str,
    /// What is said of the profile where no script runs.
    pub(super) plain: &'a str,
}

/// The page without a profile: what may run in it. Packing takes a while, so it is made once for each file.
pub(super) struct Shell {
    first: String,
    page: String,
    /// The script of the page as a zlib stream.
    packed: Vec<u8>,
}

impl Shell {
    pub(super) fn new() -> io::Result<Self> {
        let mut first = String::new();
        append_code(FIRST, &mut first);
        let page = script();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(page.as_bytes())?;
        let packed = zlib.finish()?;
        Ok(Self {
            first,
            page,
            packed,
        })
    }

    /// How many bytes the file has beside the profile, at most.
    pub(super) fn len(&self) -> usize {
        let packed = self.packed.len().div_ceil(3) * 4;
        let hashes = 3 * 64;
        // A character of a title may be six bytes when it is escaped.
        let texts = 6 * (MAX_TITLE + plain::MAX_LEN);
        HTML.len() + STYLE.len() + FIRST.len() + packed + hashes + texts
    }

    /// Writes the page.
    pub(super) fn write(
        &self,
        PageText { title, plain }: PageText<'_>,
        [profile, code]: [&[u8]; 2],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut rest = HTML;
        while let Some((before, after)) = rest.split_once("{{") {
            out.write_all(before.as_bytes())?;
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            match name {
                "title" => {
                    let title: String = printable(title).chars().take(MAX_TITLE).collect();
                    out.write_all(escaped(&title).as_bytes())?;
                }
                "plain" => out.write_all(escaped(plain).as_bytes())?,
                "style" => out.write_all(STYLE.as_bytes())?,
                "style-hash" => out.write_all(hash(STYLE).as_bytes())?,
                "first" => out.write_all(self.first.as_bytes())?,
                "script" => base64_write(&self.packed, out)?,
                "script-hashes" => {
                    let hashes = [hash(&self.first), hash(&self.page)];
                    out.write_all(hashes.join(" ").as_bytes())?;
                }
                "profile" => base64_write(profile, out)?,
                "code" => base64_write(code, out)?,
                _ => {}
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }
}

/// Names of functions and the like stay within it. Comments stay in the repository: they are a third of it.
fn script() -> String {
    let mut script = "(() => {\n\"use strict\";\n".to_owned();
    for source in SCRIPTS {
        append_code(source, &mut script);
    }
    script + "})();\n"
}

/// Appends the lines of a script that are no comments, without what they are indented by. No text goes over lines.
fn append_code(source: &str, out: &mut String) {
    let mut is_comment = false;
    for line in source.lines().map(str::trim) {
        // Types of what follows on the line are comments, too.
        let is_cast = line.contains("*/") && !line.ends_with("*/");
        let begins = is_comment || (line.starts_with("/**") && !is_cast);
        is_comment = begins && !line.ends_with("*/");
        if !begins && !line.is_empty() && !line.starts_with("//") {
            out.push_str(line);
            out.push('\n');
        }
    }
}

/// By which the page's policy knows what may run.
pub(super) fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64_text(&Sha256::digest(text)))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_no_text_goes_over_lines() {
        let mut code = String::new();
        let source = "// One.\n/** Two. */\n/**\n * Three.\n */\nlet a = 1; // Four\n\n  /** @type {x} */\n  a = `/**`;\n/** @type {x} */ (b) = 1;\n";
        append_code(source, &mut code);
        assert_eq!(
            code,
            "let a = 1; // Four\na = `/**`;\n/** @type {x} */ (b) = 1;\n"
        );
        for line in SCRIPTS.iter().flat_map(|source| source.lines()) {
            let n_ends = line.replace("\\`", "").matches('`').count();
            assert!(
                n_ends.is_multiple_of(2) || line.trim().starts_with(['/', '*']),
                "{line}"
            );
            assert!(
                !line.trim().starts_with("/*") || line.trim().starts_with("/**"),
                "{line}"
            );
        }
    }
}

//! Frames told apart by where in their functions they are: by lines for rows, by lines or addresses for call trees.

use super::symbols::{SourceLine, Symbols};
use rprof_profile::{FrameId, FrameInfo, NodeKey, NodePlace, Position};
use rprof_symbols::{Frame, Line, Symbolized};

/// How frames are told apart by their places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    /// Whether rows are, by line.
    pub(crate) in_rows: bool,
    /// By what nodes of call trees are.
    pub(crate) nodes: NodeKey,
    /// Files by their whole paths; else by their names.
    pub(crate) full_paths: bool,
    /// Whether inlined functions are frames.
    pub(crate) inlines: bool,
}

impl Positions {
    /// A path as it is shown.
    fn file<'p>(&self, path: &'p str) -> &'p str {
        match (self.full_paths, path.rsplit_once('/')) {
            (false, Some((_, name))) => name,
            _ => path,
        }
    }
}

/// What a node of call trees says of its place.
pub(super) struct NodeText {
    text: String,
    number: u32,
}

impl Symbols {
    /// Where in the source a location is, if rows are told apart by that: as perf has it, the line of the innermost
    /// function is that of its callers at the same location, too.
    pub(super) fn row_line(&mut self, symbolized: &Symbolized, idx: usize) -> Option<SourceLine> {
        let positions = self.positions.filter(|positions| positions.in_rows)?;
        let line = symbolized.frames(idx).first()?.line?;
        let file = positions.file(symbolized.name(line.file));
        Some((self.strings.intern(file), line.line))
    }

    /// The place of a function of a location in call trees, if that is asked for. Each function has its own line;
    /// where inlined ones are no frames, theirs is that of the function that they are in.
    pub(super) fn node_place(
        &self,
        symbolized: &Symbolized,
        idx: usize,
        frame: &Frame,
    ) -> Option<NodeText> {
        let positions = self
            .positions
            .filter(|one| one.nodes != NodeKey::Function)?;
        let shown = if positions.inlines {
            Some(frame)
        } else {
            symbolized.frames(idx).first()
        };
        let text = |line: Line| {
            let file = positions.file(symbolized.name(line.file));
            format!("{file}:{}", line.line)
        };
        let line = || shown.and_then(|frame| frame.line).map(text);
        match positions.nodes {
            NodeKey::Function => None,
            NodeKey::Srcline => line().map(|text| NodeText { text, number: 0 }),
            NodeKey::Address => {
                let offset = || (!frame.is_inlined).then(|| format!("+{}", frame.offset));
                Some(NodeText {
                    text: line().or_else(offset).unwrap_or_default(),
                    number: u32::try_from(self.n_locations()).unwrap_or(u32::MAX),
                })
            }
        }
    }

    /// The frame of a function at a place of call trees.
    pub(super) fn node(&mut self, function: FrameId, place: Option<NodeText>) -> FrameId {
        let Some(NodeText { text, number }) = place else {
            return function;
        };
        let place = NodePlace {
            text: self.strings.intern(&text),
            number,
            function,
        };
        let frame = *self.functions.of(function);
        self.functions.intern(FrameInfo {
            place: Some(place),
            ..frame
        })
    }

    /// The frame of a function at a line of rows.
    pub(super) fn placed(&mut self, function: FrameId, line: Option<SourceLine>) -> FrameId {
        let Some((file, line)) = line else {
            return function;
        };
        let position = Position {
            file,
            line,
            function,
        };
        let frame = *self.functions.of(function);
        self.functions.intern(FrameInfo {
            position: Some(position),
            ..frame
        })
    }
}

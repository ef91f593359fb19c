//! What rows are grouped by: perf's sort keys.

use super::row::{FieldValue, RowKey};
use crate::dimension::AlikeSets;
use crate::{Dimension, DimensionValue, FrameId, Profile, StrId};
use std::cmp::Ordering;

/// One column that makes rows differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// Name of the thread.
    Comm,
    /// Image.
    Dso,
    /// Function.
    Symbol,
    /// Line in the source.
    Srcline,
    /// Source file.
    Srcfile,
    /// Process, CPU and the like.
    Dimension(Dimension),
}

impl SortKey {
    /// perf's default: `comm,dso,sym`.
    pub const DEFAULT: &[Self] = &[Self::Comm, Self::Dso, Self::Symbol];

    /// Keys that interactive faces group rows by, of samples of any kind.
    pub const BROWSED: &[Self] = &[
        Self::Comm,
        Self::Dso,
        Self::Symbol,
        Self::Dimension(Dimension::Pid),
        Self::Dimension(Dimension::Tid),
        Self::Dimension(Dimension::Cpu),
    ];

    /// perf's default where branches are counted.
    pub const DEFAULT_OF_BRANCHES: &[Self] = &[
        Self::Comm,
        Self::Dimension(Dimension::DsoFrom),
        Self::Dimension(Dimension::SymbolFrom),
        Self::Dimension(Dimension::SymbolTo),
        Self::Dimension(Dimension::Cycles),
    ];

    /// perf's default where accesses to memory are.
    pub const DEFAULT_OF_MEMORY: &[Self] = &[
        Self::Dimension(Dimension::LocalWeight),
        Self::Dimension(Dimension::Mem),
        Self::Symbol,
        Self::Dso,
        Self::Dimension(Dimension::SymbolDaddr),
        Self::Dimension(Dimension::DsoDaddr),
        Self::Dimension(Dimension::Snoop),
        Self::Dimension(Dimension::Tlb),
        Self::Dimension(Dimension::Locked),
        Self::Dimension(Dimension::Blocked),
        Self::Dimension(Dimension::LocalInsLat),
    ];

    /// Names that perf has for keys beside those that [`Self::name`] gives.
    pub(super) const OTHER_NAMES: &[(&str, Self)] = &[
        ("symbol", Self::Symbol),
        ("sym_size", Self::Dimension(Dimension::SymSize)),
    ];

    /// All keys.
    pub fn all() -> impl Iterator<Item = Self> {
        let dimensions = Dimension::ALL.iter().copied().map(Self::Dimension);
        let of_code = [Self::Srcline, Self::Srcfile];
        let of_code = Self::DEFAULT.iter().copied().chain(of_code);
        of_code.chain(dimensions)
    }

    /// The key with a name.
    pub fn parse(name: &str) -> Option<Self> {
        let other = Self::OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let other = other.map(|(_, key)| *key);
        other.or_else(|| Self::all().find(|key| key.name() == name))
    }

    /// perf's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comm => "comm",
            Self::Dso => "dso",
            Self::Symbol => "sym",
            Self::Srcline => "srcline",
            Self::Srcfile => "srcfile",
            Self::Dimension(dimension) => dimension.name(),
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Comm => "thread name",
            Self::Dso => "program, library or kernel",
            Self::Symbol => "function",
            Self::Srcline => "source line",
            Self::Srcfile => "source file",
            Self::Dimension(dimension) => dimension.about(),
        }
    }

    /// The column's heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Comm => "Command",
            Self::Dso => "Shared Object",
            Self::Symbol => "Symbol",
            Self::Srcline => "Source:Line",
            Self::Srcfile => "Source File",
            Self::Dimension(dimension) => dimension.heading(),
        }
    }

    /// Puts this key's part of a function, if it is of functions, into a row's key.
    pub(super) fn fill_frame(self, row: &mut RowKey, frame: FrameId, profile: &Profile) {
        match self {
            Self::Comm | Self::Dimension(_) => {}
            Self::Dso => row.image = Some(profile.frames.of(frame).image),
            Self::Symbol => row.frame = Some(profile.frames.function_of(frame)),
            Self::Srcline => {
                let position = profile.frames.of(frame).position;
                row.position = position.map(|place| (place.file, Some(place.line)));
            }
            Self::Srcfile => {
                let position = profile.frames.of(frame).position;
                let file = position.map(|place| (place.file, None));
                row.position = row.position.or(file);
            }
        }
    }

    /// Puts this key's part of a row's key into another one, in the order of keys; `alike` is of the dimensions so far.
    pub(super) fn copy(self, from: &RowKey, to: &mut RowKey, alike: &AlikeSets) {
        match self {
            Self::Comm => to.comm = from.comm,
            Self::Dimension(_) => to.values = alike.first(from.values),
            Self::Dso => to.image = from.image,
            Self::Symbol => to.frame = from.frame,
            Self::Srcline => to.position = from.position,
            Self::Srcfile => {
                let file = from.position.map(|(file, _)| (file, None));
                to.position = to.position.or(file);
            }
        }
    }

    /// The cell of a row in this key's column, as it is displayed.
    pub fn cell(self, row: &RowKey, profile: &Profile) -> String {
        let shown = |id: StrId| profile.strings.of(id).shown().into_owned();
        let text = |id: Option<StrId>| id.map_or_else(String::new, shown);
        match self {
            Self::Comm => text(row.comm),
            Self::Dimension(one) => {
                let value = profile.values.of(row.values).get(one);
                value.map_or_else(String::new, |value| one.cell(value, &profile.strings))
            }
            Self::Dso => text(row.image),
            Self::Symbol => row.frame.map_or_else(String::new, |id| {
                profile.frames.of(id).symbol(&profile.strings)
            }),
            Self::Srcline => match row.position {
                Some((file, Some(line))) => format!("{}:{line}", profile.strings.of(file)),
                _ => "??:0".to_owned(),
            },
            Self::Srcfile => text(row.position.map(|(file, _)| file)),
        }
    }

    /// What it says of a row, for other programs.
    pub(super) fn value(self, row: &RowKey, profile: &Profile) -> FieldValue {
        match self {
            Self::Dimension(one) => match profile.values.of(row.values).get(one) {
                None => FieldValue::None,
                Some(DimensionValue::Number(number)) => FieldValue::Number(number.into()),
                Some(DimensionValue::Text(id)) => {
                    FieldValue::Text(profile.strings.of(id).to_string())
                }
                Some(DimensionValue::Task(..)) => FieldValue::Text(self.cell(row, profile)),
            },
            Self::Comm | Self::Dso | Self::Symbol | Self::Srcline | Self::Srcfile => {
                FieldValue::Text(self.cell(row, profile))
            }
        }
    }

    /// Whether [`Self::place`] says anything of it.
    pub(super) fn has_place(self) -> bool {
        matches!(self, Self::Comm | Self::Dso | Self::Symbol)
    }

    /// Whether rows of one place are equal in it.
    pub(super) fn is_placed_exactly(self) -> bool {
        matches!(self, Self::Comm | Self::Dso)
    }

    /// A number that is lower for what comes first by [`Self::compare`]; strings must have ranks.
    pub(super) fn place(self, row: &RowKey, profile: &Profile) -> u32 {
        let strings = &profile.strings;
        let rank = |id: Option<StrId>| id.map_or(0, |id| strings.rank_of(id).saturating_add(1));
        match self {
            Self::Comm => rank(row.comm),
            Self::Dso => match row.image {
                Some(image) if strings.of(image).raw() == "[unknown]" => u32::MAX,
                image => rank(image),
            },
            // Without a function, then with a name, then without one.
            Self::Symbol => row.frame.map_or(0, |frame| {
                let name = profile.frames.of(frame).name;
                name.map_or(u32::MAX, |name| rank(Some(name)))
            }),
            Self::Dimension(_) | Self::Srcline | Self::Srcfile => 0,
        }
    }

    /// Orders two rows by this key as their cells would be, without making them; what is unknown comes last.
    pub(super) fn compare(self, a: &RowKey, b: &RowKey, profile: &Profile) -> Ordering {
        let text = |id: Option<StrId>| id.map(|id| profile.strings.of(id));
        match self {
            Self::Comm => compare_texts(a.comm, b.comm, profile),
            Self::Dimension(_) if a.values == b.values => Ordering::Equal,
            Self::Dimension(one) => {
                let value = |row: &RowKey| {
                    let value = profile.values.of(row.values).get(one);
                    value.map(|value| match value {
                        DimensionValue::Number(number) => (number, None),
                        DimensionValue::Task(id, _) => (id.into(), None),
                        DimensionValue::Text(id) => {
                            let text = profile.strings.of(id);
                            let is_last =
                                text.raw() == "[unknown]" || one.is_other(id, &profile.strings);
                            (i64::from(is_last), Some(text))
                        }
                    })
                };
                let order = value(a).cmp(&value(b));
                if one.is_descending() {
                    order.reverse()
                } else {
                    order
                }
            }
            Self::Dso if a.image == b.image => Ordering::Equal,
            Self::Dso => {
                let is_unknown =
                    |row: &RowKey| text(row.image).is_some_and(|image| image.raw() == "[unknown]");
                let by_text = || compare_texts(a.image, b.image, profile);
                is_unknown(a).cmp(&is_unknown(b)).then_with(by_text)
            }
            Self::Symbol => match (a.frame, b.frame) {
                (Some(a), Some(b)) => profile.frames.compare_symbols(a, b, &profile.strings),
                (a, b) => a.cmp(&b),
            },
            Self::Srcline | Self::Srcfile => {
                let position = |row: &RowKey| {
                    let (file, line) = row.position?;
                    Some((text(Some(file)), line))
                };
                position(a).cmp(&position(b))
            }
        }
    }

    /// Whether it tells lines or files of the source apart.
    pub const fn is_of_lines(self) -> bool {
        use Dimension::{SrclineFrom, SrclineTo};
        matches!(
            self,
            Self::Srcline | Self::Srcfile | Self::Dimension(SrclineFrom | SrclineTo)
        )
    }

    /// Whether a row shows the value times the number of its samples.
    pub(super) const fn is_summed(self) -> bool {
        match self {
            Self::Dimension(one) => one.is_summed(),
            _ => false,
        }
    }

    /// The dimensions among some keys.
    pub fn dimensions(keys: &[Self]) -> Vec<Dimension> {
        let dimensions = keys.iter().filter_map(|key| match key {
            Self::Dimension(dimension) => Some(*dimension),
            _ => None,
        });
        dimensions.collect()
    }
}

/// Orders two texts; none comes first.
fn compare_texts(a: Option<StrId>, b: Option<StrId>, profile: &Profile) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => profile.strings.compare(a, b),
        (a, b) => a.cmp(&b),
    }
}

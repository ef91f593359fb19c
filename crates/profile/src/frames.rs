//! Frames: functions in images, each once.

mod ranks;

use crate::StrId;
use foldhash::fast::RandomState;
use ranks::LabelRanks;
use rprof_base::Interner;

/// Privilege level of code; its sign is perf's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// A process.
    User,
    /// The kernel.
    Kernel,
    /// A hypervisor.
    Hypervisor,
    /// A guest's kernel.
    GuestKernel,
    /// A guest's process.
    GuestUser,
}

impl Level {
    /// How many there are.
    pub(crate) const COUNT: usize = 5;

    /// The sign in a report's symbol column.
    pub fn sign(self) -> char {
        match self {
            Self::User => '.',
            Self::Kernel => 'k',
            Self::Hypervisor => 'H',
            Self::GuestKernel => 'g',
            Self::GuestUser => 'u',
        }
    }
}

/// Number of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(u32);

impl FrameId {
    /// A number that is not yet one of a profile's frames: for counting before frames are known.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

rprof_base::impl_id!(FrameId);

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file, as it is shown.
    pub file: StrId,
    /// The line.
    pub line: u32,
    /// The frame without its line.
    pub function: FrameId,
}

/// Where in its function a frame is, as call trees tell frames apart: by address or by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodePlace {
    /// What stands after the function's name; empty where that is not known.
    pub text: StrId,
    /// Tells places of one text apart: the number of the address. 0 where lines alone count.
    pub number: u32,
    /// The frame without its place.
    pub function: FrameId,
}

/// By what the nodes of call trees are one: perf's keys of `-g`. It is the reader of a recording who gives frames
/// their places; trees merge frames of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeKey {
    /// Functions, wherever in them they are.
    #[default]
    Function,
    /// Addresses.
    Address,
    /// Lines in the source; functions where those are not known.
    Srcline,
}

/// A function, or code without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameInfo {
    /// The function's name; `None` if the address has none.
    pub name: Option<StrId>,
    /// Short name of the image (perf's "shared object").
    pub image: StrId,
    /// Where code without a name starts in the image; of what is no function, the address itself. `None` for all of an
    /// image's such code taken together, and for functions with names: those of one name are one, wherever they start.
    pub start: Option<u64>,
    /// Who runs it.
    pub level: Level,
    /// Whether it was inlined into its caller.
    pub is_inlined: bool,
    /// Whether the code was made while the program ran (JIT).
    pub is_jit: bool,
    /// Whether it is a function without a name: an FDE says where it starts.
    pub is_fde: bool,
    /// Where in the source, if rows are told apart by that.
    pub position: Option<Position>,
    /// Where in the function, if call trees are told apart by that.
    pub place: Option<NodePlace>,
}

impl FrameInfo {
    /// A function of user space that is known by its name alone, or what stands for one.
    pub fn named(name: StrId, image: StrId) -> Self {
        Self {
            name: Some(name),
            image,
            start: None,
            level: Level::User,
            is_inlined: false,
            is_jit: false,
            is_fde: false,
            position: None,
            place: None,
        }
    }

    /// Whether it is a function, with a name or without.
    pub fn is_function(&self) -> bool {
        self.name.is_some() || self.is_fde
    }
}

/// All frames of a profile. Two addresses in one function are one frame, and so are functions of one name in one image.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    all: Interner<FrameId, FrameInfo, RandomState>,
    ranks: LabelRanks,
}

impl Frames {
    /// The number of a frame, new or seen before.
    pub fn intern(&mut self, frame: FrameInfo) -> FrameId {
        let n_known = self.all.len();
        let id = self.all.intern(frame);
        if self.all.len() > n_known {
            self.ranks = LabelRanks::new();
        }
        id
    }

    /// The frame with a number.
    ///
    /// # Panics
    /// If the number is of another profile.
    #[inline]
    pub fn of(&self, id: FrameId) -> &FrameInfo {
        &self.all.values()[id.0 as usize]
    }

    /// The numbers of all frames.
    pub fn ids(&self) -> impl Iterator<Item = FrameId> {
        (0u32..).zip(self.all.values()).map(|(id, _)| FrameId(id))
    }

    /// A frame without its places.
    #[inline]
    pub fn function_of(&self, id: FrameId) -> FrameId {
        let node = self.node_of(id);
        let place = self.of(node).place;
        place.map_or(node, |place| place.function)
    }

    /// Whether any frame has a place of call trees.
    pub(crate) fn has_places(&self) -> bool {
        self.all.values().iter().any(|frame| frame.place.is_some())
    }

    /// A frame as call trees have it: without what tells only rows apart.
    #[inline]
    pub fn node_of(&self, id: FrameId) -> FrameId {
        let position = self.of(id).position;
        position.map_or(id, |position| position.function)
    }
}

#[cfg(test)]
mod tests {
    use crate::view::{
        Audience, Count, FirstFrame, FoldOptions, Rows, SortKey, ThreadNames, Weighing, fold,
    };
    use crate::{FrameInfo, Profile, SampleCount, Tally, testing};

    /// A function without a name that calls itself, and then code of which nothing is known, twice.
    fn nameless() -> Profile {
        let mut profile = Profile::default();
        let named = testing::function(&mut profile, "main", "python3.11");
        let nothing = FrameInfo {
            name: None,
            start: None,
            ..named
        };
        let nameless = FrameInfo {
            start: Some(0x1a_85c0),
            is_fde: true,
            ..nothing
        };
        let frames = [named, nameless, nameless, nothing, nothing];
        let stack = frames.map(|frame| profile.frames.intern(frame));
        let mut tally = Tally::default();
        tally.add_samples(1, 5);
        let group = tally.group(0);
        tally.add_stack(group, stack.into_iter(), SampleCount::one(5));
        let event = testing::counted(&mut profile, tally);
        profile.events.push(event);
        profile
    }

    #[test]
    fn functions_without_names_are_called_by_where_they_begin() {
        let profile = nameless();
        let event = &profile.events[0];
        let rows = Rows::new(&profile, event, &[SortKey::Symbol], Weighing::WithChildren);
        let cells = rows
            .iter()
            .map(|row| SortKey::Symbol.cell(&row.key, &profile));
        let mut cells: Vec<String> = cells.collect();
        cells.sort_unstable();
        let own = "[python3.11+0x1a85c0]";
        assert_eq!(cells, [&format!("[.] {own}"), "[.] [unknown]", "[.] main"]);
        for (audience, unknown) in [
            (Audience::Tools, "[python3.11];[python3.11]"),
            (Audience::Picture, "[python3.11]"),
        ] {
            let options = FoldOptions {
                first: FirstFrame::Outermost,
                audience,
                count: Count::Weight,
                threads: ThreadNames::Whole,
            };
            let lines: Vec<String> = fold(&profile, event, options).lines().collect();
            assert_eq!(lines, [format!("prog;main;{own};{own};{unknown} 5")]);
        }
    }

    #[test]
    fn brackets_of_images_do_not_double() {
        let mut profile = Profile::default();
        let vdso = testing::function(&mut profile, "", "[vdso]");
        let frame = profile.frames.intern(FrameInfo {
            name: None,
            start: Some(0x700),
            is_fde: true,
            ..vdso
        });
        let label = profile.frames.label(frame, &profile.strings);
        assert_eq!(label.raw(), "[vdso+0x700]");
    }
}

//! Frames: functions in images, each once.

use crate::{StrId, Strings};
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_untrusted::Untrusted;

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

/// A function, or code without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameInfo {
    /// The function's name; `None` if the address has none.
    pub name: Option<StrId>,
    /// Short name of the image (perf's "shared object").
    pub image: StrId,
    /// Where the function starts in the image; without a name, the address itself, or `None` for
    /// all of an image's code without names taken together.
    pub start: Option<u64>,
    /// Who runs it.
    pub level: Level,
    /// Whether it was inlined into its caller.
    pub is_inlined: bool,
    /// Whether the code was made while the program ran (JIT).
    pub is_jit: bool,
}

/// All frames of a profile. Two addresses in one function are one frame.
#[derive(Clone, Debug, Default)]
pub struct Frames(Interner<FrameId, FrameInfo, RandomState>);

impl Frames {
    /// The number of a frame, new or seen before.
    pub fn intern(&mut self, frame: FrameInfo) -> FrameId {
        self.0.intern(frame)
    }

    /// The frame with a number.
    ///
    /// # Panics
    /// If the number is of another profile.
    #[inline]
    pub fn of(&self, id: FrameId) -> &FrameInfo {
        &self.0.values()[id.0 as usize]
    }

    /// How a frame is called in trees: its name, or its address and image.
    pub fn label(&self, id: FrameId, strings: &Strings) -> Untrusted<String> {
        let frame = self.of(id);
        let name = frame.name.map(|name| strings.of(name).into_raw());
        Untrusted::new(match name {
            Some(name) if frame.is_inlined => format!("{name} (inlined)"),
            Some(name) => name.to_owned(),
            None => match (frame.start, strings.of(frame.image).into_raw()) {
                (Some(address), "[unknown]") => format!("{address:#x}"),
                (Some(address), image) => format!("{address:#x} ({image})"),
                (None, "[unknown]") => "[unknown]".to_owned(),
                (None, image) => format!("[unknown] ({image})"),
            },
        })
    }
}

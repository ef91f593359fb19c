//! The unwind tables of images. Each is read when a stack first leads into its image.

use foldhash::HashSet;
use rprof_images::{Located, NoFile};
use rprof_locate::{KeptFiles, Locator, Recorded};
use rprof_machine::{ImageId, MovedImages, RecordedImage};
use rprof_untrusted::{Budget, Limits};
use rprof_unwind::{TableError, UnwindTable};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All images' tables.
#[derive(Debug)]
pub(crate) struct Tables {
    /// By image.
    of: Vec<OnceCell<Table>>,
    /// An image did not fit beside the others; room will be made for it.
    is_full: Cell<bool>,
    /// How many times in a row there was no room for an image.
    refused: BTreeMap<ImageId, u32>,
    locator: Locator,
    /// Images that were looked for since this was last asked.
    n_read: Cell<u64>,
    entered: RefCell<Entered>,
}

/// Files without a build id that stacks led into.
#[derive(Debug, Default)]
struct Entered {
    paths: HashSet<Vec<u8>>,
    /// There are too many of them.
    is_full: bool,
}

/// Paths that are noted at most.
const MAX_ENTERED: usize = 1 << 14;

/// What is known of an image's table.
#[derive(Debug)]
enum Table {
    Read(Box<UnwindTable>),
    /// It has none, or its file is not found.
    None,
    /// There was not enough memory left.
    NoRoom,
}

/// An image is too large if there was no room this many times, with all others forgotten in between.
const MAX_REFUSALS: u32 = 3;

impl Tables {
    /// Files that are read may be kept open.
    pub(crate) fn new(kept: Option<Arc<KeptFiles>>) -> Self {
        Self {
            of: Vec::new(),
            is_full: Cell::new(false),
            refused: BTreeMap::new(),
            locator: Locator {
                budget: Budget::new(Limits::RECORDER),
                kept,
                ..Locator::default()
            },
            n_read: Cell::new(0),
            entered: RefCell::default(),
        }
    }

    /// Prepares for this many images.
    #[inline]
    pub(crate) fn make_room(&mut self, n_images: usize) {
        if self.of.len() < n_images {
            self.of.resize_with(n_images, OnceCell::new);
        }
    }

    /// How many images were read since this was last asked.
    pub(crate) fn take_n_read(&self) -> u64 {
        self.n_read.take()
    }

    /// A stack led into an image.
    pub(crate) fn enter(&self, image: &RecordedImage) {
        if image.build_id.is_some() {
            return;
        }
        let mut entered = self.entered.borrow_mut();
        if entered.is_full || entered.paths.contains(&image.path) {
            return;
        }
        if entered.paths.len() == MAX_ENTERED {
            *entered = Entered {
                is_full: true,
                ..Entered::default()
            };
            return;
        }
        entered.paths.insert(image.path.clone());
    }

    /// Paths of the files without a build id that stacks led into, if there are not too many.
    pub(crate) fn into_entered(self) -> Option<HashSet<Vec<u8>>> {
        let entered = self.entered.into_inner();
        (!entered.is_full).then_some(entered.paths)
    }

    /// Images have other numbers, or nobody has mapped them any more.
    pub(crate) fn images_moved(&mut self, moved: &MovedImages) {
        let mut before = std::mem::take(&mut self.of);
        for (id, now) in moved.iter() {
            self.make_room(now.0 as usize + 1);
            if let Some(cell) = before.get_mut(id.0 as usize) {
                self.of[now.0 as usize] = std::mem::take(cell);
            }
        }
        let refused = std::mem::take(&mut self.refused).into_iter();
        self.refused = refused
            .filter_map(|(id, times)| Some((moved.of(id)?, times)))
            .collect();
    }

    /// Forgets everything if something did not fit.
    pub(crate) fn trim(&mut self) {
        if self.is_full.take() {
            self.forget();
        }
    }

    /// Forgets everything if it takes more than this: what is still in use is read again.
    pub(crate) fn trim_to(&mut self, bytes: u64) {
        if self.locator.budget.held() > bytes {
            self.forget();
        }
    }

    fn forget(&mut self) {
        for (id, cell) in (0..).map(ImageId).zip(&self.of) {
            match cell.get() {
                Some(Table::NoRoom) => *self.refused.entry(id).or_default() += 1,
                Some(Table::Read(_)) => drop(self.refused.remove(&id)),
                Some(Table::None) | None => {}
            }
        }
        let n_images = self.of.len();
        self.of.clear();
        self.make_room(n_images);
    }

    /// An image's table; `None` if it has none or its file is not found.
    pub(crate) fn table(
        &self,
        id: ImageId,
        image: &RecordedImage,
        pid: i32,
    ) -> Option<&UnwindTable> {
        let cell = self.of.get(id.0 as usize)?;
        let table = cell.get_or_init(|| {
            self.n_read.set(self.n_read.get() + 1);
            self.enter(image);
            if self
                .refused
                .get(&id)
                .is_some_and(|&times| times >= MAX_REFUSALS)
            {
                return Table::None;
            }
            let table = self.open(image, pid);
            self.is_full
                .set(self.is_full.get() || matches!(table, Table::NoRoom));
            table
        });
        match table {
            Table::Read(table) => Some(table),
            Table::None | Table::NoRoom => None,
        }
    }

    fn open(&self, image: &RecordedImage, pid: i32) -> Table {
        let Ok(located) = self.locate(image, pid) else {
            return Table::None;
        };
        match UnwindTable::from_elf(&located.binary, located.debug.as_ref()) {
            Ok(table) => Table::Read(Box::new(table)),
            Err(TableError::Memory) => Table::NoRoom,
            Err(_) => Table::None,
        }
    }

    /// The file with the recorded contents: at its path, or wherever the process has it from.
    fn locate(&self, image: &RecordedImage, pid: i32) -> Result<Located, NoFile> {
        let processes = [pid];
        let recorded = Recorded {
            path: &image.path,
            build_id: image.build_id.as_ref(),
            inode: image.inode,
            device: image.device,
            processes: if pid > 0 { &processes } else { &[] },
            ..Recorded::default()
        };
        let located = self.locator.locate(recorded)?;
        if let Some(kept) = &self.locator.kept {
            kept.keep(&located.binary, recorded);
        }
        Ok(located)
    }
}

//! How frames are left, by image: read once, by the thread that first asks, and shared by all.

use super::jit_tables::JitTables;
use crate::binaries::{jitdump_to_unwind, locate_to_unwind};
use crate::index::{has_stack, machine_of};
use crate::recording::Recording;
use rprof_abi::Machine;
use rprof_base::{Avma, FileOffset};
use rprof_machine::{ImageId, ImageKind, RecordedImage};
use rprof_perfdata::Reader;
use rprof_untrusted::OverBudget;
use rprof_unwind::{Mapped, TableError, UnwindTable};
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};

/// What all threads share: of each image, how its frames are left.
#[derive(Debug)]
pub(crate) struct UnwindTables {
    pub(super) machine: Machine,
    /// By number of the image.
    images: Vec<OnceLock<ImageTables>>,
    /// Paths of images for which the budget had no room.
    refused: Mutex<BTreeSet<Vec<u8>>>,
}

impl UnwindTables {
    /// For this many images; `None` if the recording has no stacks that could be unwound.
    pub(crate) fn of(reader: &Reader, n_images: usize) -> Option<Self> {
        if !reader.events().iter().any(has_stack) {
            return None;
        }
        Some(Self {
            machine: machine_of(reader)?,
            images: (0..n_images).map(|_| OnceLock::new()).collect(),
            refused: Mutex::default(),
        })
    }

    /// What is to be said of images for which the budget had no room.
    pub(crate) fn warnings(&self, most: u64) -> Vec<String> {
        let refused = self.refused.lock();
        let refused = refused.iter().flat_map(|refused| refused.iter());
        let warning = |path: &Vec<u8>| {
            let path = String::from_utf8_lossy(path);
            format!(
                "{path}: its unwind tables take more memory than --mem {most}: stacks end in it"
            )
        };
        refused.map(warning).collect()
    }

    pub(super) fn mapped(
        &self,
        recording: &Recording<'_>,
        id: ImageId,
        avma: Avma,
        at: FileOffset,
    ) -> Mapped<'_> {
        let slot = self.images.get(id.0 as usize);
        let table = match slot.map(|slot| slot.get_or_init(|| self.open(recording, id))) {
            Some(ImageTables::Image(table)) => Some(&**table),
            Some(ImageTables::JitDump(functions)) => {
                functions.table(at, || self.refuse(recording, id))
            }
            Some(ImageTables::Nowhere) | None => None,
        };
        match table {
            Some(table) => table.mapped(id.0, avma.0, at),
            None => {
                let recorded = recording.index.history.images().of(id);
                Mapped::Code {
                    image: id.0,
                    is_file: recorded.is_some_and(RecordedImage::is_file),
                }
            }
        }
    }

    fn open(&self, recording: &Recording<'_>, id: ImageId) -> ImageTables {
        let image = recording.index.history.images().of(id);
        let Some(image) = image.filter(|image| image.kind == ImageKind::User) else {
            return ImageTables::Nowhere;
        };
        let described = if image.is_jitdump() {
            self.open_jitdump(recording, id, image)
        } else {
            self.open_image(recording, id, image)
        };
        described.unwrap_or_else(|error| {
            if error == TableError::Memory {
                self.refuse(recording, id);
            }
            ImageTables::Nowhere
        })
    }

    fn open_jitdump(
        &self,
        recording: &Recording<'_>,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<ImageTables, TableError> {
        let jitdump = jitdump_to_unwind(recording, id, image);
        let jitdump = jitdump.ok_or(TableError::NoSection)?;
        let functions = JitTables::of(jitdump, self.machine, recording.reader.budget());
        let functions = functions.map_err(|OverBudget| TableError::Memory)?;
        Ok(ImageTables::JitDump(Box::new(functions)))
    }

    fn open_image(
        &self,
        recording: &Recording<'_>,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<ImageTables, TableError> {
        let located = locate_to_unwind(recording, id, image);
        let located = located.map_err(|_| TableError::NoSection)?;
        let table = UnwindTable::from_elf(&located.binary, located.debug.as_ref())?;
        if table.machine() != self.machine {
            return Err(TableError::Machine);
        }
        Ok(ImageTables::Image(Box::new(table)))
    }

    fn refuse(&self, recording: &Recording<'_>, id: ImageId) {
        let image = recording.index.history.images().of(id);
        if let (Some(image), Ok(mut refused)) = (image, self.refused.lock()) {
            refused.insert(image.path.clone());
        }
    }
}

/// What is known of an image's frames.
#[derive(Debug)]
enum ImageTables {
    Image(Box<UnwindTable>),
    /// By the jitdump that the image is.
    JitDump(Box<JitTables>),
    Nowhere,
}

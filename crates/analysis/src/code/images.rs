//! The files of images with samples: each found once, its cold parts looked for once.

use super::parts::ColdParts;
use crate::binaries::locate;
use crate::recording::Recording;
use foldhash::HashMap;
use rprof_images::{Located, NoFile};
use rprof_machine::{ImageId, RecordedImage};
use std::cell::RefCell;
use std::rc::Rc;

/// Files of user images that were asked for.
#[derive(Debug, Default)]
pub(super) struct ImageFiles {
    files: RefCell<HashMap<ImageId, Result<Rc<Located>, NoFile>>>,
    cold: RefCell<HashMap<ImageId, Rc<ColdParts>>>,
}

impl ImageFiles {
    /// The files of a user image.
    pub(super) fn of(
        &self,
        recording: &Recording<'_>,
        id: ImageId,
        image: &RecordedImage,
    ) -> Result<Rc<Located>, NoFile> {
        let mut files = self.files.borrow_mut();
        let found = || locate(recording, id, image).map(Rc::new);
        files.entry(id).or_insert_with(found).clone()
    }

    /// The cold parts in the files of a user image.
    pub(super) fn cold_parts(&self, id: ImageId, located: &Located) -> Rc<ColdParts> {
        let mut cold = self.cold.borrow_mut();
        let parts = cold
            .entry(id)
            .or_insert_with(|| Rc::new(ColdParts::of(located)));
        Rc::clone(parts)
    }
}

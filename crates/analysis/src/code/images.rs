//! The files of images with samples: each found once, and looked through once.

use super::jit_code::JitCode;
use super::parts::ColdParts;
use crate::binaries::locate;
use crate::recording::Recording;
use crate::symbolize::Kernel;
use foldhash::HashMap;
use rprof_base::parallel;
use rprof_images::{Located, NoFile};
use rprof_machine::{ImageId, RecordedImage};
use rprof_symbols::Reason;
use std::cell::{OnceCell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;

/// Files of images that were asked for.
#[derive(Debug, Default)]
pub(super) struct ImageFiles<'r> {
    files: RefCell<HashMap<ImageId, Result<Rc<Located>, NoFile>>>,
    cold: RefCell<HashMap<ImageId, Rc<ColdParts>>>,
    jit: RefCell<HashMap<ImageId, Result<Rc<JitCode>, NoFile>>>,
    kernel: OnceCell<Kernel<'r>>,
    kernel_files: RefCell<HashMap<ImageId, KernelFile>>,
}

/// A file of the kernel or of a module, and how far its addresses are from those in memory.
type KernelFile = Result<(Rc<Located>, u64), Reason>;

impl<'r> ImageFiles<'r> {
    /// The files of a user image.
    pub(super) fn of(
        &self,
        recording: &Recording<'r>,
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

    /// The same of several, found by all threads, as far as there are files; these are not kept: what was read of them is
    /// large.
    pub(super) fn all_cold_parts(
        &self,
        recording: &Recording<'r>,
        images: &[(ImageId, &RecordedImage)],
    ) -> HashMap<ImageId, Rc<ColdParts>> {
        type Found = Vec<(usize, Option<ColdParts>)>;
        let parts_of = |at: usize| {
            let &(id, image) = images.get(at)?;
            let located = locate(recording, id, image).ok()?;
            Some((ColdParts::of(&located), located.is_over_budget()))
        };
        let find = |found: &mut Found, at: usize| -> Result<(), Infallible> {
            let parts = parts_of(at);
            found.extend(parts.map(|(parts, is_over)| (at, (!is_over).then_some(parts))));
            Ok(())
        };
        let work = (images.len(), parallel::n_cpus());
        let Ok(found) = parallel::for_each(work, Found::new, find, &mut |_| {});
        let mut all = HashMap::default();
        for (at, parts) in found.into_iter().flatten() {
            // What did not fit beside other files may fit alone.
            let parts = parts.or_else(|| parts_of(at).map(|(parts, _)| parts));
            if let Some((&(id, _), parts)) = images.get(at).zip(parts) {
                all.insert(id, Rc::new(parts));
            }
        }
        let mut cold = self.cold.borrow_mut();
        cold.extend(all.iter().map(|(&id, parts)| (id, Rc::clone(parts))));
        all
    }

    /// The file with the code of the kernel or of a module.
    pub(super) fn of_kernel(
        &self,
        recording: &Recording<'r>,
        id: ImageId,
        image: &RecordedImage,
    ) -> KernelFile {
        let kernel = self.kernel.get_or_init(|| Kernel::of(recording));
        let mut files = self.kernel_files.borrow_mut();
        let found = || {
            let (located, shift) = kernel.code_files(image)?;
            Ok((Rc::new(located), shift))
        };
        files.entry(id).or_insert_with(found).clone()
    }

    /// What a jitdump has of the functions that are asked for; `find` looks it through.
    pub(super) fn jit_code(
        &self,
        id: ImageId,
        find: impl FnOnce() -> Result<JitCode, NoFile>,
    ) -> Result<Rc<JitCode>, NoFile> {
        let mut all = self.jit.borrow_mut();
        let found = || find().map(Rc::new);
        all.entry(id).or_insert_with(found).clone()
    }
}

//! The file of an image: found in one way by all that read files, so that nothing is taken from
//! a wrong one.

use super::Context;
use rprof_images::{BuildId, Located, Reason, Recorded, kernel_build_id};
use rprof_machine::{ImageKind, RecordedImage};

impl Context<'_> {
    /// Finds the file of a user image.
    pub(crate) fn locate(&self, image: &RecordedImage) -> Result<Located, Reason> {
        let build_id = self.build_id_of(image);
        self.locator.locate(Recorded {
            path: &image.path,
            build_id: build_id.as_ref(),
            inode: image.inode,
        })
    }

    /// The vdso's own id is never in a record; it is the kernel's, so it counts as known if the
    /// recording is of this kernel, and as unknown contents otherwise.
    fn build_id_of(&self, image: &RecordedImage) -> Option<BuildId> {
        if image.path == b"[vdso]" && image.build_id.is_none() && !self.is_this_kernel() {
            return BuildId::new(b"another kernel's");
        }
        image.build_id.clone()
    }

    fn is_this_kernel(&self) -> bool {
        match (self.kernel_id(), kernel_build_id()) {
            (Some(recorded), Some(running)) => recorded.same(&running),
            _ => false,
        }
    }

    /// The kernel's build id, as the recording has it.
    pub(crate) fn kernel_id(&self) -> Option<BuildId> {
        let images = self.skimmed.history.images();
        let mut kernels = images
            .iter()
            .filter(|(_, image)| matches!(image.kind, ImageKind::Kernel { .. }));
        kernels.find_map(|(_, image)| image.build_id.clone())
    }
}

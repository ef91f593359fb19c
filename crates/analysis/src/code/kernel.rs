//! Code of the kernel and of its modules.

use super::error::CodeError;
use super::found::FoundFunction;
use super::open::{CodeSource, OpenCode};
use super::recording::CodeRecording;
use crate::binaries::kernel_id;
use rprof_base::BuildId;
use rprof_images::NoFile;
use rprof_machine::{ImageKind, RecordedImage};
use rprof_symbols::Reason;

/// The code of a kernel function, of its file.
pub(super) fn code(
    recording: &CodeRecording<'_>,
    function: &FoundFunction,
    image: &RecordedImage,
) -> Result<OpenCode, CodeError> {
    let files = &recording.files;
    let found = files.of_kernel(&recording.recording, function.image_id, image);
    let (located, shift) = found.map_err(|reason| match (reason, &image.kind) {
        (Reason::NoFile(NoFile::Missing), ImageKind::Kernel { .. }) => CodeError::NoVmlinux {
            image: function.image.clone(),
            fetch: fetch(kernel_id(&recording.recording).as_ref()),
        },
        (reason, _) => CodeError::NoFile {
            image: function.image.clone(),
            reason,
        },
    })?;
    let mut code = recording.of_file(function, &located, shift)?;
    code.events = recording.events();
    code.notes.push(PATCHED.to_owned());
    if matches!(image.kind, ImageKind::Module { .. }) {
        code.notes.push(UNLINKED.to_owned());
    }
    let places = recording.count(function, &mut code, &|location| Some(location.address));
    Ok(OpenCode {
        function: code,
        places,
        image_id: function.image_id,
        source: CodeSource::Kernel(located, shift),
    })
}

/// How to get the file of a kernel.
fn fetch(id: Option<&BuildId>) -> String {
    id.map_or_else(String::new, |id| {
        format!("; debuginfod-find debuginfo {id} fetches it if a server has it")
    })
}

const PATCHED: &str = "the kernel patches its code while it runs: alternatives, static calls, static \
    branches and ftrace sites may differ from the file shown here";
const UNLINKED: &str = "calls into the kernel and other modules have no names, as their addresses are filled \
    in when the module is loaded";

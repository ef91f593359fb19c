//! Code of the kernel and of its modules.

use super::error::CodeError;
use super::found::FoundFunction;
use super::open::{CodeSource, OpenCode};
use super::recording::CodeRecording;
use crate::symbolize::Kernel;
use rprof_machine::{ImageKind, RecordedImage};
use rprof_symbols::Reason;
use std::rc::Rc;

/// The code of a kernel function, of its file.
pub(super) fn code(
    recording: &CodeRecording<'_>,
    function: &FoundFunction,
    image: &RecordedImage,
) -> Result<OpenCode, CodeError> {
    let kernel = Kernel::of(&recording.recording);
    let files = kernel.code_files(image);
    let (located, shift) = files.map_err(|reason| CodeError::NoFile {
        image: function.image.clone(),
        reason: match image.kind {
            ImageKind::Kernel { .. } => Reason::NoKernelSymbols(format!(
                "{reason}: -k FILE says where the recorded kernel's vmlinux is"
            )),
            _ => reason,
        },
    })?;
    let mut code = recording.of_file(function, &located, shift)?;
    code.events = recording.events();
    code.notes.push(PATCHED.to_owned());
    if matches!(image.kind, ImageKind::Module { .. }) {
        code.notes.push(UNLINKED.to_owned());
    }
    recording.count(function, &mut code, &|location| Some(location.address));
    Ok(OpenCode {
        function: code,
        image_id: function.image_id,
        source: CodeSource::Kernel(Rc::new(located), shift),
    })
}

const PATCHED: &str = "the kernel patches its code while it runs: alternatives, static calls, static branches and \
                       ftrace sites may differ from the file that is shown";
const UNLINKED: &str = "addresses of the kernel and of other modules are filled in when a module is loaded: calls of \
                        them are not named";

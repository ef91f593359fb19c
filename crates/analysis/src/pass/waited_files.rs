//! What threads waited for through descriptors: pipes, sockets, terminals, files.

use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_abi::Sample;
use rprof_perfdata::feature::{WaitedFd, WaitedFile};
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_scheduling::{Cause, ThreadState};

/// The files of a recording, by number.
#[derive(Debug, Default)]
pub(super) struct WaitedFiles(Vec<WaitedFile>);

/// Whether a recording says what threads waited for.
pub(super) fn tells_of_files(reader: &Reader) -> bool {
    read(reader).is_some()
}

fn read(reader: &Reader) -> Option<Vec<WaitedFile>> {
    let section = reader.feature(FeatureId::WAITED_FILES).ok().flatten()?;
    match Feature::parse(FeatureId::WAITED_FILES, &section, reader.endian()) {
        Ok(Feature::WaitedFiles(files)) => Some(files),
        _ => None,
    }
}

impl WaitedFiles {
    /// Those of a recording, if they are asked for.
    pub(super) fn of(reader: &Reader, are_asked: bool) -> Self {
        let files = are_asked.then(|| read(reader)).flatten();
        Self(files.unwrap_or_default())
    }

    /// What a wait is for, as a number; `None` if that is not known.
    pub(super) fn number(sample: &DecodedSample<'_>, fields: Option<&Sample<'_>>) -> Option<u64> {
        let stretch = sample.stretch()?;
        let is_its = matches!(stretch.state, ThreadState::Blocked(_))
            && stretch.cause.may_be_of_descriptor();
        fields?.addr.filter(|&addr| is_its && addr != 0)
    }

    /// What a number stands for: `fd 3 pipe:[123]`.
    pub(super) fn text(&self, number: u64) -> String {
        let Some(WaitedFd { fd, file }) = WaitedFd::from_addr(number) else {
            return "[unknown]".to_owned();
        };
        let file = file.and_then(|file| self.0.get(usize::try_from(file).ok()?));
        match file {
            Some(file) => format!("fd {fd} {}", String::from_utf8_lossy(&file.name)),
            None => format!("fd {fd}"),
        }
    }
}

/// What threads wait for in each file of a recording, as its name says.
#[derive(Debug, Default)]
pub(in crate::pass) struct FileCauses(Vec<Cause>);

impl FileCauses {
    pub(in crate::pass) fn of(reader: &Reader) -> Self {
        let files = read(reader).unwrap_or_default();
        Self(
            files
                .iter()
                .map(|file| Cause::of_file(&file.name))
                .collect(),
        )
    }

    /// That of the file that a sample has.
    pub(in crate::pass) fn cause(
        &self,
        recording: &Recording<'_>,
        sample: &DecodedSample<'_>,
    ) -> Cause {
        let find = || {
            if self.0.is_empty() {
                return None;
            }
            let reader = recording.reader;
            let place = (reader.events().get(sample.recorded_event)?)
                .layout
                .addr_place()?;
            let addr = sample.raw.body.get(place..)?.first_chunk()?;
            let file = WaitedFd::from_addr(reader.endian().u64(*addr))?.file?;
            self.0.get(usize::try_from(file).ok()?).copied()
        };
        find().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_without_a_file_is_a_number() {
        let files = WaitedFiles(vec![WaitedFile {
            name: b"pipe:[123]".to_vec(),
        }]);
        let text = |fd, file| files.text(WaitedFd { fd, file }.to_addr().unwrap());
        assert_eq!(text(3, Some(0)), "fd 3 pipe:[123]");
        assert_eq!(text(3, None), "fd 3");
        assert_eq!(text(3, Some(7)), "fd 3");
        assert_eq!(files.text(0), "[unknown]");
    }
}

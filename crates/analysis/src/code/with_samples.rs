//! Samples one by one and the code that they were taken in, of one reading.

use super::found::{LocationNames, functions};
use super::images::ImageFiles;
use super::recording::{CodeOptions, CodeRecording, events, unnamed};
use crate::Error;
use crate::pass::{LoadedSamples, Options, Progress, SampleExtras, load_functions, open_recording};
use rprof_perfdata::Reader;
use rprof_profile::SampledProfile;

/// Reads and names samples one by one, with the places that they were taken at, as
/// [`load_samples_with`](crate::load_samples_with) does, and finds the functions whose code they were taken in, as
/// [`CodeRecording::open`] does. It is read again where a filter leaves out functions, or samples without names. What
/// could not be used is among the warnings of the profile.
///
/// # Errors
/// [`Error`] if the recording cannot be read at all.
pub fn load_samples_and_code<'r>(
    extras: SampleExtras,
    (reader, options): (&'r Reader, &'r Options),
    progress: &mut Progress<'_>,
) -> Result<(SampledProfile, CodeRecording<'r>), Error> {
    let extras = SampleExtras {
        places: true,
        ..extras
    };
    let recording = open_recording(reader, options)?;
    let LoadedSamples {
        sampled,
        symbols,
        counts,
    } = load_functions(extras, &recording, options, progress)?;
    let code = CodeOptions {
        filter: options.filter.clone(),
        fde: options.fde,
        demangling: options.demangling,
        ..CodeOptions::default()
    };
    // A filter by function asks for the functions that code is of, not for those that were inlined there.
    let counts = counts.filter(|_| !options.filter.has_functions());
    let Some(counts) = counts else {
        drop((recording, symbols));
        let code = CodeRecording::open(reader, &options.locator, code, progress)?;
        return Ok((sampled, code));
    };
    let names = LocationNames {
        symbols: &symbols,
        frames: &sampled.profile.frames,
        strings: &sampled.profile.strings,
    };
    let events = events(reader, &counts);
    let files = ImageFiles::default();
    let functions = functions((&recording, &files), names, &counts, &events);
    let unnamed = unnamed(&recording, &symbols);
    let code = CodeRecording {
        recording,
        options: code,
        events,
        counts,
        functions,
        files,
        unnamed,
        warnings: Vec::new(),
    };
    Ok((sampled, code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::tests::{questions, recordings};
    use rprof_profile::NodeKey;

    #[test]
    fn the_code_of_samples_in_memory_is_that_of_the_recording() {
        let mut n_compared = 0;
        for path in recordings() {
            let Ok(reader) = Reader::open(&path) else {
                continue;
            };
            let lines = questions().into_iter().map(|(name, mut options)| {
                options.nodes = NodeKey::Srcline;
                (name, options)
            });
            for (name, mut options) in questions().into_iter().chain(lines) {
                // The files of the fixtures are beside them.
                options.locator.symfs = Some(path.with_file_name("root"));
                let extras = SampleExtras::default();
                let found = load_samples_and_code(extras, (&reader, &options), &mut |_| {});
                let Ok((_, code)) = found else {
                    continue;
                };
                let (locator, of) = (&options.locator, code.options.clone());
                let alone = CodeRecording::open(&reader, locator, of, &mut |_| {}).unwrap();
                let at = format!("{} {name}", path.display());
                assert_eq!(code.functions(), alone.functions(), "{at}");
                assert_eq!(code.events(), alone.events(), "{at}");
                n_compared += usize::from(!code.functions().is_empty());
            }
        }
        assert!(n_compared > 40, "{n_compared}");
    }
}

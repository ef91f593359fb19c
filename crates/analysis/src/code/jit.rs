//! Code of a jitdump.

use super::error::CodeError;
use super::found::FoundFunction;
use super::jit_code::JitCode;
use super::open::{CodeSource, OpenCode, check_len};
use super::recording::CodeRecording;
use rprof_abi::Machine;
use rprof_images::{JitDump, NoFile};
use rprof_machine::{ImageId, RecordedImage};
use rprof_perfdata::FeatureId;
use rprof_profile::code::{CodePart, FunctionCode};
use rprof_symbols::Reason;

/// The code of a function that was compiled at run time.
pub(super) fn code(
    recording: &CodeRecording<'_>,
    function: &FoundFunction,
    image: &RecordedImage,
) -> Result<OpenCode, CodeError> {
    let no_file = |reason: NoFile| CodeError::NoFile {
        image: function.image.clone(),
        reason: Reason::NoFile(reason),
    };
    let find = || find(recording, function.image_id, image);
    let found = recording.files.jit_code(function.image_id, find);
    let found = found.map_err(no_file)?;
    let load = found.loads.get(&function.start).copied();
    let (name, image_path) = (&function.name, &function.image);
    let load = load.ok_or_else(|| CodeError::NotInJitDump {
        name: name.clone(),
        image: image_path.clone(),
    })?;
    check_len(function, load.len)?;
    let dump = found.open(&recording.recording, image).map_err(no_file)?;
    let bytes = dump.whole_code(&load);
    let bytes = bytes.map_err(|error| CodeError::Unreadable {
        name: name.clone(),
        image: image_path.clone(),
        reason: NoFile::Unreadable(error.kind()),
    })?;
    let path = found.path.clone();
    let mut code = FunctionCode {
        name: function.name.clone(),
        image: function.image.clone(),
        file: path.display().to_string(),
        machine: machine_of(recording, &dump),
        level: function.level,
        inlined: None,
        parts: vec![CodePart {
            symbol: function.name.clone(),
            address: load.start.0,
            bytes,
        }],
        events: recording.events(),
        notes: notes(recording, function),
    };
    let places = recording.count(function, &mut code, &|location| {
        let into = location.address.checked_sub(load.code.0)?;
        load.start.0.checked_add(into)
    });
    Ok(OpenCode {
        function: code,
        places,
        image_id: function.image_id,
        source: CodeSource::Jit {
            path,
            load: (load.start.0, load.code),
        },
    })
}

/// Looks a jitdump through, once for all functions of it.
fn find(
    recording: &CodeRecording<'_>,
    id: ImageId,
    image: &RecordedImage,
) -> Result<JitCode, NoFile> {
    let functions = recording.functions().iter();
    let own = functions.filter(|function| function.image_id == id);
    JitCode::find(
        &recording.recording,
        (id, image),
        &own.map(|function| function.start).collect(),
    )
}

/// As the jitdump says, else as the recording does.
fn machine_of(recording: &CodeRecording<'_>, dump: &JitDump) -> String {
    let number = u16::try_from(dump.machine_number()).ok();
    let known = number
        .filter(|&number| number != 0)
        .and_then(Machine::of_elf);
    if let Some(machine) = known {
        return machine.name().to_owned();
    }
    let reader = recording.recording.reader;
    reader.feature_text(FeatureId::ARCH).unwrap_or_default()
}

/// That there is other code under its name.
fn notes(recording: &CodeRecording<'_>, function: &FoundFunction) -> Vec<String> {
    let all = recording.functions().iter();
    let others = all.filter(|other| {
        (other.image_id, &other.name) == (function.image_id, &function.name)
            && other.start != function.start
    });
    let others = others.count();
    let note = (others > 0)
        .then(|| format!("recompiled at run time: {others} more of this name with samples"));
    note.into_iter().collect()
}

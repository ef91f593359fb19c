//! Code of a jitdump.

use super::error::CodeError;
use super::found::FoundFunction;
use super::open::{CodeSource, OpenCode, check_len, path_of};
use super::recording::CodeRecording;
use rprof_abi::Machine;
use rprof_base::FileOffset;
use rprof_images::{JitDump, JitLoad, JitRecord, NoFile};
use rprof_machine::RecordedImage;
use rprof_perfdata::FeatureId;
use rprof_profile::code::{CodePart, FunctionCode};
use rprof_symbols::Reason;
use std::path::PathBuf;

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
    let of_recording = &recording.recording;
    let found = of_recording.index.jitdumps.get(&function.image_id);
    let path = found.map_or_else(|| PathBuf::from(path_of(image)), |found| found.path.clone());
    let inode = image.inode.filter(|_| of_recording.locator.symfs.is_none());
    let budget = of_recording.reader.budget();
    let mut dump = JitDump::open_recorded(&path, inode, budget).map_err(no_file)?;
    let unreadable = |error: std::io::Error| no_file(NoFile::Unreadable(error.kind()));
    let load = load_at(&mut dump, FileOffset(function.start)).map_err(unreadable)?;
    let load = load.ok_or_else(|| no_file(NoFile::NotJitDump))?;
    check_len(function, load.len)?;
    let bytes = dump.whole_code(&load).map_err(unreadable)?;
    let mut code = FunctionCode {
        name: function.name.clone(),
        image: function.image.clone(),
        file: path.display().to_string(),
        machine: machine_of(recording, &dump),
        level: function.level,
        parts: vec![CodePart {
            symbol: function.name.clone(),
            address: load.start.0,
            bytes,
        }],
        events: recording.events(),
        notes: notes(recording, function),
    };
    recording.count(function, &mut code, &|location| {
        let into = location.address.checked_sub(load.code.0)?;
        load.start.0.checked_add(into)
    });
    Ok(OpenCode {
        function: code,
        image_id: function.image_id,
        source: CodeSource::Jit {
            path,
            load: (load.start.0, load.code),
        },
    })
}

fn load_at(dump: &mut JitDump, code: FileOffset) -> std::io::Result<Option<JitLoad>> {
    while let Some(record) = dump.next_record()? {
        if let JitRecord::Load(load) = record
            && load.code == code
        {
            return Ok(Some(load));
        }
    }
    Ok(None)
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
        .then(|| format!("compiled anew while it ran: {others} more with samples under its name"));
    note.into_iter().collect()
}

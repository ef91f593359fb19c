//! Sort keys that are fields of a recording's tracepoints.

use rprof_analysis::{TraceField, TracepointFormats};
use rprof_perfdata::Reader;
use rprof_profile::Dimension;
use rprof_profile::view::{Field, SortKey};

/// The fields that are asked for, by number.
pub(super) struct TraceFields<'r> {
    reader: &'r Reader,
    /// Read when a name is not one of the usual.
    formats: Option<TracepointFormats>,
    pub(super) found: Vec<TraceField>,
}

impl<'r> TraceFields<'r> {
    pub(super) fn of(reader: &'r Reader) -> Self {
        Self {
            reader,
            formats: None,
            found: Vec::new(),
        }
    }

    /// Of the recording.
    pub(super) fn reader(&self) -> &'r Reader {
        self.reader
    }

    /// What they are called, by number: with their event where several have a field of that name.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.found)
    }

    /// The fields of a word, in perf's forms: `FIELD`, `EVENT.FIELD`, `EVENT.*`, `trace_fields`. None if no event of
    /// the recording has them.
    pub(super) fn fields(&mut self, word: &str) -> Vec<Field> {
        let reader = self.reader;
        let formats = self
            .formats
            .get_or_insert_with(|| TracepointFormats::of(reader).0);
        let (event, field) = match word.rsplit_once('.') {
            Some((event, field)) => (Some(event), field),
            None if word == "trace_fields" => (None, "*"),
            None => (None, word),
        };
        let mut fields = Vec::new();
        for (number, recorded) in reader.events().iter().enumerate() {
            let name = recorded.name.raw();
            let has_name =
                |event| name == event || name.rsplit_once(':').is_some_and(|(_, own)| own == event);
            let Some(format) = formats
                .of_event(number)
                .filter(|_| event.is_none_or(has_name))
            else {
                continue;
            };
            let own = format.fields.iter().map(|own| &own.name);
            for own in own.filter(|own| field == "*" || field == *own) {
                let new = TraceField {
                    event: event.map(|_| name.to_owned()),
                    name: own.clone(),
                };
                fields.extend(number_of(&mut self.found, new));
            }
        }
        fields
    }
}

fn number_of(found: &mut Vec<TraceField>, field: TraceField) -> Option<Field> {
    let known = found.iter().position(|one| *one == field);
    let number = known.unwrap_or(found.len());
    if known.is_none() {
        found.push(field);
    }
    let number = u8::try_from(number).ok()?;
    Some(Field::Key(SortKey::Dimension(Dimension::TraceField(
        number,
    ))))
}

fn names(fields: &[TraceField]) -> Vec<String> {
    let alike = |name: &str| fields.iter().filter(|one| one.name == name).count();
    let name = |field: &TraceField| match &field.event {
        Some(event) if alike(&field.name) > 1 => format!("{event}.{}", field.name),
        _ => field.name.clone(),
    };
    fields.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_name_are_told_apart_by_their_events() {
        let field = |event: Option<&str>, name: &str| TraceField {
            event: event.map(str::to_owned),
            name: name.to_owned(),
        };
        let fields = [
            field(Some("a:x"), "pid"),
            field(Some("a:y"), "pid"),
            field(Some("a:y"), "prio"),
            field(None, "comm"),
        ];
        assert_eq!(names(&fields), ["a:x.pid", "a:y.pid", "prio", "comm"]);
    }
}

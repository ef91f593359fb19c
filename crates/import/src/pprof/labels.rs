//! Labels that say of which task a sample is, and where it ran.

use super::tables::Tables;
use rprof_pprof::{PprofLabelParts, PprofPart, PprofParts, PprofSampleParts};
use std::borrow::Cow;

/// What labels of tasks are called: by rprof, and by other tools in the same sense.
const KEYS: [(&str, Kind); 11] = [
    ("pid", Kind::Pid),
    ("process_id", Kind::Pid),
    ("tid", Kind::Tid),
    ("thread_id", Kind::Tid),
    ("thread id", Kind::Tid),
    ("comm", Kind::Comm),
    ("thread", Kind::Thread),
    ("thread_name", Kind::Thread),
    ("thread name", Kind::Thread),
    ("process", Kind::Process),
    ("cpu", Kind::Cpu),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pid,
    Tid,
    /// The names of the task, the first that there is counts.
    Comm,
    Thread,
    Process,
    Cpu,
}

/// Which strings of a profile are keys of such labels.
pub(super) struct LabelKeys(Vec<(i64, Kind)>);

/// What labels say of a sample.
pub(super) struct Task<'p> {
    pub(super) pid: Option<i32>,
    pub(super) tid: Option<i32>,
    pub(super) comm: Cow<'p, [u8]>,
    pub(super) cpu: Option<u32>,
}

impl LabelKeys {
    pub(super) fn new(tables: &Tables<'_>) -> Self {
        let kind = |text: &[u8]| {
            let known = KEYS.iter().find(|(key, _)| key.as_bytes() == text);
            known.map(|&(_, kind)| kind)
        };
        let texts = (0i64..).zip(&tables.texts);
        Self(
            texts
                .filter_map(|(number, text)| Some((number, kind(text)?)))
                .take(MOST_KEYS)
                .collect(),
        )
    }

    fn of(&self, label: PprofLabelParts) -> Option<Kind> {
        let known = self.0.iter().find(|&&(key, _)| key == label.key);
        known.map(|&(_, kind)| kind)
    }

    /// Whether the first sample says on which CPU it was taken.
    pub(super) fn has_cpus(&self, profile: &[u8]) -> bool {
        let mut sample = PprofSampleParts::default();
        let mut parts = PprofParts::new(profile);
        let first = parts.find_map(|part| match part {
            Ok(PprofPart::Sample(bytes)) => Some(sample.read(bytes).is_ok()),
            _ => None,
        });
        let mut labels = sample.labels.iter();
        first == Some(true) && labels.any(|&label| self.of(label) == Some(Kind::Cpu))
    }

    /// The task of a sample: what its labels do not say is said of all samples alike.
    pub(super) fn task<'p>(&self, sample: &PprofSampleParts, tables: &'p Tables<'p>) -> Task<'p> {
        let mut task = Task {
            pid: None,
            tid: None,
            comm: Cow::Borrowed(tables.program()),
            cpu: None,
        };
        let mut comm_of = None;
        for &label in &sample.labels {
            let number = || number(label, tables);
            match self.of(label) {
                None => {}
                Some(Kind::Pid) => task.pid = number(),
                Some(Kind::Tid) => task.tid = number(),
                Some(Kind::Cpu) => task.cpu = number().and_then(|cpu| u32::try_from(cpu).ok()),
                Some(kind) => {
                    let is_better = comm_of.is_none_or(|known| (kind as u8) < known as u8);
                    let text = tables.text_bytes(label.str);
                    if is_better && !text.is_empty() {
                        comm_of = Some(kind);
                        task.comm = Cow::Borrowed(text);
                    }
                }
            }
        }
        task
    }
}

/// Keys that are looked for: a profile has each string once.
const MOST_KEYS: usize = 4 * KEYS.len();

/// The number that a label has, or writes as text.
fn number(label: PprofLabelParts, tables: &Tables<'_>) -> Option<i32> {
    let number = match label.str {
        0 => Some(label.num),
        text => tables.text(text).parse().ok(),
    };
    let number = i32::try_from(number?).ok();
    number.filter(|&number| number >= 0)
}

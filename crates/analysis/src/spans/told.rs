//! What is said of spans that are not as they should be.

use rprof_base::Counted;

/// What does not match, counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldOfSpans {
    /// Spans that did not end.
    pub(crate) n_open: u64,
    /// Ends of spans that did not begin.
    pub(crate) n_unbegun: u64,
    /// Spans that ended on another thread than they began on.
    pub(crate) n_crossed: u64,
    /// Spans that overlap others of their thread.
    pub(crate) n_overlapping: u64,
    /// Edges that were lost.
    pub(crate) n_lost: u64,
    /// Records that could not be decoded.
    pub(crate) n_bad: u64,
    /// Lines of marker files that could not be read.
    pub(crate) n_bad_lines: u64,
    /// Marker files of threads of other processes.
    pub(crate) n_foreign: u64,
    /// Spans that had one name too many.
    pub(crate) n_other: u64,
    /// Whole sentences.
    pub(crate) others: Vec<String>,
}

impl ToldOfSpans {
    /// A sentence for each.
    pub(crate) fn warnings(self) -> Vec<String> {
        let spans = |n| Counted::new(n, "span", "spans");
        let all = [
            (
                self.n_open,
                format!(
                    "{} did not end: counted up to the next one of the name, or the end of the thread, its program or \
                     the recording, and not among durations",
                    spans(self.n_open)
                ),
            ),
            (
                self.n_unbegun,
                format!(
                    "{} without a beginning on any recorded thread, not counted",
                    Counted::new(self.n_unbegun, "end of a span", "ends of spans")
                ),
            ),
            (
                self.n_crossed,
                format!(
                    "{} ended on another thread, not counted: spans are of one thread",
                    spans(self.n_crossed)
                ),
            ),
            (
                self.n_overlapping,
                format!(
                    "{} overlapped a later one of the thread that did not end first: their common time belongs to \
                     the later one",
                    spans(self.n_overlapping)
                ),
            ),
            (
                self.n_lost,
                format!(
                    "{} lost while recording: some spans lack their beginning or end (record with a larger -m)",
                    Counted::new(self.n_lost, "edge of a span was", "edges of spans were")
                ),
            ),
            (
                self.n_bad,
                format!(
                    "{} of spans ignored",
                    Counted::new(self.n_bad, "damaged record was", "damaged records were")
                ),
            ),
            (
                self.n_bad_lines,
                format!(
                    "{} ignored: expected START END NAME",
                    Counted::new(
                        self.n_bad_lines,
                        "line of a marker file was",
                        "lines of marker files were"
                    )
                ),
            ),
            (
                self.n_foreign,
                format!(
                    "{} not read: the thread in the name is none of the process that mapped it",
                    Counted::new(self.n_foreign, "marker file was", "marker files were")
                ),
            ),
            (
                self.n_other,
                format!(
                    "{} counted as [other]: their names are too many",
                    Counted::new(self.n_other, "span is", "spans are")
                ),
            ),
        ];
        let counted = all.into_iter().filter(|(n, _)| *n > 0);
        counted.map(|(_, text)| text).chain(self.others).collect()
    }
}

//! The argument of `--call-graph`.

use rprof_record::MOST_STACK_BYTES;

/// Bytes of one word, the smallest dump.
const FEWEST_STACK_BYTES: u32 = 8;

/// How to record callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGraph {
    /// Unwind while recording, copying as much of each stack as needed.
    Auto,
    /// Unwind from dumps of this many bytes.
    Dwarf(u32),
    /// Frame pointers, followed by the kernel.
    Fp,
    /// The processor's branch records.
    Lbr,
    /// No callers.
    None,
}

impl CallGraph {
    pub(in crate::args) const HELP: &str = "Record callers in this way:\n  \
        auto           unwind while recording, with unwind tables\n                 \
        (.eh_frame); needs no frame pointers\n  \
        dwarf[,BYTES]  same, from dumps of BYTES (8 to 65528; default 65528)\n  \
        fp             frame pointers, followed by the kernel\n  \
        lbr            last branch records of Intel CPUs:\n                 \
        the innermost 16 to 32 callers\n  \
        none           only where each sample was taken";

    pub(in crate::args) fn parse(text: &str) -> Result<Self, String> {
        let (how, bytes) = match text.split_once(',') {
            Some((how, bytes)) => (how, Some(bytes)),
            None => (text, None),
        };
        match (how, bytes) {
            ("auto", None) => Ok(Self::Auto),
            ("fp", None) => Ok(Self::Fp),
            ("none" | "no", None) => Ok(Self::None),
            ("dwarf", None) => Ok(Self::Dwarf(MOST_STACK_BYTES)),
            ("dwarf", Some(bytes)) => match bytes.parse() {
                // perf rounds up to whole words, too.
                Ok(bytes @ FEWEST_STACK_BYTES..=MOST_STACK_BYTES) => {
                    Ok(Self::Dwarf(u32::next_multiple_of(bytes, 8)))
                }
                _ => Err(format!(
                    "a stack dump has {FEWEST_STACK_BYTES} to {MOST_STACK_BYTES} bytes"
                )),
            },
            ("lbr", None) => Ok(Self::Lbr),
            _ => Err("expected auto, dwarf, dwarf,BYTES, fp, lbr or none".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CallGraph;

    #[test]
    fn dumps_have_the_sizes_that_the_help_says() {
        assert_eq!(CallGraph::parse("dwarf,8"), Ok(CallGraph::Dwarf(8)));
        assert_eq!(CallGraph::parse("dwarf,9"), Ok(CallGraph::Dwarf(16)));
        for bad in [
            "dwarf,0",
            "dwarf,1",
            "dwarf,-8",
            "dwarf,65529",
            "dwarf,8k",
            "dwarf,",
        ] {
            let error = CallGraph::parse(bad).unwrap_err();
            assert_eq!(error, "a stack dump has 8 to 65528 bytes", "{bad}");
        }
        assert!(CallGraph::HELP.contains("(8 to 65528;"));
    }
}

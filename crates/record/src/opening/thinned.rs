//! `--samples-per-hour`: every sample has to say what it stands for, since that changes when others are dropped.

use crate::error::Error;
use crate::opening::attrs::Prepared;
use crate::opening::off_cpu::Purpose;
use rprof_abi::{PerfEventAttr, SampleType, event_type, sw};

/// Asks for the period of each sample.
///
/// # Errors
/// [`Error::NotThinned`] if dropping samples of an event would make its counts wrong.
pub(crate) fn ask_for_periods(sampling: &mut [Prepared]) -> Result<(), Error> {
    // Spans are matched by each of their events.
    let is_edge = |event: &&mut Prepared| matches!(event.purpose, Purpose::Span(_));
    for event in sampling.iter_mut().filter(|event| !is_edge(event)) {
        let refused = |why| Error::NotThinned {
            event: event.name.clone(),
            why,
        };
        let attr = &event.attr;
        if attr.sample_type.has(SampleType::READ) {
            // Readers take the differences from sample to sample.
            return Err(refused(
                "samples with counter values stand for what was counted since the sample before: leave out :S",
            ));
        }
        if !attr.sample_type.has(SampleType::PERIOD) && !is_clock(attr) {
            // Asked for it, the kernel makes a sample of each hit (`sampling_attr`).
            return Err(refused(
                "with -c, its samples do not say what they stand for: use -F, or -c 1",
            ));
        }
        event.attr.sample_type = attr.sample_type.with(SampleType::PERIOD);
    }
    Ok(())
}

/// Whether it is a clock: its samples are taken by a timer, whatever they hold.
fn is_clock(attr: &PerfEventAttr) -> bool {
    attr.kind == event_type::SOFTWARE && matches!(attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(kind: u32, config: u64, sample_type: SampleType) -> Prepared {
        let attr = PerfEventAttr {
            kind,
            config,
            sample_period: 1000,
            sample_type,
            ..PerfEventAttr::default()
        };
        Prepared::new("e".to_owned(), attr)
    }

    #[test]
    fn clocks_with_a_fixed_period_are_asked_for_it() {
        let mut events = [
            prepared(event_type::SOFTWARE, sw::CPU_CLOCK, SampleType::IP),
            prepared(event_type::HARDWARE, 0, SampleType::PERIOD),
        ];
        ask_for_periods(&mut events).unwrap();
        let has_period = |event: &Prepared| event.attr.sample_type.has(SampleType::PERIOD);
        assert!(events.iter().all(has_period));
    }

    #[test]
    fn events_whose_counts_would_be_wrong_are_refused() {
        let read = SampleType::PERIOD.with(SampleType::READ);
        for (event, said) in [
            (prepared(event_type::HARDWARE, 0, read), "leave out :S"),
            (
                prepared(event_type::SOFTWARE, sw::PAGE_FAULTS, SampleType::IP),
                "use -F, or -c 1",
            ),
        ] {
            let error = ask_for_periods(&mut [event]).unwrap_err().to_string();
            assert!(
                error.starts_with("--samples-per-hour cannot thin 'e': "),
                "{error}"
            );
            assert!(error.contains(said), "{error}");
        }
    }
}

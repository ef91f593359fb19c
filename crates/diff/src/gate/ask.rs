//! Conditions asked of an event.

use super::{Condition, GateResult, Gates};
use crate::comparison::{CompareOptions, divisors};
use crate::error::DiffError;
use crate::judge::Judge;
use crate::naming::Naming;
use crate::per::Per;
use crate::recordings::Recordings;
use crate::rows::{CountedEvent, CountedRow, count};
use crate::statistics::float;
use rprof_profile::view::SortKey;

/// The event that conditions are of.
pub(crate) struct Asked<'a> {
    pub(crate) judge: &'a Judge<'a>,
    pub(crate) per: &'a Per,
    /// Its number in each recording.
    pub(crate) numbers: &'a [usize],
    pub(crate) rows: &'a [CountedRow],
}

/// Conditions are not asked of a recording without samples: what failed to run is not fast.
fn has_samples(recordings: &Recordings, numbers: &[usize]) -> Result<(), DiffError> {
    for ((_, one), &number) in recordings.all().zip(numbers) {
        match one.run.events.get(number) {
            Some(event) if event.all.samples == 0 => {
                return Err(DiffError::NoSamples {
                    run: one.name.clone(),
                    event: event.name.clone(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// What becomes of conditions.
pub(crate) fn ask_all(
    recordings: &Recordings,
    options: &CompareOptions,
    asked: &Asked<'_>,
    naming: &mut Naming,
) -> Result<Vec<GateResult>, DiffError> {
    let &Asked {
        judge,
        per,
        numbers,
        rows,
    } = asked;
    if options.conditions.is_empty() {
        return Ok(Vec::new());
    }
    has_samples(recordings, numbers)?;
    let shares = divisors(recordings, numbers, &Per::Event)?;
    let mut shares = Judge::new(recordings, shares, judge.all().clone(), options.alpha);
    shares.learn(rows.iter().map(|row| &row.own));
    let gates = Gates {
        judge,
        shares: &shares,
        per,
        alpha: options.alpha / float(options.conditions.len() * options.n_comparisons.max(1)),
    };
    let conditions = options.conditions.iter();
    let conditions: Vec<Condition> = conditions
        .map(|one| one.renamed(|name| naming.resolved(name).into_owned()))
        .collect();
    let ask = |condition: &Condition| {
        let mut rows = |keys: &[SortKey]| -> (CountedEvent, Vec<String>) {
            let event = count(recordings, numbers, keys, naming);
            let first = |cells: &[u32]| cells.first().map_or("", |&cell| naming.text(cell));
            let names = event.rows.iter().map(|row| first(&row.cells).to_owned());
            let names = names.collect();
            (event, names)
        };
        match gates.ask(condition, &mut rows) {
            // Another event has it, or no sample of these recordings: a build must not fail by that.
            Err(DiffError::UnknownName {
                name, is_function, ..
            }) if if is_function {
                naming.has_function(&name) || options.known_functions.contains(&name)
            } else {
                naming.has(&name)
            } =>
            {
                Ok(GateResult::without_samples(condition))
            }
            asked => asked,
        }
    };
    conditions.iter().map(ask).collect()
}

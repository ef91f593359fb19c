//! Tables of many light rows, such as those by time. No row has a tree below it, since all are lighter than the lightest
//! branch that is shown; and the stacks of each row would be a tree of its own, all of them together far larger than the
//! program.

use super::counts::Counts;
use super::dimensions::Grouping;
use super::group_key::GroupKey;
use super::load::{Progress, count_stacks_of};
use super::query::Query;
use super::stacks::{ROOM, StacksPass};
use crate::Error;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use rprof_profile::Tally;
use rprof_profile::view::Pruning;
use rprof_symbols::Request;

/// Recordings with fewer samples have few rows, or read fast.
pub(super) const MANY: u64 = 1 << 20;

/// Names and counts samples by the function that each was taken in, without callers; `None` if any row weighs that share
/// of its event (percent), or more. Rows have to be those of groups, whatever their functions.
pub(super) fn count_light_rows(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    request: Request,
    percent: f64,
    progress: &mut Progress<'_>,
) -> Result<Option<(Symbols, Counts)>, Error> {
    if query.samples.need_order() {
        return Ok(None);
    }
    let pass = StacksPass::new(query, grouping, ROOM).of_innermost();
    let (symbols, counts) = count_stacks_of(pass, (query, grouping), request, progress)?;
    let are_light = counts.tallies.iter().all(|tally| is_light(tally, percent));
    Ok(are_light.then_some((symbols, counts)))
}

/// Whether no row of an event is as heavy, whether its rows are told apart by the names of threads or not.
fn is_light(tally: &Tally<GroupKey>, percent: f64) -> bool {
    let mut weights: HashMap<GroupKey, u64> = HashMap::default();
    let mut shown = 0_u64;
    for node in tally.tree().nodes() {
        let Some(group) = tally.group_of(node.group) else {
            continue;
        };
        let weight = weights.entry(group.without_name()).or_default();
        *weight = weight.saturating_add(node.self_weight);
        shown = shown.saturating_add(node.self_weight);
    }
    // Shares are of one of the two.
    let whole = shown.min(tally.weight());
    let least = Pruning::below_percent(percent, whole).min_weight(whole);
    weights.values().all(|&weight| weight < least)
}

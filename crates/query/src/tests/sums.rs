//! Each view of a selection comes to what its samples say, one by one.

use super::*;
use crate::{FlameBox, FlameChart, FlameView, heat_map, lanes};
use rprof_base::Share;
use rprof_profile::view::{Order, Pruning, Row};

/// Stacks that are counted, as their paths.
fn counted(stacks: &Stacks) -> impl Iterator<Item = (&str, &[String], (u64, u64))> {
    let counted = stacks.iter().filter(|(_, sum)| sum.0 > 0);
    counted.map(|(path, &sum)| (&*path[0], &path[1..], sum))
}

fn add(sums: &mut BTreeMap<Vec<String>, (u64, u64)>, key: Vec<String>, sum: (u64, u64)) {
    let of = sums.entry(key).or_default();
    *of = (of.0 + sum.0, of.1 + sum.1);
}

/// Own weight, own samples and weight with callees by name of the thread and of the function.
type ByFunction = BTreeMap<(String, String), (u64, u64, u64)>;

fn by_function(stacks: &Stacks) -> ByFunction {
    let mut sums = ByFunction::new();
    for (comm, frames, (samples, weight)) in counted(stacks) {
        let mut of = |name: &String, own: (u64, u64), total: u64| {
            let of = sums.entry((comm.to_owned(), name.clone())).or_default();
            *of = (of.0 + own.0, of.1 + own.1, of.2 + total);
        };
        of(frames.last().unwrap(), (weight, samples), 0);
        let mut names = frames.to_vec();
        names.sort_unstable();
        names.dedup();
        names.iter().for_each(|name| of(name, (0, 0), weight));
    }
    sums
}

fn rows_by_function(profile: &Profile, rows: &[Row]) -> ByFunction {
    let key = |row: &Row| {
        let symbol = SortKey::Symbol.cell(&row.key, profile);
        let name = symbol
            .trim_start_matches("[.] ")
            .trim_end_matches(" (inlined)");
        (SortKey::Comm.cell(&row.key, profile), name.to_owned())
    };
    let sums = |row: &Row| (row.self_weight, row.self_samples, row.total_weight);
    rows.iter().map(|row| (key(row), sums(row))).collect()
}

/// Weight of each path in a flame graph, and of those that end there, with the samples of each.
type Paths = BTreeMap<Vec<String>, [u64; 3]>;

fn paths_of<'a>(stacks: impl Iterator<Item = (&'a str, Vec<String>, (u64, u64))>) -> Paths {
    let mut paths = Paths::new();
    for (comm, frames, (samples, weight)) in stacks {
        let mut path = vec![comm.to_owned()];
        path.extend(frames);
        for len in 1..=path.len() {
            let of = paths.entry(path[..len].to_vec()).or_default();
            let own = if len == path.len() { weight } else { 0 };
            *of = [of[0] + weight, of[1] + own, of[2] + samples];
        }
    }
    paths
}

fn text(profile: &Profile, label: FlameLabel) -> String {
    match label {
        FlameLabel::Comm(comm) => profile.strings.of(comm).into_raw().to_owned(),
        FlameLabel::Frame(frame) => name(profile, frame),
        FlameLabel::Wait(cause) => profile.wait_label(cause),
    }
}

/// By path, what boxes say; those that are drawn several times, as in order of time, together.
fn paths_in(profile: &Profile, layout: &FlameLayout) -> Paths {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut sums = Paths::new();
    for one in &layout.boxes {
        let mut path = one
            .parent
            .map_or_else(Vec::new, |parent| paths[parent as usize].clone());
        path.push(text(profile, one.label));
        let of = sums.entry(path.clone()).or_default();
        *of = [of[0] + one.width, of[1] + one.own, of[2] + one.samples];
        paths.push(path);
    }
    sums
}

/// Whether boxes stand side by side on those that they belong to, and are in order.
fn is_in_place(layout: &FlameLayout) -> bool {
    let mut next: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    let mut is_in_place = true;
    for one in &layout.boxes {
        let parent = one.parent.map(|parent| layout.boxes[parent as usize]);
        let start = parent.map_or(0, |parent| parent.start);
        let next = next.entry(one.parent).or_insert(start);
        let end = parent.map_or(layout.whole, |parent| parent.start + parent.width);
        is_in_place &= one.start >= *next && one.start + one.width <= end;
        is_in_place &= one.depth == parent.map_or(0, |parent| parent.depth + 1);
        *next = one.start + one.width;
    }
    is_in_place
}

/// What is left of a picture that is looked at from one of its boxes.
fn seen_from(layout: &FlameLayout, root: u32, least_width: u64) -> Vec<(FlameBox, Option<u32>)> {
    let all = &layout.boxes;
    let from = all[root as usize];
    let is_within = |number: u32| {
        let mut path = std::iter::successors(Some(number), |&at| all[at as usize].parent);
        path.any(|at| at == root)
    };
    let boxes = (0u32..)
        .zip(all)
        .filter(|&(number, one)| is_within(number) && one.width >= least_width);
    let moved = boxes.map(|(number, one)| {
        let depth = one.depth - from.depth;
        let parent = one.parent.filter(|_| number != root);
        (
            FlameBox {
                depth,
                start: one.start - from.start,
                parent: None,
                ..*one
            },
            parent,
        )
    });
    moved.collect()
}

const PICTURES: [(FirstFrame, FlameOrder); 4] = [
    (FirstFrame::Outermost, FlameOrder::Heaviest),
    (FirstFrame::Outermost, FlameOrder::Name),
    (FirstFrame::Innermost, FlameOrder::Heaviest),
    (FirstFrame::Innermost, FlameOrder::Name),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn rows_and_call_trees_are_of_the_samples_that_are_selected(
        mut samples in samples(),
        selection in selections(),
    ) {
        samples.sort_by_key(|sample| sample.0);
        let sampled = sampled(&samples);
        let by_comm = SampleSelection { by: Vec::new(), ..selection.clone() };
        let expected = by_function(&expected(&sampled, &by_comm).1);
        let mut explorer = Explorer::new(sampled);
        let event = explorer.select(&selection, &StackFolding::default()).unwrap();
        let profile = explorer.profile();
        let keys = [SortKey::Comm, SortKey::Symbol];
        let rows = Rows::new(profile, &event, &keys, Weighing::WithChildren);
        let all: Vec<Row> = rows.iter().copied().collect();
        prop_assert_eq!(&rows_by_function(profile, &all), &expected);
        for row in &all {
            for order in [Order::Caller, Order::Callee] {
                let tree = rows.call_tree(row, order, Pruning::Below(0));
                let roots = tree.roots().iter().map(|&root| tree.node(root).total.weight);
                prop_assert_eq!(roots.sum::<u64>(), row.total_weight);
            }
        }
        let rows = Rows::new(profile, &event, &keys, Weighing::Own);
        let own: Vec<Row> = rows.iter().copied().collect();
        let mut with_own = expected;
        with_own.retain(|_, sums| sums.1 > 0);
        prop_assert_eq!(rows_by_function(profile, &own), with_own);
    }

    #[test]
    fn boxes_are_of_the_samples_that_are_selected(
        mut samples in samples(),
        selection in selections(),
    ) {
        samples.sort_by_key(|sample| sample.0);
        let sampled = sampled(&samples);
        let by_comm = SampleSelection { by: Vec::new(), ..selection.clone() };
        let stacks = expected(&sampled, &by_comm).1;
        let mut explorer = Explorer::new(sampled);
        let event = explorer.select(&selection, &StackFolding::default()).unwrap();
        let profile = explorer.profile();
        for (first, order) in PICTURES {
            let turned = counted(&stacks).map(|(comm, frames, sum)| {
                let mut frames = frames.to_vec();
                if first == FirstFrame::Innermost {
                    frames.reverse();
                }
                (comm, frames, sum)
            });
            let expected = paths_of(turned);
            let layout = FlameLayout::of(profile, &event, first, order);
            prop_assert_eq!(layout.boxes.len(), expected.len());
            prop_assert_eq!(paths_in(profile, &layout), expected);
            prop_assert!(is_in_place(&layout));
            let siblings = |one: &FlameBox| (one.parent, one.width, text(profile, one.label));
            for (left, right) in layout.boxes.iter().zip(layout.boxes.iter().skip(1)) {
                let (left, right) = (siblings(left), siblings(right));
                let is_before = match order {
                    FlameOrder::Heaviest => (right.1, &left.2) < (left.1, &right.2),
                    FlameOrder::Name => left.2 < right.2,
                };
                prop_assert!(left.0 != right.0 || is_before);
            }
        }
    }

    #[test]
    fn what_is_looked_at_is_a_part_of_the_picture(
        mut samples in samples(),
        which in any::<prop::sample::Index>(),
        least_width in 0..30u64,
    ) {
        samples.sort_by_key(|sample| sample.0);
        let mut explorer = Explorer::new(sampled(&samples));
        let event = explorer.select(&SampleSelection::default(), &StackFolding::default()).unwrap();
        let profile = explorer.profile();
        for picture in PICTURES {
            let layout = FlameLayout::of(profile, &event, picture.0, picture.1);
            if layout.boxes.is_empty() {
                continue;
            }
            let root = which.index(layout.boxes.len());
            let labels = std::iter::successors(Some(root), |&at| {
                layout.boxes[at].parent.map(|parent| parent as usize)
            });
            let mut path: Vec<FlameLabel> = labels.map(|at| layout.boxes[at].label).collect();
            path.reverse();
            let view = FlameView { path, least_width };
            let seen = FlameLayout::seen(profile, &event, picture, &view);
            let expected = seen_from(&layout, u32::try_from(root).unwrap(), least_width);
            prop_assert_eq!(seen.whole, layout.boxes[root].width);
            let boxes = seen.boxes.iter().map(|one| FlameBox { parent: None, ..*one });
            prop_assert_eq!(boxes.collect::<Vec<_>>(), expected.iter().map(|one| one.0).collect::<Vec<_>>());
            for (one, (_, parent)) in seen.boxes.iter().zip(expected) {
                let label = |boxes: &[FlameBox], number: u32| boxes[number as usize].label;
                let here = one.parent.map(|parent| label(&seen.boxes, parent));
                prop_assert_eq!(here, parent.map(|parent| label(&layout.boxes, parent)));
            }
        }
    }

    #[test]
    fn times_are_of_the_samples_that_are_selected(
        mut samples in samples(),
        selection in selections(),
        n_slots in 1usize..9,
        percent in 0.0..40.0,
    ) {
        samples.sort_by_key(|sample| sample.0);
        let sampled = sampled(&samples);
        let profile = &sampled.profile;
        // Neither a part of stacks nor what rows are told apart by is seen over time.
        let selection = SampleSelection { by: Vec::new(), focus: None, ..selection };
        let stacks = expected(&sampled, &selection).1;
        let n_samples: u64 = counted(&stacks).map(|(.., sum)| sum.0).sum();
        let mut by_comm = BTreeMap::new();
        for (comm, _, sum) in counted(&stacks) {
            add(&mut by_comm, vec![comm.to_owned()], sum);
        }

        let chart_of = |percent| FlameChart::of(&sampled, &selection, Share::from_percent(percent));
        let chart = chart_of(0.0);
        let of_stacks = counted(&stacks).map(|(comm, frames, sum)| (comm, frames.to_vec(), sum));
        prop_assert_eq!(paths_in(profile, &chart.layout), paths_of(of_stacks));
        prop_assert!(is_in_place(&chart.layout));
        prop_assert_eq!(chart.left_out, 0);
        let narrow = Share::from_percent(percent);
        let wide = chart_of(percent);
        let unlinked = |one: &FlameBox| FlameBox { parent: None, ..*one };
        let whole = chart.layout.whole;
        let is_wide = |one: &&FlameBox| Share::of(one.width, whole) >= narrow;
        let all: Vec<FlameBox> = chart.layout.boxes.iter().filter(is_wide).map(unlinked).collect();
        prop_assert_eq!(wide.layout.boxes.iter().map(unlinked).collect::<Vec<_>>(), all);
        prop_assert_eq!(wide.layout.whole, whole);
        prop_assert_eq!(wide.layout.boxes.len() as u64 + wide.left_out, chart.layout.boxes.len() as u64);
        prop_assert!(is_in_place(&wide.layout));
        let lowest = wide.layout.boxes.iter().filter(|one| one.parent.is_none());
        let comm = |&thread: &u32| FlameLabel::Comm(sampled.threads[thread as usize].comm);
        let comms: Vec<FlameLabel> = wide.threads.iter().map(comm).collect();
        prop_assert_eq!(lowest.map(|one| one.label).collect::<Vec<_>>(), comms);
        let mut later = chart;
        later.leave_out_narrow(narrow);
        prop_assert_eq!(later, wide);

        if let Some(map) = heat_map(&sampled, &selection, n_slots) {
            prop_assert_eq!(map.cells.iter().map(|&n| u64::from(n)).sum::<u64>(), n_samples);
        }
        if let Some(lanes) = lanes(&sampled, &selection, n_slots) {
            let mut sums = BTreeMap::new();
            for lane in &lanes.lanes {
                prop_assert_eq!(lane.slots.iter().sum::<u64>(), lane.weight);
                let comm = sampled.threads[lane.thread as usize].comm;
                let comm = profile.strings.of(comm).into_raw().to_owned();
                add(&mut sums, vec![comm], (lane.samples, lane.weight));
            }
            prop_assert_eq!(sums, by_comm);
        }
    }
}

//! What a page says where no script may run: the top functions of the first event, as text.

use foldhash::{HashMap, HashMapExt};
use rprof_profile::{FrameId, Node, SampledProfile};
use rprof_untrusted::printable;
use std::fmt::Write;

/// Functions of the table.
const ROWS: usize = 20;

/// Characters of a name; the end of a longer one is left out.
const NAME: usize = 100;

/// How many bytes the table has at most, before it is escaped: shares, names, and the line above.
pub(super) const MAX_LEN: usize = (ROWS + 2) * (4 * NAME + 40);

/// A function's samples, in the event's unit.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    own: u64,
    total: u64,
}

/// The functions with most samples of their own; nothing without any.
pub(super) fn table(sampled: &SampledProfile) -> String {
    let Some(event) = sampled.profile.events.first() else {
        return String::new();
    };
    let mut rows: Vec<(String, Sums)> = sums(sampled)
        .into_iter()
        .map(|(function, sums)| (name(sampled, function), sums))
        .collect();
    rows.sort_by(|(name, one), (other, two)| {
        (two.own, two.total)
            .cmp(&(one.own, one.total))
            .then_with(|| name.cmp(other))
    });
    if rows.is_empty() || event.weight == 0 {
        return String::new();
    }
    let share = |weight: u64| 100.0 * weight as f64 / event.weight as f64;
    let mut text = format!(
        "Children     Self  Function ({})\n",
        cut(&printable(&event.name.shown()))
    );
    for (name, Sums { own, total }) in rows.into_iter().take(ROWS) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:7.2}%  {:6.2}%  {name}", share(total), share(own));
    }
    text
}

/// By function, each sample once.
fn sums(sampled: &SampledProfile) -> HashMap<FrameId, Sums> {
    let nodes = sampled.stacks.nodes();
    let mut weights = vec![0u64; nodes.len()];
    for sample in sampled.samples.iter().filter(|sample| sample.event == 0) {
        if let Some(stack) = sample.stack {
            let sum = &mut weights[stack as usize];
            *sum = sum.saturating_add(sample.weight);
        }
    }
    let frames = &sampled.profile.frames;
    let functions: Vec<FrameId> = nodes
        .iter()
        .map(|node| frames.function_of(node.frame))
        .collect();
    let mut sums: HashMap<FrameId, Sums> = HashMap::new();
    for (function, weight) in functions.iter().zip(&weights) {
        let own = &mut sums.entry(*function).or_default().own;
        *own = own.saturating_add(*weight);
    }
    // Callees come after their callers.
    for idx in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[idx].parent {
            let (here, parent) = (weights[idx], parent as usize);
            weights[parent] = weights[parent].saturating_add(here);
        }
    }
    for idx in outermost(nodes, &functions) {
        let total = &mut sums.entry(functions[idx]).or_default().total;
        *total = total.saturating_add(weights[idx]);
    }
    sums.retain(|_, sums| sums.total > 0);
    sums
}

/// Nodes whose function is not further out, too: a function that calls itself has its samples once.
fn outermost(nodes: &[Node], functions: &[FrameId]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut todo = Vec::new();
    for (idx, node) in nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent as usize].push(idx),
            None => todo.push((idx, true)),
        }
    }
    let mut on_path: HashMap<FrameId, u32> = HashMap::new();
    let mut found = Vec::new();
    while let Some((idx, is_entered)) = todo.pop() {
        let depth = on_path.entry(functions[idx]).or_default();
        if !is_entered {
            *depth -= 1;
            continue;
        }
        if *depth == 0 {
            found.push(idx);
        }
        *depth += 1;
        todo.push((idx, false));
        todo.extend(children[idx].iter().map(|&child| (child, true)));
    }
    found
}

/// With its image, as far as there is room.
fn name(sampled: &SampledProfile, function: FrameId) -> String {
    let (frames, strings) = (&sampled.profile.frames, &sampled.profile.strings);
    let mut name = String::new();
    frames.label_parts(function, strings).append_to(&mut name);
    let image = strings.of(frames.of(function).image).into_raw();
    cut(&printable(&format!("{name} [{image}]")))
}

/// A name without its end, if it is long.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::testing;

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        let samples = [(1, "a", "main;f;g;f", 3), (2, "b", "main;f", 1)];
        let text = table(&testing::sampled(&samples));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("Children     Self  Function"),
            "{text}"
        );
        let words: Vec<Vec<&str>> = lines[1..]
            .iter()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(words[0][..3], ["100.00%", "100.00%", "f"]);
        assert_eq!(words[1][..3], ["100.00%", "0.00%", "main"]);
        assert_eq!(words[2][..3], ["75.00%", "0.00%", "g"]);
        assert_eq!(table(&SampledProfile::default()), "");
    }
}

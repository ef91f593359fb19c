//! Percentages sum to what they claim: those of rows to 100 %, with those that are not shown; a row's own are part of
//! those with callees, and a node's branches part of the node.

use serde_json::Value;

/// The percentages that begin a line.
fn shares(line: &str) -> Vec<f64> {
    let words = line.split_whitespace();
    let shares = words.map_while(|word| word.strip_suffix('%')?.parse().ok());
    shares.collect()
}

/// What is wrong with the sum of a report's tables: the rows' shares and `# 13 more rows, 4.62%`.
pub(super) fn wrong_sums(report: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for table in report.split("# Samples: ").skip(1) {
        let rows = table.lines().filter(|line| line.starts_with(' '));
        let mut all: Vec<f64> = rows
            .filter_map(|line| shares(line).first().copied())
            .collect();
        let more = table.lines().find_map(|line| {
            let (_, share) = line
                .split_once(" more rows, ")
                .or_else(|| line.split_once(" more row, "))?;
            share.strip_suffix('%')?.parse::<f64>().ok()
        });
        all.extend(more);
        let sum: f64 = all.iter().sum();
        // Each is rounded to two digits.
        let rounded = 0.005 * all.len() as f64 + 1e-6;
        if !all.is_empty() && (sum - 100.0).abs() > rounded {
            wrong.push(format!("{sum}% in {} rows of\n{table}", all.len()));
        }
    }
    wrong
}

/// Rows whose own share is more than that with what they call.
pub(super) fn wrong_children(report: &str) -> Vec<String> {
    let rows = report.lines().filter(|line| line.starts_with(' '));
    // Events of a group come one by one, with callees and then without.
    let is_wrong = |line: &&str| {
        let shares = shares(line);
        let (all, own) = shares.split_at(shares.len() / 2);
        all.iter().zip(own).any(|(all, own)| all < own)
    };
    // Without stacks there are no such columns.
    let rows = rows.filter(|_| report.contains(" Children "));
    rows.filter(is_wrong).map(str::to_owned).collect()
}

/// Nodes whose branches are more than they are, of a report as JSON with trees.
pub(super) fn wrong_nodes(report: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(report).unwrap();
    let each = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let events = each(&report, "events");
    let mut wrong = Vec::new();
    for row in events.iter().flat_map(|event| each(event, "rows")) {
        let nodes = each(&row["tree"], "nodes");
        let weight = |node: &Value| node["weight"].as_u64().unwrap();
        let mut below = vec![0; nodes.len()];
        for node in &nodes {
            if let Some(parent) = node["parent"].as_u64() {
                below[usize::try_from(parent).unwrap()] += weight(node);
            }
        }
        let is_wrong = |(node, below): &(&Value, u64)| weight(node) < *below;
        let of_row = nodes.iter().zip(below).filter(is_wrong);
        wrong.extend(of_row.map(|(node, below)| format!("{node}: {below} below")));
    }
    wrong
}

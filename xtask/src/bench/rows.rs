//! Rows of a report's table as text to compare: percentages and cells, white space folded.

use std::collections::BTreeSet;

/// Rows of 0.1 % and more. Code without a name is left out: perf lists it by address, rprof by
/// image where stacks are counted.
pub(super) fn parse(table: &str) -> BTreeSet<String> {
    table.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<String> {
    if !line.starts_with("  ") || line.contains("--") && line.contains("%--") {
        return None;
    }
    let mut words = line.split_whitespace().peekable();
    let share: f64 = words.peek()?.strip_suffix('%')?.parse().ok()?;
    let row: Vec<&str> = words.collect();
    let row = row.join(" ");
    let mut parts = ["[.] ", "[k] "]
        .iter()
        .filter_map(|level| row.split_once(level));
    let (_, symbol) = parts.next()?;
    // Of address 0 there is no `0x`.
    let is_address = symbol.bytes().all(|byte| byte.is_ascii_hexdigit()) && symbol.len() == 16;
    let is_nameless = is_address || symbol.starts_with("0x") || symbol.ends_with("[unknown]");
    (share >= 0.1 && !is_nameless).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_from_trees_and_light_or_nameless_ones() {
        let table = "# Overhead\n    12.50%  sh   libc.so.6   [.] read  \n     0.05%  sh  sh  [.] main\n\
            \x20    1.00%  sh  sh  [.] 0x0000000000001234\n     1.00%  sh  [unknown]  [k] 0000000000000000\n            |--3.00%--main\n";
        let rows: Vec<_> = parse(table).into_iter().collect();
        assert_eq!(rows, ["12.50% sh libc.so.6 [.] read"]);
    }
}

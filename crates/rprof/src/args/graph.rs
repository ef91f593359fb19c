//! `-g` of readers: how the stacks below a row are written.

use rprof_profile::NodeKey;
use rprof_profile::view::Order;
use rprof_report::{Graph, NodeValue, PrintType};

/// perf's words, in its order: an abbreviation means the first word that starts with it.
const WORDS: &[(&str, Word)] = &[
    ("none", Word::None),
    ("graph", Word::Print(PrintType::Graph)),
    ("flat", Word::Print(PrintType::Flat)),
    ("fractal", Word::Print(PrintType::Fractal)),
    ("folded", Word::Print(PrintType::Folded)),
    ("caller", Word::Order(Order::Caller)),
    ("callee", Word::Order(Order::Callee)),
    ("function", Word::Key(NodeKey::Function)),
    ("address", Word::Key(NodeKey::Address)),
    ("srcline", Word::Key(NodeKey::Srcline)),
    ("branch", Word::Branch),
    ("percent", Word::Value(NodeValue::Percent)),
    ("period", Word::Value(NodeValue::Period)),
    ("count", Word::Value(NodeValue::Count)),
];

#[derive(Clone, Copy)]
enum Word {
    None,
    Print(PrintType),
    Order(Order),
    Key(NodeKey),
    /// A word of perf that rprof refuses.
    Branch,
    Value(NodeValue),
}

/// The value of `-g`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GraphWords {
    is_none: bool,
    order: Option<Order>,
    nodes: NodeKey,
    /// Whether the threshold is the user's.
    has_threshold: bool,
    graph: Graph,
}

impl Default for GraphWords {
    fn default() -> Self {
        Self {
            is_none: false,
            order: None,
            nodes: NodeKey::default(),
            has_threshold: false,
            graph: Graph::DEFAULT,
        }
    }
}

impl GraphWords {
    /// Words in any order, separated by commas: the first number is the threshold, the second the limit.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut words = Self::default();
        let mut n_numbers = 0;
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let known = WORDS.iter().find(|(known, _)| known.starts_with(word));
            match known {
                Some((_, Word::None)) => words.is_none = true,
                Some((_, Word::Print(print))) => words.graph.print = *print,
                Some((_, Word::Order(order))) => words.order = Some(*order),
                Some((_, Word::Value(value))) => words.graph.value = *value,
                Some((_, Word::Key(key))) => words.nodes = *key,
                Some((_, Word::Branch)) => {
                    return Err(
                        "call trees do not show branches: use rprof script -F +brstack".to_owned(),
                    );
                }
                None if n_numbers == 0 => {
                    words.graph.min_percent = parse_threshold(word)?;
                    words.has_threshold = true;
                    n_numbers += 1;
                }
                None => words.graph.print_limit = parse_limit(word)?,
            }
        }
        Ok(words)
    }

    /// The requested trees; as in perf, the default order depends on what rows count.
    pub(crate) fn graph(self, children: bool, inverted: bool) -> Option<Graph> {
        (!self.is_none).then_some(Graph {
            order: self.order(children, inverted),
            ..self.graph
        })
    }

    /// Whether a threshold was given.
    pub(crate) fn has_threshold(self) -> bool {
        self.has_threshold
    }

    /// Whether `none` was given.
    pub(crate) fn is_none(self) -> bool {
        self.is_none
    }

    /// The order of trees, also with `none`.
    pub(crate) fn order(self, children: bool, inverted: bool) -> Order {
        let default = if children {
            Order::Caller
        } else {
            Order::Callee
        };
        if inverted {
            Order::Caller
        } else {
            self.order.unwrap_or(default)
        }
    }

    /// The key by which nodes are merged.
    pub(crate) fn nodes(self) -> NodeKey {
        if self.is_none {
            NodeKey::Function
        } else {
            self.nodes
        }
    }
}

fn parse_threshold(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!(
            "'{word}' is neither a threshold in percent nor one of graph, fractal, flat, folded, none, caller, \
             callee, function, address, srcline, percent, period, count"
        )),
    }
}

/// As in perf, 0 means no limit.
fn parse_limit(word: &str) -> Result<Option<usize>, String> {
    match word.parse::<usize>() {
        Ok(limit) => Ok((limit > 0).then_some(limit)),
        Err(_) => Err(format!(
            "'{word}' is not a number of branches (the threshold comes first)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(text: &str, children: bool) -> Option<Graph> {
        GraphWords::parse(text).unwrap().graph(children, false)
    }

    #[test]
    fn graph_words_come_in_any_order() {
        let callee = Graph {
            order: Order::Callee,
            min_percent: 2.0,
            ..Graph::DEFAULT
        };
        assert_eq!(graph("2,callee", true), Some(callee));
        assert_eq!(graph("graph,2,callee,function", true), Some(callee));
        assert_eq!(graph("none", true), None);
        assert_eq!(graph("", true).unwrap().order, Order::Caller);
        assert_eq!(graph("", false).unwrap().order, Order::Callee);
        let all = Graph {
            print: PrintType::Fractal,
            order: Order::Caller,
            min_percent: 1.5,
            print_limit: Some(7),
            value: NodeValue::Count,
            max_lines: Graph::DEFAULT.max_lines,
        };
        assert_eq!(graph("count,1.5,caller,7,fractal", true), Some(all));
        assert_eq!(graph("1,0", true).unwrap().print_limit, None);
        for bad in ["upwards", "-1", "101", "NaN", "1,x", "branch"] {
            assert!(GraphWords::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn words_are_cut_as_perf_cuts_them() {
        for (short, long) in [
            ("f", "flat"),
            ("c", "caller"),
            ("co", "count"),
            ("p", "percent"),
            ("peri", "period"),
        ] {
            assert_eq!(GraphWords::parse(short), GraphWords::parse(long), "{short}");
        }
    }

    #[test]
    fn inverted_is_from_callers_whatever_else_is_said() {
        let words = GraphWords::parse("callee").unwrap();
        assert_eq!(words.graph(false, true).unwrap().order, Order::Caller);
    }
}

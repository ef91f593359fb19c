//! Expressions, their values, and what is said of broken ones.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const EVENTS: &[&str] = &[
    "instructions",
    "cycles",
    "cycles:u",
    "branches",
    "branch-misses",
    "L1-dcache-loads",
    "cpu/event=0x3c,umask=0/",
];

fn names(metrics: &[DefinedMetric]) -> Names<'_> {
    Names {
        metrics,
        is_event: &|name| EVENTS.contains(&name),
        n_cpus: 4,
    }
}

fn parse(text: &str) -> Result<DefinedMetric, MetricError> {
    DefinedMetric::parse(text, names(&[]))
}

/// Its value, with counts of 100, 50, 0 for the events that it names, in their order.
fn value(expression: &str) -> Result<f64, NoValue> {
    let metric = parse(&format!("m={expression}")).unwrap();
    metric.value(&|nth| [100.0, 50.0, 0.0].get(nth).copied(), 2.0)
}

#[test]
fn arithmetic_is_that_of_perf() {
    for (expression, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 2 - 3", 5.0),
        ("-2 * -3", 6.0),
        ("7 % 4", 3.0),
        ("1 < 2", 1.0),
        ("1 > 2", 0.0),
        ("6 & 3 | 8 ^ 1", 11.0),
        ("1 + 1 < 3", 1.0),
        ("0x10 + 1e2 + .5", 116.5),
        ("min(3, 2) + max(3, 2)", 5.0),
        ("d_ratio(6, 3) + d_ratio(1, 0)", 2.0),
        ("1 if 0 else 2", 2.0),
        ("1 if 2 > 1 else 2", 1.0),
        ("1 if 0 else 2 if 0 else 3", 3.0),
        ("instructions / cycles", 2.0),
        ("instructions/cycles:u", 2.0),
        ("branch-misses / branches", 2.0),
        ("branches-cycles", 50.0),
        ("branch\\-misses-branches", 50.0),
        ("L1-dcache-loads-cycles", 50.0),
        ("cpu@event=0x3c,umask=0@ * 2", 200.0),
        ("cpu@event\\=0x3c\\,umask\\=0@ * 2", 200.0),
        ("instructions / duration_time", 50.0),
        ("#num_cpus", 4.0),
        ("max(instructions, 1) / max(1, cycles)", 2.0),
    ] {
        assert_eq!(value(expression), Ok(expected), "{expression}");
    }
}

#[test]
fn what_has_no_value_says_why() {
    assert_eq!(value("1 / 0"), Err(NoValue::DividedByZero));
    assert_eq!(value("1 % (1 - 1)"), Err(NoValue::DividedByZero));
    let all = "instructions * cycles / branches";
    assert_eq!(value(all), Err(NoValue::DividedByZero));
    let missing = "instructions + cycles + branches + cycles:u";
    assert_eq!(value(missing), Err(NoValue::NotCounted));
    for text in ["1e308 * 1e308", "1e308 * 10 - 1e308 * 10"] {
        assert_eq!(value(text), Err(NoValue::NotFinite), "{text}");
    }
    // What is not taken is not computed.
    assert_eq!(value("1 / 0 if 0 else 5"), Ok(5.0));
}

#[test]
fn errors_say_the_column_and_what_was_expected() {
    for (text, expected) in [
        (
            "m=",
            "column 3: expected a number, an event or '(', found the end",
        ),
        (
            "m=1 +",
            "column 6: expected a number, an event or '(', found the end",
        ),
        ("m=(1 + 2", "column 9: expected ')', found the end"),
        (
            "m=1 2",
            "column 5: expected an operator or the end, found 2",
        ),
        ("m=min(1)", "column 8: expected ',', found ')'"),
        ("m=min 1", "column 7: expected '(', found 1"),
        ("m=1 if 2", "column 9: expected 'else', found the end"),
        (
            "m=* 2",
            "column 3: expected a number, an event or '(', found '*'",
        ),
        (
            "m=cycels / 2",
            "column 3: 'cycels' is not an event, a metric or a function",
        ),
        ("m=1 $ 2", "column 5: '$' is not allowed in an expression"),
        ("m=12ab", "column 3: '12ab' is not a number"),
        ("m=ä", "column 3: '\\u{e4}' is not allowed in an expression"),
        (
            "m=#smt",
            "column 3: '#smt' is not an event, a metric or a function",
        ),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("metric 'm', {expected}"), "{text}");
    }
    for text in ["cycles", "=1", "a b=1", ""] {
        assert!(
            matches!(parse(text), Err(MetricError::NoName { .. })),
            "{text}"
        );
    }
}

#[test]
fn nothing_is_too_deep() {
    for (open, close) in [("(", ")"), ("-", ""), ("min(1,", ")"), ("1 if 1 else ", "")] {
        let text = format!("m={}1{}", open.repeat(100_000), close.repeat(100_000));
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("more than 100 levels"), "{error}");
    }
    let long = vec!["1"; 2_000].join(" + ");
    assert_eq!(value(&long), Ok(2_000.0));
}

#[test]
fn nothing_is_too_long_also_by_what_it_names() {
    let text = format!("m={}", vec!["1"; 100_000].join("+"));
    let error = parse(&text).unwrap_err().to_string();
    assert!(error.ends_with("more than 4096 tokens"), "{error}");
    // Each is twice the one before.
    let mut file = "m0=cycles\n".to_owned();
    for nth in 1..64 {
        file.push_str(&format!("m{nth}=m{0}+m{0}\n", nth - 1));
    }
    let error = DefinedMetric::parse_file(&file, names(&[])).unwrap_err();
    assert!(error.to_string().contains("tokens"), "{error}");
}

#[test]
fn metrics_of_a_file_may_name_those_before() {
    let text = "# shares\nipc = instructions / cycles\n\n  half = ipc / 2 + cycles\n";
    let metrics = DefinedMetric::parse_file(text, names(&[])).unwrap();
    let events: Vec<_> = metrics
        .iter()
        .map(|metric| metric.events.join(","))
        .collect();
    assert_eq!(events, ["instructions,cycles", "instructions,cycles"]);
    let half = metrics[1].value(&|nth| [100.0, 50.0].get(nth).copied(), 1.0);
    assert_eq!(half, Ok(51.0));
    let broken = DefinedMetric::parse_file("a=1\nb=ipc\n", names(&[])).unwrap_err();
    assert_eq!(
        broken.to_string(),
        "line 2: metric 'b', column 3: 'ipc' is not an event, a metric or a function"
    );
}

/// What definitions are made of, and what only looks like it.
const TOKENS: &[&str] = &[
    "m0",
    "m1",
    "cycles",
    "cycles:u",
    "L1-dcache-loads",
    "cpu@event=0x3c,umask=0@",
    "unknown",
    "duration_time",
    "#num_cpus",
    "#nothing",
    "0",
    "1",
    "2.5",
    "1e308",
    "1e999",
    "0x",
    "0xffffffffffffffff",
    ".",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    ">",
    "&",
    "^",
    "|",
    "(",
    ")",
    ",",
    " if ",
    " else ",
    "if",
    "min(",
    "max(",
    "d_ratio(",
    "\\",
    "@",
    "#",
    " ",
    "=",
    "\n",
    "\u{e9}",
    "\0",
];

/// Definitions, a line each, of any tokens.
fn any_file() -> impl Strategy<Value = String> {
    let line = vec(proptest::sample::select(TOKENS), 0..60);
    let lines = vec(line.prop_map(|tokens| tokens.concat()), 1..6);
    lines.prop_map(|lines| {
        let line = |(nth, line): (usize, &String)| format!("m{nth}={line}\n");
        lines.iter().enumerate().map(line).collect()
    })
}

/// Expressions that can be read: operands and operators in turns, in parentheses or not.
fn any_expression() -> impl Strategy<Value = String> {
    let operands = [
        "cycles",
        "branches",
        "duration_time",
        "0",
        "-1",
        "1e308",
        "0xffff",
        "#num_cpus",
    ];
    let operand = proptest::sample::select(operands.to_vec()).prop_map(str::to_owned);
    operand.prop_recursive(6, 64, 3, |inner| {
        let operators = ["+", "-", "*", "/", "%", "<", ">", "&", "^", "|"];
        let two = (
            inner.clone(),
            proptest::sample::select(operators.to_vec()),
            inner.clone(),
        );
        let called = (
            proptest::sample::select(vec!["min", "max", "d_ratio"]),
            inner.clone(),
            inner.clone(),
        );
        prop_oneof![
            two.prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
            called.prop_map(|(name, a, b)| format!("{name}({a}, {b})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            inner.prop_map(|a| format!("-{a}")),
        ]
    })
}

/// How many expressions lie within each other.
fn depth(expression: &Expression) -> usize {
    let parts = match expression {
        Expression::Number(_) | Expression::Seconds | Expression::Event(_) => 0,
        Expression::Negative(of) => depth(of),
        Expression::Two(_, both) => depth(&both.0).max(depth(&both.1)),
        Expression::If(all) => depth(&all.0).max(depth(&all.1)).max(depth(&all.2)),
    };
    parts + 1
}

proptest! {
    #[test]
    fn any_tokens_are_read_or_refused(file in any_file(), count in any::<f64>(), seconds in any::<f64>()) {
        if let Ok(metrics) = DefinedMetric::parse_file(&file, names(&[])) {
            for metric in metrics {
                prop_assert!(depth(&metric.expression) <= metric.n_tokens);
                let _ = metric.value(&|nth| (nth < metric.events.len()).then_some(count), seconds);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "m=\\PC{0,40}") {
        let _ = parse(&text);
    }

    #[test]
    fn what_is_well_formed_is_read_and_computed(text in any_expression(), count in any::<f64>()) {
        let metric = parse(&format!("m={text}")).unwrap();
        let n_events = metric.events.len();
        let value = metric.value(&|nth| (nth < n_events).then_some(count), 0.0);
        prop_assert_ne!(value, Err(NoValue::NotCounted));
        prop_assert!(value.is_err() || value.is_ok_and(f64::is_finite));
        let none = metric.value(&|_| None, 0.0);
        prop_assert!(n_events > 0 || none != Err(NoValue::NotCounted));
    }
}

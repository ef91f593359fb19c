//! The queries of `crates/export/sql` by DuckDB, Spark and ClickHouse, each compared with what rprof says.

mod tables;

use super::parquet::Sums;
use crate::common::has;
use serde_json::{Value, json};
use tables::{Answers, HUGE, LATER, QUERIES, Tables};

/// A function of an answer, as a report calls it: after its event come its name, its level, and whether it is inlined.
fn symbol(row: &Value) -> String {
    let sign = if row[2] == "kernel" { 'k' } else { '.' };
    let function = row[1].as_str().unwrap_or("[unknown]");
    let inlined = if row[3] == true { " (inlined)" } else { "" };
    format!("[{sign}] {function}{inlined}")
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    let number = found.as_f64().expect("a number");
    assert!((number - expected).abs() < 1e-6, "{number}: {expected}");
}

/// The weight of a function, of all.
fn share(sums: &Sums, symbol: &str) -> f64 {
    let total: u64 = sums.values().map(|sum| sum.1).sum();
    sums[symbol].1 as f64 / total as f64
}

/// The row that begins so.
#[track_caller]
fn row<'a>(rows: &'a [Value], start: &[Value]) -> &'a Value {
    let begins = |row: &&Value| row.as_array().unwrap().starts_with(start);
    rows.iter()
        .find(begins)
        .unwrap_or_else(|| panic!("{start:?}: {rows:?}"))
}

#[track_caller]
fn check(engine: &str, module: &str) {
    let tables = Tables::write();
    let Some(answers) = tables.ask(engine, module) else {
        return;
    };
    assert_eq!(answers.len(), QUERIES.len());
    check_functions(&tables, &answers);
    check_stacks(&tables, &answers);
    check_recordings(&answers);
    check_builds(&tables, &answers);
    check_seconds(&answers["seconds"]);
    check_edges(&answers);
}

/// Of all recordings, by event.
#[track_caller]
fn check_functions(tables: &Tables, answers: &Answers) {
    let mut expected = Sums::new();
    for sums in [
        tables.spin.functions(&[]),
        tables.rebuilt.functions(&LATER),
        tables.dwarf.functions(&[]),
    ] {
        for (symbol, (samples, weight)) in sums {
            let sum = expected.entry(symbol).or_default();
            *sum = (sum.0 + samples, sum.1 + weight);
        }
    }
    let (clock, others): (Vec<Value>, Vec<Value>) = answers["functions"]
        .iter()
        .cloned()
        .partition(|row| row[0] == "cpu-clock:u");
    let found = clock.iter().map(|row| {
        let sum = (row[4].as_u64().unwrap(), row[5].as_u64().unwrap());
        (symbol(row), sum)
    });
    assert_eq!(found.collect::<Sums>(), expected);
    let heaviest = expected.iter().max_by_key(|(_, sum)| sum.1).unwrap().0;
    assert_eq!(symbol(&clock[0]), *heaviest);
    for row in &clock {
        near(&row[6], 100.0 * share(&expected, &symbol(row)));
    }
    let is_huge = |row: &Value| row[0] == "huge";
    let (huge, others): (Vec<Value>, Vec<Value>) = others.into_iter().partition(is_huge);
    assert_eq!(huge.len(), 1, "{huge:?}");
    let weight = huge[0][5].as_f64().unwrap();
    assert!((weight / HUGE as f64 - 2.0).abs() < 1e-9, "{huge:?}");
    near(&huge[0][6], 100.0);
    let others: Vec<String> = others.iter().map(Value::to_string).collect();
    let start = |row: &String| row.rsplit_once(',').unwrap().0.to_owned();
    let others: Vec<String> = others.iter().map(start).collect();
    assert_eq!(
        others,
        [
            r#"["cpu-clock",null,"kernel",false,40,4000000000"#,
            r#"["cpu-clock",null,"user",false,40,4000000000"#,
            r#"["cycles",null,"user",false,5,500000000"#,
            r#"["offcpu-time",null,"user",false,2,3000000000"#,
            r#"["page-faults",null,"user",false,2,2"#,
        ]
    );
}

/// Of one machine.
#[track_caller]
fn check_stacks(tables: &Tables, answers: &Answers) {
    let fields = [
        "--children",
        "--format",
        "csv",
        "-F",
        "overhead_children,sym",
    ];
    let report = tables.spin.read("report", &fields);
    let mut shares: Vec<&str> = report.lines().skip(1).collect();
    shares.sort_unstable();
    let share = |row: &Value| format!("{:.2},{}", row[6].as_f64().unwrap(), symbol(row));
    let mut by_children: Vec<String> = answers["children"].iter().map(share).collect();
    by_children.sort_unstable();
    assert_eq!(by_children, shares);
    let line = |row: &Value| format!("{} {}\n", row[1].as_str().unwrap(), row[2]);
    let folded: String = answers["stacks"].iter().map(line).collect();
    assert_eq!(folded, tables.spin.read("flame", &["--folded"]));
    assert_eq!(
        answers["callers"],
        [json!(["cpu-clock:u", "work", 63, 63_063_063])]
    );
}

#[track_caller]
fn check_recordings(answers: &Answers) {
    let losses = &answers["losses"];
    let vm = row(losses, &[json!("vm")]);
    assert_eq!(
        vm.as_array().unwrap()[1..5],
        json!(["cpu-clock:u", 1, 212, 0]).as_array().unwrap()[..]
    );
    near(&vm[5], 0.0);
    // Two recordings of a machine without a name.
    let nameless = row(losses, &[Value::Null, json!("page-faults")]);
    assert_eq!((&nameless[2], &nameless[3]), (&json!(2), &json!(2)));
    assert_eq!(losses.len(), 8, "{losses:?}");
    let spans = &answers["spans"];
    let start = |row: &Value, ms: f64, rest: [Value; 3]| {
        let row = row.as_array().unwrap();
        assert_eq!(row[..3], [json!("cycles"), json!("request"), Value::Null]);
        assert_eq!((&row[4], &row[7..10]), (&json!(10), &rest[..]));
        near(&row[6], ms);
        near(&row[10], 100.0);
        row[5].as_i64().unwrap()
    };
    let starts = [
        start(
            &spans[0],
            400.0,
            [json!(3), json!(300_000_000), Value::Null],
        ),
        start(
            &spans[1],
            200.0,
            [json!(1), json!(100_000_000), Value::Null],
        ),
    ];
    assert_eq!(starts, [50_000_000_000, 51_000_000_000]);
    assert_eq!(spans.len(), 2, "{spans:?}");
    let waits = &answers["waits"];
    assert_eq!(
        waits[0].as_array().unwrap()[..4],
        json!([null, "blocked", "unknown", 2]).as_array().unwrap()[..]
    );
    near(&waits[0][4], 3.0);
    assert_eq!(waits.len(), 1, "{waits:?}");
    // 4 s of CPU time in each of two recordings of 4 s, half of it the kernel's: the time between them does not count.
    let cores = &answers["cores"];
    let kernel = cores.iter().filter(|row| row[0].is_null());
    let kernel: f64 = kernel.map(|row| row[3].as_f64().unwrap()).sum();
    assert!((kernel - 1.0).abs() < 1e-6, "{cores:?}");
    row(cores, &[json!("07"), json!("cpu-clock:u"), json!("helper")]);
}

/// Before and after, and by release: what changed from one build to the other.
#[track_caller]
fn check_builds(tables: &Tables, answers: &Answers) {
    let (before, after) = (tables.spin.functions(&[]), tables.rebuilt.functions(&LATER));
    let n = |sums: &Sums| sums.values().map(|sum| sum.0).sum::<u64>() as f64;
    let variance = |share: f64, n: f64| share * (1.0 - share) / n;
    let compared = &answers["builds"];
    assert_eq!(compared.len(), 2, "{compared:?}");
    for (function, symbol) in [("helper", "[.] helper (inlined)"), ("cold", "[.] cold")] {
        let (old, new) = (share(&before, symbol), share(&after, symbol));
        let row = row(compared, &[json!("cpu-clock:u"), json!(function)]);
        near(&row[3], 100.0 * old);
        near(&row[4], 100.0 * new);
        near(&row[5], 100.0 * (new - old));
        let deviation = variance(old, n(&before)) + variance(new, n(&after));
        near(&row[6], 196.0 * deviation.sqrt());
        near(&row[7], (new - old) / deviation.sqrt());
    }
    let releases = &answers["releases"];
    let cold = |release: u64| {
        row(
            releases,
            &[
                json!("cpu-clock:u"),
                json!("cold"),
                json!("user"),
                json!(release),
            ],
        )
    };
    let (old, new) = (share(&before, "[.] cold"), share(&after, "[.] cold"));
    assert!(cold(1)[4].as_str().unwrap().starts_with("49d8c258"));
    near(&cold(1)[6], 100.0 * old);
    assert!(cold(1)[7].is_null());
    assert!(cold(2)[4].as_str().unwrap().starts_with("f0d8c258"));
    near(&cold(2)[6], 100.0 * new);
    near(&cold(2)[7], 100.0 * (new - old));
    assert!(cold(1)[5].as_i64() < cold(2)[5].as_i64());
    let deviation = variance(old, n(&before)) + variance(new, n(&after));
    near(&cold(2)[8], (new - old) / deviation.sqrt());
}

/// Half of each side is the kernel's. Before, it is all of a second or nothing: noise of the seconds counts. After,
/// every second is the same, and the noise is that of 40 samples.
#[track_caller]
fn check_seconds(rows: &[Value]) {
    let row = row(rows, &[json!("cpu-clock"), Value::Null, json!("kernel")]);
    near(&row[3], 50.0);
    near(&row[4], 50.0);
    let of_seconds = 4.0 / 3.0 * (4.0 * 5.0 * 5.0) / (40.0 * 40.0);
    let of_samples = 0.5 * 0.5 / 40.0;
    near(&row[6], 196.0 * f64::sqrt(of_seconds + of_samples));
    near(&row[7], 0.0);
    assert_eq!(rows.len(), 2, "fewer than 10 page faults: {rows:?}");
}

/// A function with all samples of both sides has no noise to divide by; a side without recordings compares with nothing.
#[track_caller]
fn check_edges(answers: &Answers) {
    let whole = &answers["whole"];
    assert_eq!(whole.len(), 1, "{whole:?}");
    assert_eq!(whole[0][0], "huge");
    for (column, expected) in [(3, 100.0), (4, 100.0), (5, 0.0), (6, 0.0)] {
        near(&whole[0][column], expected);
    }
    assert!(whole[0][7].is_null(), "{whole:?}");
    assert!(answers["misspelt"].is_empty());
}

#[test]
fn duckdb_answers_what_rprof_says() {
    check("duckdb", "duckdb");
}

#[test]
fn spark_answers_what_rprof_says() {
    if has("java", "default-jdk-headless") {
        check("spark", "pyspark");
    }
}

#[test]
fn clickhouse_answers_what_rprof_says() {
    check("clickhouse", "chdb");
}

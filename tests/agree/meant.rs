//! Differences from perf that are meant, by what DIFFERENCES.md says of them: rows that may differ.

use super::filters::{LEAST, Row, rows_from};

/// Rows of one share that are the same, however each tool names them.
struct Named {
    says: &'static str,
    /// Of the cells of our row and of perf's.
    is_same: fn(&str, &str) -> bool,
}

const NAMED: &[Named] = &[
    Named {
        says: "**PLT stubs** are found by the slot that they jump through.",
        is_same: |ours, perfs| ours.contains("@plt") && perfs.contains("@plt"),
    },
    Named {
        says: "**Suffixes of Rust functions** (`.warm`, `.llvm.123`) are part of their names.",
        is_same: |ours, perfs| {
            let suffix = ours.strip_prefix(perfs);
            suffix.is_some_and(|suffix| suffix.starts_with('.'))
        },
    },
    Named {
        says: "**All functions of the symbol table have their names.**",
        is_same: |ours, perfs| {
            let (own, perf) = (at_symbol(ours), at_symbol(perfs));
            own.zip(perf)
                .is_some_and(|(own, perf)| own.0 == perf.0 && perf.1.starts_with("0x"))
        },
    },
    Named {
        says: "**Of several names of one piece of code, the longest in the file**",
        is_same: |ours, perfs| {
            let (own, perf) = (at_symbol(ours), at_symbol(perfs));
            let is_merged = ours.contains(" libLLVM") || ours.contains(" librustc_driver");
            is_merged && own.zip(perf).is_some_and(|(own, perf)| own.0 == perf.0)
        },
    },
];

/// What stands before a symbol, and the symbol: images may be in brackets, too (`[vdso]`).
fn at_symbol(cells: &str) -> Option<(&str, &str)> {
    let mut levels = ["[.] ", "[k] "].iter();
    levels.find_map(|level| cells.split_once(level))
}

/// Rows of callers that perf may have, or be without.
struct OfCallers {
    says: &'static str,
    is_of: fn(&str) -> bool,
}

const OF_CALLERS: &[OfCallers] = &[
    OfCallers {
        says: "**Addresses without a name and FDE count by image in stacks** (`[unknown]`)",
        is_of: |cells| cells.contains("[unknown]") || cells.contains("] 0"),
    },
    OfCallers {
        says: "**Return addresses are looked up one byte before**",
        is_of: |cells| {
            let is_beginning = cells.ends_with("_start") || cells.ends_with("_dl_start_user");
            is_beginning || cells.contains(" [vdso] ")
        },
    },
];

/// Whether a row of callers may differ.
pub(super) fn is_of_callers(row: &Row) -> bool {
    OF_CALLERS.iter().any(|meant| (meant.is_of)(&row.1))
}

/// Takes away the rows that are the same by other names.
pub(super) fn take_named(ours: &mut Vec<Row>, theirs: &mut Vec<Row>) {
    ours.retain(|own| {
        let is_same = |perfs: &Row| {
            let mut named = NAMED.iter();
            own.0 == perfs.0 && named.any(|meant| (meant.is_same)(&own.1, &perfs.1))
        };
        let equal = theirs.iter().position(|perfs| own == perfs);
        match equal.or_else(|| theirs.iter().position(is_same)) {
            Some(at) => {
                theirs.remove(at);
                false
            }
            None => true,
        }
    });
}

const JOINED: &str = "**Functions of one name in one image are one row**";

/// Takes away rows of functions of one name, which perf has several of, however small each is: some may be without the
/// name.
pub(super) fn take_joined(ours: &mut Vec<Row>, theirs: &mut Vec<Row>) {
    ours.retain(|own| {
        let (same, others) = theirs
            .iter()
            .cloned()
            .partition::<Vec<_>, _>(|perfs| is_text_same(&own.1, &perfs.1));
        let is_sum =
            same.len() > 1 && is_sum_of(own, &same) || is_rest_nameless(own, &same, &others);
        if is_sum {
            *theirs = others;
        }
        !is_sum
    });
}

/// Whether what our row has beyond perf's can be of addresses in the same image that have no name with perf. Rows that
/// have other columns than the share are not taken for that.
fn is_rest_nameless(own: &Row, same: &[Row], others: &[Row]) -> bool {
    let share = |row: &Row| row.0.parse().unwrap_or(f64::NAN);
    let named: f64 = same.iter().map(share).sum();
    let of_image = |row: &&Row| {
        let (own, perfs) = (at_symbol(&own.1), at_symbol(&row.1));
        own.zip(perfs)
            .is_some_and(|(own, perfs)| own.0 == perfs.0 && perfs.1.starts_with("0x"))
    };
    let nameless: f64 = others.iter().filter(of_image).map(share).sum();
    let beyond = share(own) - named;
    !same.is_empty() && beyond > 0.0 && beyond <= nameless + 0.01
}

/// Whether the cells differ in nothing but numbers.
fn is_text_same(own: &str, perfs: &str) -> bool {
    let texts = |cells: &str| -> Vec<Option<String>> {
        let text = |cell: &str| number(cell).is_none().then(|| cell.to_owned());
        cells.split(' ').map(text).collect()
    };
    texts(own) == texts(perfs)
}

/// Of a count or a percentage.
fn number(cell: &str) -> Option<f64> {
    cell.trim_end_matches('%').parse().ok()
}

/// Whether each number of our row is the sum of perf's, or all are the same: an id is not added up.
fn is_sum_of(own: &Row, perfs: &[Row]) -> bool {
    // Each is rounded.
    let most = perfs.len() as f64 * 0.01;
    let numbers = |row: &Row| -> Vec<f64> {
        let cells = row.1.split(' ').filter_map(number);
        row.0.parse().into_iter().chain(cells).collect()
    };
    let parts: Vec<Vec<f64>> = perfs.iter().map(numbers).collect();
    numbers(own).into_iter().enumerate().all(|(at, number)| {
        let sum: f64 = parts.iter().map(|part| part[at]).sum();
        (sum - number).abs() <= most || at > 0 && parts.iter().all(|part| part[at] == number)
    })
}

/// The rows that [`take_near`] needs: the counterpart of a row just above [`LEAST`] may be just below.
pub(super) const NEAR_LEAST: f64 = LEAST * 0.95;

/// Takes away rows whose shares are of totals that differ by a few samples: those in stubs have no name with perf, and
/// count for nothing where all without a name are left out. Smaller ones than [`LEAST`] need no counterpart.
pub(super) fn take_near(ours: &mut Vec<Row>, theirs: &mut Vec<Row>) {
    let share = |row: &Row| row.0.parse::<f64>().unwrap();
    ours.retain(|own| {
        let is_near = |perfs: &Row| {
            own.1 == perfs.1 && (share(own) - share(perfs)).abs() <= 0.01 + share(own) * 0.01
        };
        match theirs.iter().position(is_near) {
            Some(at) => {
                theirs.remove(at);
                false
            }
            None => true,
        }
    });
    for rows in [ours, theirs] {
        rows.retain(|row| share(row) >= LEAST);
    }
}

#[test]
fn differences_that_are_meant_are_listed() {
    let listed = include_str!("../../crates/DIFFERENCES.md");
    let listed = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = NAMED.iter().map(|meant| meant.says);
    let others = OF_CALLERS.iter().map(|meant| meant.says).chain([JOINED]);
    for says in named.chain(others) {
        assert!(listed.contains(says), "{says}");
    }
}

#[test]
fn names_that_perf_has_not_are_meant_of_every_image() {
    let row = |share: &str, cells: &str| (share.to_owned(), cells.to_owned());
    let mut ours = vec![
        row("1.22", "program [vdso] [.] __vdso_clock_gettime"),
        row("2.00", "program libc.so.6 [.] write"),
    ];
    let mut theirs = vec![
        row("1.22", "program [vdso] [.] 0x0000000000000be1"),
        row("2.00", "program libm.so.6 [.] 0x0000000000000be1"),
    ];
    take_named(&mut ours, &mut theirs);
    assert_eq!((ours.len(), theirs.len()), (1, 1));
    assert!(ours[0].1.contains("libc"));
}

#[test]
fn functions_of_one_name_are_the_sum_of_perfs() {
    let row = |share: &str, cells: &str| (share.to_owned(), cells.to_owned());
    let parts = [
        row("0.60", "2 900 0 [k] twice"),
        row("1.25", "4 1900 0 [k] twice"),
    ];
    let left = |own: Row| {
        let (mut ours, mut theirs) = (vec![own], parts.to_vec());
        take_joined(&mut ours, &mut theirs);
        (ours.len(), theirs.len())
    };
    assert_eq!(left(row("1.85", "6 2800 0 [k] twice")), (0, 0));
    assert_eq!(left(row("1.85", "6 2801 0 [k] twice")), (1, 2));
    assert_eq!(left(row("1.95", "6 2800 0 [k] twice")), (1, 2));
    assert_eq!(left(row("1.85", "6 2800 1 [k] twice")), (1, 2));
    assert_eq!(left(row("1.85", "6 2800 0 [k] other")), (1, 2));
}

#[test]
fn what_perf_has_no_name_for_may_be_part_of_a_row() {
    let row = |share: &str, cells: &str| (share.to_owned(), cells.to_owned());
    let left = |share: &str, nameless: &str| {
        let mut ours = vec![row(share, "cc1 cc1 [.] parse")];
        let mut theirs = vec![row("1.01", "cc1 cc1 [.] parse"), row("0.20", nameless)];
        take_joined(&mut ours, &mut theirs);
        (ours.len(), theirs.len())
    };
    assert_eq!(left("1.21", "cc1 cc1 [.] 0x000000000000e203"), (0, 1));
    assert_eq!(left("1.41", "cc1 cc1 [.] 0x000000000000e203"), (1, 2));
    assert_eq!(left("0.81", "cc1 cc1 [.] 0x000000000000e203"), (1, 2));
    assert_eq!(left("1.21", "cc1 libc.so.6 [.] 0x000000000000e203"), (1, 2));
    assert_eq!(left("1.21", "cc1 cc1 [.] other"), (1, 2));
}

#[test]
fn rows_just_below_the_least_share_are_counterparts_only() {
    let read = |table: &str| rows_from(table, NEAR_LEAST);
    let mut ours = read(" 50.10% main\n 0.99% small\n 0.97% own\n");
    let mut theirs = read(" 50.00% main\n 1.00% small\n 1.00% missing\n 0.98% other\n");
    take_near(&mut ours, &mut theirs);
    assert_eq!(ours, []);
    assert_eq!(theirs, [("1.00".to_owned(), "missing".to_owned())]);
}

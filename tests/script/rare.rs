//! Fields and kinds of events that need hardware, a BPF program or a later perf: recordings of what
//! there is are changed, or say themselves what is right.

use crate::common::{FRAME_POINTERS, Program, alone, needs, not_run, rprof, run, tracefs};
use crate::script::lines::{assert_same, our_script, perf_script};
use crate::script::{PROGRAM, program};

/// What the kernel says of the data of an event that knows nothing of it: `PERF_MEM_NA`.
const NO_SOURCE: u64 = 0x1e_0508_0021;

/// No hardware here says where data came from: other numbers are put into a recording.
#[test]
fn data_sources_are_in_perfs_words() {
    let Some(program) = program() else {
        return;
    };
    let recorded = program.record_by_perf(&["-F", "4999", "-d", "-e", "cpu-clock:u"], &[]);
    let file = recorded.file;
    let mut bytes = std::fs::read(&file).unwrap();
    let (mut n, mut random) = (0, 1_u64);
    for word in bytes.as_chunks_mut::<8>().0 {
        if u64::from_le_bytes(*word) != NO_SOURCE {
            continue;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
        // All 46 bits, or few of them; perf reads past its table for some numbers of hops.
        let few = if n % 2 == 0 {
            random.rotate_left(21)
        } else {
            !0
        };
        let hops = random >> 18 & few & 3;
        let source = random >> 18 & few & !(7 << 43) | hops << 43;
        *word = (source & ((1 << 46) - 1)).to_le_bytes();
        n += 1;
    }
    if n == 0 {
        not_run("this kernel has another word for no source");
        return;
    }
    assert!(n > 10, "{n} samples");
    std::fs::write(&file, &bytes).unwrap();
    let fields = "comm,data_src,ip";
    assert_same(
        fields,
        &our_script(&file, fields),
        &perf_script(&file, fields),
    );
}

/// Kinds of events that need hardware or a BPF program: another event's attr is changed.
#[test]
fn events_of_other_kinds_print_as_perf_prints_them() {
    needs!(root);
    let Some(program) = program() else {
        return;
    };
    let file = program.file("recording");
    let memory = &["-d", "-W", "-e", "cpu-clock"][..];
    let raw = &["-R", "-e", "sched:sched_process_exec"];
    let tracefs = tracefs();
    // Kind, config and period: raw, traced branches, what a BPF program wrote.
    for (options, attr) in [
        (memory, (4, 0x1cd, 1000)),
        (memory, (0, 4, 1)),
        (raw, (1, 10, 1)),
    ] {
        let mut perf = crate::common::perf(["record", "-q", "-c", "1777777"]);
        perf.args(options);
        perf.arg("-o").arg(&file).arg("--").arg(program.path());
        if options == raw {
            let Some(tracefs) = tracefs else {
                continue;
            };
            perf = tracefs.within(&perf);
        }
        let live = alone();
        run(&mut perf).ok();
        drop(live);
        let mut bytes = std::fs::read(&file).unwrap();
        set_attr(&mut bytes, attr);
        std::fs::write(&file, &bytes).unwrap();
        let mut ours = rprof(["script", "--no-inline", "-i"]);
        let mut perf = crate::common::perf(["script", "--no-inline", "-i"]);
        let ours = run(ours.arg(&file)).ok().stdout;
        let theirs = run(perf.arg(&file)).ok().stdout;
        assert_same(
            "all fields",
            &without_characters(&ours),
            &without_characters(&theirs),
        );
    }
}

/// Without the characters after a BPF program's bytes: perf takes Latin-1 for printable.
fn without_characters(text: &str) -> String {
    let bytes_end = "      BPF output: 0000: 6d 01 00 01 be 59 00 00".len();
    let cut = text.lines().map(|line| {
        let is_bytes = line.get(22..23) == Some(":") && line.starts_with("      ");
        let end = if is_bytes { bytes_end } else { line.len() };
        format!("{}\n", line.get(..end).unwrap_or(line))
    });
    cut.collect()
}

/// Changes a recording's first attr, wherever it is in the file.
fn set_attr(bytes: &mut [u8], (kind, config, period): (u32, u64, u64)) {
    let at = usize::from_le_bytes(*bytes[24..].first_chunk().unwrap());
    let old: [u8; 24] = *bytes[at..].first_chunk().unwrap();
    let mut new = old;
    new[..4].copy_from_slice(&kind.to_le_bytes());
    new[8..16].copy_from_slice(&config.to_le_bytes());
    new[16..].copy_from_slice(&period.to_le_bytes());
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(&old) {
            bytes[at..at + old.len()].copy_from_slice(&new);
        }
    }
}

/// perf 6.1 has no such field: later ones print the path after everything else.
#[test]
fn control_groups_have_their_paths() {
    needs!(root);
    let Some(program) = program() else {
        return;
    };
    needs!(all_cpus);
    let recorded = program.record_by_perf(&["-e", "cpu-clock", "-a", "--all-cgroups"], &[]);
    let file = recorded.file;
    let text = our_script(&file, "comm,ip,cgroup");
    let own = text
        .lines()
        .filter(|line| line.trim_start().starts_with("program "));
    let paths: Vec<&str> = own.filter_map(|line| line.rsplit(' ').next()).collect();
    assert!(!paths.is_empty() && paths.iter().all(|path| path.starts_with('/')));
}

/// No guest is here: the list of ids, made shorter, says of which one each event is.
#[test]
fn guests_have_their_processes_and_cpus() {
    let Some(program) = program() else {
        return;
    };
    let events = ["-F", "999", "-e", "cpu-clock:u,task-clock:u,page-faults:u"];
    let file = program.record_by_perf(&events, &[]).file;
    let mut bytes = std::fs::read(&file).unwrap();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let mut at = usize::try_from(word(&bytes, 40)).unwrap();
    while bytes[at] != 69 {
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
    }
    let n = word(&bytes, at + 8) * 2 / 3;
    bytes[at + 8..at + 16].copy_from_slice(&n.to_le_bytes());
    let guests = at + 16 + 32 * usize::try_from(n).unwrap();
    for (nth, guest) in bytes[guests..]
        .as_chunks_mut::<16>()
        .0
        .iter_mut()
        .enumerate()
    {
        let nth = nth as u64;
        if nth < n {
            // The host has 0.
            let machine_pid = if nth == 0 { 0 } else { 4000 + nth };
            guest[..8].copy_from_slice(&machine_pid.to_le_bytes());
            guest[8..].copy_from_slice(&nth.to_le_bytes());
        }
    }
    std::fs::write(&file, &bytes).unwrap();
    // Of processes that a guest's events began, perf has no names.
    for fields in ["tid,time,event,ip,machine_pid,vcpu", "vcpu,time"] {
        let (ours, theirs) = (our_script(&file, fields), perf_script(&file, fields));
        assert!(ours.contains("VCPU:0"), "{ours}");
        assert_eq!(ours, theirs);
    }
}

/// No processor here keeps call stacks: they are put after chains of frame pointers.
#[test]
fn call_stacks_of_branch_records_are_perfs() {
    let Some(program) = program() else {
        return;
    };
    let recorded = program.record(
        &["-e", "cpu-clock", "-F", "4999", "--call-graph", "fp"],
        &[],
    );
    let file = recorded.file;
    let bytes = std::fs::read(&file).unwrap();
    let fields = "comm,ip,dso";
    let (through_stubs, _) = with_branches(&bytes, 64);
    std::fs::write(&file, &through_stubs).unwrap();
    let begins_where_it_was_sampled = our_script(&file, fields);
    let (bytes, n) = with_branches(&bytes, 0);
    assert!(n > 10, "{n} samples with callers");
    std::fs::write(&file, &bytes).unwrap();
    assert_same(
        fields,
        &our_script(&file, fields),
        &begins_where_it_was_sampled,
    );
    assert_same(
        fields,
        &our_script(&file, fields),
        &perf_script(&file, fields),
    );
    let report = run(rprof(["report", "--no-inline", "-i"]).arg(&file)).ok();
    assert!(report.stdout.contains("main"), "{}", report.stdout);
}

/// With precise events a chain begins some instructions after the sample's own address. No such
/// event is here: the samples' addresses are changed.
#[test]
fn names_of_chains_do_not_need_the_samples_own_address() {
    let Some(program) = Program::new(PROGRAM, FRAME_POINTERS) else {
        return;
    };
    let recorded = program.record(&["-e", "cpu-clock:u", "-F", "4999", "-g"], &[]);
    let file = recorded.file;
    let fields = "ip,sym,symoff,dso";
    let before = our_script(&file, fields);
    assert!(before.contains(" main+0x"), "{before}");
    let mut bytes = std::fs::read(&file).unwrap();
    let n = set_addresses(&mut bytes);
    assert!(n > 10, "{n} samples");
    std::fs::write(&file, &bytes).unwrap();
    assert_same(fields, &our_script(&file, fields), &before);
    // So are those that a recording brings along.
    let embed = ["symbols", "--embed", "-i"];
    run(rprof(embed).arg(&file)).ok();
    std::fs::remove_file(program.path()).unwrap();
    assert_same(fields, &our_script(&file, fields), &before);
}

/// Gives all samples of a recording of rprof's the address of the first; returns how many there are.
fn set_addresses(bytes: &mut [u8]) -> usize {
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let place = |at| usize::try_from(word(bytes, at)).unwrap();
    let (data, data_len) = (place(40), place(48));
    let mut own = Vec::new();
    let mut at = data;
    while at < data + data_len {
        if bytes[at..at + 4] == 9_u32.to_le_bytes() {
            // Behind header and id.
            own.push(at + 16);
        }
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
    }
    let first = word(bytes, own[0]).to_le_bytes();
    for &at in &own {
        bytes[at..at + 8].copy_from_slice(&first);
    }
    own.len()
}

/// A recording of `rprof record --call-graph fp` whose samples have their user callers in branch
/// records, and in the chain only where they were; how many have any. The last call led so many
/// bytes before where the sample was taken. Its features are left out.
fn with_branches(bytes: &[u8], before: u64) -> (Vec<u8>, usize) {
    const USER: u64 = (-512_i64).cast_unsigned();
    let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let place = |at: usize| usize::try_from(word(at)).unwrap();
    let (attrs, data, data_len) = (place(24), place(40), place(48));
    let mut out = bytes[..data].to_vec();
    // Sample type: BRANCH_STACK; its kind: USER, CALL_STACK, NO_FLAGS, NO_CYCLES.
    out[attrs + 24..attrs + 32].copy_from_slice(&(word(attrs + 24) | 1 << 11).to_le_bytes());
    let kind: u64 = 1 | 1 << 11 | 1 << 14 | 1 << 15;
    out[attrs + 72..attrs + 80].copy_from_slice(&kind.to_le_bytes());
    out[72..104].fill(0);
    let (mut at, mut n) = (data, 0);
    while at < data + data_len {
        let len = usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
        let mut record = bytes[at..at + len].to_vec();
        if record[..4] == 9_u32.to_le_bytes() {
            // Behind header, id, address, task, time, CPU and period.
            let chain: Vec<u64> = (at + 56 + 8..at + len).step_by(8).map(word).collect();
            let user = chain.iter().position(|&entry| entry == USER);
            let user = user.map_or(&[][..], |marker| &chain[marker + 1..]);
            n += usize::from(user.len() > 1);
            let callers = user.get(1..).unwrap_or_default();
            let callers = callers.iter().filter(|&&entry| entry != 0);
            let from: Vec<u64> = callers.map(|entry| entry - 1).collect();
            let first = user.first().copied().unwrap_or(64);
            let from = if from.is_empty() { vec![first] } else { from };
            record.extend((from.len() as u64).to_le_bytes());
            for from in from {
                record.extend([from, first - before, 0].map(u64::to_le_bytes).concat());
            }
            let len = u16::try_from(record.len()).unwrap();
            record[6..8].copy_from_slice(&len.to_le_bytes());
        }
        out.extend(record);
        at += len;
    }
    let data_len = (out.len() - data) as u64;
    out[48..56].copy_from_slice(&data_len.to_le_bytes());
    (out, n)
}

//! A machine with hardware, played by the test: which events it has, how they take turns, what it refuses.

use super::*;
use crate::targets::Thread;
use rprof_abi::event_type;
use rprof_events::{Sources, parse_events};
use rprof_ringbuf::Target;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// What the machine is like.
#[derive(Clone, Debug, Default)]
struct Machine(Rc<RefCell<Hardware>>);

#[derive(Debug, Default)]
struct Hardware {
    /// Configs of hardware events that it has not.
    missing: Vec<u64>,
    /// It cannot count guests apart.
    has_no_guests: bool,
    /// Only root counts the kernel.
    is_kernel_denied: bool,
    /// Most events in a group.
    most_in_group: Option<usize>,
    /// Threads that are gone.
    gone: Vec<i32>,
    /// Each open event, with its leader's number.
    open: Vec<(PerfEventAttr, usize)>,
    /// Share of the time that a group runs, in percent; 0 fails what is pinned.
    running_percent: u64,
}

const ENABLED: u64 = 1000;

impl Door for Machine {
    type Event = usize;

    fn open(
        &self,
        attr: &PerfEventAttr,
        target: Target,
        _: Cpu,
        leader: Option<&usize>,
    ) -> Result<usize, OpenError> {
        let mut machine = self.0.borrow_mut();
        let is_hardware = attr.kind == event_type::HARDWARE;
        if let Target::Thread(tid) = target
            && machine.gone.contains(&tid)
        {
            return Err(OpenError::NoSuchTask);
        }
        if is_hardware && machine.missing.contains(&attr.config) {
            return Err(OpenError::NoSuchEvent);
        }
        if machine.has_no_guests && attr.flags.has(AttrFlags::EXCLUDE_GUEST) {
            return Err(OpenError::Invalid);
        }
        if machine.is_kernel_denied && !attr.flags.has(AttrFlags::EXCLUDE_KERNEL) {
            return Err(OpenError::Access);
        }
        let nth = machine.open.len();
        let leader = leader.copied().unwrap_or(nth);
        let n_group = machine.open.iter().filter(|(_, of)| *of == leader).count();
        if machine.most_in_group.is_some_and(|most| n_group >= most) {
            return Err(OpenError::Invalid);
        }
        machine.open.push((attr.clone(), leader));
        Ok(nth)
    }

    fn id(&self, event: &usize) -> io::Result<u64> {
        Ok(*event as u64)
    }

    /// Each event has counted a hundred times its config and one, while it ran.
    fn read(&self, event: &usize, into: &mut [u8]) -> io::Result<usize> {
        let machine = self.0.borrow();
        let (attr, leader) = &machine.open[*event];
        if machine.running_percent == 0 && attr.flags.has(AttrFlags::PINNED) {
            return Ok(0);
        }
        let count = |attr: &PerfEventAttr| (attr.config + 1) * machine.running_percent;
        let running = ENABLED * machine.running_percent / 100;
        let mut words = Vec::new();
        if attr.read_format.has(rprof_abi::ReadFormat::GROUP) {
            let all = machine.open.iter().enumerate();
            let group: Vec<_> = all.filter(|(_, (_, of))| of == leader).collect();
            words.extend([group.len() as u64, ENABLED, running]);
            for (id, (attr, _)) in group {
                words.extend([count(attr), id as u64]);
            }
        } else {
            words.extend([count(attr), ENABLED, running]);
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        into[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn enable(&self, _: &usize, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn reset(&self, _: &usize) -> io::Result<()> {
        Ok(())
    }
}

fn machine(change: impl FnOnce(&mut Hardware)) -> Machine {
    let mut hardware = Hardware {
        running_percent: 100,
        ..Hardware::default()
    };
    change(&mut hardware);
    Machine(Rc::new(RefCell::new(hardware)))
}

fn open(machine: &Machine, list: &str, tids: &[i32]) -> Result<Counters<Machine>, Error> {
    let events = parse_events(list, &Sources::default()).unwrap();
    let thread = |&tid: &i32| Thread {
        tid,
        comm: Vec::new(),
    };
    let targets = Targets {
        threads: tids.iter().map(thread).collect(),
        cpus: Vec::new(),
    };
    let counted: Vec<_> = (0..events.len()).map(|nth| (nth, None)).collect();
    let wanted = Wanted {
        events: &events,
        counted: &counted,
    };
    let how = How {
        inherit: false,
        enable_on_exec: false,
    };
    let unit = |_: &Event| Unit {
        name: String::new(),
        scale: 1.0,
    };
    Counters::open(machine, &wanted, &targets, how, unit)
}

/// Counts of each event: as they are, and scaled.
fn counts(counters: &Counters<Machine>) -> Vec<Vec<(u64, Option<u64>)>> {
    let cells = counters.read().unwrap();
    let count = |cell: &Cell| (cell.reading.count, cell.reading.scaled());
    cells
        .iter()
        .map(|cells| cells.iter().map(count).collect())
        .collect()
}

#[test]
fn what_takes_turns_is_scaled() {
    let machine = machine(|hardware| hardware.running_percent = 25);
    let counters = open(&machine, "cycles,{instructions,branches}", &[1]).unwrap();
    // Configs 0, 1 and 4.
    let expected = [[(25, Some(100))], [(50, Some(200))], [(125, Some(500))]];
    assert_eq!(counts(&counters), expected);
}

#[test]
fn what_this_machine_has_not_is_marked_and_the_others_are_counted() {
    let machine = machine(|hardware| hardware.missing = vec![1]);
    let counters = open(
        &machine,
        "{cycles,instructions,branches},instructions",
        &[1, 2],
    )
    .unwrap();
    let supported: Vec<bool> = counters.events.iter().map(StatEvent::is_counted).collect();
    assert_eq!(supported, [true, false, true, false]);
    let n_cells: Vec<usize> = counts(&counters).iter().map(Vec::len).collect();
    assert_eq!(n_cells, [2, 0, 2, 0]);
}

#[test]
fn a_group_without_its_leader_is_an_error() {
    let machine = machine(|hardware| hardware.missing = vec![0]);
    let error = open(&machine, "{cycles,instructions,branches}", &[1]).unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with(
            "this machine cannot count cycles, the leader of the group with instructions, branches"
        ),
        "{said}"
    );
    let weak = open(&machine, "{cycles,instructions,branches}:W", &[1]).unwrap();
    let n_cells: Vec<usize> = counts(&weak).iter().map(Vec::len).collect();
    assert_eq!(n_cells, [0, 1, 1]);
}

#[test]
fn a_group_that_is_too_large_is_an_error_that_names_the_event_unless_it_is_weak() {
    let machine = machine(|hardware| hardware.most_in_group = Some(2));
    let group = "{cycles,instructions,branches}";
    let Err(Error::Group { leader, member }) = open(&machine, group, &[1]) else {
        panic!()
    };
    assert_eq!((&leader[..], &member[..]), ("cycles", "branches"));
    let weak = open(&machine, &format!("{group}:W"), &[1, 2]).unwrap();
    let n_cells: Vec<usize> = counts(&weak).iter().map(Vec::len).collect();
    assert_eq!(n_cells, [2, 2, 2]);
}

#[test]
fn what_is_pinned_and_fails_is_not_counted() {
    let machine = machine(|hardware| hardware.running_percent = 0);
    let counters = open(&machine, "cycles:D,instructions", &[1]).unwrap();
    assert_eq!(counts(&counters), [[(0, None)], [(0, None)]]);
}

#[test]
fn guests_and_the_kernel_are_left_out_or_in_as_the_machine_wants_it() {
    let old = machine(|hardware| hardware.has_no_guests = true);
    let counters = open(&old, "cycles", &[1]).unwrap();
    assert!(counters.events[0].is_counted());
    let denied = machine(|hardware| hardware.is_kernel_denied = true);
    let counters = open(&denied, "cycles,instructions:u,page-faults", &[1, 2]).unwrap();
    let names: Vec<&str> = counters
        .events
        .iter()
        .map(|event| &event.name[..])
        .collect();
    assert_eq!(names, ["cycles:u", "instructions:u", "page-faults:u"]);
    let Err(Error::Denied { event, advice }) = open(&denied, "cycles:k", &[1]) else {
        panic!()
    };
    assert_eq!(event, "cycles:k");
    assert!(advice.contains("CAP_PERFMON"), "{advice}");
}

#[test]
fn what_happens_in_the_kernel_is_not_counted_as_0_without_it() {
    let denied = machine(|hardware| hardware.is_kernel_denied = true);
    let counters = open(&denied, "page-faults,context-switches,cpu-migrations", &[1]).unwrap();
    let (permitted, denied_state) = (EventState::Counted, EventState::NotPermitted);
    let states: Vec<EventState> = counters.events.iter().map(|event| event.state).collect();
    assert_eq!(states, [permitted, denied_state, denied_state]);
    // Without the kernel as asked for, it is 0, as in perf.
    let asked = open(&denied, "context-switches:u", &[1]).unwrap();
    assert!(asked.events[0].is_counted());
    for list in ["cs", "cs,migrations", "{cs,page-faults}"] {
        let Err(Error::Denied { advice, .. }) = open(&denied, list, &[1]) else {
            panic!("{list}")
        };
        assert!(advice.contains("CAP_PERFMON"), "{advice}");
    }
}

#[test]
fn threads_that_are_gone_are_left_out_unless_all_are() {
    let machine = machine(|hardware| hardware.gone = vec![2]);
    let counters = open(&machine, "cycles", &[1, 2, 3]).unwrap();
    let cells = counters.read().unwrap();
    let threads: Vec<usize> = cells[0].iter().map(|cell| cell.thread).collect();
    assert_eq!(threads, [0, 2]);
    let gone = open(&machine, "cycles", &[2]);
    assert!(matches!(gone, Err(Error::NoSuchTask { id: 2 })));
}

#[test]
fn nothing_for_samples_is_left_in_what_is_opened() {
    let machine = machine(|_| ());
    open(
        &machine,
        "cycles/period=1000/,{cycles/freq=99/,branches}",
        &[1],
    )
    .unwrap();
    for (attr, _) in &machine.0.borrow().open {
        assert_eq!(attr.sample_period, 0);
        assert!(!attr.flags.has(AttrFlags::FREQ));
    }
}

//! What guests have mapped is theirs alone.

use super::*;
use rprof_abi::record::Mmap;

const GUEST_KERNEL: Misc = Misc(4);
const GUEST_USER: Misc = Misc(5);

fn map(pid: i32, addr: u64, filename: &[u8]) -> Record<'_> {
    Record::Mmap(Mmap {
        pid,
        tid: 0,
        addr,
        len: 0x1000,
        pgoff: 0x5000,
        filename,
    })
}

fn path(history: &History, epoch: Epoch, addr: u64) -> Option<&[u8]> {
    match history.resolve(epoch, Avma(addr)) {
        AddressLocation::Kernel { image, .. } | AddressLocation::User { image, .. } => {
            Some(&history.images().of(image)?.path)
        }
        AddressLocation::Unmapped(_) => None,
    }
}

#[test]
fn every_guest_has_its_kernel_and_the_host_its_own() {
    let host = b"[kernel.kallsyms]_text";
    let default = b"[guest.kernel.kallsyms]_text";
    let own = b"[guest.kernel.kallsyms.42]_text";
    let history = Script::new()
        .add(0, Misc::KERNEL, map(-1, 0xffff_8000, host))
        .add(0, GUEST_KERNEL, map(0, 0xffff_8000, default))
        .add(0, GUEST_KERNEL, map(42, 0xffff_8000, own))
        .add(0, GUEST_KERNEL, map(42, 0xffff_c000, b"[kvm]"))
        .build();
    let of = |epoch, addr| path(&history, epoch, addr);
    let guest = |pid| history.guest_kernel_epoch(pid, at(5));
    let kernel = history.kernel_epoch(at(5));
    assert_eq!(of(kernel, 0xffff_c010), Some(&host[..]));
    assert_eq!(of(guest(42), 0xffff_8010), Some(&own[..]));
    assert_eq!(of(guest(42), 0xffff_c010), Some(&b"[kvm]"[..]));
    for unknown in [7, 0, -1] {
        assert_eq!(of(guest(unknown), 0xffff_c010), Some(&default[..]));
    }
    assert_eq!(of(history.epoch(42, at(5)), 0xffff_8010), None);
    let names: Vec<_> = history
        .images()
        .iter()
        .map(|(_, image)| image.short_name())
        .collect();
    let guests = [
        &b"[guest.kernel.kallsyms]"[..],
        b"[guest.kernel.kallsyms.42]",
        b"[kvm]",
    ];
    assert_eq!(names[1..], guests);
    let kinds = history.images().iter().skip(1).map(|(_, image)| image.kind);
    assert!(kinds.into_iter().all(|kind| kind == ImageKind::GuestKernel));
}

#[test]
fn a_guests_process_is_not_the_hosts_of_that_id_nor_its_file() {
    let ids = HashMap::from_iter([(b"/a".to_vec(), BuildId::new(&[7; 20]).unwrap())]);
    let history = Script(HistoryBuilder::new(true, ids), 0)
        .add(1, Misc::USER, map(9, 0x1000, b"/host"))
        .add(2, GUEST_USER, map(9, 0x1000, b"/a"))
        .build();
    assert_eq!(
        path(&history, history.epoch(9, at(5)), 0x1000),
        Some(&b"/host"[..])
    );
    let guest = history.guest_epoch(9, at(5));
    let AddressLocation::User { image, offset } = history.resolve(guest, Avma(0x1010)) else {
        panic!("not mapped");
    };
    let image = history.images().of(image).unwrap();
    assert_eq!(
        (offset, image.kind),
        (FileOffset(0x5010), ImageKind::GuestUser)
    );
    assert_eq!(image.build_id, None);
}

#[test]
fn a_guests_tasks_and_symbols_are_not_the_hosts() {
    let task = Task {
        pid: 5,
        ppid: 6,
        tid: 5,
        ptid: 6,
        time_ns: 0,
    };
    let name = Comm {
        pid: 5,
        tid: 5,
        comm: b"guest",
    };
    let symbol = Ksymbol {
        addr: 0xffff_0000,
        len: 64,
        ksym_type: 1,
        flags: 0,
        name: b"guest's",
    };
    let history = Script::new()
        .comm(1, 5, b"host", true)
        .map(2, 5, 0x1000, b"/host")
        .add(3, GUEST_USER, Record::Fork(task))
        .add(4, GUEST_USER, Record::Comm(name))
        .add(5, GUEST_KERNEL, Record::Ksymbol(symbol))
        .build();
    assert_eq!(comm_at(&history, 5, 9), Some(&b"host"[..]));
    assert_eq!(
        name_at(&history, 5, 9, 0x1000).as_deref(),
        Some(&b"/host"[..])
    );
    assert_eq!(
        path(&history, history.kernel_epoch(at(9)), 0xffff_0000),
        None
    );
}

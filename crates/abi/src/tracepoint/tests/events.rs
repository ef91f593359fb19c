//! Formats of Linux 6.18 with raw data, and what perf 6.1 prints for them.

use super::{Kernel, check, parse, raw};
use crate::tracepoint::TracepointData;
use crate::{Encoder, Endian};

fn comm(name: &[u8], encoder: &mut Encoder<'_>) {
    let mut comm = [0; 16];
    comm[..name.len()].copy_from_slice(name);
    encoder.bytes(&comm);
}

const SWITCH: [&str; 7] = [
    "char prev_comm[16] 8 16 0",
    "pid_t prev_pid 24 4 1",
    "int prev_prio 28 4 1",
    "long prev_state 32 8 1",
    "char next_comm[16] 40 16 0",
    "pid_t next_pid 56 4 1",
    "int next_prio 60 4 1",
];

fn switch(state: u64) -> impl Fn(&mut Encoder<'_>) {
    move |encoder| {
        comm(b"perf", encoder);
        encoder.i32(24504);
        encoder.i32(120);
        encoder.u64(state);
        comm(b"migration/0", encoder);
        encoder.i32(18);
        encoder.i32(-1);
    }
}

#[test]
fn sched_switch_with_flags_and_choices() {
    let mask = "((((0x00000000 | 0x00000001 | 0x00000002) + 1) << 1) - 1)";
    let fmt = format!(
        r#""prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & {mask}) ? __print_flags(REC->prev_state & {mask}, "|", {{ 0x00000001, "S" }}, {{ 0x00000002, "D" }}) : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio"#
    );
    for (state, expected) in [(0, "R"), (3, "S|D"), (0x101, "S+"), (0x7, "S|D|0x4")] {
        let line = format!(
            "prev_comm=perf prev_pid=24504 prev_prio=120 prev_state={expected} ==> \
             next_comm=migration/0 next_pid=18 next_prio=-1"
        );
        check(&SWITCH, &fmt, switch(state), &line);
    }
}

#[test]
fn syscalls_print_in_hexadecimal() {
    check(
        &[
            "int __syscall_nr 8 4 1",
            "int dfd 16 8 0",
            "const char * filename 24 8 0",
        ],
        r#""dfd: 0x%08lx, filename: 0x%08lx", ((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename))"#,
        |encoder| {
            encoder.u64(0);
            encoder.u64(0xffff_ff9c);
            encoder.u64(0x7f86);
        },
        "dfd: 0xffffff9c, filename: 0x00007f86",
    );
    check(
        &["long ret 8 8 1"],
        r#""0x%lx", REC->ret"#,
        |encoder| encoder.u64(u64::MAX),
        "0xffffffffffffffff",
    );
}

#[test]
fn dynamic_strings_lie_where_their_word_says() {
    check(
        &["int irq 8 4 1", "__data_loc char[] name 12 4 0"],
        r#""irq=%d name=%s", REC->irq, __get_str(name)"#,
        |encoder| {
            encoder.i32(36);
            encoder.u32(8 << 16 | 16);
            encoder.bytes(b"virtio1\0");
        },
        "irq=36 name=virtio1",
    );
    check(
        &["__rel_loc char[] name 8 4 0"],
        r#""%s %d", __get_rel_str(name), __get_rel_dynamic_array_len(name)"#,
        |encoder| {
            encoder.u32(4 << 16);
            encoder.bytes(b"abc\0");
        },
        "abc 4",
    );
}

#[test]
fn symbols_of_values_and_of_addresses() {
    check(
        &[
            "void * timer 8 8 0",
            "void * function 16 8 0",
            "s64 expires 24 8 1",
            "int mode 32 4 0",
        ],
        r#""hrtimer=%p function=%ps at %pS expires=%llu mode=%s", REC->timer, REC->function, REC->function + 0x10, (unsigned long long) REC->expires, __print_symbolic(REC->mode, { HRTIMER_MODE_ABS, "ABS" }, { 1, "REL" }, { -1, 0 })"#,
        |encoder| {
            encoder.u64(0);
            encoder.u64(0xffff_ffff_8100_0000);
            encoder.u64(10);
            encoder.u32(8);
        },
        "hrtimer=(nil) function=tick_nohz_handler at tick_nohz_handler+0x10 expires=10 mode=0x8",
    );
    check(
        &["char * reason 8 8 0"],
        r#""(%s) %pS", REC->reason, (void *)0x12"#,
        |encoder| encoder.u64(0xffff_ffff_8200_0000),
        "(Rescheduling interrupts) 0x12",
    );
}

#[test]
fn block_requests_split_their_device_number() {
    check(
        &[
            "dev_t dev 8 4 0",
            "unsigned short ioprio 12 2 0",
            "char rwbs[10] 14 10 0",
        ],
        r#""%d,%d %s %s,%u", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->rwbs, __print_symbolic((((REC->ioprio) >> 13) & (8 - 1)), { IOPRIO_CLASS_BE, "be" }), ((REC->ioprio) & ((1 << 3) - 1))"#,
        |encoder| {
            encoder.u32(254 << 20 | 3);
            encoder.u16(2 << 13 | 4);
            encoder.bytes(b"RM\0\0\0\0\0\0\0\0");
        },
        "254,3 RM 0x2,4",
    );
}

#[test]
fn gfp_masks_fold_through_casts_and_the_page_is_its_number() {
    check(
        &["unsigned long pfn 8 8 0", "unsigned long gfp_flags 16 8 0"],
        r#""page=%p pfn=0x%lx gfp_flags=%s", REC->pfn != -1UL ? (((struct page *)vmemmap_base) + (REC->pfn)) : ((void *)0), REC->pfn != -1UL ? REC->pfn : 0, (REC->gfp_flags) ? __print_flags(REC->gfp_flags, "|", {( unsigned long)((( gfp_t)(((((1UL))) << (10))|((((1UL))) << (11)))) | (( gfp_t)((((1UL))) << (6)))), "GFP_KERNEL"}, {( unsigned long)(( gfp_t)((((1UL))) << (8))), "__GFP_ZERO"}, { 0, ((void *)0) } ) : "none""#,
        |encoder| {
            encoder.u64(0x15125a);
            encoder.u64(0xd40);
        },
        "page=0x15125a pfn=0x15125a gfp_flags=GFP_KERNEL|__GFP_ZERO",
    );
}

#[test]
fn every_truncation_of_the_raw_data_prints_something() {
    let fmt = r#""%s %d %s", REC->prev_comm, REC->prev_pid, REC->next_comm"#;
    let format = parse(&SWITCH, fmt);
    let bytes = raw(Endian::Little, switch(0));
    for len in 0..bytes.len() {
        let data = TracepointData {
            bytes: &bytes[..len],
            endian: Endian::Little,
            long_size: 8,
        };
        let mut out = Vec::new();
        format.print(&data, &Kernel, &mut out);

        assert!(!out.is_empty());
    }
}

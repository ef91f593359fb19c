//! Wake-ups in soft interrupts that are a thread's own doing.

/// Hands on packets that do not leave the machine; net/core/dev.c.
const LOOPBACK: &str = "process_backlog";

/// Soft interrupts of a thread, as soon as it may have them again; kernel/softirq.c. Those that an interrupt leaves behind
/// are called by `irq_exit_rcu` and its like, and the rest by `run_ksoftirqd`.
const OF_THREAD: &str = "__local_bh_enable_ip";

/// Whether functions of the kernel, the innermost first, are those of a thread that sends to a socket of the same machine:
/// the kernel delivers that in a soft interrupt within the call.
pub fn is_local_send<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    // Compilers add to the names of parts and copies.
    let plain = |name: &'n str| name.split_once('.').map_or(name, |(name, _)| name);
    let mut names = names.map(plain);
    // Interrupts that come while a thread is in there are inside of it.
    names.any(|name| name == LOOPBACK)
        && names.find(|name| *name == OF_THREAD || is_of_interrupt(name)) == Some(OF_THREAD)
        && !names.any(is_of_interrupt)
}

/// Functions in which interrupts end, and their work is done.
fn is_of_interrupt(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    ["irq_exit", "run_ksoftirqd", "sysvec_", "asm_sysvec_"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_over_loopback_does_what_its_soft_interrupt_does() {
        let is = |stack: &str| is_local_send(stack.split(' '));
        let inner = "try_to_wake_up sock_def_readable tcp_v4_rcv process_backlog __napi_poll net_rx_action \
                     handle_softirqs";
        let outer = "__dev_queue_xmit tcp_sendmsg ksys_write do_syscall_64";
        assert!(is(&format!(
            "{inner} do_softirq.part.0 __local_bh_enable_ip {outer}"
        )));
        assert!(is(&format!(
            "{inner} __do_softirq do_softirq __local_bh_enable_ip {outer}"
        )));
        // What another machine sends, and what interrupts that.
        let device = inner.replace("process_backlog", "virtnet_poll");
        assert!(!is(&format!(
            "{device} do_softirq.part.0 __local_bh_enable_ip {outer}"
        )));
        assert!(!is(&format!(
            "{inner} __irq_exit_rcu sysvec_call_function_single {outer}"
        )));
        let within = "__irq_exit_rcu common_interrupt do_softirq __local_bh_enable_ip";
        assert!(!is(&format!("{inner} {within} {outer}")));
        assert!(!is(&format!(
            "{inner} do_softirq __local_bh_enable_ip __irq_exit_rcu {outer}"
        )));
        assert!(!is(&format!(
            "{inner} run_ksoftirqd smpboot_thread_fn kthread"
        )));
        assert!(!is("try_to_wake_up hrtimer_wakeup"));
    }
}

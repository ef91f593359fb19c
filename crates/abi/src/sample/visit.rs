//! The named fields of a sample and of its parts.

use super::{BranchStack, Callchain, ReadValues, Sample, SampleId, StackDump, Weight, context};
use crate::{Fields, Registers, Shape, Value};

impl SampleId {
    /// Names the fields that are there.
    pub fn visit(&self, fields: &mut dyn Fields) {
        signed(fields, "pid", self.pid);
        signed(fields, "tid", self.tid);
        fields.if_some("time_ns", self.time_ns, Value::Unsigned);
        fields.if_some("id", self.id, Value::Unsigned);
        fields.if_some("stream_id", self.stream_id, Value::Unsigned);
        fields.if_some("cpu", self.cpu, Value::Unsigned);
    }
}

impl Sample<'_> {
    /// Names the fields that are there, in the order of the record.
    pub fn visit(&self, fields: &mut dyn Fields) {
        fields.if_some("ip", self.ip, Value::Hex);
        signed(fields, "pid", self.pid);
        signed(fields, "tid", self.tid);
        fields.if_some("time_ns", self.time_ns, Value::Unsigned);
        fields.if_some("addr", self.addr, Value::Hex);
        fields.if_some("id", self.id, Value::Unsigned);
        fields.if_some("stream_id", self.stream_id, Value::Unsigned);
        fields.if_some("cpu", self.cpu, Value::Unsigned);
        fields.if_some("period", self.period, Value::Unsigned);
        if let Some(read) = &self.read {
            fields.object("read", |fields| read.visit(fields));
        }
        if let Some(chain) = &self.callchain {
            chain.visit(fields);
        }
        if let Some(raw) = self.raw {
            fields.field("raw", Value::Bytes(raw));
        }
        if let Some(branches) = &self.branch_stack {
            branches.visit(fields);
        }
        if let Some(regs) = &self.regs_user {
            fields.object("regs_user", |fields| regs.visit(fields));
        }
        if let Some(stack) = &self.stack_user {
            stack.visit(fields);
        }
        self.visit_rest(fields);
    }

    fn visit_rest(&self, fields: &mut dyn Fields) {
        match self.weight {
            Some(Weight::Whole(weight)) => fields.field("weight", Value::Unsigned(weight)),
            Some(Weight::Parts { var1, var2, var3 }) => {
                fields.field("weight", Value::Unsigned(var1.into()));
                fields.field("weight2", Value::Unsigned(var2.into()));
                fields.field("weight3", Value::Unsigned(var3.into()));
            }
            None => {}
        }
        fields.if_some("data_src", self.data_src, Value::Hex);
        fields.if_some("transaction", self.transaction, Value::Hex);
        if let Some(regs) = &self.regs_intr {
            fields.object("regs_intr", |fields| regs.visit(fields));
        }
        fields.if_some("phys_addr", self.phys_addr, Value::Hex);
        fields.if_some("cgroup", self.cgroup, Value::Unsigned);
        fields.if_some("data_page_size", self.data_page_size, Value::Unsigned);
        fields.if_some("code_page_size", self.code_page_size, Value::Unsigned);
        if let Some(aux) = self.aux {
            fields.field("aux", Value::Bytes(aux));
        }
    }
}

fn signed(fields: &mut dyn Fields, name: &str, value: Option<i32>) {
    if let Some(value) = value {
        fields.field(name, Value::Signed(value.into()));
    }
}

impl ReadValues<'_> {
    pub(crate) fn visit(&self, fields: &mut dyn Fields) {
        fields.if_some("time_enabled_ns", self.enabled_ns, Value::Unsigned);
        fields.if_some("time_running_ns", self.running_ns, Value::Unsigned);
        fields.objects("values", self.values(), |fields, value| {
            fields.field("value", Value::Unsigned(value.value));
            fields.if_some("id", value.id, Value::Unsigned);
            fields.if_some("lost", value.lost, Value::Unsigned);
        });
    }
}

impl Callchain<'_> {
    /// Names of the context markers.
    const MARKERS: [(u64, &'static str); 7] = [
        (context::HV, "PERF_CONTEXT_HV"),
        (context::KERNEL, "PERF_CONTEXT_KERNEL"),
        (context::USER, "PERF_CONTEXT_USER"),
        (context::USER_DEFERRED, "PERF_CONTEXT_USER_DEFERRED"),
        (context::GUEST, "PERF_CONTEXT_GUEST"),
        (context::GUEST_KERNEL, "PERF_CONTEXT_GUEST_KERNEL"),
        (context::GUEST_USER, "PERF_CONTEXT_GUEST_USER"),
    ];

    pub(crate) fn visit(&self, fields: &mut dyn Fields) {
        fields.list("callchain", self.entries(), |fields, entry| {
            let marker = Self::MARKERS.iter().find(|(marker, _)| *marker == entry);
            let value = match marker {
                Some((_, name)) => Value::Text(name.as_bytes()),
                None => Value::Hex(entry),
            };
            fields.field("", value);
        });
    }
}

impl BranchStack<'_> {
    fn visit(&self, fields: &mut dyn Fields) {
        fields.if_some("branch_hw_index", self.hw_index, Value::Unsigned);
        fields.objects("branch_stack", self.entries(), |fields, entry| {
            fields.field("from", Value::Hex(entry.from));
            fields.field("to", Value::Hex(entry.to));
            fields.field("flags", Value::Hex(entry.flags.word()));
            fields.if_some("counters", entry.counters, Value::Hex);
        });
    }
}

impl Registers<'_> {
    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("abi", Value::Unsigned(self.abi));
        fields.field("mask", Value::Hex(self.mask));
        fields.open("values", Shape::List);
        for register in 0..u64::BITS {
            fields.if_some("", self.value(register), Value::Hex);
        }
        fields.close();
    }
}

impl StackDump<'_> {
    fn visit(&self, fields: &mut dyn Fields) {
        fields.object("stack_user", |fields| {
            fields.field("size", Value::Unsigned(self.data.len() as u64));
            fields.field("dyn_size", Value::Unsigned(self.dyn_size));
            fields.field("data", Value::Bytes(self.stack()));
        });
    }
}

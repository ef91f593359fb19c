//! The bit sets that decide what a sample holds.

use crate::bits::bit_set;

bit_set! {
    /// `attr.sample_type` (`enum perf_event_sample_format`).
    SampleType {
        /// Instruction pointer.
        IP = 0, "IP";
        /// Process and thread.
        TID = 1, "TID";
        /// Time.
        TIME = 2, "TIME";
        /// Data address.
        ADDR = 3, "ADDR";
        /// Counter values.
        READ = 4, "READ";
        /// Call chain.
        CALLCHAIN = 5, "CALLCHAIN";
        /// Event id.
        ID = 6, "ID";
        /// CPU.
        CPU = 7, "CPU";
        /// Period.
        PERIOD = 8, "PERIOD";
        /// Stream id.
        STREAM_ID = 9, "STREAM_ID";
        /// Raw data of tracepoints.
        RAW = 10, "RAW";
        /// Branches.
        BRANCH_STACK = 11, "BRANCH_STACK";
        /// User registers.
        REGS_USER = 12, "REGS_USER";
        /// User stack.
        STACK_USER = 13, "STACK_USER";
        /// Weight, 64 bits.
        WEIGHT = 14, "WEIGHT";
        /// Where data came from.
        DATA_SRC = 15, "DATA_SRC";
        /// Event id at a fixed place.
        IDENTIFIER = 16, "IDENTIFIER";
        /// Transaction.
        TRANSACTION = 17, "TRANSACTION";
        /// Registers at the interrupt.
        REGS_INTR = 18, "REGS_INTR";
        /// Physical data address.
        PHYS_ADDR = 19, "PHYS_ADDR";
        /// AUX data.
        AUX = 20, "AUX";
        /// Control group.
        CGROUP = 21, "CGROUP";
        /// Page size of the data address.
        DATA_PAGE_SIZE = 22, "DATA_PAGE_SIZE";
        /// Page size of the instruction.
        CODE_PAGE_SIZE = 23, "CODE_PAGE_SIZE";
        /// Weight in three parts.
        WEIGHT_STRUCT = 24, "WEIGHT_STRUCT";
    }
}

bit_set! {
    /// `attr.read_format` (`enum perf_event_read_format`).
    ReadFormat {
        /// Time enabled.
        TOTAL_TIME_ENABLED = 0, "TOTAL_TIME_ENABLED";
        /// Time running.
        TOTAL_TIME_RUNNING = 1, "TOTAL_TIME_RUNNING";
        /// Event id.
        ID = 2, "ID";
        /// All events of the group.
        GROUP = 3, "GROUP";
        /// Records lost (6.0).
        LOST = 4, "LOST";
    }
}

bit_set! {
    /// `attr.branch_sample_type` (`enum perf_branch_sample_type`).
    BranchSampleType {
        /// User branches.
        USER = 0, "USER";
        /// Kernel branches.
        KERNEL = 1, "KERNEL";
        /// Hypervisor branches.
        HV = 2, "HV";
        /// Any branch.
        ANY = 3, "ANY";
        /// Calls.
        ANY_CALL = 4, "ANY_CALL";
        /// Returns.
        ANY_RETURN = 5, "ANY_RETURN";
        /// Indirect calls.
        IND_CALL = 6, "IND_CALL";
        /// Transaction aborts.
        ABORT_TX = 7, "ABORT_TX";
        /// In transactions.
        IN_TX = 8, "IN_TX";
        /// Not in transactions.
        NO_TX = 9, "NO_TX";
        /// Conditional.
        COND = 10, "COND";
        /// Call stack (LBR).
        CALL_STACK = 11, "CALL_STACK";
        /// Indirect jumps.
        IND_JUMP = 12, "IND_JUMP";
        /// Direct calls.
        CALL = 13, "CALL";
        /// No flags.
        NO_FLAGS = 14, "NO_FLAGS";
        /// No cycles.
        NO_CYCLES = 15, "NO_CYCLES";
        /// Types in entries.
        TYPE_SAVE = 16, "TYPE_SAVE";
        /// Index of the newest entry (5.7).
        HW_INDEX = 17, "HW_INDEX";
        /// Privilege in entries (6.1).
        PRIV_SAVE = 18, "PRIV_SAVE";
        /// Event counts beside entries (6.8).
        COUNTERS = 19, "COUNTERS";
    }
}

//! Names of system registers and of what instructions do to the system.

use std::fmt::Write as _;

/// Registers by the library's names for them.
const REGISTERS: &[(&str, &str)] = &[
    ("s3_0_c0_c0_5", "mpidr_el1"),
    ("s3_0_c0_c0_6", "revidr_el1"),
    ("s3_0_c0_c4_0", "id_aa64pfr0_el1"),
    ("s3_0_c0_c4_1", "id_aa64pfr1_el1"),
    ("s3_0_c0_c4_4", "id_aa64zfr0_el1"),
    ("s3_0_c0_c5_0", "id_aa64dfr0_el1"),
    ("s3_0_c0_c6_0", "id_aa64isar0_el1"),
    ("s3_0_c0_c6_1", "id_aa64isar1_el1"),
    ("s3_0_c0_c6_2", "id_aa64isar2_el1"),
    ("s3_0_c0_c7_0", "id_aa64mmfr0_el1"),
    ("s3_0_c0_c7_1", "id_aa64mmfr1_el1"),
    ("s3_0_c0_c7_2", "id_aa64mmfr2_el1"),
    ("s3_0_c1_c0_0", "sctlr_el1"),
    ("s3_0_c1_c0_1", "actlr_el1"),
    ("s3_0_c1_c0_2", "cpacr_el1"),
    ("s3_0_c2_c0_0", "ttbr0_el1"),
    ("s3_0_c2_c0_1", "ttbr1_el1"),
    ("s3_0_c2_c0_2", "tcr_el1"),
    ("s3_0_c4_c0_0", "spsr_el1"),
    ("s3_0_c4_c0_1", "elr_el1"),
    ("s3_0_c4_c1_0", "sp_el0"),
    ("s3_0_c4_c2_0", "spsel"),
    ("s3_0_c4_c2_2", "currentel"),
    ("s3_0_c4_c2_3", "pan"),
    ("s3_0_c4_c6_0", "icc_pmr_el1"),
    ("s3_0_c5_c2_0", "esr_el1"),
    ("s3_0_c6_c0_0", "far_el1"),
    ("s3_0_c7_c4_0", "par_el1"),
    ("s3_0_c10_c2_0", "mair_el1"),
    ("s3_0_c12_c0_0", "vbar_el1"),
    ("s3_0_c13_c0_1", "contextidr_el1"),
    ("s3_0_c13_c0_4", "tpidr_el1"),
    ("s3_1_c0_c0_0", "ccsidr_el1"),
    ("s3_1_c0_c0_1", "clidr_el1"),
    ("s3_2_c0_c0_0", "csselr_el1"),
    ("s3_3_c0_c0_1", "ctr_el0"),
    ("s3_3_c0_c0_7", "dczid_el0"),
    ("s3_3_c2_c4_0", "rndr"),
    ("s3_3_c2_c4_1", "rndrrs"),
    ("s3_3_c4_c2_0", "nzcv"),
    ("s3_3_c4_c2_1", "daif"),
    ("s3_3_c4_c2_5", "dit"),
    ("s3_3_c4_c2_6", "ssbs"),
    ("s3_3_c4_c4_0", "fpcr"),
    ("s3_3_c4_c4_1", "fpsr"),
    ("s3_3_c9_c12_0", "pmcr_el0"),
    ("s3_3_c9_c13_0", "pmccntr_el0"),
    ("s3_3_c13_c0_3", "tpidrro_el0"),
    ("s3_3_c14_c0_0", "cntfrq_el0"),
    ("s3_3_c14_c0_1", "cntpct_el0"),
    ("s3_3_c14_c3_1", "cntv_ctl_el0"),
    ("s3_3_c14_c3_2", "cntv_cval_el0"),
    ("s3_4_c0_c0_0", "vpidr_el2"),
    ("s3_4_c1_c1_0", "hcr_el2"),
    ("s3_4_c12_c0_0", "vbar_el2"),
    ("s3_4_c13_c0_2", "tpidr_el2"),
];

/// What is done to caches, by the operands of the instruction that can do anything.
const OPERATIONS: &[(&str, &str)] = &[
    ("#0, C7, C1, #0", "ic ialluis"),
    ("#0, C7, C5, #0", "ic iallu"),
    ("#3, C7, C5, #1", "ic ivau"),
    ("#0, C7, C6, #1", "dc ivac"),
    ("#0, C7, C6, #2", "dc isw"),
    ("#0, C7, C10, #2", "dc csw"),
    ("#0, C7, C14, #2", "dc cisw"),
    ("#3, C7, C4, #1", "dc zva"),
    ("#3, C7, C4, #3", "dc gva"),
    ("#3, C7, C4, #4", "dc gzva"),
    ("#3, C7, C10, #1", "dc cvac"),
    ("#3, C7, C11, #1", "dc cvau"),
    ("#3, C7, C12, #1", "dc cvap"),
    ("#3, C7, C13, #1", "dc cvadp"),
    ("#3, C7, C14, #1", "dc civac"),
];

/// Names a system register among operands.
pub(super) fn system(operands: &mut String) {
    for (number, name) in REGISTERS {
        let is_it = |operand: &str| operand == *number;
        if operands.split(", ").any(is_it) {
            *operands = operands.replacen(number, name, 1);
            return;
        }
    }
}

/// Names what an instruction does to the system: `dc zva, x3`.
pub(super) fn operation(mnemonic: &mut String, operands: &mut String) {
    *operands = operands.replace(", c", ", C");
    for (number, name) in OPERATIONS {
        if let Some(rest) = operands.strip_prefix(number)
            && let Some((group, name)) = name.split_once(' ')
            && mnemonic == "sys"
        {
            group.clone_into(mnemonic);
            *operands = if rest == ", xzr" || rest.is_empty() {
                name.to_owned()
            } else {
                format!("{name}{rest}")
            };
            return;
        }
    }
}

/// Names a hint.
pub(super) fn hint(mnemonic: &mut String, operands: &mut String) {
    let number = operands
        .strip_prefix("#0x")
        .and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let (name, operand) = match number {
        Some(6) => ("dgh", ""),
        Some(7) => ("xpaclri", ""),
        Some(8) => ("pacia1716", ""),
        Some(10) => ("pacib1716", ""),
        Some(12) => ("autia1716", ""),
        Some(14) => ("autib1716", ""),
        Some(16) => ("esb", ""),
        Some(17) => ("psb", "csync"),
        Some(18) => ("tsb", "csync"),
        Some(20) => ("csdb", ""),
        Some(24) => ("paciaz", ""),
        Some(25) => ("paciasp", ""),
        Some(26) => ("pacibz", ""),
        Some(27) => ("pacibsp", ""),
        Some(28) => ("autiaz", ""),
        Some(29) => ("autiasp", ""),
        Some(30) => ("autibz", ""),
        Some(31) => ("autibsp", ""),
        Some(32) => ("bti", ""),
        Some(34) => ("bti", "c"),
        Some(36) => ("bti", "j"),
        Some(38) => ("bti", "jc"),
        _ => return,
    };
    name.clone_into(mnemonic);
    operands.clear();
    // Into a text, writing does not fail.
    let _ = write!(operands, "{operand}");
}

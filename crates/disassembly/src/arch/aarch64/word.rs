//! What the library does not say of an instruction, from its bits.

/// An instruction's bits, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) address: u64,
    pub(super) bits: u32,
}

impl Word {
    fn field(self, low: u32, width: u32) -> u32 {
        self.bits >> low & ((1 << width) - 1)
    }

    /// The last operand of an addition or subtraction of an extended register: `w1, uxtw #2`.
    pub(super) fn extended_register(self) -> Option<String> {
        if self.field(21, 8) != 0b0101_1001 {
            return None;
        }
        let (option, amount) = (self.field(13, 3), self.field(10, 3));
        let is_wide = self.field(31, 1) == 1;
        let register = match (self.field(16, 5), is_wide && option & 3 == 3) {
            (31, true) => "xzr".to_owned(),
            (31, false) => "wzr".to_owned(),
            (number, true) => format!("x{number}"),
            (number, false) => format!("w{number}"),
        };
        // Beside the stack pointer, the extension that changes nothing is a shift.
        let sets_flags = self.field(29, 1) == 1;
        let has_stack_pointer = self.field(5, 5) == 31 || !sets_flags && self.field(0, 5) == 31;
        let is_plain = option == if is_wide { 3 } else { 2 };
        let name = match option {
            _ if has_stack_pointer && is_plain => "lsl",
            0 => "uxtb",
            1 => "uxth",
            2 => "uxtw",
            3 => "uxtx",
            4 => "sxtb",
            5 => "sxth",
            6 => "sxtw",
            _ => "sxtx",
        };
        Some(match (name, amount) {
            ("lsl", 0) => register,
            (_, 0) => format!("{register}, {name}"),
            _ => format!("{register}, {name} #{amount}"),
        })
    }

    /// Whether it loads or stores at a base and an index.
    fn has_index(self) -> bool {
        self.field(27, 3) == 0b111
            && self.field(24, 2) == 0b00
            && self.field(21, 1) == 1
            && self.field(10, 2) == 0b10
    }

    /// Whether the index is extended, and not shifted.
    pub(super) fn has_idle_extension(self) -> bool {
        self.has_index() && self.field(12, 1) == 0
    }

    /// Whether the index of a byte is said to be shifted, by nothing.
    pub(super) fn has_idle_shift(self) -> bool {
        let is_byte = self.field(30, 2) == 0 && !(self.field(26, 1) == 1 && self.field(23, 1) == 1);
        self.has_index() && self.field(12, 1) == 1 && is_byte
    }

    /// The general register in the lowest bits.
    pub(super) fn last_register(self) -> String {
        match self.field(0, 5) {
            31 => "xzr".to_owned(),
            number => format!("x{number}"),
        }
    }

    /// Whether nothing is encoded by bits that the library reads as an instruction.
    pub(super) fn is_unallocated(self) -> bool {
        let is_narrow = self.field(31, 1) == 0;
        match self.field(24, 5) {
            // Additions of shifted and of extended registers.
            0b01011 if self.field(21, 1) == 0 => {
                self.field(22, 2) == 3 || is_narrow && self.field(15, 1) == 1
            }
            0b01011 => self.field(22, 2) != 0 || self.field(10, 3) > 4,
            // Logic of shifted registers.
            0b01010 => is_narrow && self.field(15, 1) == 1,
            _ => false,
        }
    }

    /// Whether it is of the scalable vectors and matrices, none of which the library decodes.
    pub(super) fn is_scalable(self) -> bool {
        self.field(25, 4) == 0b0010 || self.field(25, 4) == 0 && self.field(31, 1) == 1
    }

    /// Whether it is of a part where there are instructions that are newer than the library: tags, minima,
    /// copies of memory, vectors.
    pub(super) fn may_be_newer(self) -> bool {
        let is_copy = self.bits & 0x3b20_0c00 == 0x1900_0400;
        self.field(23, 6) == 0b10_0011 || is_copy || self.field(25, 3) == 0b111
    }
}

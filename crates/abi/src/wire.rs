//! Bounded reading and writing of kernel structs: [`Cursor`] and [`Encoder`].

use crate::Endian;

/// Bytes do not hold what their kind or their counts say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end before a field does.
    #[error("{what} needs {need} bytes, but {have} are left")]
    Short {
        /// The field that was being read.
        what: &'static str,
        /// Bytes the field needs.
        need: u64,
        /// Bytes that were left.
        have: u64,
    },
    /// An encoded record would exceed the 65,535 bytes that a record header can say.
    #[error("record of {len} bytes exceeds the format's limit of 65535")]
    TooLong {
        /// Length in bytes.
        len: usize,
    },
    /// What must be there word for word is something else.
    #[error("{what} has the wrong magic")]
    BadMagic {
        /// What was being read.
        what: &'static str,
    },
    /// A size field is smaller than the kernel allows.
    #[error("{what} says its size is {size} bytes, but at least {min} are needed")]
    BadSize {
        /// The struct whose size field was read.
        what: &'static str,
        /// What it says.
        size: u64,
        /// The least it can be.
        min: u64,
    },
    /// A field has a value that has no meaning.
    #[error("{what} cannot be {value}")]
    BadValue {
        /// The field that was read.
        what: &'static str,
        /// What it says.
        value: u64,
    },
}

/// Reads fields from the front of a slice; every read is bounds-checked.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8], endian: Endian) -> Self {
        Self {
            rest: bytes,
            endian,
        }
    }

    /// The bytes that are left.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The byte order being read.
    #[inline]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Takes `len` bytes.
    ///
    /// # Errors
    /// [`WireError::Short`] if fewer are left; `what` names the field in it.
    #[inline]
    pub fn bytes(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], WireError> {
        let short = || WireError::Short {
            what,
            need: len,
            have: self.rest.len() as u64,
        };
        let wanted = usize::try_from(len).map_err(|_| short())?;
        let (taken, rest) = self.rest.split_at_checked(wanted).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes as many bytes as the array has.
    ///
    /// # Errors
    /// [`WireError::Short`] if fewer are left; `what` names the field in it.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Short {
            what,
            need: N as u64,
            have: self.rest.len() as u64,
        })?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Takes a `u8`.
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn u8(&mut self, what: &'static str) -> Result<u8, WireError> {
        Ok(u8::from_ne_bytes(self.array(what)?))
    }

    /// Takes a `u16`.
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn u16(&mut self, what: &'static str) -> Result<u16, WireError> {
        Ok(self.endian.u16(self.array(what)?))
    }

    /// Takes a `u32`.
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn u32(&mut self, what: &'static str) -> Result<u32, WireError> {
        Ok(self.endian.u32(self.array(what)?))
    }

    /// Takes an `i32` (process ids are signed: -1 is a dead task).
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn i32(&mut self, what: &'static str) -> Result<i32, WireError> {
        Ok(self.u32(what)?.cast_signed())
    }

    /// Takes a `u64`.
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn u64(&mut self, what: &'static str) -> Result<u64, WireError> {
        Ok(self.endian.u64(self.array(what)?))
    }

    /// Takes an `i64`.
    ///
    /// # Errors
    /// [`WireError::Short`] at the end.
    #[inline]
    pub fn i64(&mut self, what: &'static str) -> Result<i64, WireError> {
        Ok(self.u64(what)?.cast_signed())
    }

    /// Takes all whole `u64`s that are left.
    pub fn u64s(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.u64("number").ok()).collect()
    }

    /// Takes the bytes up to the first NUL and the NUL itself; without one, all that is left.
    #[inline]
    pub fn c_str(&mut self) -> &'a [u8] {
        let all = self.rest;
        match all.iter().position(|&byte| byte == 0) {
            Some(nul) => {
                let (name, rest) = all.split_at(nul);
                self.rest = rest.get(1..).unwrap_or_default();
                name
            }
            None => {
                self.rest = &[];
                all
            }
        }
    }
}

/// Appends fields to a buffer in a chosen byte order.
#[derive(Debug)]
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
    endian: Endian,
}

impl<'a> Encoder<'a> {
    /// Appends to `out`.
    pub fn new(out: &'a mut Vec<u8>, endian: Endian) -> Self {
        Self { out, endian }
    }

    /// The byte order being written.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Appends a `u8`.
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Appends a `u16`.
    pub fn u16(&mut self, value: u16) {
        self.out.extend_from_slice(&self.endian.bytes_u16(value));
    }

    /// Appends a `u32`.
    pub fn u32(&mut self, value: u32) {
        self.out.extend_from_slice(&self.endian.bytes_u32(value));
    }

    /// Appends an `i32`.
    pub fn i32(&mut self, value: i32) {
        self.u32(value.cast_unsigned());
    }

    /// Appends a `u64`.
    pub fn u64(&mut self, value: u64) {
        self.out.extend_from_slice(&self.endian.bytes_u64(value));
    }

    /// Appends an `i64`.
    pub fn i64(&mut self, value: i64) {
        self.u64(value.cast_unsigned());
    }

    /// Appends a number of items as a `u32`, of which the greatest stands for more.
    pub fn count(&mut self, n: usize) {
        self.u32(u32::try_from(n).unwrap_or(u32::MAX));
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends a name with its NUL, zero-filled to a multiple of 8 bytes as the kernel does.
    pub fn c_str_padded(&mut self, name: &[u8]) {
        self.bytes(name);
        let padding = 8 - name.len() % 8;
        for _ in 0..padding {
            self.u8(0);
        }
    }
}

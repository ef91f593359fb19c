//! What samples can be grouped by beside thread names, images and functions.
//!
//! A new one is a line of the table here, and its value in `rprof_analysis` (`pass/dimensions.rs`).

use crate::{StrId, Strings};

macro_rules! dimensions {
    ($($dimension:ident = $name:literal, $heading:literal, $cell:ident, $doc:literal;)*) => {
        /// One thing that samples can be grouped by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Dimension {
            $(#[doc = concat!("The ", $doc, ".")] $dimension,)*
        }

        impl Dimension {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$dimension),*];

            /// perf's name of the sort key.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$dimension => $name,)*
                }
            }

            /// What it is, in a line.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$dimension => $doc,)*
                }
            }

            /// perf's heading of the column.
            pub const fn heading(self) -> &'static str {
                match self {
                    $(Self::$dimension => $heading,)*
                }
            }

            /// A value as perf shows it.
            pub fn cell(self, value: DimensionValue, strings: &Strings) -> String {
                match self {
                    $(Self::$dimension => $cell(value, strings),)*
                }
            }
        }
    };
}

dimensions! {
    Pid = "pid", "    Pid", id, "process";
    Tid = "tid", "    Tid", id, "thread";
    Cpu = "cpu", "CPU", cpu, "CPU";
    Cgroup = "cgroup", "Cgroup", text, "control group";
}

/// A value in a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DimensionValue {
    /// An id or a number.
    Number(i64),
    /// A text of the profile.
    Text(StrId),
}

/// A group's values, by dimension; `None` where it was not asked for, or not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct DimensionValues([Option<DimensionValue>; Dimension::ALL.len()]);

impl DimensionValues {
    /// The value in a dimension.
    pub fn get(&self, dimension: Dimension) -> Option<DimensionValue> {
        self.0[dimension as usize]
    }

    /// Sets the value in a dimension.
    pub fn set(&mut self, dimension: Dimension, value: Option<DimensionValue>) {
        self.0[dimension as usize] = value;
    }

    /// The number in a dimension that has numbers.
    pub fn number(&self, dimension: Dimension) -> Option<i64> {
        match self.get(dimension)? {
            DimensionValue::Number(number) => Some(number),
            DimensionValue::Text(_) => None,
        }
    }
}

fn id(value: DimensionValue, strings: &Strings) -> String {
    match value {
        DimensionValue::Number(number) => format!("{number:>7}"),
        DimensionValue::Text(id) => strings.of(id).to_string(),
    }
}

fn cpu(value: DimensionValue, strings: &Strings) -> String {
    match value {
        DimensionValue::Number(number) => format!("{number:03}"),
        DimensionValue::Text(id) => strings.of(id).to_string(),
    }
}

fn text(value: DimensionValue, strings: &Strings) -> String {
    match value {
        DimensionValue::Number(number) => number.to_string(),
        DimensionValue::Text(id) => strings.of(id).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_wide_as_perfs() {
        let strings = Strings::default();
        let cell = |dimension: Dimension| dimension.cell(DimensionValue::Number(7), &strings);
        assert_eq!(cell(Dimension::Pid), "      7");
        assert_eq!(cell(Dimension::Cpu), "007");
    }
}

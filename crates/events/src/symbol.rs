//! Events with names of their own, in no file: hardware, software, cache and raw.

use rprof_abi::{event_type, hw, sw};

use crate::EventError;
use crate::cache::{cache_config, cache_names};

/// Kind and config of a generic event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) kind: u32,
    pub(crate) config: u64,
}

impl Symbol {
    /// The hardware, software or cache event of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let from = |kind, config: Option<u64>| {
            Some(Self {
                kind,
                config: config?,
            })
        };
        from(event_type::HARDWARE, position(hw::NAMES, name))
            .or_else(|| from(event_type::SOFTWARE, position(sw::NAMES, name)))
            .or_else(|| from(event_type::HW_CACHE, cache_config(name)))
    }

    /// `rHEX`; `None` if it does not look like one.
    ///
    /// # Errors
    /// [`EventError::BadNumber`] if it does but has more than 64 bits.
    pub(crate) fn raw(name: &str) -> Option<Result<Self, EventError>> {
        let after = name.strip_prefix('r')?;
        let digits = after.strip_prefix("0x").unwrap_or(after);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let kind = event_type::RAW;
        Some(match u64::from_str_radix(digits, 16) {
            Ok(config) => Ok(Self { kind, config }),
            Err(_) => Err(EventError::BadNumber {
                text: digits.to_owned(),
                event: name.to_owned(),
            }),
        })
    }

    /// Whether the core PMU counts it: on a hybrid machine, one of several.
    pub(crate) fn is_core(self) -> bool {
        self.kind != event_type::SOFTWARE
    }
}

fn position(names: &[(&str, Option<&str>)], name: &str) -> Option<u64> {
    let found = (0..)
        .zip(names)
        .find(|(_, (first, alias))| *first == name || *alias == Some(name));
    found.map(|(config, _)| config)
}

/// Every name but the raw ones, for suggestions.
pub(crate) fn symbol_names() -> impl Iterator<Item = String> {
    hw::NAMES
        .iter()
        .chain(sw::NAMES)
        .flat_map(|(name, alias)| [Some(*name), *alias])
        .flatten()
        .map(str::to_owned)
        .chain(cache_names())
}

//! Which events' samples count.

/// Which events' samples count. Others are not read: no total, loss or quality has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventChoice {
    /// All.
    #[default]
    All,
    /// Those that were asked for: without switches and wake-ups that were recorded to derive waiting time.
    Asked,
    /// The one with this name.
    Named(String),
}

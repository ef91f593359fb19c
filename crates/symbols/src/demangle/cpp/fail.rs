//! Why a name is not made readable.

/// Why there is no readable form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    NotMangled,
    TooDeep,
    /// There is, and more of it than is shown.
    Full,
}

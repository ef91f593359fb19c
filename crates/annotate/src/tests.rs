//! Facts about listings.

//! Recordings before and after: what changed, how sure that is, and what is noise.

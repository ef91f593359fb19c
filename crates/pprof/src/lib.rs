//! pprof profiles: their messages as Rust structs, to fill and encode, and what reads them part by part.

mod error;
mod messages;
mod read;

pub use error::Error;
pub use messages::{
    PPROF_SAMPLE, PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofRest,
    PprofSample, PprofValueType,
};
pub use read::{PprofLabelParts, PprofPart, PprofParts, PprofSampleParts};

//! The messages of pprof profiles as Rust structs.

mod messages;

pub use messages::{
    PPROF_SAMPLE, PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofRest,
    PprofSample, PprofValueType,
};

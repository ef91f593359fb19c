use super::*;
use rprof_profile::testing;

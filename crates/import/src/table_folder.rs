//! Which folders hold tables of profiles.

use std::path::Path;

/// Whether a folder holds tables of profiles: `samples` at least, as a folder or as `samples.parquet`.
pub fn is_table_folder(path: &Path) -> bool {
    path.join("samples").is_dir() || path.join("samples.parquet").is_file()
}

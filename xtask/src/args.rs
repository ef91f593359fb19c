//! What stands after a task's name.

use anyhow::{Result, ensure};

/// For tasks without arguments.
pub(crate) fn no_arguments(args: &[String]) -> Result<()> {
    ensure!(
        args.is_empty(),
        "this task takes no arguments, not {}",
        args.join(" ")
    );
    Ok(())
}

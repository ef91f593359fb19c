//! What stands after a task's name.

use anyhow::{Result, bail, ensure};

/// For tasks without arguments.
pub(crate) fn no_arguments(args: &[String]) -> Result<()> {
    ensure!(
        args.is_empty(),
        "this task takes no arguments, not {}",
        args.join(" ")
    );
    Ok(())
}

/// For tasks with one flag: whether it is given.
pub(crate) fn has_flag(args: &[String], flag: &str) -> Result<bool> {
    match args {
        [] => Ok(false),
        [one] if one == flag => Ok(true),
        _ => bail!("this task takes no arguments but {flag}"),
    }
}

//! Arguments of `rprof completions`.

use clap_complete::Shell;

const WHERE: &str = "Where shells look for completions:
  mkdir -p ~/.local/share/bash-completion/completions
  rprof completions bash > ~/.local/share/bash-completion/completions/rprof
  rprof completions zsh > ~/.zfunc/_rprof      (with ~/.zfunc in fpath)
  rprof completions fish > ~/.config/fish/completions/rprof.fish";

/// The shell to complete for.
#[derive(Debug, clap::Args)]
#[command(after_help = WHERE)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

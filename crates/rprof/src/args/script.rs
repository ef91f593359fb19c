//! The arguments of `rprof script`.

use super::InputArgs;

#[derive(Debug, clap::Args)]
#[command(mut_arg("dsos", |dsos| dsos.short(None)))]
pub(crate) struct ScriptArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[arg(short = 'F', long, value_name = "FIELDS", allow_hyphen_values = true, help = fields_help())]
    pub(crate) fields: Vec<String>,

    /// Do not print call chains
    #[arg(short = 'G', long)]
    pub(crate) hide_call_graph: bool,

    /// Print times with nanoseconds
    #[arg(long)]
    pub(crate) ns: bool,
}

fn fields_help() -> String {
    let names: Vec<&str> = rprof_script::field_names().collect();
    format!(
        "Fields to print, or with + and - fields to add to and remove from the default: {} \
         (stackend: why a stack that was unwound is not complete). With hw:, sw:, trace:, raw: or \
         break: in front: for such events only. May be repeated: each changes the ones before",
        names.join(", ")
    )
}

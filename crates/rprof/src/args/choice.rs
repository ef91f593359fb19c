//! Values of flags that are one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, its line in `--help` (empty if the flag's own help explains it), and what it means.
pub(super) type Choice<T> = (&'static str, &'static str, T);

/// Reads one of some words.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let values = choices.iter().map(|(word, help, _)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(values).try_map(|word| {
        let chosen = choices.iter().find(|(known, ..)| *known == word);
        let (.., meaning) = chosen.ok_or("unknown word")?;
        Ok::<_, &str>(meaning.clone())
    })
}

//! `(type)`: finding out that parentheses hold a type.

use super::expr::Cast;
use super::lexer::Token;
use super::types::IntType;

/// Words and stars between parentheses, as a type.
pub(super) fn type_in_parentheses<'a>(tokens: &'a [Token<'a>]) -> Option<(Cast, &'a [Token<'a>])> {
    let (Token::Op("("), tokens) = tokens.split_first()? else {
        return None;
    };
    let is_word = |token: &&Token<'_>| matches!(token, Token::Word(_));
    let is_star = |token: &&Token<'_>| matches!(token, Token::Op("*"));
    let n_words = tokens.iter().take_while(is_word).count();
    let (words, rest) = tokens.split_at_checked(n_words)?;
    let n_stars = rest.iter().take_while(is_star).count();
    let (Token::Op(")"), rest) = rest.get(n_stars..)?.split_first()? else {
        return None;
    };
    let words = words.iter().filter_map(|token| match token {
        Token::Word(word) => Some(*word),
        _ => None,
    });
    let kind = IntType::from_words(words);
    let cast = match (n_words, n_stars, kind) {
        (0, _, _) => return None,
        (_, 0, Some(kind)) => Cast::Int(kind),
        (_, 0, None) => Cast::Unknown,
        (_, 1, kind) => Cast::Pointer(kind),
        _ => Cast::Pointer(None),
    };
    Some((cast, rest))
}

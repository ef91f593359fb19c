//! Shell patterns in names.

/// Whether a name is a pattern.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether `name` fits `pattern`, in which `*` stands for any bytes and `?` for one.
pub fn glob_matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut pattern_at, mut name_at) = (0, 0);
    // Where to go on if the rest does not fit: after the last star, one byte of the name later.
    let mut retry = None;
    while let Some(&byte) = name.get(name_at) {
        match pattern.get(pattern_at) {
            Some(b'*') => {
                pattern_at += 1;
                retry = Some((pattern_at, name_at));
            }
            Some(&wanted) if wanted == b'?' || wanted == byte => {
                pattern_at += 1;
                name_at += 1;
            }
            _ => match retry {
                Some((after_star, from)) => {
                    pattern_at = after_star;
                    name_at = from + 1;
                    retry = Some((after_star, name_at));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(pattern_at).all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_as_in_a_shell() {
        let cases = [
            ("*", "", true),
            ("*", "abc", true),
            ("a*c", "abbc", true),
            ("a*c", "abcb", false),
            ("*_exit*", "sys_exit_read", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("**a**", "bab", true),
            ("", "a", false),
            ("abc", "abc", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(glob_matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}

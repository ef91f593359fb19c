//! Names of kernel modules.

/// Whether a path is that of a kernel module's file, compressed or not.
pub fn is_module_file(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    name.ends_with(b".ko") || name.windows(4).any(|part| part == b".ko.")
}

/// `/lib/modules/6.1/kernel/net/nf-nat.ko.xz` and `[nf_nat]` are both `nf_nat`.
pub fn module_name(path: &[u8]) -> Vec<u8> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let name = name.strip_prefix(b"[").unwrap_or(name);
    let name = name.split(|&byte| byte == b'.' || byte == b']').next();
    let same = |&byte: &u8| if byte == b'-' { b'_' } else { byte };
    name.unwrap_or_default().iter().map(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_have_one_name() {
        for path in [
            "[nf_nat]",
            "/lib/x/nf-nat.ko",
            "nf_nat.ko.xz",
            "a/nf-nat.ko.debug",
        ] {
            assert_eq!(module_name(path.as_bytes()), b"nf_nat");
        }
        assert!(is_module_file(b"/lib/a.ko") && is_module_file(b"a.ko.zst"));
        assert!(!is_module_file(b"a.ko.d/modules.dep"));
    }
}

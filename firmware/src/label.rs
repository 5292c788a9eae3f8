//! What an image says of itself: lines that a bitstream carries ahead of what configures the FPGA, for people and for who
//! finds an image on a flash and wants to know what it is.

use crate::design::Design;
use systole_hdl::parameters::Parameters;

/// The line of the hash.
const HASH: &str = "design-hash";

/// The lines of a label, `name=value`: the design's canonical text, and the hash that the image answers with.
pub fn lines(design: &Design, hash: u64) -> Vec<String> {
    let text = design.canonical_text();
    text.lines().map(str::to_owned).chain([format!("{HASH}={hash:016x}")]).collect()
}

/// The design and the hash that lines tell, whatever else stands among them; `None` where they are no label.
pub fn read(lines: &[String]) -> Option<(Design, u64)> {
    let fact = |name: &str| {
        lines.iter().find_map(|line| line.split_once('=').filter(|(key, _)| *key == name)).map(|(_, v)| v)
    };
    let number = |name: &str| fact(name)?.parse().ok();
    let parameters = Parameters {
        n: number("n")?,
        w: number("w")?,
        aw: number("aw")?,
        k_max: number("k-max")?,
        job_bits: number("job-bits")?,
        a_depth: number("a-depth")?,
        b_depth: number("b-depth")?,
        fifo: number("fifo")?,
        clock_hz: number("clock")?,
        baud: number("baud")?,
        injection: fact("injection")?.parse().ok()?,
    };
    Some((Design::new(parameters).ok()?, u64::from_str_radix(fact(HASH)?, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_the_design() {
        let parameters = Parameters { n: 2, baud: 1_000_000, injection: false, ..Parameters::default() };
        let design = Design::new(parameters).expect("in range");
        let mut label = lines(&design, 0xABCD);
        assert_eq!(label.last().map(String::as_str), Some("design-hash=000000000000abcd"));
        label.insert(0, "made by hand".to_owned());
        assert_eq!(read(&label), Some((design, 0xABCD)));
        let unclear: Vec<String> = label.iter().map(|line| line.replace("=false", "=maybe")).collect();
        assert_eq!(read(&unclear), None);
        label.pop();
        assert_eq!(read(&label), None, "without its hash");
        assert_eq!(read(&[]), None);
    }
}

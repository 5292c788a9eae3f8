//! Whether a product fits the memory, found out before any of it is taken.

use crate::error::Error;
use crate::matrix::size;
use systole_firmware::design::Design;

/// Bytes that a job takes in the host besides its values: both results' headers and its share of the plan.
const JOB_BYTES: u128 = 160;

/// Refuses a product that would take more than `limit` bytes of memory in the host, or more than there are.
///
/// # Errors
/// [`Error::Memory`] and [`Error::NoMemory`], which say how much it would take.
pub fn check(m: u128, k: u128, p: u128, design: &Design, limit: u64) -> Result<(), Error> {
    let parameters = design.parameters();
    let n = u128::from(parameters.n);
    let limit_k = u128::from(parameters.k_limit());
    let blocks = m.div_ceil(n).saturating_mul(p.div_ceil(n));
    let jobs = blocks.saturating_mul(k.div_ceil(limit_k));
    // 32-bit operands; two 64-bit values for each result, the one that came and the one expected; 64-bit C, twice.
    let operands = m.saturating_mul(k).saturating_add(k.saturating_mul(p)).saturating_mul(4);
    let results = jobs.saturating_mul(JOB_BYTES + 16 * n * n);
    let needed = operands.saturating_add(results).saturating_add(m.saturating_mul(p).saturating_mul(16));
    let shape = || format!("{m}x{k}x{p}");
    if needed > u128::from(limit) {
        return Err(Error::Memory { shape: shape(), needed: size(needed), limit: size(u128::from(limit)) });
    }
    if !is_there(needed) {
        return Err(Error::NoMemory { shape: shape(), needed: size(needed) });
    }
    Ok(())
}

/// Whether this many bytes can be had now: the system says that they are free, and the process may take them.
pub(crate) fn is_there(bytes: u128) -> bool {
    if available().is_some_and(|available| bytes > available) {
        return false;
    }
    // Taken in one piece and given back untouched: this meets limits on the process, which the system's figure leaves out.
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

/// Bytes that Linux says can be taken without swapping; `None` where there is no such figure.
fn available() -> Option<u128> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u128 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_machine_has_an_exbibyte() {
        assert!(is_there(1 << 20));
        assert!(!is_there(1 << 60));
        assert!(!is_there(1 << 70));
        let error = check(1 << 28, 1 << 28, 1, &Design::new(Default::default()).expect("default"), u64::MAX);
        let text = error.expect_err("256 PiB").to_string();
        assert!(text.contains("268435456x268435456x1 would take") && text.contains("than is free"), "{text}");
    }
}

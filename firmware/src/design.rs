//! A design: parameters that can be built, and the hash by which the gateware is recognised.

use sha2::{Digest, Sha256};
use systole_hdl::parameters::{ParameterError, Parameters, STAGES};
use systole_hdl::wire::{Identity, Origin, PROTOCOL};

/// The design hash of a text: the first eight bytes, big-endian, of its SHA-256.
pub fn hash_of(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
}

/// Everything that shapes the gateware, as text: a line a fact, `name=value`, names as on the command line. The
/// parameters need not be in range.
pub fn canonical_text(parameters: &Parameters) -> String {
    let Parameters { n, w, aw, k_max, job_bits, a_depth, b_depth, fifo, clock_hz, baud, injection } =
        *parameters;
    format!(
        "protocol={PROTOCOL}\nstages={STAGES}\nn={n}\nw={w}\naw={aw}\nk-max={k_max}\njob-bits={job_bits}\n\
         a-depth={a_depth}\nb-depth={b_depth}\nfifo={fifo}\nclock={clock_hz}\nbaud={baud}\ninjection={injection}\n"
    )
}

/// A checked set of parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    parameters: Parameters,
}

impl Design {
    /// Accepts parameters that can be built.
    ///
    /// # Errors
    /// The first parameter out of range, with its value and its range.
    pub fn new(parameters: Parameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(Self { parameters })
    }

    /// The parameters, which are in range.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The [`canonical_text`] of its parameters.
    pub fn canonical_text(&self) -> String {
        canonical_text(&self.parameters)
    }

    /// The [`hash_of`] the [`Design::canonical_text`].
    ///
    /// Neither a time nor a path is in it: equal designs have equal hashes everywhere.
    pub fn hash(&self) -> u64 {
        hash_of(&self.canonical_text())
    }

    /// What the gateware of this design answers to HELLO.
    pub fn identity(&self, origin: Origin) -> Identity {
        Identity {
            protocol: PROTOCOL,
            origin,
            parameters: self.parameters.clone(),
            stages: STAGES as u8,
            largest_frame: self.parameters.largest_frame(),
            design_hash: self.hash(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(change: impl FnOnce(&mut Parameters)) -> Design {
        let mut parameters = Parameters::default();
        change(&mut parameters);
        Design::new(parameters).expect("in range")
    }

    #[test]
    fn the_hash_is_that_of_the_published_text() {
        // The digest is coreutils': printf '%s' "$text" | sha256sum | cut -c1-16
        let text = "protocol=1\nstages=0\nn=4\nw=8\naw=32\nk-max=256\njob-bits=2\na-depth=512\nb-depth=1024\n\
                    fifo=4096\nclock=24000000\nbaud=3000000\ninjection=true\n";
        assert_eq!(design(|_| ()).canonical_text(), text);
        assert_eq!(design(|_| ()).hash(), 0x1FBF_D85E_5141_AFF1);
    }

    #[test]
    fn every_parameter_is_in_the_hash() {
        let changes: [fn(&mut Parameters); 11] = [
            |p| p.n = 5,
            |p| p.w = 9,
            |p| p.aw = 33,
            |p| p.k_max = 255,
            |p| p.job_bits = 3,
            |p| p.a_depth = 513,
            |p| p.b_depth = 1025,
            |p| p.fifo = 8192,
            |p| p.clock_hz = 48_000_000,
            |p| p.baud = 2_000_000,
            |p| p.injection = false,
        ];
        let mut hashes: Vec<_> = changes.iter().map(|change| design(change).hash()).collect();
        hashes.push(design(|_| ()).hash());
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 12);
    }

    #[test]
    fn a_design_that_cannot_be_built_is_refused() {
        let error = Design::new(Parameters { n: 0, ..Parameters::default() }).expect_err("n is 0");
        assert_eq!(error.to_string(), "n is 0, but must be 1..=32");
    }

    #[test]
    fn identity_carries_hash_and_origin() {
        let d = design(|_| ());
        let identity = d.identity(Origin::Simulated);
        assert_eq!(identity.design_hash, d.hash());
        assert_eq!(
            (identity.origin, identity.protocol, identity.largest_frame),
            (Origin::Simulated, 1, 2048)
        );
    }
}

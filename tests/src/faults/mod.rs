//! Products over links that go wrong: what is injected, and what must come of it. Right or a named error, never a wrong
//! product, never a wait without end.

pub mod brown_out;
pub mod disturbed;
pub mod tally;

use brown_out::BrownOut;
use disturbed::{Disturbed, Fault};
use std::sync::atomic::AtomicBool;
use systole::error::Error;
use systole::link::Link;
use systole::link::sim::SimLink;
use systole::link::software::SoftwareLink;
use systole::matrix::random;
use systole::product::{Product, product};
use systole::session::SessionError;
use systole_firmware::design::Design;
use systole_hdl::parameters::Parameters;
use systole_hdl::wire::Origin;
use tally::Tally;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// Sizes of a product.
pub type Size = (usize, usize, usize);

/// Padded blocks, three chunks of K, more panels than a cramped board's banks hold.
pub const PRODUCT: Size = (11, 9, 13);

/// Two designs of 2×2: in one panels are overwritten all the time and little is in flight; in the other much is.
pub fn designs() -> [Design; 2] {
    let cramped = Parameters { n: 2, k_max: 4, a_depth: 8, b_depth: 8, fifo: 128, ..Parameters::DEFAULT };
    let roomy = Parameters { n: 2, ..Parameters::DEFAULT };
    [cramped, roomy].map(|parameters| Design::new(parameters).expect("in range"))
}

/// The simulated gateware.
pub fn gateware(design: &Design) -> SimLink {
    SimLink::new(&design.identity(Origin::Simulated), None)
}

/// The model of the board.
pub fn model(design: &Design) -> SoftwareLink {
    SoftwareLink::new(design.identity(Origin::Simulated))
}

/// A product over a link; `None` when it ended in an error that the wire may end in.
///
/// # Panics
/// When the product is wrong, or the error is none of those.
pub fn right_or_named(link: &mut dyn Link, design: &Design, (m, k, p): Size, seed: u64) -> Option<Product> {
    let (a, b) = random(m, k, p, design.parameters().w, seed);
    match product(link, design, &a, &b, &mut (), &GO_ON) {
        Ok(product) => {
            assert!(product.comparison.equal(), "seed {seed}: a wrong product: {:?}", product.comparison);
            Some(product)
        }
        // Nothing came through for several deadlines in a row, or the board was reset again and again.
        Err(Error::Session(error)) if error.is_silence() => None,
        Err(Error::Session(SessionError::NoSession)) => None,
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

/// Bytes that a product takes over a link where nothing goes wrong.
pub fn clean_bytes(design: &Design, size: Size, seed: u64) -> u64 {
    let product = right_or_named(&mut model(design), design, size, seed).expect("a clean link");
    tally::bytes(&product)
}

/// Runs a product over a link with faults of one kind, and adds what came of it to the tally.
pub fn disturb(
    link: impl Link,
    design: &Design,
    size: Size,
    (fault, rate): (Fault, f64),
    seed: u64,
    tally: &mut Tally,
) {
    let mut link = Disturbed::new(link, fault, rate, seed);
    let product = right_or_named(&mut link, design, size, seed);
    let clean = clean_bytes(design, size, seed);
    tally.add(link.injected(), product.as_ref(), clean);
    tally.cycles += link.cycles().unwrap_or(0);
}

/// Runs a product over the gateware and resets it in the middle of jobs, and adds what came of it to the tally.
pub fn brown_out(design: &Design, resets: u32, seed: u64, tally: &mut Tally) {
    let mut clean = BrownOut::new(gateware(design), 0, 1, seed);
    right_or_named(&mut clean, design, PRODUCT, seed).expect("a clean link");
    let mut link = BrownOut::new(gateware(design), resets, clean.busy(), seed);
    let product = right_or_named(&mut link, design, PRODUCT, seed);
    tally.add(link.injected(), product.as_ref(), clean_bytes(design, PRODUCT, seed));
    tally.cycles += link.cycles().unwrap_or(0);
}

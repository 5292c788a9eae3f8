//! What the boundary presents in a job, step by step, and the faults that strike it there.

use super::{Fault, JobSpec};
use crate::software::Token;
use systole_hdl::wire::Injection;

/// The skewed streams of both sides (R4). Before a lane's first token and after its last there is nothing; a
/// dropped or truncated token keeps its place as a bubble.
pub(super) struct Schedule<'a> {
    job: &'a JobSpec<'a>,
    side: usize,
    step: usize,
    west: Vec<Option<Token>>,
    north: Vec<Option<Token>>,
    struck: bool,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(side: usize, job: &'a JobSpec<'a>) -> Self {
        Self { job, side, step: 0, west: vec![None; side], north: vec![None; side], struck: false }
    }

    /// Whether every lane has presented its last token.
    pub(super) fn is_over(&self) -> bool {
        let k_len = self.job.k_len as usize;
        (0..self.side).all(|lane| self.step >= lane + k_len)
    }

    /// Whether a fault has struck a token.
    pub(super) fn has_struck(&self) -> bool {
        self.struck
    }

    /// What both sides present at the next step.
    pub(super) fn present(&mut self) -> (&[Option<Token>], &[Option<Token>]) {
        let Self { job, step, west, north, .. } = self;
        let k_len = job.k_len as usize;
        // Tags and k have been checked to fit the design's widths.
        let tag = job.tag as u8;
        for (links, panel) in [(&mut *west, job.a), (&mut *north, job.b)] {
            for (lane, (link, operands)) in links.iter_mut().zip(panel.chunks_exact(k_len)).enumerate() {
                let term = step.checked_sub(lane).and_then(|k| Some((k, *operands.get(k)?)));
                *link = term.map(|(k, value)| Token { value, job: tag, k: k as u16, valid: true });
            }
        }
        if let Some(fault) = self.job.fault {
            self.struck |= self.strike(fault);
        }
        self.step += 1;
        (&self.west, &self.north)
    }

    /// Lets a fault strike the tokens of this step; says whether there was any for it.
    fn strike(&mut self, fault: Fault) -> bool {
        let now = fault.step as usize == self.step;
        let (Some(west), Some(north)) = (self.west.first_mut(), self.north.first_mut()) else { return false };
        match (fault.injection, west, north) {
            (Injection::FlipK, Some(a), _) if now => a.k ^= 1,
            (Injection::FlipJob, Some(a), _) if now => a.job ^= 1,
            (Injection::DropValid, Some(a), _) if now => a.valid = false,
            (Injection::RepeatK, Some(a), Some(b)) if now && a.k > 0 => {
                a.k -= 1;
                b.k -= 1;
            }
            (Injection::Truncate, _, _) => {
                let mut last = false;
                let last_k = self.job.k_len - 1;
                for token in self.west.iter_mut().chain(&mut self.north).flatten() {
                    if u32::from(token.k) == last_k {
                        token.valid = false;
                        last = true;
                    }
                }
                return last;
            }
            _ => return false,
        }
        true
    }
}

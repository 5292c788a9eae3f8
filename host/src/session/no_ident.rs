//! What is known when nobody has said who they are.

use crate::link::Unit;
use std::fmt;

/// What came back for HELLOs, none of it an IDENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Not a byte.
    Nothing,
    /// So many bytes.
    Bytes(u64),
    /// The HELLO itself.
    Echo,
}

impl Heard {
    /// What was heard in two times.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Echo, _) | (_, Self::Echo) => Self::Echo,
            (Self::Bytes(a), Self::Bytes(b)) => Self::Bytes(a + b),
            (Self::Bytes(bytes), Self::Nothing) | (Self::Nothing, Self::Bytes(bytes)) => Self::Bytes(bytes),
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}

/// HELLOs without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoIdent {
    /// HELLOs sent.
    pub hellos: u32,
    /// The whole time from the first look at the line, in units of the link.
    pub spent: u64,
    /// What that counts.
    pub unit: Unit,
    /// What came back.
    pub heard: Heard,
    /// The rates in bits a second, where the link has one.
    pub rates: Vec<u32>,
}

impl NoIdent {
    /// What is known after another try, at another rate.
    pub fn and(mut self, other: Self) -> Self {
        self.hellos += other.hellos;
        self.spent += other.spent;
        self.rates.extend(other.rates);
        self.heard = self.heard.and(other.heard);
        self
    }
}

impl fmt::Display for NoIdent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer to HELLO")?;
        if !self.rates.is_empty() {
            let rates: Vec<String> = self.rates.iter().map(ToString::to_string).collect();
            write!(f, " at {} baud", rates.join(", "))?;
        }
        write!(f, " within {}, sent {} times: ", self.unit.text(self.spent), self.hellos)?;
        let rate = |text| if self.rates.is_empty() { "" } else { text };
        match self.heard {
            Heard::Nothing => write!(
                f,
                "not a byte came back; check that the board is powered and configured with Systole's gateware \
                 (`systole flash`){}",
                rate(", and give its rate if it is another: --link serial:PATH@BAUD")
            ),
            Heard::Bytes(bytes) => write!(
                f,
                "{bytes} bytes came, and none of them said who is there; the other end is no board of Systole's, or \
                 its image is damaged{} (`systole flash` writes one)",
                rate(", or it runs at another rate (--link serial:PATH@BAUD)")
            ),
            Heard::Echo => f.write_str(
                "what was sent came back as it was; check that the port's two lines are not joined, and that no \
                 program at the other end echoes",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_back_and_the_whole_time_are_told() {
        let at = |baud, heard| NoIdent {
            hellos: 3,
            spent: 1_250_000_000,
            unit: Unit::Nanoseconds,
            heard,
            rates: Vec::from_iter(baud),
        };
        let silent = at(None, Heard::Nothing).to_string();
        assert!(
            silent.starts_with("no answer to HELLO within 1.250 s, sent 3 times: not a byte"),
            "{silent}"
        );
        assert!(!silent.contains("rate") && !silent.contains("BAUD"), "there is none: {silent}");
        let two = at(Some(3_000_000), Heard::Nothing).and(at(Some(115_200), Heard::Bytes(7)));
        let text = two.to_string();
        let start =
            "no answer to HELLO at 3000000, 115200 baud within 2.500 s, sent 6 times: 7 bytes came, and none";
        assert!(text.starts_with(start) && text.contains("another rate"), "{text}");
        let echo = two.and(at(Some(1200), Heard::Echo)).to_string();
        assert!(echo.contains("sent 9 times: what was sent came back"), "{echo}");
    }
}

//! Messages between the virtual host controller and a device: USB/IP's, big-endian, with a header of 48 bytes.

use super::device::Setup;
use thiserror::Error;

/// Bytes of every header.
pub(super) const HEADER: usize = 48;

/// A transfer to do.
const SUBMIT: u32 = 1;
/// A transfer to give up.
const UNLINK: u32 = 2;
/// A transfer that was done.
const SUBMITTED: u32 = 3;
/// A transfer that was given up, or had been done.
const UNLINKED: u32 = 4;

/// Status of a transfer that an endpoint refuses: EPIPE.
pub(super) const STALLED: i32 = -32;
/// Status of a transfer that was given up: ECONNRESET.
pub(super) const GIVEN_UP: i32 = -104;

/// What the host controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A transfer.
    Submit {
        /// Its number.
        seq: u32,
        /// The endpoint, without direction.
        endpoint: u8,
        /// Whether the device is to send.
        input: bool,
        /// Bytes to send at most, or that were sent.
        length: usize,
        /// The request, on endpoint 0.
        setup: Setup,
        /// What was sent.
        data: Vec<u8>,
    },
    /// The end of one.
    Unlink {
        /// The number of this message.
        seq: u32,
        /// The number of the transfer.
        victim: u32,
    },
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the host controller sent command {0}, which is none")]
pub struct UnknownCommand(u32);

/// The first message of these bytes and its length; `None` while it is not all there.
pub(super) fn first(bytes: &[u8]) -> Result<Option<(Message, usize)>, UnknownCommand> {
    let Some(header) = bytes.first_chunk::<HEADER>() else { return Ok(None) };
    let word = |index: usize| {
        let at = index * 4;
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (command, seq, input) = (word(0), word(1), word(3) != 0);
    match command {
        SUBMIT => {
            let length = word(6) as usize;
            let whole = HEADER + if input { 0 } else { length };
            let Some(data) = bytes.get(HEADER..whole) else { return Ok(None) };
            let mut setup = [0; 8];
            setup.copy_from_slice(&header[40..48]);
            let setup = Setup::from_bytes(setup);
            let (endpoint, data) = (word(4) as u8, data.to_vec());
            Ok(Some((Message::Submit { seq, endpoint, input, length, setup, data }, whole)))
        }
        UNLINK => Ok(Some((Message::Unlink { seq, victim: word(5) }, HEADER))),
        other => Err(UnknownCommand(other)),
    }
}

/// Appends the answer to a transfer: its status, the bytes that it moved, and those that the device sends.
pub(super) fn submitted(to: &mut Vec<u8>, seq: u32, status: i32, moved: usize, data: &[u8]) {
    let mut header = header(SUBMITTED, seq, status);
    let moved = u32::try_from(moved).unwrap_or(u32::MAX);
    header[24..28].copy_from_slice(&moved.to_be_bytes());
    to.extend(header);
    to.extend(data);
}

/// Appends the answer to the end of a transfer.
pub(super) fn unlinked(to: &mut Vec<u8>, seq: u32, was_pending: bool) {
    to.extend(header(UNLINKED, seq, if was_pending { GIVEN_UP } else { 0 }));
}

fn header(command: u32, seq: u32, status: i32) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&command.to_be_bytes());
    header[4..8].copy_from_slice(&seq.to_be_bytes());
    header[20..24].copy_from_slice(&status.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these words by index.
    fn bytes(words: &[(usize, u32)], setup: [u8; 8]) -> Vec<u8> {
        let mut header = vec![0; HEADER];
        for &(index, word) in words {
            header[index * 4..index * 4 + 4].copy_from_slice(&word.to_be_bytes());
        }
        header[40..].copy_from_slice(&setup);
        header
    }

    #[test]
    fn messages_are_taken_whole() {
        let mut out = bytes(&[(0, 1), (1, 7), (3, 0), (4, 4), (6, 3)], [0; 8]);
        out.extend([10, 11]);
        assert_eq!(first(&out), Ok(None));
        out.extend([12, 13]);
        let Ok(Some((Message::Submit { seq, endpoint, input, data, .. }, 51))) = first(&out) else {
            panic!("a transfer of three bytes")
        };
        assert_eq!((seq, endpoint, input, data), (7, 4, false, vec![10, 11, 12]));
        let control = bytes(&[(0, 1), (1, 8), (3, 1), (6, 18)], [0x80, 6, 0, 1, 9, 4, 18, 0]);
        let Ok(Some((Message::Submit { setup, input, length, .. }, HEADER))) = first(&control) else {
            panic!("a control request")
        };
        let expected = Setup { kind: 0x80, request: 6, value: 0x0100, index: 0x0409, length: 18 };
        assert_eq!((setup, input, length), (expected, true, 18));
        let unlink = bytes(&[(0, 2), (1, 9), (5, 7)], [0; 8]);
        assert_eq!(first(&unlink), Ok(Some((Message::Unlink { seq: 9, victim: 7 }, HEADER))));
        assert_eq!(first(&bytes(&[(0, 5)], [0; 8])), Err(UnknownCommand(5)));
    }

    #[test]
    fn answers_stand_where_the_controller_looks() {
        let mut to = Vec::new();
        submitted(&mut to, 0x0102_0304, STALLED, 2, &[0xAA, 0xBB]);
        assert_eq!(
            (&to[..8], &to[20..28]),
            (&[0, 0, 0, 3, 1, 2, 3, 4][..], &[255, 255, 255, 224, 0, 0, 0, 2][..])
        );
        assert_eq!(&to[HEADER..], [0xAA, 0xBB]);
        to.clear();
        unlinked(&mut to, 5, true);
        assert_eq!((&to[..8], &to[20..24]), (&[0, 0, 0, 4, 0, 0, 0, 5][..], &[255, 255, 255, 152][..]));
    }
}

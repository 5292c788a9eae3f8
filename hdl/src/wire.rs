//! The wire: what travels between host and board. Plain constants and types, shared by the gateware and the host.
//!
//! # Framing
//! Any byte pipe carries it; on a UART 8N1. Frames are SLIP-encoded (RFC 1055) with three sharper rules:
//!
//! * every frame starts and ends with [`END`], empty frames are ignored;
//! * [`END`] always ends a frame, also right after [`ESC`];
//! * [`ESC`] followed by any byte other than [`ESC_END`], [`ESC_ESC`] or [`END`] poisons the frame until [`END`].
//!
//! | byte inside a frame | sent as |
//! |---|---|
//! | `C0` | `DB DC` |
//! | `DB` | `DB DD` |
//!
//! A decoded frame, integers little-endian:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | opcode |
//! | 1 | 1 | seq |
//! | 2 | 2 | length of the body in bytes |
//! | 4 | length | body |
//! | 4 + length | 4 | CRC-32 (IEEE, as in zlib) of everything before it |
//!
//! Nothing of a frame has any effect unless all of it is right.
//!
//! # Host to board
//! | opcode | body | answered by |
//! |---|---|---|
//! | `01` [`HELLO`] | nonce u32 | IDENT |
//! | `02` [`WRITE`] | bank u8 (0 [`BANK_A`], 1 [`BANK_B`]), address u16, k_len u16, then `n·k_len` operands | ACK |
//! | `03` [`MULTIPLY`] | a_address u16, b_address u16, b_stride u16, k_len u32, count u8, job u8, result_bytes u8 | RESULT |
//! | `04` [`INJECT`] | kind u8 ([`Injection`]), step u32, length u32 | ACK |
//! | `05` [`STATUS`] | nothing | STATUS |
//! | `06` [`SOURCE`] | n u16 | DATA: n bytes 0, 1, 2, … (mod 256) |
//! | `07` [`SINK`] | any bytes | ACK |
//! | `08` [`ECHO`] | any bytes | ECHO: the same bytes |
//!
//! *WRITE* fills `address .. address + k_len` of every lane of a bank: lane-major, k ascending; the lanes of A are rows,
//! the lanes of B columns. An operand is `ceil(w/8)` bytes, sign-extended.
//!
//! *MULTIPLY* runs `count` jobs. Job `i` multiplies the panel at `a_address` by the panel at `b_address + i·b_stride`,
//! with the tag `(job + i) mod 2^job_bits`. `result_bytes` is the width of a value in the RESULT.
//!
//! *INJECT* arms one fault for the next job.
//!
//! A frame is dropped at the first of these checks that it fails, in this order, and [`Nak`] names it: escapes and CRC;
//! session; seq; opcode; length (the opcode's, the largest frame's, and that of the bytes that came); arguments; room
//! in the FIFO. Arguments are in range when bank is A or B, every k_len and count is at least 1, MULTIPLY's k_len is at
//! most what an accumulator and k_max allow, result_bytes is 1 to the bytes of an accumulator, the reply's length fits
//! its field (`2 + count·(1 + n²·result_bytes) + 8` or `2 + n` bytes), the kind of fault is one that the board can
//! inject, and *repeat k* has a step to repeat.
//!
//! # Board to host
//! Every body starts with `expected` u8 (the seq that the board takes next) and `retired` u8 (the seq of the last
//! command that is finished; if that was answered by a frame, the frame is already ahead in the stream). The header's
//! seq is that of the command answered; in ACK and NAK it is `expected`.
//!
//! | opcode | rest of the body |
//! |---|---|
//! | `81` [`IDENT`] | [`Identity`], in the order of [`IDENT_BODY`]'s table |
//! | `82` [`ACK`] | nothing |
//! | `84` [`NAK`] | reason u8 ([`Nak`]) |
//! | `83` [`RESULT`] | for each job a status byte and `n·n` values (row-major, `result_bytes` each), then steps u32 and edges u32, summed over the jobs |
//! | `85` [`STATUS_REPLY`] | kind u8, row u8, column u8, job u8 of the first error; counters u8, saturating: crc, framing, overrun, dropped, refused; all since HELLO |
//! | `86` [`DATA`] | the bytes asked for |
//! | `88` [`ECHO_REPLY`] | the bytes sent |
//!
//! ## Codes
//! | what | codes |
//! |---|---|
//! | NAK, send again from `expected` ([`Nak`]) | `01` crc · `02` seq · `03` overflow |
//! | NAK, fatal | `11` opcode · `12` length · `13` argument · `14` no session |
//! | error of a job ([`ErrorKind`]) | `01` unpaired operand · `02` job mismatch · `03` k mismatch · `04` out of order · `05` missing terms |
//! | fault to inject ([`Injection`]) | `01` flip k · `02` flip job · `03` drop valid · `04` repeat k · `05` truncate · `06` pause · `07` start |
//! | origin ([`Origin`]) | `00` image · `01` simulated |
//!
//! ## The status byte of a job
//! | bits | meaning |
//! |---|---|
//! | 0–2 | [`ErrorKind`] of the erring PE that is lowest in row-major order, 0 when the job is good |
//! | 3 | [`STATUS_FIRED`]: an armed injection took effect in this job |
//! | 4 | [`STATUS_NOT_FIRED`]: an injection was armed for this job and its step never came |
//! | 5 | [`STATUS_REFUSED`]: a start was refused while this job ran |
//! | 7 | [`STATUS_POISON`]: since HELLO, an address left its bank, or an operand or a value did not fit its bytes |
//!
//! A value that does not fit `result_bytes` is found when the status byte of its job has left. The CRC of that RESULT is
//! sent inverted, so that it is lost like a damaged one, and every later job of the session carries the poison.
//!
//! # Sessions
//! After reset the board is in no session: it answers HELLO, answers any other intact frame with NAK
//! [`Nak::NoSession`], and never answers a frame whose CRC is wrong. HELLO, at any time, throws away all that is queued
//! or running, ends a frame in flight with END, makes `expected = seq + 1`, and is answered by IDENT with its nonce.
//! The contents of the banks are unknown after HELLO.
//!
//! In a session a frame must carry the expected seq. One of the 128 before it is a duplicate: not executed, answered
//! by ACK. Any other is answered by NAK [`Nak::Seq`]. Replies to dropped frames coalesce: one NAK may stand for
//! several. The host keeps at most [`WINDOW`] frames unretired, and their decoded bytes (header and body) within the
//! FIFO.
//!
//! # A worked exchange
//! A board with N = 2 multiplies `[[1, 2], [3, 4]]` by `[[5, 6], [7, 8]]`; then a WRITE arrives with one bit of its CRC
//! wrong and is refused. `>` goes to the board, `<` comes from it. The rows of A and the columns of B are the lanes.
//! ```
//! use systole_hdl::codec::{Command, Content, Decoder, FrameError, Multiply, Reply};
//! use systole_hdl::wire::{BANK_A, BANK_B, Nak};
//!
//! let exchange = "
//! > C0 01 10 04 00 78 56 34 12 E1 59 EE DB DD C0
//! < C0 81 10 32 00 11 10 78 56 34 12 01 01 02 08 20 02 00 01 00 01 00 00 00 02 00 00 00 04 00
//!   00 00 10 00 00 00 36 6E 01 DB DC C6 2D 00 00 08 00 00 EF CD AB 89 67 45 23 01 02 36 B0 55
//!   C0
//! > C0 02 11 09 00 00 00 00 02 00 01 02 03 04 05 E9 68 59 C0
//! < C0 82 12 02 00 12 11 38 48 D7 40 C0
//! > C0 02 12 09 00 01 00 00 02 00 05 07 06 08 64 C2 E5 C4 C0
//! < C0 82 13 02 00 13 12 73 01 A5 FD C0
//! > C0 03 13 0D 00 00 00 00 00 02 00 02 00 00 00 01 00 03 7B 50 36 88 C0
//! < C0 83 13 17 00 14 13 00 13 00 00 16 00 00 2B 00 00 32 00 00 04 00 00 00 04 00 00 00 5C 62
//!   43 6E C0
//! > C0 02 14 09 00 00 00 00 02 00 01 02 03 04 14 9E CB C1 C0
//! < C0 84 14 03 00 14 13 01 6A 51 15 33 C0
//! ";
//! let (mut to_board, mut from_board, mut side) = (Vec::new(), Vec::new(), '>');
//! for word in exchange.split_whitespace() {
//!     match (word, side) {
//!         (">" | "<", _) => side = word.chars().next().unwrap(),
//!         (_, '>') => to_board.push(u8::from_str_radix(word, 16).unwrap()),
//!         (_, _) => from_board.push(u8::from_str_radix(word, 16).unwrap()),
//!     }
//! }
//!
//! // The host's side: these commands give those bytes. The CRC covers all between the ENDs but itself.
//! let multiply = Multiply { a_address: 0, b_address: 0, b_stride: 2, k_len: 2, count: 1, job: 0, result_bytes: 3 };
//! let mut sent = Vec::new();
//! sent.extend(Command::Hello { nonce: 0x1234_5678 }.frame(0x10).to_wire());
//! let rows = vec![1, 2, 3, 4];
//! sent.extend(Command::Write { bank: BANK_A, address: 0, k_len: 2, operands: rows }.frame(0x11).to_wire());
//! let columns = vec![5, 7, 6, 8];
//! sent.extend(Command::Write { bank: BANK_B, address: 0, k_len: 2, operands: columns }.frame(0x12).to_wire());
//! sent.extend(Command::Multiply(multiply).frame(0x13).to_wire());
//! assert!(to_board.starts_with(&sent));
//! assert_eq!(crc32fast::hash(&[0x01, 0x10, 0x04, 0x00, 0x78, 0x56, 0x34, 0x12]), 0xDBEE_59E1);
//! let damaged = Decoder::new().push_all(&to_board[sent.len()..]);
//! assert!(matches!(damaged[..], [Err(FrameError::Crc { .. })]));
//!
//! // The board's side: those bytes are these replies.
//! let replies: Vec<Reply> =
//!     Decoder::new().push_all(&from_board).iter().map(|f| Reply::parse(f.as_ref().unwrap()).unwrap()).collect();
//! let heads: Vec<_> = replies.iter().map(|r| (r.seq, r.expected, r.retired)).collect();
//! assert_eq!(heads, [
//!     (0x10, 0x11, 0x10), // IDENT
//!     (0x12, 0x12, 0x11), // ACK of the first WRITE
//!     (0x13, 0x13, 0x12), // ACK of the second
//!     (0x13, 0x14, 0x13), // RESULT
//!     (0x14, 0x14, 0x13), // NAK: send 0x14 again
//! ]);
//! assert!(matches!(&replies[0].content, Content::Ident { nonce: 0x1234_5678, identity } if identity.parameters.n == 2));
//! let jobs = vec![0, 19, 0, 0, 22, 0, 0, 43, 0, 0, 50, 0, 0];
//! assert_eq!(replies[3].content, Content::Result { jobs, steps: 4, edges: 4 });
//! assert_eq!(replies[4].content, Content::Nak(Nak::Crc));
//! ```

/// Version of this page; IDENT carries it.
pub const PROTOCOL: u8 = 1;

/// Starts and ends a frame.
pub const END: u8 = 0xC0;
/// Starts a two-byte escape.
pub const ESC: u8 = 0xDB;
/// After [`ESC`]: a [`END`] byte of data.
pub const ESC_END: u8 = 0xDC;
/// After [`ESC`]: an [`ESC`] byte of data.
pub const ESC_ESC: u8 = 0xDD;

/// Bytes of opcode, seq and length.
pub const HEADER: usize = 4;
/// Bytes of the CRC.
pub const CRC: usize = 4;
/// Most frames sent and not yet retired.
pub const WINDOW: u8 = 128;

/// Opens a session.
pub const HELLO: u8 = 0x01;
/// Fills part of a bank.
pub const WRITE: u8 = 0x02;
/// Runs jobs.
pub const MULTIPLY: u8 = 0x03;
/// Arms a fault for the next job.
pub const INJECT: u8 = 0x04;
/// Asks for the first error and the counters.
pub const STATUS: u8 = 0x05;
/// Asks for bytes.
pub const SOURCE: u8 = 0x06;
/// Sends bytes that are thrown away.
pub const SINK: u8 = 0x07;
/// Sends bytes that come back.
pub const ECHO: u8 = 0x08;

/// Answers [`HELLO`].
pub const IDENT: u8 = 0x81;
/// Tells `expected` and `retired` when no other frame does.
pub const ACK: u8 = 0x82;
/// Answers [`MULTIPLY`].
pub const RESULT: u8 = 0x83;
/// Says that a frame was dropped, and why.
pub const NAK: u8 = 0x84;
/// Answers [`STATUS`].
pub const STATUS_REPLY: u8 = 0x85;
/// Answers [`SOURCE`].
pub const DATA: u8 = 0x86;
/// Answers [`ECHO`].
pub const ECHO_REPLY: u8 = 0x88;

/// `bank` of a WRITE to the rows' operands.
pub const BANK_A: u8 = 0;
/// `bank` of a WRITE to the columns' operands.
pub const BANK_B: u8 = 1;

/// Body of HELLO in bytes.
pub const HELLO_BODY: usize = 4;
/// Body of WRITE before its operands, in bytes.
pub const WRITE_HEAD: usize = 5;
/// Body of MULTIPLY in bytes.
pub const MULTIPLY_BODY: usize = 13;
/// Body of INJECT in bytes.
pub const INJECT_BODY: usize = 9;
/// Body of SOURCE in bytes.
pub const SOURCE_BODY: usize = 2;
/// Bytes of `expected` and `retired`, which start the body of every board frame.
pub const REPLY_HEAD: usize = 2;
/// Bytes of the sums that end a RESULT: steps u32, edges u32.
pub const RESULT_TRAILER: usize = 8;
/// Body of STATUS_REPLY in bytes.
pub const STATUS_BODY: usize = REPLY_HEAD + 9;

/// Body of IDENT in bytes.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 2 | expected, retired |
/// | 2 | 4 | nonce |
/// | 6 | 1 | protocol version |
/// | 7 | 1 | origin ([`Origin`]) |
/// | 8 | 1 | n |
/// | 9 | 1 | w |
/// | 10 | 1 | aw |
/// | 11 | 1 | job_bits |
/// | 12 | 1 | stages |
/// | 13 | 1 | injection (0 or 1) |
/// | 14 | 4 | k_max |
/// | 18 | 4 | a_depth |
/// | 22 | 4 | b_depth |
/// | 26 | 4 | fifo |
/// | 30 | 4 | clock in hertz |
/// | 34 | 4 | baud |
/// | 38 | 4 | largest frame: decoded bytes of header and body |
/// | 42 | 8 | design hash |
pub const IDENT_BODY: usize = 50;

/// Status bit: an armed injection took effect in this job.
pub const STATUS_FIRED: u8 = 0x08;
/// Status bit: an injection was armed for this job and its step never came.
pub const STATUS_NOT_FIRED: u8 = 0x10;
/// Status bit: a start was refused while this job ran.
pub const STATUS_REFUSED: u8 = 0x20;
/// Status bit: some result since HELLO cannot be trusted.
pub const STATUS_POISON: u8 = 0x80;
/// Status bits that hold the [`ErrorKind`].
pub const STATUS_KIND: u8 = 0x07;

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant = $code),* }

        impl $name {
            /// Every value, in the order of its codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The byte on the wire.
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The value that a byte stands for, `None` if it stands for none.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.iter().copied().find(|x| x.code() == code)
            }

            /// The name that people read.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

codes! {
    /// What went wrong in a PE (R24b); the lower code wins within one PE and edge.
    ErrorKind {
        /// A valid operand met a bubble.
        Unpaired = 1, "unpaired operand";
        /// The partners carry different job tags.
        JobMismatch = 2, "job mismatch";
        /// The partners carry different k.
        KMismatch = 3, "k mismatch";
        /// k is not the number of terms taken so far: skipped, repeated, or after the last.
        OutOfOrder = 4, "out of order";
        /// The drain ended with fewer than `k_len` terms taken.
        MissingTerms = 5, "missing terms";
    }
}

codes! {
    /// Why a frame was dropped.
    Nak {
        /// The CRC is wrong. Send again from `expected`.
        Crc = 0x01, "crc";
        /// The seq is neither expected nor a recent one. Send again from `expected`.
        Seq = 0x02, "seq";
        /// The FIFO was full. Send again from `expected`.
        Overflow = 0x03, "overflow";
        /// No such opcode.
        Opcode = 0x11, "opcode";
        /// The length does not fit the opcode or the largest frame.
        Length = 0x12, "length";
        /// An argument is out of range.
        Argument = 0x13, "argument";
        /// No HELLO since reset: start over.
        NoSession = 0x14, "no session";
    }
}

impl Nak {
    /// Whether sending the same frame again cannot help.
    pub const fn is_fatal(self) -> bool {
        self.code() & 0x10 != 0
    }
}

codes! {
    /// Who answers: silicon or a simulation.
    Origin {
        /// An image in an FPGA.
        Image = 0, "image";
        /// A simulation or a model.
        Simulated = 1, "simulated";
    }
}

codes! {
    /// One-shot faults, armed by INJECT for the next job. `step` counts advancing edges from E0.
    Injection {
        /// Inverts the lowest k bit of the token on A lane 0 at `step`.
        FlipK = 1, "flip k";
        /// Inverts the lowest job bit of the token on A lane 0 at `step`.
        FlipJob = 2, "flip job";
        /// Makes the token on A lane 0 a bubble at `step`.
        DropValid = 3, "drop valid";
        /// Repeats the k of the step before on A lane 0 and B lane 0 at `step` ≥ 1.
        RepeatK = 4, "repeat k";
        /// Ends every lane one term short; `step` is ignored.
        Truncate = 5, "truncate";
        /// Holds `advance` low for `length` edges before `step`.
        Pause = 6, "pause";
        /// Asks for another start at `step`, which must be refused.
        Start = 7, "start";
    }
}

/// What IDENT tells of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Version of the wire that the board speaks.
    pub protocol: u8,
    /// Silicon or simulation.
    pub origin: Origin,
    /// The parameters the gateware was generated from.
    pub parameters: crate::parameters::Parameters,
    /// Pipeline stages of a PE.
    pub stages: u8,
    /// Largest frame the board takes: decoded bytes of header and body.
    pub largest_frame: u32,
    /// Hash over everything that shapes the image.
    pub design_hash: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers in this page's tables are those of the constants.
    #[test]
    fn the_page_has_the_codes_of_the_constants() {
        let page = include_str!("wire.rs");
        let opcodes = [
            ("HELLO", HELLO),
            ("WRITE", WRITE),
            ("MULTIPLY", MULTIPLY),
            ("INJECT", INJECT),
            ("STATUS", STATUS),
            ("SOURCE", SOURCE),
            ("SINK", SINK),
            ("ECHO", ECHO),
            ("IDENT", IDENT),
            ("ACK", ACK),
            ("NAK", NAK),
            ("RESULT", RESULT),
            ("STATUS_REPLY", STATUS_REPLY),
            ("DATA", DATA),
            ("ECHO_REPLY", ECHO_REPLY),
        ];
        for (name, code) in opcodes {
            assert!(page.contains(&format!("//! | `{code:02X}` [`{name}`] |")), "{name}");
        }
        let naks = Nak::ALL.iter().map(|x| (x.code(), x.name()));
        let kinds = ErrorKind::ALL.iter().map(|x| (x.code(), x.name()));
        let faults = Injection::ALL.iter().map(|x| (x.code(), x.name()));
        let origins = Origin::ALL.iter().map(|x| (x.code(), x.name()));
        for (code, name) in naks.chain(kinds).chain(faults).chain(origins) {
            assert!(page.contains(&format!("`{code:02X}` {name}")), "{name}");
        }
    }
}

//! What `flash` reports.

use super::write::{Action, Order};
use crate::cli::Format;
use crate::cli::output::{print, print_json, time};
use crate::cli::report::FORMAT_VERSION;
use crate::discover::UsbDevice;
use crate::error::exit;
use crate::flash::answer::{Answer, Who};
use crate::flash::loader::Said;
use serde::Serialize;
use systole_boards::Board;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// The board answers with the image's hash; for an image of no known hash, it answers, and the image was read back.
    Confirmed,
    /// It did so before anything was written.
    AlreadyRunning,
    /// The board answers, and that does not tell whether the image was written.
    Unproven,
    /// The image is there for sure, and nobody answers.
    Silent,
    /// Nobody answers, and nothing but that would tell.
    Unconfirmed,
    /// The board answers with another hash.
    NotProgrammed,
    /// The flash holds the image.
    Verified,
    /// The flash holds something else.
    Differs,
    /// The flash is erased.
    Erased,
    /// The flash was saved, and nothing was written.
    Saved,
}

impl Outcome {
    fn exit_code(self) -> u8 {
        match self {
            Self::Confirmed | Self::AlreadyRunning | Self::Verified | Self::Erased | Self::Saved => exit::OK,
            Self::Differs => exit::DIFFERENT,
            Self::Unproven | Self::Silent | Self::Unconfirmed => exit::LINK,
            Self::NotProgrammed => exit::TOOL,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Confirmed => "the board runs the image",
            Self::AlreadyRunning => {
                "the board runs this image already; nothing was written (--force writes it all the same)"
            }
            Self::Unproven => "A BOARD ANSWERS: whether the image was written is not known",
            Self::Silent => "PROGRAMMED, BUT THE UART IS SILENT",
            Self::Unconfirmed => "NOBODY ANSWERS: whether the image was written is not known",
            Self::NotProgrammed => "NOT PROGRAMMED: the board still runs another image",
            Self::Verified => "the flash holds the image",
            Self::Differs => "THE FLASH HOLDS SOMETHING ELSE",
            Self::Erased => "the flash is erased; at the next power-up the FPGA has no image",
            Self::Saved => "the flash was saved; nothing was written",
        }
    }
}

/// An image.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ImageReport {
    pub(super) bytes: usize,
    pub(super) sha256: String,
    /// `cache`, `built`, or the file.
    pub(super) from: String,
    pub(super) design_hash: Option<String>,
}

/// What was saved before it was overwritten.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SavedReport {
    pub(super) file: String,
    pub(super) bytes: usize,
}

/// Who answered.
#[derive(Debug, Serialize)]
struct AnswerReport {
    link: String,
    level: &'static str,
    design_hash: String,
}

/// Time spent, in seconds.
#[derive(Debug, Default, Serialize)]
pub(super) struct Spent {
    pub(super) image: f64,
    pub(super) write: f64,
    pub(super) answer: f64,
}

/// What `flash` reports.
#[derive(Debug, Serialize)]
pub(super) struct FlashReport {
    format_version: u32,
    command: &'static str,
    board: &'static str,
    /// The chip, as `--link` takes it.
    device: Option<String>,
    action: &'static str,
    memory: &'static str,
    pub(super) programmer: String,
    pub(super) image: Option<ImageReport>,
    pub(super) saved: Option<SavedReport>,
    outcome: Option<Outcome>,
    answer: Option<AnswerReport>,
    /// What else there is to say.
    detail: Option<String>,
    /// What has to be set on the board.
    note: Option<&'static str>,
    pub(super) seconds: Spent,
}

impl FlashReport {
    pub(super) fn new(board: &'static Board, device: Option<&UsbDevice>, order: &Order) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            command: "flash",
            board: &board.name,
            device: device.map(UsbDevice::link),
            action: match order.action {
                Action::Write => "write",
                Action::Verify => "verify",
                Action::Erase => "erase",
                Action::Save => "save",
            },
            memory: order.memory.name(),
            programmer: "none".to_owned(),
            image: None,
            saved: None,
            outcome: None,
            answer: None,
            detail: None,
            note: board.note.as_deref(),
            seconds: Spent::default(),
        }
    }

    /// Writes down how it ended.
    pub(super) fn end(&mut self, outcome: Outcome, who: Option<Who>, detail: Option<String>) {
        self.outcome = Some(outcome);
        self.answer = who.map(|who| AnswerReport {
            link: who.link,
            level: who.level.name(),
            design_hash: format!("{:016x}", who.design_hash),
        });
        self.detail = detail;
    }

    /// Makes an outcome of who answered after writing; `before` says whether the board ran the image before.
    pub(super) fn judge(
        &mut self,
        answer: Answer,
        hash: Option<u64>,
        before: bool,
        said: Option<Said>,
        proven: Option<&str>,
    ) {
        match answer {
            Answer::Meant(who) => {
                let doubt = match (proven, hash) {
                    (Some(_), _) => None,
                    (None, None) => Some("a file does not tell its design hash: give it as --design-hash"),
                    (None, Some(_)) => before.then_some(
                        "it answered with this design hash before, too: switch it off and on, and `systole info` tells \
                         what it has started from",
                    ),
                };
                let outcome = if doubt.is_some() { Outcome::Unproven } else { Outcome::Confirmed };
                self.end(outcome, Some(who), doubt.map(|doubt| format!("{doubt}{}", tail(said))));
            }
            Answer::Other(who) => {
                let meant = hash.map_or_else(String::new, |hash| format!("; the image's is {hash:016x}"));
                let detail = format!("its design hash is {:016x}{meant}{}", who.design_hash, tail(said));
                self.end(Outcome::NotProgrammed, Some(who), Some(detail));
            }
            Answer::Silent(error) => {
                let loader =
                    "openFPGALoader says that all went well, which it does also when nothing was written";
                let outcome = if proven.is_some() { Outcome::Silent } else { Outcome::Unconfirmed };
                let proven = proven.unwrap_or(loader);
                self.end(outcome, None, Some(format!("{proven}. On the UART: {error}{}", tail(said))));
            }
        }
    }

    /// Prints it; gives the exit code.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn print(&self, format: Format) -> anyhow::Result<u8> {
        match format {
            Format::Json => print_json(self)?,
            Format::Text => print(&self.text())?,
        }
        Ok(self.outcome.map_or(exit::OK, Outcome::exit_code))
    }

    fn text(&self) -> String {
        let device = self.device.as_deref().unwrap_or("the chip that the programmer found");
        let mut facts =
            vec![("board", format!("{}, {device}", self.board)), ("memory", self.memory.to_owned())];
        facts.extend(self.image.as_ref().map(|image| {
            let hash = image.design_hash.as_deref().unwrap_or("unknown");
            ("image", format!("{} bytes, {}, design hash {hash}", image.bytes, image.from))
        }));
        facts.extend(
            self.saved.as_ref().map(|saved| ("saved", format!("{} bytes in {}", saved.bytes, saved.file))),
        );
        if self.programmer != "none" {
            facts.push(("programmer", format!("{}, {}", self.programmer, time(self.seconds.write))));
        }
        facts.extend(self.answer.as_ref().map(|answer| {
            ("answers", format!("{} at {}, level {}", answer.design_hash, answer.link, answer.level))
        }));
        let mut text: String = facts.iter().map(|(name, value)| format!("{name:<12}{value}\n")).collect();
        text += &self.outcome.map_or_else(String::new, |outcome| format!("{}\n", outcome.text()));
        text += &self.detail.as_ref().map_or_else(String::new, |detail| format!("{detail}\n"));
        if self.outcome.is_some_and(|outcome| outcome.exit_code() != exit::OK) {
            text += &self.note.map_or_else(String::new, |note| format!("note: {note}\n"));
        }
        text
    }
}

/// The end of what openFPGALoader said.
fn tail(said: Option<Said>) -> String {
    said.map_or_else(String::new, |said| {
        let (tail, log) = said.keep();
        format!(". openFPGALoader's last lines:\n{tail}\nThe whole log: {}", log.display())
    })
}

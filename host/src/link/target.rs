//! What `--link` takes: `NAME` or `NAME:DETAILS`, read here and nowhere else.
//!
//! A new link is a file beside this one and a line in `KINDS`.

use super::{Link, auto, serial, sim, software, usb};
use crate::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use systole_hdl::parameters::Parameters;

/// Design parameters that the user gave, put over others.
pub type Asked<'a> = &'a dyn Fn(&Parameters) -> Parameters;

/// A link, freshly opened.
pub struct Opened {
    /// The link.
    pub link: Box<dyn Link>,
    /// What the user should know about it, a line each.
    pub notes: Vec<String>,
}

impl Opened {
    /// A link of which there is nothing to say.
    pub fn new(link: impl Link + 'static) -> Self {
        Self { link: Box::new(link), notes: Vec::new() }
    }
}

/// Something that a link can be opened to.
pub trait Target: fmt::Debug + Send + Sync {
    /// Opens it. A simulation is made of the design that was asked for; a board has one already.
    ///
    /// # Errors
    /// A design that cannot be built, or what a device does not allow.
    fn open(&self, asked: Asked<'_>) -> Result<Opened, Error>;
}

/// What was read behind a link's name, or what is wrong with it.
pub(super) type Read = Result<Arc<dyn Target>, String>;

/// A kind of link.
pub(super) struct Kind {
    /// What it is called.
    pub(super) name: &'static str,
    /// How it is written, for help and errors.
    pub(super) form: &'static str,
    /// What it leads to, for help.
    pub(super) about: &'static str,
    /// Reads what stands behind the name and its colon; `None` where there is no colon.
    pub(super) read: fn(Option<&str>) -> Read,
}

/// The links there are.
const KINDS: [Kind; 5] = [sim::KIND, software::KIND, serial::KIND, usb::KIND, auto::KIND];

/// What `--link` was given.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    text: String,
    target: Arc<dyn Target>,
}

impl LinkSpec {
    /// What is to be opened.
    pub fn target(&self) -> &dyn Target {
        self.target.as_ref()
    }
}

impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for LinkSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, details) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let forms = KINDS.iter().map(|kind| kind.form).collect::<Vec<_>>().join(", ");
            format!("there is no link '{name}': use one of {forms}")
        })?;
        let target = (kind.read)(details).map_err(|why| format!("{why}: write {}", kind.form))?;
        Ok(Self { text: text.to_owned(), target })
    }
}

/// The links there are, a line each, for help.
pub fn help() -> String {
    KINDS.iter().map(|kind| format!("\n  {:<28} {}", kind.form, kind.about)).collect()
}

/// Refuses details, for links that have none.
pub(super) fn no_details(details: Option<&str>) -> Result<(), String> {
    details.map_or(Ok(()), |details| Err(format!("nothing can follow here, and '{details}' does")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse().map(|spec: LinkSpec| format!("{:?}", spec.target()))
    }

    #[test]
    fn every_form_is_read() {
        let table = [
            ("sim", "Sim"),
            ("software", "Software"),
            ("auto", "Auto"),
            ("serial:/dev/ttyUSB1", r#"Serial { path: "/dev/ttyUSB1", baud: None }"#),
            ("serial:/dev/ttyUSB1@115200", r#"Serial { path: "/dev/ttyUSB1", baud: Some(115200) }"#),
            (
                "serial:/dev/serial/by-id/usb-x@y@12000000",
                r#"Serial { path: "/dev/serial/by-id/usb-x@y", baud: Some(12000000) }"#,
            ),
            ("serial:/dev/a@b", r#"Serial { path: "/dev/a@b", baud: None }"#),
            ("usb", "Usb { ids: None, serial: None }"),
            ("usb:0403:6010", "Usb { ids: Some((1027, 24592)), serial: None }"),
            ("usb:0403:6010:a:b", r#"Usb { ids: Some((1027, 24592)), serial: Some("a:b") }"#),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_link_is_explained() {
        let table = [
            (
                "carrier-pigeon",
                "there is no link 'carrier-pigeon': use one of sim, software, serial:PATH[@BAUD], usb[",
            ),
            ("sim:fast", "nothing can follow here, and 'fast' does: write sim"),
            ("serial", "the path of the port is missing: write serial:PATH[@BAUD]"),
            ("serial:", "the path of the port is missing"),
            ("serial:@115200", "the path of the port is missing"),
            ("serial:/dev/ttyUSB0@99", "99 baud is outside 1200..=100000000"),
            ("usb:0403", "VID and PID are two hexadecimal numbers of up to four digits, not '0403'"),
            ("usb:0403:zz", "not '0403:zz'"),
            ("usb:0403:6010:", "the serial number is empty"),
        ];
        for (text, expected) in table {
            let error = read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}

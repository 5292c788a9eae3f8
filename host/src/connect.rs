//! Opening a link and finding out who is there.
//!
//! Every parameter is the board's own, from its IDENT; what the user gave is held against that. Where a port may have
//! several rates, they are tried until a board answers.

use crate::error::Error;
use crate::link::target::{Asked, LinkSpec};
use crate::link::{Level, Link};
use crate::session::{self, SessionError};
use std::sync::atomic::AtomicBool;
use systole_firmware::design::Design;
use systole_hdl::wire::Identity;

/// A link to a board that has said who it is.
pub struct Connection {
    /// The link.
    pub link: Box<dyn Link>,
    /// The board's design.
    pub design: Design,
    /// What the board said.
    pub identity: Identity,
    /// How real the board is.
    pub level: Level,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// Opens a link and asks who is there.
///
/// # Errors
/// Why the link cannot be opened; [`SessionError::Timeout`] or [`SessionError::Rates`] when nobody answers;
/// [`SessionError::Design`] when the board's design is not as asked for.
pub fn connect(spec: &LinkSpec, asked: Asked<'_>, cancel: &AtomicBool) -> Result<Connection, Error> {
    let opened = spec.target().open(asked)?;
    let (mut link, mut notes) = (opened.link, opened.notes);
    let (identity, counters) = identify(link.as_mut(), cancel)?;
    session::check_design(&asked(&identity.parameters), &identity)?;
    let design = Design::new(identity.parameters.clone())?;
    if counters.hello_retries > 0 {
        notes.push(format!("{} HELLOs were not answered and sent again", counters.hello_retries));
    }
    let level = link.level(identity.origin);
    Ok(Connection { link, design, identity, level, notes })
}

/// HELLO at one rate after another, until a board answers.
fn identify(link: &mut dyn Link, cancel: &AtomicBool) -> Result<(Identity, session::Counters), Error> {
    let mut tried = Vec::new();
    loop {
        match session::identify(link, cancel) {
            Err(error @ SessionError::Timeout { .. }) => {
                tried.extend(link.rate());
                if link.next_rate().map_err(SessionError::from)? {
                    continue;
                }
                return Err(if tried.len() > 1 { SessionError::Rates { tried } } else { error }.into());
            }
            result => return Ok(result?),
        }
    }
}

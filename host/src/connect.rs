//! Opening a link and finding out who is there.
//!
//! Every parameter is the board's own, from its IDENT; what the user gave is held against that. Where a port may have
//! several rates, they are tried until a board answers.

use crate::error::Error;
use crate::link::target::{Asked, LinkSpec, Opened};
use crate::link::{Level, Link};
use crate::session::{self, NoIdent, SessionError};
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
/// Why the link cannot be opened; those of [`meet`].
pub fn connect(spec: &LinkSpec, asked: Asked<'_>, cancel: &AtomicBool) -> Result<Connection, Error> {
    meet(spec.target().open(asked)?, asked, cancel)
}

/// Asks who is at the other end of a link that is open.
///
/// # Errors
/// [`SessionError::NoIdent`] when nobody answers; [`SessionError::Design`] when the board's design is not as asked for.
pub fn meet(opened: Opened, asked: Asked<'_>, cancel: &AtomicBool) -> Result<Connection, Error> {
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
fn identify(link: &mut dyn Link, cancel: &AtomicBool) -> Result<(Identity, session::Counters), SessionError> {
    let mut before: Option<NoIdent> = None;
    loop {
        match session::identify(link, cancel) {
            Err(SessionError::NoIdent(error)) => {
                let so_far = match before.take() {
                    Some(before) => before.and(error),
                    None => error,
                };
                if !link.next_rate()? {
                    return Err(SessionError::NoIdent(so_far));
                }
                before = Some(so_far);
            }
            result => return result,
        }
    }
}

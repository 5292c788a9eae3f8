//! Serial ports and USB chips: may they be opened, are they free, do they keep bytes back?

use super::{Check, INSTALL_RULE, Kind, Rule, State};
use crate::discover::{Access, Holder, Machine, Port, UsbDevice};
use std::path::Path;
use systole_boards::Board;

/// Milliseconds that an FTDI chip should wait for more bytes before it sends those that it has.
const LATENCY: u32 = 1;

/// Checks every port, and the USB chips of known boards. What is wrong with a port that is no known board's is a note.
pub(super) fn check_all(
    machine: &Machine,
    user: Option<&str>,
    rule: &Rule,
    ports: &[Port],
    devices: &[UsbDevice],
) -> Vec<Check> {
    let mut checks = Vec::new();
    if devices.iter().all(|device| device.boards.is_empty()) {
        checks.push(Check::note(Kind::Boards, "no board is attached that this program knows"));
    }
    let groups = std::fs::read_to_string(machine.path("etc/group")).unwrap_or_default();
    let access = |kind, what: &str, path: &Path, access: &Access| {
        let is_member = |group: &str| user.is_some_and(|user| is_member(&groups, group, user));
        may_open(kind, what, path, access, rule, is_member)
    };
    for device in devices.iter().filter(|device| !device.boards.is_empty()) {
        let what = named(&device.path, &device.boards);
        checks.push(access(Kind::UsbDevice, &what, &device.path, &device.access));
        checks.extend(machine.holders(&device.path).iter().map(|holder| held(&what, holder)));
    }
    for port in ports {
        let what = named(&port.path, &port.boards);
        let mut own = vec![access(Kind::Port, &what, &port.path, &port.access)];
        own.extend(port.holders.iter().map(|holder| held(&what, holder)));
        own.extend(port.latency_timer.map(|milliseconds| latency(&what, &port.path, milliseconds)));
        if port.boards.is_empty() {
            own.iter_mut()
                .filter(|check| check.state == State::Finding)
                .for_each(|check| check.state = State::Note);
        }
        checks.extend(own);
    }
    checks
}

fn named(path: &Path, boards: &[&Board]) -> String {
    let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
    let names = if names.is_empty() { "no known board".to_owned() } else { names.join(" or ") };
    format!("{} ({names})", path.display())
}

/// Whether a file like `/etc/group` lists a user as a member of a group.
pub(super) fn is_member(groups: &str, group: &str, user: &str) -> bool {
    groups.lines().any(|line| {
        let mut fields = line.split(':');
        fields.next() == Some(group)
            && fields.nth(2).is_some_and(|members| members.split(',').any(|name| name == user))
    })
}

pub(super) fn may_open(
    kind: Kind,
    what: &str,
    path: &Path,
    access: &Access,
    rule: &Rule,
    is_member: impl Fn(&str) -> bool,
) -> Check {
    let path = path.display();
    match access {
        Access::Granted => Check::good(kind, format!("{what} can be opened")),
        Access::Missing => Check::finding(
            kind,
            format!("{what} is known to the kernel and has no device file, as in a container; pass it in"),
            format!("docker run --device {path}"),
        ),
        Access::Hidden => Check::finding(
            kind,
            format!("{what} is in a directory that you may not enter"),
            format!("namei -l {path}"),
        ),
        Access::Denied { mode, group, group_may, usb } => {
            let text = format!("{what}: permission denied ({mode}, group {group})");
            // The rule opens it to whoever sits at the computer. Over ssh nobody does.
            if *group_may && is_member(group) {
                Check::finding(
                    kind,
                    text + "; you joined that group after you logged in",
                    format!("newgrp {group}"),
                )
            } else if *group_may {
                let fix = format!("sudo usermod -aG {group} \"$USER\"");
                Check::finding(kind, text + "; join that group and log in again", fix)
            } else if rule.is_current() || *rule == Rule::NoUdev || !usb {
                Check::finding(
                    kind,
                    text + if *usb {
                        "; take it until it is plugged in again"
                    } else {
                        "; take it until the next start"
                    },
                    format!("sudo chown \"$USER\" {path}"),
                )
            } else {
                Check::finding(kind, text + "; install the udev rule and plug it in again", INSTALL_RULE)
            }
        }
    }
}

pub(super) fn held(what: &str, holder: &Holder) -> Check {
    let text = format!("{what} is in use by {holder}; end that first");
    Check::finding(Kind::Holder, text, format!("kill {}", holder.pid))
}

pub(super) fn latency(what: &str, path: &Path, milliseconds: u32) -> Check {
    if milliseconds <= LATENCY {
        return Check::good(Kind::LatencyTimer, format!("{what} keeps bytes back for {milliseconds} ms"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Check::finding(
        Kind::LatencyTimer,
        format!("{what} keeps bytes back for {milliseconds} ms, so that each answer takes as long"),
        format!("echo {LATENCY} | sudo tee /sys/bus/usb-serial/devices/{name}/latency_timer"),
    )
}

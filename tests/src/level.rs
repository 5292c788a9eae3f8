//! The levels at which suites run, and what becomes of a level that this machine does not have.

use libtest_mimic::{Failed, Trial};
use std::fmt;
use std::sync::Arc;

/// How real a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The software array.
    Software,
    /// The gateware in rust-hdl's simulation.
    RustHdl,
    /// The Verilog made from it, in a simulator.
    Verilog,
    /// The synthesized netlist, in a simulator.
    PostSynthesis,
    /// A board behind a pseudo-terminal.
    VirtualBoard,
    /// A model of a USB device on the real USB stack.
    UsbStack,
    /// Silicon.
    RealBoard,
}

impl Level {
    /// Every level, from the least real on.
    pub const ALL: [Self; 7] = [
        Self::Software,
        Self::RustHdl,
        Self::Verilog,
        Self::PostSynthesis,
        Self::VirtualBoard,
        Self::UsbStack,
        Self::RealBoard,
    ];

    /// The name by which reports and `SYSTOLE_REQUIRE` call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::RustHdl => "rust-hdl",
            Self::Verilog => "verilog",
            Self::PostSynthesis => "post-synthesis",
            Self::VirtualBoard => "virtual-board",
            Self::UsbStack => "usb-stack",
            Self::RealBoard => "real-board",
        }
    }

    /// Whether `SYSTOLE_REQUIRE`, a comma-separated list of levels, has this one.
    ///
    /// # Panics
    /// When the list has a name that is no level: a typing error must not switch a check off.
    pub fn is_required(self) -> bool {
        let list = std::env::var("SYSTOLE_REQUIRE").unwrap_or_default();
        required(&list).unwrap_or_else(|error| panic!("{error}")).contains(&self)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The levels in a comma-separated list.
fn required(list: &str) -> Result<Vec<Level>, String> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let found = Level::ALL.into_iter().find(|level| level.name() == name);
            found.ok_or_else(|| {
                let known = Level::ALL.map(Level::name).join(", ");
                format!("SYSTOLE_REQUIRE has '{name}', which is no level: use {known}")
            })
        })
        .collect()
}

/// What a level brings to a suite: an implementation of its trait, or why there is none here.
pub type Present<T> = Result<Arc<T>, String>;

/// One test of a suite.
pub struct Rule<T: ?Sized> {
    /// The rule's name.
    pub name: &'static str,
    /// The levels that it can be run at, when not all.
    pub only: Option<&'static [Level]>,
    /// Panics when the rule is broken.
    pub check: fn(&T),
}

/// The tests of a suite at one level. Where the level is missing they show as ignored, with the reason; where it is
/// required, they fail.
pub fn trials<T>(rules: &[Rule<T>], level: Level, present: &Present<T>) -> Vec<Trial>
where
    T: ?Sized + Send + Sync + 'static,
{
    named_trials(level.name(), rules, level, present)
}

/// The same for a level that a suite is run at more than once: `prefix` tells which time this is.
pub fn named_trials<T>(prefix: &str, rules: &[Rule<T>], level: Level, present: &Present<T>) -> Vec<Trial>
where
    T: ?Sized + Send + Sync + 'static,
{
    let here = rules.iter().filter(|rule| rule.only.is_none_or(|levels| levels.contains(&level)));
    here.map(|rule| {
        let name = format!("{prefix}::{}", rule.name);
        let check = rule.check;
        match present {
            Ok(subject) => {
                let subject = Arc::clone(subject);
                Trial::test(name, move || {
                    check(&subject);
                    Ok(())
                })
            }
            Err(why) => missing(name, level, why),
        }
    })
    .collect()
}

/// A test at a level that is not there: ignored, with the reason, or failed if the level is required.
pub fn missing(name: String, level: Level, why: &str) -> Trial {
    let message = format!("level {level} is missing: {why}");
    let trial = Trial::test(name, move || Err(Failed::from(message)));
    if level.is_required() { trial } else { trial.with_kind(why).with_ignored_flag(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_levels() {
        assert_eq!(required(""), Ok(vec![]));
        assert_eq!(required("software, rust-hdl"), Ok(vec![Level::Software, Level::RustHdl]));
        assert!(required("verilgo").expect_err("no level").contains("'verilgo'"));
    }

    #[test]
    fn a_missing_level_is_ignored_and_not_passed() {
        let rules = [Rule::<str> { name: "r00_never_run", only: None, check: |_| () }];
        let trials = trials(&rules, Level::RealBoard, &Err("no board".to_owned()));
        assert_eq!((trials[0].name(), trials[0].kind()), ("real-board::r00_never_run", "no board"));
        assert!(trials[0].has_ignored_flag());
    }
}

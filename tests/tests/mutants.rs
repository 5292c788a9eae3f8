//! Seeded faults, each of which some rule or comparison must notice. Prints the list: `mutant … killed by …`.

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use systole_tests::level::{Level, missing};
use systole_tests::mutants::{MUTANTS, Mutant, Verdict, judge};
use systole_tests::verilog::Engine;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let icarus = Engine::Icarus.available().map_err(|error| error.to_string());
    // Rules that a fault breaks panic, as they should: what they say is of no interest.
    std::panic::set_hook(Box::new(|_| ()));
    let trial = |mutant: &'static Mutant| match &icarus {
        Ok(()) => Trial::test(mutant.name, || try_mutant(mutant)),
        Err(why) => missing(mutant.name.to_owned(), Level::Verilog, why),
    };
    libtest_mimic::run(&arguments, MUTANTS.iter().map(trial).collect()).exit_code()
}

fn try_mutant(mutant: &Mutant) -> Result<(), Failed> {
    match judge(mutant)? {
        Verdict::Killed(by) => {
            println!("mutant {} … killed by {by}", mutant.name);
            Ok(())
        }
        Verdict::Survived => Err(format!("mutant {} … survived", mutant.name).into()),
    }
}

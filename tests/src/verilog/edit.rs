//! A seeded fault: a change of generated Verilog text.

use super::BenchError;

/// One change in one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The block whose module is changed, as in its name after the top's: `pe`. Empty for the top itself.
    pub module: &'static str,
    /// Text that stands exactly once in that module.
    pub find: &'static str,
    /// What stands there instead.
    pub put: &'static str,
}

impl Edit {
    /// The Verilog of a design with the change.
    ///
    /// # Errors
    /// A design in which there is not exactly one place for it: then the fault means something else than it says.
    pub fn apply(&self, design: &str, top: &str, verilog: &str) -> Result<String, BenchError> {
        let failed = |places| BenchError::Edit { design: design.to_owned(), edit: *self, places };
        let head = match self.module {
            "" => format!("module {top}("),
            module => format!("module {top}_{module}("),
        };
        let start = verilog.find(&head).ok_or_else(|| failed(0))?;
        let (before, module) = verilog.split_at(start);
        let end = module.find("\nendmodule").unwrap_or(module.len());
        let (module, after) = module.split_at(end);
        match module.matches(self.find).count() {
            1 => Ok(format!("{before}{}{after}", module.replacen(self.find, self.put, 1))),
            places => Err(failed(places)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "module t_a(x);\n  x = 1;\nendmodule // t_a\n\nmodule t_b(x);\n  x = 1; x = 2;\nendmodule // t_b\n";

    #[test]
    fn only_the_module_named_is_changed() {
        let edit = Edit { module: "a", find: "x = 1", put: "x = 0" };
        let changed = edit.apply("d", "t", TEXT).expect("one place");
        assert_eq!(changed, TEXT.replacen("x = 1", "x = 0", 1));
    }

    #[test]
    fn anything_but_one_place_is_an_error() {
        for (module, find, count) in [("b", "x =", 2), ("b", "y", 0), ("c", "x", 0)] {
            let error = Edit { module, find, put: "" }.apply("d", "t", TEXT).expect_err("not one place");
            assert!(matches!(error, BenchError::Edit { places, .. } if places == count), "{error}");
        }
    }
}

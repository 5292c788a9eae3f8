//! What crosses Systole's crates: one suite, run at every level that is present.

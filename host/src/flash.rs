//! Putting images into boards: which board and memory, writing, and the question whether the image runs.

pub mod answer;
pub mod ice40;
pub mod loader;
pub mod target;

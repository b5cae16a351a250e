use crate::scene::{Said, Scene};

//! Every command of the command line, as a program: what it prints, what it says when something is wrong, how it ends.

mod arguments;
mod damage;
mod delete;
mod doctor;
mod foreign;
mod hostile;
mod list;
mod moved;
mod prune;
mod run;
mod shells;
mod show;
mod stores;
mod unread;
mod usage;

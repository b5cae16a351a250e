//! A table of figures, for people and for programs.

use serde_json::{Map, Value, json};

use super::figures::rounded;
use crate::style;

/// One table.
#[derive(Debug)]
pub(super) struct Section {
    /// Its name in JSON.
    pub(super) key: &'static str,
    pub(super) title: String,
    /// Heading for people, name in JSON.
    pub(super) columns: Vec<(&'static str, &'static str)>,
    pub(super) rows: Vec<(String, Vec<Option<f64>>)>,
}

/// The width of a row's name, and the least of a column.
const NAME: usize = 40;
const COLUMN: usize = 10;

impl Section {
    pub(super) fn new(key: &'static str, title: impl Into<String>, columns: &[(&'static str, &'static str)]) -> Self {
        Self { key, title: title.into(), columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(super) fn row(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) {
        self.rows.push((name.into(), values.into_iter().collect()));
    }

    pub(super) fn print(&self) {
        let width = |heading: &str| (heading.chars().count() + 2).max(COLUMN);
        println!("\n{}", style::heading(&self.title));
        let heading = |(heading, _): &(&str, &str)| format!("{heading:>width$}", width = width(heading));
        println!("{:NAME$}{}", "", self.columns.iter().map(heading).collect::<Vec<_>>().concat());
        for (name, values) in &self.rows {
            let value = |(value, (heading, _)): (&Option<f64>, &(&str, &str))| {
                let text = value.map_or_else(|| "–".to_owned(), shown);
                format!("{text:>width$}", width = width(heading))
            };
            println!("{name:NAME$}{}", values.iter().zip(&self.columns).map(value).collect::<Vec<_>>().concat());
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let row = |(name, values): &(String, Vec<Option<f64>>)| {
            let mut row = Map::from_iter([("name".to_owned(), json!(name))]);
            let members = self.columns.iter().zip(values);
            row.extend(members.map(|((_, key), value)| ((*key).to_owned(), json!(value.map(rounded)))));
            Value::Object(row)
        };
        self.rows.iter().map(row).collect()
    }
}

/// With as many places as mean anything.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

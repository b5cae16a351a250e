//! What must be refused, and how.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use crate::check::page;
use crate::lister::{Lister, Refusal};
use crate::question::{Archived, Question};

const INVALID_PARAMS: i64 = -32602;

fn refused(lister: &mut impl Lister, params: &Value) -> Result<Refusal, TestCaseError> {
    match lister.list(params) {
        Err(refusal) => {
            prop_assert_eq!(refusal.code, INVALID_PARAMS, "{}", params);
            Ok(refusal)
        }
        Ok(_) => Err(TestCaseError::fail(format!("{params} was not refused"))),
    }
}

/// What a cursor is tied to: not to how it was written, nor to the size of a page.
fn filters(question: &Question) -> impl PartialEq + use<> {
    let bounds = [question.created_after, question.created_before, question.updated_after];
    let archived = if question.archived == Archived::Unsaid { Archived::Exclude } else { question.archived };
    (
        bounds.map(|bound| bound.map(|bound| bound.at)),
        question.search.clone(),
        question.directory.map(|(directory, _)| directory),
        question.worktrees == Some(true),
        archived,
        question.subagents,
        question.agents(),
    )
}

/// The first page's cursor serves the same filters only, and no damage to it goes unnoticed; `at` says where to
/// damage it.
pub fn cursors_are_tied(
    lister: &mut impl Lister,
    question: &Question,
    other: &Question,
    at: usize,
) -> Result<(), TestCaseError> {
    let (_, cursor) = page(lister, question, None)?;
    let Some(cursor) = cursor else { return Ok(()) };
    let same = filters(question) == filters(other);
    if same {
        page(lister, other, Some(&cursor))?;
    } else if question.search == other.search || question.search.is_empty() != other.search.is_empty() {
        // Two searches may be written differently and be the same.
        let refusal = refused(lister, &other.params(Some(&cursor)))?;
        prop_assert!(refusal.message.contains("`cursor`") && refusal.message.contains("start over"), "{:?}", refusal);
    }
    let at = at % cursor.len();
    let replaced = if &cursor[at..=at] == "A" { "B" } else { "A" };
    for damaged in [
        format!("{}{replaced}{}", &cursor[..at], &cursor[at + 1..]),
        cursor[..at].to_owned(),
        format!("{}{}", &cursor[..at], &cursor[at + 1..]),
        format!("{}x{}", &cursor[..at], &cursor[at..]),
        format!("{cursor}="),
    ] {
        let refusal = refused(lister, &question.params(Some(&damaged)))?;
        prop_assert!(refusal.message.contains("start over"), "{:?} to {}", refusal, damaged);
    }
    Ok(())
}

/// Each wrong field is named.
pub fn wrong_fields_are_named(lister: &mut impl Lister) -> Result<(), TestCaseError> {
    let not_times = [
        json!(5),
        json!(true),
        json!({}),
        json!(""),
        json!("yesterday"),
        json!("2025-10"),
        json!("2025-10-29T14:22:15+020"),
        json!("2025-10-29T14:22:15"),
        json!("2025-13-29T14:22:15Z"),
        json!("1969-12-31T23:59:59Z"),
        json!("1970-01-01T00:00:00+01:00"),
        json!("10000-01-01T00:00:00Z"),
        json!("+10000-01-01T00:00:00Z"),
        json!("9999-12-31T23:59:59-01:00"),
        json!("-0001-01-01T00:00:00Z"),
    ];
    let mut wrong: Vec<(&str, Value)> = Vec::new();
    for field in ["createdAfter", "createdBefore", "updatedAfter"] {
        wrong.extend(not_times.iter().map(|value| (field, value.clone())));
    }
    for value in [json!(0), json!(-1), json!(1.5), json!("10"), json!(true), json!([]), json!({})] {
        wrong.push(("limit", value));
    }
    for value in [json!(1), json!([]), json!("x".repeat(1001))] {
        wrong.push(("search", value));
    }
    for value in [json!("some"), json!(1), json!({}), json!("")] {
        wrong.push(("archived", value));
    }
    for value in [json!("true"), json!(1), json!([]), json!({})] {
        wrong.push(("includeWorktrees", value));
    }
    for value in [json!(1), json!("home"), json!(""), json!("./x"), json!("C:x"), json!({})] {
        wrong.push(("cwd", value));
    }
    for value in [json!(1), json!(""), json!("x"), json!("MTIz"), json!("é"), json!("A".repeat(100_000))] {
        wrong.push(("cursor", value));
    }
    for (field, value) in wrong {
        let mut places = vec![json!({ field: value })];
        if field != "cwd" && field != "cursor" {
            places.push(json!({"_meta": {"acp-sessions": { field: value }}}));
        }
        for params in places {
            let refusal = refused(lister, &params)?;
            prop_assert!(refusal.message.contains(&format!("`{field}`")), "{:?} to {}", refusal, params);
        }
    }
    for (field, value) in [
        ("subagents", json!("yes")),
        ("subagents", json!(1)),
        ("agents", json!("some")),
        ("agents", json!("")),
        ("agents", json!(true)),
        ("agents", json!(["own"])),
    ] {
        let refusal = refused(lister, &json!({"_meta": {"acp-sessions": { field: value }}}))?;
        prop_assert!(refusal.message.contains(&format!("`{field}`")), "{:?} to {}", refusal, value);
    }
    for params in [json!([]), json!("x"), json!(5)] {
        let refusal = refused(lister, &params)?;
        prop_assert!(refusal.message.contains("`params`"), "{:?} to {}", refusal, params);
    }
    // None of it did any harm.
    page(lister, &Question::plain(), None)?;
    Ok(())
}

//! Lists of a store that nobody changes.

use chrono::DateTime;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;

use crate::lister::Lister;
use crate::model::Model;
use crate::question::Question;
use crate::session::Session;

/// A page, its rows by id and its cursor, after checking what holds for any page: it has no more rows than asked
/// for, and some if it has a cursor.
pub(crate) fn page(
    lister: &mut impl Lister,
    question: &Question,
    cursor: Option<&str>,
) -> Result<(Vec<Value>, Option<String>), TestCaseError> {
    let params = question.params(cursor);
    let answer = lister.list(&params);
    let Ok(mut page) = answer else { return Err(TestCaseError::fail(format!("{params} was refused: {answer:?}"))) };
    let next = page.get("nextCursor").map(|cursor| cursor.as_str().map(str::to_owned));
    prop_assert!(next != Some(None), "a cursor that is no string: {page}");
    let rows = page["sessions"].as_array_mut().map(std::mem::take);
    let rows = rows.ok_or_else(|| TestCaseError::fail(format!("no `sessions` in {page}")))?;
    prop_assert!(rows.len() <= question.page_size(), "{} rows in a page of {}", rows.len(), question.page_size());
    prop_assert!(next.is_none() || !rows.is_empty(), "an empty page with a cursor, to {params}");
    Ok((rows, next.flatten()))
}

pub(crate) fn id(row: &Value) -> &str {
    row["sessionId"].as_str().unwrap_or_default()
}

/// Pages through the whole list, which must equal the model's, row by row.
pub fn whole_list(lister: &mut impl Lister, model: &Model, question: &Question) -> Result<(), TestCaseError> {
    let expected = model.list(question);
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let (rows, next) = page(lister, question, cursor.as_deref())?;
        prop_assert!(next.is_none() || rows.len() == question.page_size(), "a page that could have been fuller");
        found.extend(rows);
        prop_assert!(found.len() <= expected.len(), "more rows than sessions: {:?}", question.params(None));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    let ids: Vec<&str> = found.iter().map(id).collect();
    let expected_ids: Vec<&str> = expected.iter().map(|session| session.id.as_str()).collect();
    prop_assert_eq!(ids, expected_ids, "to {}", question.params(None));
    for (row, session) in found.iter().zip(expected) {
        row_is_right(row, session, question)?;
    }
    Ok(())
}

/// Whether a row shows the session as the model knows it.
pub fn row_is_right(row: &Value, session: &Session, question: &Question) -> Result<(), TestCaseError> {
    let time = |value: &Value| {
        let text = value.as_str()?;
        let millis = DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis();
        text.ends_with('Z').then_some(millis)
    };
    let own = &row["_meta"]["acp-sessions"];
    prop_assert_eq!(id(row), &session.id);
    prop_assert_eq!(row["cwd"].as_str(), Some(session.cwd()));
    prop_assert_eq!(row.get("title").and_then(Value::as_str).map(str::to_owned), session.title_text());
    prop_assert_eq!(time(&row["updatedAt"]), Some(session.updated).filter(|_| !session.undated));
    prop_assert_eq!(row.get("archived").and_then(Value::as_bool), Some(session.archived));
    prop_assert_eq!(time(&row["lastPromptAt"]), session.prompted.map(|_| session.recency()));
    prop_assert_eq!(time(&own["createdAt"]), Some(session.created));
    prop_assert_eq!(own.get("parent").is_some(), session.subagent);
    prop_assert_eq!(row.get("createdAt"), own.get("createdAt").filter(|_| question.is_draft()));
    let place = question.search.first().and_then(|term| question.place_of(term, session));
    prop_assert_eq!(own["match"].get("in").and_then(Value::as_str), place);
    let has_snippet = own["match"]["snippet"].as_str().is_some_and(|snippet| !snippet.is_empty());
    prop_assert_eq!(has_snippet, place.is_some(), "{}", row);
    Ok(())
}

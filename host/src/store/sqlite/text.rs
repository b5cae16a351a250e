//! Search in texts, by SQLite's FTS5.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::bounded::{Bounds, take_bounded};
use super::error::{Error, Result};
use super::owner_names::OwnerNames;
use super::phrase::{self, Phrase};
use super::readable::{Table, readable};
use crate::component::storage::{TextCut, TextHit, TextHits, TextPage, TextPart, TextScope, TextTerm};

/// An owner's number times this, plus the part, is the text's row.
const PARTS_PER_OWNER: i64 = 1 << 28;

/// How many bytes of texts are read before the index is asked: to set a search up takes it longer than this.
const READ_AT_MOST: usize = 32 * 1024;

fn first_row(owner: i64) -> i64 {
    owner * PARTS_PER_OWNER
}

/// The row of a part. Numbers past the last possible one all give the row behind the owner's.
fn row_of(owner: i64, part: u32) -> i64 {
    first_row(owner) + i64::from(part).min(PARTS_PER_OWNER)
}

fn part_of(row: i64) -> u32 {
    // The remainder is below 2^28.
    u32::try_from(row % PARTS_PER_OWNER).unwrap_or_default()
}

fn find_owner(connection: &Connection, name: &str) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM owners WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

fn create_owner(connection: &Connection, name: &str) -> Result<i64> {
    connection.prepare_cached("INSERT INTO owners (name) VALUES (?1)")?.execute([name])?;
    let owner = connection.last_insert_rowid();
    if owner >= i64::MAX / PARTS_PER_OWNER { Err(Error::TooLarge) } else { Ok(owner) }
}

/// Where the term is, the newest owner first and within an owner the last part first, below `after`.
pub(super) fn search(
    connection: &Connection,
    names: &mut OwnerNames,
    term: &TextTerm,
    after: Option<&TextHit>,
    limit: u32,
) -> Result<TextHits> {
    let mut hits = TextHits { owners: String::new(), ends: Vec::new(), parts: Vec::new() };
    let Some(query) = phrase::query(connection, term)? else { return Ok(hits) };
    let below = match after {
        // An owner keeps its number for good, so one without a number never was a hit.
        Some(hit) => find_owner(connection, &hit.owner)?.map_or(0, |owner| row_of(owner, hit.part)),
        None => i64::MAX,
    };
    let mut statement =
        connection.prepare_cached("SELECT rowid FROM texts WHERE texts MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC")?;
    let mut rows = statement.query(params![query, below])?;
    let mut last = None;
    let mut before = below;
    while hits.parts.len() < limit as usize
        && let Some(row) = rows.next()?
    {
        let row: i64 = row.get(0)?;
        if row >= std::mem::replace(&mut before, row) {
            return Err(Error::Disorder);
        }
        let owner = row / PARTS_PER_OWNER;
        if last != Some(owner) {
            // What is nobody's is no hit.
            let Some(name) = names.of(connection, owner)?.filter(|name| !name.is_empty()) else { continue };
            hits.owners.push_str(name);
            last = Some(owner);
        }
        hits.ends.push(u32::try_from(hits.owners.len()).map_err(|_| Error::TooLarge)?);
        hits.parts.push(part_of(row));
    }
    Ok(hits)
}

/// For each scope the first part that holds the term.
pub(super) fn find(connection: &Connection, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
    let phrase = Phrase::new(term);
    // For a longer prefix FTS5 would go through all texts of the store, and that for each scope.
    let most = if phrase::is_longer_prefix(term) { usize::MAX } else { READ_AT_MOST };
    let first = |scope: &TextScope| {
        let Some(owner) = find_owner(connection, &scope.owner)? else { return Ok(None) };
        let last = row_of(owner, scope.until).min(first_row(owner + 1) - 1);
        let row = match first_read(connection, &phrase, (first_row(owner), last), most)? {
            Read::Found(row) => Some(row),
            Read::Nothing => None,
            Read::Left(rest) => first_match(connection, term, (rest, last))?,
        };
        Ok(row.map(part_of))
    };
    scopes.iter().map(first).collect()
}

/// The first of these rows that holds the term, by the index.
fn first_match(connection: &Connection, term: &TextTerm, (first, last): (i64, i64)) -> Result<Option<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT rowid FROM texts WHERE texts MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid LIMIT 1",
    )?;
    Ok(statement.query_row(params![phrase::literal(term), first, last], |row| row.get(0)).optional()?)
}

/// What came of reading rows.
enum Read {
    /// This is the first row that holds the term.
    Found(i64),
    /// None does.
    Nothing,
    /// None so far; the rest begins with this row.
    Left(i64),
}

/// Looks for the first of these rows that holds the term by reading them, no more than `most` bytes or so.
fn first_read(connection: &Connection, phrase: &Phrase, (first, last): (i64, i64), most: usize) -> Result<Read> {
    let mut statement =
        connection.prepare_cached("SELECT rowid, tokens FROM texts WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid")?;
    let mut rows = statement.query([first, last])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if bytes > most {
            return Ok(Read::Left(row.get(0)?));
        }
        let tokens = row.get_ref(1)?.as_bytes().unwrap_or_default();
        if phrase.is_in(tokens) {
            return Ok(Read::Found(row.get(0)?));
        }
        bytes += tokens.len();
    }
    Ok(Read::Nothing)
}

/// The names of owners behind this one. They are never forgotten, so some have no texts any more.
pub(super) fn owners(connection: &Connection, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
    Table::Owners.names(connection, after, limit)
}

/// What is said of texts whose owners have no names.
pub(super) const NOBODYS: &str = "texts for search of which is not known any more whose they are";

/// The numbers of owners that have texts and no name.
pub(super) fn owners_without_names(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
    // One step for each owner, not for each of its texts.
    let mut next = connection.prepare("SELECT id FROM texts_content WHERE id >= ?1 ORDER BY id LIMIT 1")?;
    let mut named = connection.prepare("SELECT 1 FROM owners WHERE id = ?1")?;
    let mut nobodys = Vec::new();
    let mut from = first_row(0) + 1;
    while let Some(row) = next.query_row([from], |row| row.get::<_, i64>(0)).optional()? {
        let owner = row / PARTS_PER_OWNER;
        if !named.exists([owner])? {
            nobodys.push(owner);
        }
        from = first_row(owner + 1);
    }
    Ok(nobodys)
}

/// Drops some of the texts of an owner without a name; says whether there may be more.
pub(super) fn drop_some(connection: &Connection, owner: i64, limit: u32) -> Result<bool> {
    let deleted = connection
        .prepare_cached(
            "DELETE FROM texts WHERE rowid IN
             (SELECT id FROM texts_content WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)",
        )?
        .execute(params![first_row(owner), first_row(owner + 1) - 1, limit])?;
    Ok(deleted > 0)
}

/// The texts of an owner from a part on.
pub(super) fn read(connection: &Connection, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
    let Some(number) = find_owner(connection, owner)? else { return Ok(TextPage { texts: Vec::new(), more: false }) };
    let mut statement = connection
        .prepare_cached("SELECT rowid, tokens FROM texts WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid LIMIT ?3")?;
    let found = statement.query(params![row_of(number, start), first_row(number + 1) - 1, bounds.rows()])?;
    let is_next = |before: Option<&TextPart>, text: &TextPart| match before {
        None => text.part >= start,
        Some(before) => text.part > before.part,
    };
    let (texts, more) = take_bounded(found, bounds, is_next, |row| {
        let place: i64 = row.get(0)?;
        if place / PARTS_PER_OWNER != number {
            return Ok(None);
        }
        let text = TextPart { owner: owner.to_owned(), part: part_of(place), tokens: readable(row, 1)? };
        let size = text.tokens.len();
        Ok(Some((text, size)))
    })?;
    Ok(TextPage { texts, more })
}

/// Replaces what is indexed for an owner's part.
pub(super) fn index(connection: &Connection, part: &TextPart) -> Result<()> {
    if i64::from(part.part) >= PARTS_PER_OWNER {
        return Err(Error::TooLarge);
    }
    let owner = match find_owner(connection, &part.owner)? {
        owner if part.tokens.is_empty() => {
            let mut statement = connection.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?;
            owner.map(|owner| statement.execute([row_of(owner, part.part)])).transpose()?;
            return Ok(());
        }
        Some(owner) => owner,
        None => create_owner(connection, &part.owner)?,
    };
    connection
        .prepare_cached("INSERT OR REPLACE INTO texts (rowid, tokens) VALUES (?1, ?2)")?
        .execute(params![row_of(owner, part.part), part.tokens])?;
    Ok(())
}

/// Drops the parts of an owner from a number on.
pub(super) fn cut(connection: &Connection, cut: &TextCut) -> Result<()> {
    let Some(owner) = find_owner(connection, &cut.owner)? else { return Ok(()) };
    connection
        .prepare_cached("DELETE FROM texts WHERE rowid BETWEEN ?1 AND ?2")?
        .execute([row_of(owner, cut.start), first_row(owner + 1) - 1])?;
    Ok(())
}

import type { DatabaseSync } from 'node:sqlite'
import { findNames, type NameTree } from '../../shared/graph/mentions.ts'
import { isStopWord, plainWord, textWords } from '../../shared/graph/search-words.ts'
import { imageDropper, PASSAGE_SPAN } from './index-file.ts'

/**
 * Which names stand in which passages (docs/adr/0080): brings `mentions` up to what link-writer.ts noted. What is kept
 * follows from the names and texts that are there and from nothing else, so neither the order of puts and deletions matters
 * nor how many of them come before a search; what a mention is worth is said by who reads (link-reader.ts).
 */
export interface MentionFinder {
  /** Passages that are to be searched. The caller holds a transaction; so also below. */
  begin(): number
  /** Searches so many of them; false: nothing is left. */
  search(most: number): boolean
}

/** Whether there is anything to be found. */
export function hasMentionsToFind(db: DatabaseSync): boolean {
  const row = db.prepare('SELECT EXISTS (SELECT 1 FROM unsearched) OR EXISTS (SELECT 1 FROM new_names) AS some').get()
  return row?.some === 1
}

/** Between `begin` and the last `search` nobody else writes. */
export function mentionFinder(db: DatabaseSync): MentionFinder {
  const sql = statementsOf(db)
  let searchOne = (_passage: number): void => undefined
  return {
    begin() {
      imageDropper(db)()
      noteTextsOfNewNames(sql)
      sql.forgetNew.run()
      const passages = Number(sql.unsearched.get()?.n ?? 0)
      const isFew = passages * NAMES_A_PASSAGE < Number(sql.names.get()?.most ?? 0)
      searchOne = isFew ? searcher(sql, treeInFile(sql)) : searcher(sql, treeInMemory(sql))
      return passages
    },
    search(most) {
      const passages = sql.next.all(most).map(({ passage }) => Number(passage))
      for (const passage of passages) searchOne(passage)
      sql.searched.run(passages.at(-1) ?? -1)
      return passages.length === most
    },
  }
}

/** New names for each entity that is there from which on all texts are read again: that is faster than to look for each name. */
const NAMES_AN_ENTITY = 1 / 4

/** A new name may stand in any text, and FTS5 knows in which. */
function noteTextsOfNewNames(sql: Statements): void {
  const keys = sql.newNames.all().map(({ key }) => String(key))
  const isMost = keys.length >= NAMES_AN_ENTITY * Number(sql.entities.get()?.most ?? 0)
  if (isMost) sql.noteAll.run()
  else for (const match of matchesOf(keys)) sql.noteMatching.run(match)
}

/** What finds every passage that may have one of these names, for FTS5: who has not `Ed Wood` has not `Ed Wood (film` either. */
function matchesOf(keys: readonly string[]): readonly string[] {
  const all = new Set(keys)
  return keys
    .filter((key) => !all.has(key.slice(0, Math.max(0, key.lastIndexOf(' (')))))
    .map((key) => `{facts text} : (${phrasesOf(textWords(key).map(({ word }) => word))})`)
}

/** Stop words are in every passage and cost most: a name of several other words is looked for by these. */
function phrasesOf(words: readonly string[]): string {
  const parts: string[][] = [[]]
  for (const word of words) {
    if (isStopWord(plainWord(word))) parts.push([])
    else parts.at(-1)?.push(word)
  }
  const telling = parts.flat().length > 1 ? parts.filter((part) => part.length > 0) : [words]
  return telling.map((part) => `"${part.join(' ')}"`).join(' AND ')
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(db: DatabaseSync) {
  return {
    newNames: db.prepare('SELECT key FROM new_names JOIN link_names USING (name)'),
    forgetNew: db.prepare('DELETE FROM new_names'),
    entities: db.prepare('SELECT max(node) AS most FROM entities'),
    noteAll: db.prepare('INSERT OR IGNORE INTO unsearched (passage) SELECT id FROM passages'),
    noteMatching: db.prepare('INSERT OR IGNORE INTO unsearched (passage) SELECT rowid FROM words WHERE words MATCH ?'),
    unsearched: db.prepare('SELECT count(*) AS n FROM unsearched'),
    next: db.prepare('SELECT passage FROM unsearched ORDER BY passage LIMIT ?'),
    searched: db.prepare('DELETE FROM unsearched WHERE passage <= ?'),
    at: db.prepare(
      `SELECT (SELECT name FROM link_names WHERE key = ?1) AS name,
         EXISTS (SELECT 1 FROM link_names WHERE key > ?2 AND key < ?3) AS more`,
    ),
    names: db.prepare('SELECT max(name) AS most FROM link_names'),
    allNames: db.prepare('SELECT key, name FROM link_names'),
    namesOf: db.prepare('SELECT name FROM named WHERE node = ?'),
    texts: db.prepare('SELECT text, literals FROM passages WHERE id = ?'),
    dropMentions: db.prepare('DELETE FROM mentions WHERE passage = ?'),
    addMention: db.prepare(
      'INSERT INTO mentions (name, passage, capital, part, start, stop) VALUES (?, ?, ?, ?, ?, ?)',
    ),
  }
}

type Tree<Branch> = NameTree<number, Branch>

/** Names that are read in the time in which a passage asks the file for those it may have. */
const NAMES_A_PASSAGE = 100
/** Beginnings kept of those that were asked for. */
const MOST_KEPT = 50_000

/** A beginning as the file knows it. */
interface AskedBranch {
  readonly key: string
  readonly name: number | undefined
  /** Longer names begin so. */
  readonly more: boolean
}

function treeInFile(sql: Statements): Tree<AskedBranch> {
  const asked = new Map<string, AskedBranch>()
  const at = (key: string): AskedBranch => {
    const known = asked.get(key)
    if (known !== undefined) return known
    if (asked.size >= MOST_KEPT) asked.clear()
    const row = sql.at.get(key, `${key} `, `${key}!`)
    const branch = { key, name: typeof row?.name === 'number' ? row.name : undefined, more: row?.more === 1 }
    asked.set(key, branch)
    return branch
  }
  return {
    first: at,
    next: ({ key, more }, joined) => (more ? at(`${key} ${joined}`) : undefined),
    nameAt: ({ name }) => name,
  }
}

interface Branch {
  name: number | undefined
  /** By the word that comes next. */
  longer: Map<string, Branch> | undefined
}

function treeInMemory(sql: Statements): Tree<Branch> {
  const root = new Map<string, Branch>()
  for (const { key, name } of sql.allNames.iterate()) {
    let branches = root
    let branch: Branch | undefined
    for (const word of String(key).split(' ')) {
      if (branch !== undefined) branches = branch.longer ??= new Map()
      branch = branches.get(word)
      if (branch === undefined) {
        branch = { name: undefined, longer: undefined }
        branches.set(word, branch)
      }
    }
    if (branch !== undefined) branch.name = Number(name)
  }
  return {
    first: (small) => root.get(small),
    next: ({ longer }, joined) => longer?.get(joined),
    nameAt: ({ name }) => name,
  }
}

/** Writes anew which names a passage has; one that is gone has none. */
function searcher<Branch>(sql: Statements, tree: Tree<Branch>): (passage: number) => void {
  return (passage) => {
    sql.dropMentions.run(passage)
    const row = sql.texts.get(passage)
    if (row === undefined) return
    const texts = [String(row.text), ...readLiterals(row.literals).map(({ value }) => value)]
    const met = firstPlaces(texts, tree)
    if (met.size === 0) return
    // A text that says the name of what it is of means that.
    for (const { name } of sql.namesOf.all(Math.floor(passage / PASSAGE_SPAN))) met.delete(Number(name))
    for (const [name, { capital, part, start, end }] of met) {
      sql.addMention.run(name, passage, capital ? 1 : 0, part, start, end)
    }
  }
}

/** Where each name stands first with a capital, else first. */
function firstPlaces<Branch>(texts: readonly string[], tree: Tree<Branch>): Map<number, Met> {
  const met = new Map<number, Met>()
  for (const [part, text] of texts.entries()) {
    for (const { name, ...place } of findNames(text, tree)) {
      const before = met.get(name)
      if (before === undefined || (place.capital && !before.capital)) met.set(name, { part, ...place })
    }
  }
  return met
}

interface Met {
  readonly capital: boolean
  readonly part: number
  readonly start: number
  readonly end: number
}

/** A statement whose object is a text that may name something. */
export interface Literal {
  readonly predicate: string
  readonly value: string
}

/** As `passages.literals` has them: a list of predicate, value, predicate, value .. */
export function readLiterals(column: unknown): readonly Literal[] {
  if (typeof column !== 'string') return []
  const flat: readonly string[] = JSON.parse(column)
  return flat.flatMap((value, at) => (at % 2 === 0 ? [] : [{ predicate: flat[at - 1] ?? '', value }]))
}

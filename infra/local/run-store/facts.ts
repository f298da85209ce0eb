import type { DatabaseSync } from 'node:sqlite'
import { type FactsIndex, labelTerms, type PlacedFacts, term } from '../../../shared/runs/facts-index.ts'
import type { RunNote } from '../../../shared/runs/labels.ts'
import { birthFacts } from '../../../shared/runs/run-facts.ts'
import type { RunKey, RunStore } from '../../../shared/runs/run-store.ts'
import { allCommitted, commitTogether } from '../database.ts'
import { factsWriter, termWriter } from './facts-writer.ts'
import { liveRunsOf } from './live-runs.ts'
import { nameOf, query, runNumberLookup } from './query.ts'
import { headReader } from './stored-head.ts'

interface Row {
  readonly place: string
  readonly birth: string
  readonly labels: string
  readonly ended: string | null
}

/** What runs are found by (docs/adr/0097): rows that are written with the run, so they always say what HEAD says. */
export function factsOn(
  db: DatabaseSync,
): FactsIndex & Pick<RunStore, 'putLabels' | 'putNote' | 'notes' | 'addWords' | 'words'> {
  return { ...readsOn(db), ...labelsOn(db), ...notesOn(db), ...wordsOn(db) }
}

function readsOn(db: DatabaseSync): FactsIndex {
  const part = query<Row>(
    db,
    'SELECT place, birth, labels, ended FROM run_facts WHERE tenant = ? AND place < ? AND place >= ? ORDER BY place DESC LIMIT ?',
  )
  const some = query<Row>(
    db,
    'SELECT f.place, f.birth, f.labels, f.ended FROM json_each(?2) wanted CROSS JOIN run_facts f ON f.tenant = ?1 AND f.place = wanted.value',
  )
  const under = query<{ readonly place: string }>(
    db,
    'SELECT place FROM run_terms WHERE tenant = ? AND term = ? AND place < ? AND place >= ? ORDER BY place DESC LIMIT ?',
  )
  return {
    async facts(tenant, { before = AFTER_ALL, from = '', limit }) {
      // Runs that were made in this moment too.
      await allCommitted(db)
      return part.all(tenant, before, from, limit).map(read)
    },
    async factsAt(tenant, places) {
      await allCommitted(db)
      return some.all(tenant, JSON.stringify([...new Set(places)])).map(read)
    },
    async placesUnder(tenant, of, { before = AFTER_ALL, from = '', limit }) {
      await allCommitted(db)
      return under.all(tenant, of, before, from, limit).map(({ place }) => place)
    },
  }
}

/** Greater than any time. */
const AFTER_ALL = '~'

function read({ place, birth, labels, ended }: Row): PlacedFacts {
  try {
    const end = ended === null ? {} : { end: JSON.parse(ended) }
    return { place, stored: { birth: JSON.parse(birth), labels: JSON.parse(labels), ...end } }
  } catch {
    return { place, stored: undefined }
  }
}

/** HEAD, the facts and the terms of a change of labels in one transaction. */
function labelsOn(db: DatabaseSync): Pick<RunStore, 'putLabels' | 'addWords'> {
  const ofRun = changeOfRun(db)
  const live = liveRunsOf(db)
  const stored = headReader(db)
  const note = db.prepare("INSERT OR REPLACE INTO head_maps (run, map, key, body) VALUES (?, 'labels', '', ?)")
  const change = db.prepare('UPDATE run_facts SET labels = ? WHERE run = ?')
  const addTerms = termWriter(db)
  return {
    async putLabels(key, labels) {
      const put = await ofRun(key, (run) => {
        const one = live.peek(run)
        const there = one === undefined ? stored(key, [])?.labels : one.labels
        if ((there?.version ?? 0) !== labels.version - 1) return false
        note.run(run, JSON.stringify(labels))
        change.run(JSON.stringify(labels.values), run)
        addTerms(run, labelTerms(labels.values))
        if (one !== undefined) one.labels = labels
        return true
      })
      return put === true
    },
    async addWords(key, words) {
      await ofRun(key, (run) => addTerms(run, words.map(term.word)))
    },
  }
}

function wordsOn(db: DatabaseSync): Pick<RunStore, 'words'> {
  const numberOf = runNumberLookup(db)
  const all = query<{ readonly term: string }>(db, 'SELECT term FROM run_terms WHERE run = ?')
  const word = term.word('')
  return {
    async words(key) {
      await allCommitted(db)
      const run = numberOf(key)
      if (run === undefined) return []
      return all
        .all(run)
        .flatMap(({ term: of }) => (of.startsWith(word) ? [of.slice(word.length)] : []))
        .toSorted()
    },
  }
}

/** A change of rows of a run that is there; what of it is in memory alone is written before: it may be as new as that. */
function changeOfRun(db: DatabaseSync) {
  const live = liveRunsOf(db)
  const numberOf = runNumberLookup(db)
  return <T>(key: RunKey, change: (run: number) => T): Promise<T | undefined> => {
    const work = () => {
      const run = numberOf(key)
      if (run === undefined) return undefined
      live.write()
      return change(run)
    }
    return commitTogether(db, work, nameOf(key))
  }
}

function notesOn(db: DatabaseSync): Pick<RunStore, 'putNote' | 'notes'> {
  const ofRun = changeOfRun(db)
  const numberOf = runNumberLookup(db)
  const put = db.prepare('INSERT OR IGNORE INTO run_notes (run, at, id, body) VALUES (?, ?, ?, ?)')
  const all = query<{ readonly body: string }>(db, 'SELECT body FROM run_notes WHERE run = ? ORDER BY at, id')
  return {
    async putNote(key, note) {
      await ofRun(key, (run) => put.run(run, note.at, note.id, JSON.stringify(note)))
    },
    async notes(key) {
      await allCommitted(db)
      const run = numberOf(key)
      return run === undefined ? [] : all.all(run).map(({ body }): RunNote => JSON.parse(body))
    },
  }
}

/** Runs of an older file are found as well; whoever opens it with an older program in between has them listed once more. */
export function addFacts(db: DatabaseSync): void {
  const without = query<{
    readonly run: number
    readonly tenant: string
    readonly run_id: string
    readonly meta: string
  }>(
    db,
    `SELECT r.run, r.tenant, r.run_id, m.body AS meta FROM runs r JOIN metas m USING (run)
     WHERE r.run NOT IN (SELECT run FROM run_facts) AND json_valid(m.body)`,
  ).all()
  if (without.length === 0) return
  const write = factsWriter(db)
  const headOf = headReader(db)
  for (const { run, tenant, run_id, meta } of without) {
    const key = { tenant, run_id }
    // One whose rows are damaged is not found, and keeps no place from opening; doctor names it.
    try {
      const head = headOf(key, [])
      write.begin({ run, key }, birthFacts({ meta: JSON.parse(meta) }))
      if (head !== undefined && head.state !== 'running') write.end(run, head)
    } catch {}
  }
}

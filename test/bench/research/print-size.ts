import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { openIndexToRead, openIndexToWrite } from '../../../functions/search/index-file.ts'
import { indexReader } from '../../../functions/search/index-reader.ts'
import { findMentions, indexWriter } from '../../../functions/search/index-writer.ts'
import { entityHash, normalEntity } from '../../../shared/graph/entity.ts'
import { generatedGraph, TRIPLES } from './generated-graph.ts'
import { openBenchGraph } from './open-bench-graph.ts'

type Print = (line: string) => void
type Generated = ReturnType<typeof generatedGraph>

/** Entities of the graph store's own rate: it does not change with the size of the graph. */
const STORED = 5_000
/** Entities a commit of the writer. */
const COMMIT = 1_000
const ROUNDS = 60
const LIMIT = 20

/** Import, file, opening, and how long questions take beside plain FTS5 on the same file. */
export async function printSize(count: number, print: Print): Promise<void> {
  print(`\nGenerated graph: ${count} entities, ${TRIPLES * count} triples`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    await printStore(print)
    const file = join(folder, 'index.db')
    const graph = generatedGraph(count)
    await writeIndex(file, graph, count, print)
    printLatency(file, graph, count, print)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function printStore(print: Print): Promise<void> {
  const opened = openBenchGraph()
  try {
    const started = performance.now()
    await opened.put(generatedGraph(STORED).entities())
    print(`graph store (SQLite), put     ${rate(STORED, started)} entities a second`)
  } finally {
    opened.close()
  }
}

/** As the writer makes a snapshot: on a copy without a journal, then written anew. */
async function writeIndex(file: string, graph: Generated, count: number, print: Print): Promise<void> {
  const db = openIndexToWrite(`${file}.copy`, true)
  if (db === undefined) throw new Error(`Cannot make the index "${file}".`)
  db.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
  const started = performance.now()
  const writer = indexWriter(db, true)
  let put = 0
  db.exec('BEGIN')
  for (const entity of graph.entities()) {
    const normal = normalEntity(entity)
    writer.put(normal, entityHash(normal), '')
    put += 1
    if (put % COMMIT === 0) {
      writer.settle()
      db.exec('COMMIT; BEGIN')
    }
  }
  writer.settle()
  db.exec('COMMIT')
  await findMentions(db)
  print(`index writer, put             ${rate(count, started)} entities a second`)
  const anew = performance.now()
  db.prepare('VACUUM INTO ?').run(file)
  db.close()
  const size = statSync(file).size
  print(
    `written anew                  ${seconds(anew)}, ${(size / 1e6).toFixed(0)} MB, ${Math.round(size / count)} bytes an entity`,
  )
}

function printLatency(file: string, graph: Generated, count: number, print: Print): void {
  const started = performance.now()
  const db = openIndexToRead(file)
  if (db === undefined) throw new Error(`Cannot open the index "${file}".`)
  const reader = indexReader(db)
  reader.search({ text: graph.text(3), limit: LIMIT })
  print(`opened and searched           ${seconds(started)}`)
  const loading = performance.now()
  const seeds = [{ entity_id: graph.idOf(5), weight: 1 }]
  reader.diffuse({ seeds, limit: LIMIT })
  print(`graph read and diffused       ${seconds(loading)}`)
  const plain = plainSearch(db)
  print(
    `${'processor ms, p50 and p95'.padEnd(30)}${'ours'.padStart(16)}${'plain FTS5'.padStart(16)}${'ours / plain'.padStart(18)}`,
  )
  const names = namesIn(db)
  let named = 0
  const texts: Readonly<Record<string, () => string>> = {
    'search, a name': () => names[named++ % names.length] ?? '',
    'search, 2 words': () => graph.text(2),
    'search, 6 words': () => graph.text(6),
    'search, 12 words': () => graph.text(12),
  }
  for (const [name, make] of Object.entries(texts)) {
    const [ours = [], theirs = []] = inTurns(make, [(text) => reader.search({ text, limit: LIMIT }), plain])
    print(row(name, ours, theirs))
  }
  let rounds = 1
  const walks = { 'diffusion, 3 seeds': undefined, 'diffusion, drawn by a text': 'which one leads where' }
  for (const [name, text] of Object.entries(walks)) {
    const [ours = []] = inTurns(
      () => [31, 77, 1_009].map((step) => ({ entity_id: graph.idOf((rounds++ * step) % count), weight: 1 })),
      [(from) => reader.diffuse({ seeds: from, limit: LIMIT, ...(text === undefined ? {} : { text }) })],
    )
    print(row(name, ours))
  }
  db.close()
}

/** Labels of some entities, by the ends of their ids. */
function namesIn(db: DatabaseSync): readonly string[] {
  const sql = `SELECT label FROM entities WHERE label IS NOT NULL ORDER BY reversed LIMIT ${ROUNDS}`
  const labels = db.prepare(sql).all()
  return labels.map(({ label }) => String(label))
}

/** Any word, best twenty by bm25(): what FTS5 answers without any of our code. */
function plainSearch(db: DatabaseSync): (text: string) => unknown {
  const find = db.prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ${LIMIT}`)
  return (text) =>
    find.all(
      text
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR '),
    )
}

/**
 * Milliseconds of processor time of each, one after the other with the same question; who is first, and reads what the
 * other then finds in memory, changes each round.
 */
function inTurns<T>(make: () => T, runs: readonly ((asked: T) => unknown)[]): readonly (readonly number[])[] {
  const seen = runs.map(() => [] as number[])
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = make()
    const turn = [...runs.entries()]
    for (const [at, run] of round % 2 === 0 ? turn : turn.toReversed()) {
      const before = process.cpuUsage()
      run(asked)
      const { user, system } = process.cpuUsage(before)
      seen[at]?.push((user + system) / 1_000)
    }
  }
  return seen
}

function row(name: string, ours: readonly number[], theirs: readonly number[] = []): string {
  const cell = (times: readonly number[]) => `${at(times, 0.5).toFixed(1)}  ${at(times, 0.95).toFixed(1)}`.padStart(16)
  if (theirs.length === 0) return `${name.padEnd(30)}${cell(ours)}`
  const ratios = [0.5, 0.95].map((part) => `${(at(ours, part) / at(theirs, part)).toFixed(2)}x`).join('  ')
  return `${name.padEnd(30)}${cell(ours)}${cell(theirs)}${ratios.padStart(18)}`
}

function at(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN
}

function rate(many: number, started: number): string {
  return Math.round((many * 1_000) / (performance.now() - started)).toLocaleString('en-US')
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1_000).toFixed(2)} s`
}

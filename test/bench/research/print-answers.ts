import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { searchWords } from '../../../shared/graph/search-words.ts'
import { questionKinds } from './answer-questions.ts'
import { generatedGraph, TRIPLES } from './generated-graph.ts'
import { openAnswerPlace } from './open-answer-place.ts'

type Print = (line: string) => void

/** Questions of each kind, after as many WARM ones of each that are not counted. */
const ROUNDS = 40
const WARM = 3
const LIMIT = 20

/**
 * Whole answers of the extractive model over a graph: POST /api/research to the end of the run, in-process, all five
 * stages with what each reads, computes and records on disk; beside plain FTS5's best twenty of the same words from a
 * copy of the same index, one after the other in turns.
 */
export async function printAnswers(count: number, print: Print): Promise<void> {
  print(`\nWhole answers: ${count} entities, ${TRIPLES * count} triples`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const [data, copy] = [join(folder, 'data'), join(folder, 'plain.db')]
    mkdirSync(data)
    const graph = generatedGraph(count)
    await importAll(data, copy, graph.entities(), { count, print })
    const plain = new DatabaseSync(copy, { readOnly: true })
    const labels = plain.prepare('SELECT label FROM entities WHERE label IS NOT NULL ORDER BY node LIMIT 5000').all()
    const kinds = questionKinds(
      graph,
      labels.map(({ label }) => String(label)),
    )
    await printTimes(data, kinds, plain, print)
    plain.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Entities = Parameters<Awaited<ReturnType<typeof openAnswerPlace>>['import']>[0]

/** As `sluice graph import` sends them, until they are searched. */
async function importAll(
  data: string,
  copy: string,
  entities: Entities,
  { count, print }: { readonly count: number; readonly print: Print },
): Promise<void> {
  const place = await openAnswerPlace(data)
  const used = process.cpuUsage()
  const started = performance.now()
  await place.import(entities)
  await place.index()
  const wall = performance.now() - started
  const { user, system } = process.cpuUsage(used)
  const rate = (ms: number) => Math.round((count * 1_000) / ms).toLocaleString('en-US')
  print(
    `imported and indexed          ${rate(wall)} entities a second; ${rate((user + system) / 1_000)} a second of processor time`,
  )
  await place.close(copy)
  const megabytes = (name: string) => (statSync(join(data, name)).size / 1e6).toFixed(0)
  print(`index, graph store            ${megabytes('index.db')} MB, ${megabytes('sluice.db')} MB`)
}

async function printTimes(
  data: string,
  kinds: ReturnType<typeof questionKinds>,
  plain: DatabaseSync,
  print: Print,
): Promise<void> {
  const [one] = kinds
  if (one === undefined) return
  const after = await openAndAnswer(data, one.make())
  await after.place.close()
  const again = await openAndAnswer(data, one.make())
  const { place } = again
  print(`the first answer after import ${after.told}`)
  print(`opened again, first answer    ${again.told}`)
  print(
    `${'ms, p50 and p95'.padEnd(20)}${'answer'.padStart(14)}${'processor'.padStart(14)}${'plain FTS5'.padStart(14)}${'answer / plain'.padStart(18)}`,
  )
  const all: Times[] = []
  try {
    for (const { name, make } of kinds) {
      const times: Times[] = []
      for (let round = 0; round < WARM; round += 1) await measured(make(), place.answer, plain)
      for (let round = 0; round < ROUNDS; round += 1) times.push(await measured(make(), place.answer, plain))
      all.push(...times)
      print(row(name, times))
    }
    print(row('all', all))
  } finally {
    await place.close()
  }
}

/** A place that was closed, and how long it takes from opening it to the end of its first answer. */
async function openAndAnswer(data: string, topic: string) {
  const used = process.cpuUsage()
  const opening = performance.now()
  const place = await openAnswerPlace(data)
  await place.answer(topic)
  const wall = performance.now() - opening
  const { user, system } = process.cpuUsage(used)
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
  return { place, told: `${seconds(wall)}, ${seconds((user + system) / 1_000)} of processor time` }
}

/** Milliseconds of one question. */
interface Times {
  readonly wall: number
  readonly processor: number
  readonly plain: number
}

async function measured(
  topic: string,
  answer: (topic: string) => Promise<unknown>,
  plain: DatabaseSync,
): Promise<Times> {
  const used = process.cpuUsage()
  const started = performance.now()
  await answer(topic)
  const wall = performance.now() - started
  const { user, system } = process.cpuUsage(used)
  const searching = performance.now()
  findPlain(plain, topic)
  return { wall, processor: (user + system) / 1_000, plain: performance.now() - searching }
}

/** Any word of the question, best by bm25(): what FTS5 answers without any of our code. */
function findPlain(db: DatabaseSync, topic: string): void {
  const words = new Set(searchWords(topic).map(({ start, end }) => `"${topic.slice(start, end)}"`))
  db.prepare(`SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ${LIMIT}`).all(
    [...words].join(' OR '),
  )
}

function row(name: string, times: readonly Times[]): string {
  const [wall, processor, plain] = (['wall', 'processor', 'plain'] as const).map((of) => times.map((one) => one[of]))
  const cell = (of: readonly number[] = []) => `${at(of, 0.5).toFixed(0)}  ${at(of, 0.95).toFixed(0)}`.padStart(14)
  const ratios = [0.5, 0.95].map((part) => `${(at(wall, part) / at(plain, part)).toFixed(2)}x`).join('  ')
  return `${name.padEnd(20)}${cell(wall)}${cell(processor)}${cell(plain)}${ratios.padStart(18)}`
}

function at(times: readonly number[] = [], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN
}

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { atlasEntities } from '../../scripts/atlas/atlas-entities.ts'
import { readSources } from '../../scripts/atlas/sources.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { planDag } from '../../shared/plan/plan-dag.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { readText } from '../unit/docs/markdown.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { openTrace, type Quantities, quantities, usdOf } from './traced-run.ts'

/**
 * What runs of shipped documents ask of AWS, counted, beside what `sluice plan --cost` says they will: docs/cost.md,
 * "Traced". Durations are in neither: of a call both take the same seconds.
 */
let place: Deployment
let caller: Caller
const trace = openTrace()
const rows: (readonly string[])[] = []
const PAGE = readText('docs/cost.md')

beforeAll(async () => {
  place = await deploy(inject('assembly'), {}, trace.through)
  caller = callerOf(place.api.url)
  const entities = neighbourhood('Switzerland')
  const { status, text } = await caller.call('PUT', '/api/graph/entities', { entities })
  if (status !== 200) throw new Error(text)
  // A function that was called before has the document and its settings: nearly all calls are such.
  await runToEnd('basic')
})
afterAll(async () => {
  await place.close()
  await trace.close()
  // As docs/cost.md has them.
  process.stdout.write(rows.map((row) => `| ${row.join(' | ')} |\n`).join(''))
})

const INPUTS: Readonly<Record<string, object>> = { basic: { goal: 'Plan a small garden with three beds' } }

/** With the items its lists have, and how far the sum may be off. */
const RUNS = [
  { name: 'basic', items: {}, off: 0.15 },
  // Its first plan is refused by a gate: one try more than the formula has.
  { name: 'coding', items: {}, off: 0.3 },
  { name: 'churn-analysis', items: {}, off: 0.25 },
  { name: 'ticket-reply', items: {}, off: 0.15 },
  { name: 'incident-postmortem', items: { 'judge-window': 5 }, off: 0.25 },
  { name: 'city-quality', items: {}, off: 0.25 },
  { name: 'country-brief', items: {}, off: 0.25 },
] as const

describe('1,000 runs, as they are reckoned and as they are counted', () => {
  test.each(RUNS)(
    '$name',
    async ({ name, items, off }) => {
      if (name === 'country-brief') await searchable('Switzerland')
      const before = quantities(place, trace.counted(), [], 0)
      const { runs, requests } = await runToEnd(name)
      const after = quantities(place, trace.counted(), runs, requests)
      const { lines, orchestration_usd_per_1000_runs: reckoned } = costOf(name, items)
      const pairs = lines.map(({ what, quantity }) => {
        const counted = (after[what] ?? 0) - (before[what] ?? 0)
        return [what, { reckoned: quantity / 1_000, counted }] as const
      })
      const counted: Quantities = Object.fromEntries(pairs.map(([what, of]) => [what, of.counted]))
      const row = rowOf(name, reckoned, pairs)
      rows.push(row)
      expect(usdOf(counted) / reckoned).toBeGreaterThan(1 - off)
      expect(usdOf(counted) / reckoned).toBeLessThan(1 + off)
      expect(pairs.filter(([, of]) => isFar(of))).toEqual([])
      expect(row.filter((cell, i) => !isTold(cell, told(name)[i]))).toEqual([])
    },
    90_000,
  )
})

interface Pair {
  readonly reckoned: number
  readonly counted: number
}

/** Twice as much or half, where it is more than ten of a kind. */
function isFar({ reckoned, counted }: Pair): boolean {
  return Math.max(reckoned, counted) > 2 * Math.min(reckoned, counted) && Math.abs(reckoned - counted) > 10
}

/** The columns of docs/cost.md. */
const COLUMNS = ['state transitions', 'Lambda requests', 'table write units', 'table read units'] as const

function rowOf(name: string, reckoned: number, pairs: readonly (readonly [string, Pair])[]): readonly string[] {
  const by = new Map(pairs)
  const both = (what: string) => {
    const { reckoned: said = 0, counted = 0 } = by.get(what) ?? {}
    return `${short(said)} / ${short(counted)}`
  }
  const usd = usdOf(Object.fromEntries(pairs.map(([what, { counted }]) => [what, counted])))
  const objects = [both('objects written'), both('objects read')]
  return [`\`${name}\``, ...COLUMNS.map(both), ...objects, `$${reckoned.toFixed(2)} / $${usd.toFixed(2)}`]
}

/** The row of a document in the page. */
function told(name: string): readonly string[] {
  const chapter = PAGE.slice(PAGE.indexOf('## Traced')).split('\n## ')[0] ?? ''
  const line = chapter.split('\n').find((text) => text.startsWith(`| \`${name}\` `)) ?? ''
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

/** What is reckoned to the letter; what is counted within a fifth, or five of a kind: writers that meet try again. */
function isTold(cell: string, page = ''): boolean {
  const [said, counted] = cell.split(' / ')
  const [saidThere, countedThere] = page.split(' / ')
  if (said !== saidThere) return false
  const [here, there] = [counted, countedThere].map((text = '0') => Number(text.replace('$', '')))
  return Math.abs((here ?? 0) - (there ?? 0)) <= Math.max(0.2 * (here ?? 0), cell.includes('$') ? 0 : 5)
}

function short(quantity: number): string {
  return String(Number(quantity.toPrecision(3)))
}

function costOf(name: string, items: Readonly<Record<string, number>>) {
  const parsed = parseDag(readText(`dags/${name}.yaml`), { name })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
  return planDag(parsed.dag, { durations: {}, default_duration: 1, items, max_parallel: 50 }).cost
}

/** Approves what is asked; answers the run with its children, and the requests it took. */
async function runToEnd(name: string) {
  const id = await caller.start({ name, inputs: INPUTS[name] ?? {} })
  const events = await caller.until(id, (event) => isEnd(event) || event.type === 'approval:requested')
  const asked = events.find(({ type }) => type === 'approval:requested')
  if (asked !== undefined) expect((await caller.decide(id, asked, 'approve')).status).toBe(200)
  const all = await caller.until(id, isEnd)
  expect(all.at(-1)?.type).toBe('run:completed')
  // The run's verdict is there before its execution and its outbox are done.
  for (let quiet = 0; quiet < 3; quiet = (await place.states.running()) === 0 ? quiet + 1 : 0) {
    await place.lambda.settled()
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return { runs: [id, ...all.flatMap(childOf)], requests: asked === undefined ? 1 : 2 }
}

function childOf(event: RunEvent): readonly string[] {
  return event.type === 'block:started' && event.data.child !== undefined ? [event.data.child] : []
}

const searchable = (label: string) =>
  expect
    .poll(async () => (await caller.call('GET', `/api/graph/search?q=${label}`)).text, { timeout: 60_000 })
    .toContain('entity_id')

/** A country, those it borders, and what is said of them. */
function neighbourhood(label: string) {
  const all = atlasEntities(readSources()).map(({ body: _, ...entity }) => entity)
  const said = (of: readonly (typeof all)[number][]) =>
    new Set(of.flatMap(({ triples = [] }) => triples.map(({ object }) => object)))
  const own = all.filter((entity) => entity.label === label)
  const near = said(own)
  const countries = all.filter(({ entity_id }) => near.has(entity_id) && entity_id.includes('.country.'))
  const about = said([...own, ...countries])
  const ids = new Set([...own, ...countries].map(({ entity_id }) => entity_id))
  return all.filter(({ entity_id }) => ids.has(entity_id) || (about.has(entity_id) && !entity_id.includes('.country.')))
}

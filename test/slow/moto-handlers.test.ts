import { copyFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import type { Place } from '../../infra/local/place.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { startMotoStates } from '../emulators/moto.ts'
import { startMachinesPlaces } from '../integration/aws/machines-place.ts'
import { DAGS, type GalleryPlace, openGallery } from '../integration/gallery-place.ts'
import { putAtlas } from '../integration/research/small-atlas.ts'
import { SHIPPED } from '../integration/task-place.ts'
import { deployResearch, driveWithMoto, driveWithOurs, type Interpreter } from '../machines/driven-place.ts'
import { documentOf, KINDS } from '../machines/kinds.ts'
import type { Trace } from '../machines/traces.ts'
import { ALL, BOUNCING, CHILD, dagOf, FANNED_OUT, QUESTION } from '../unit/plan/documents.ts'

/**
 * Runs with moto's interpreter instead of ours: the machine as the adapter of AWS makes it, the handlers of the place as the
 * functions its states call. Beside it the same run in ours. Executions enter the same states, line by line, with the same
 * inputs, call the same functions with the same payloads, count as many events of history, and end alike; and so do the
 * runs' own logs, lane by lane. What moto does otherwise, and what is done about it: docs/differences.md. JSONata is lent to moto (moto-states.py). Where Python has no moto the file is left out,
 * which is said.
 */
const moto = await startMotoStates()
if (moto === undefined)
  console.log('moto: skipped, python3 with the packages moto, antlr4 and jsonpath_ng is not there')
const tables = moto === undefined ? undefined : await startMachinesPlaces()
const machines = await tables?.open()

beforeAll(async () => {
  if (moto !== undefined) await deployResearch(moto)
})
afterAll(async () => {
  await tables?.close()
  await moto?.stop()
})

/** Begins a run in a place, answers its id. */
type Begin = (gallery: GalleryPlace) => Promise<string>

const RUN_LATE_MS = 120_000

/** Of all places of this file: gates have so long in it, of which the start of its children takes much. */
const isolate = createIsolate()

async function play(driven: (place: Place) => Promise<Interpreter> | Interpreter, begin: Begin) {
  const { agents, gates, pipelines } = SHIPPED
  const gallery = await openGallery({ agents, gates, pipelines })
  const countries = dirname(createRequire(import.meta.url).resolve('world-countries/package.json'))
  copyFileSync(join(countries, 'countries.json'), join(gallery.dir, 'countries.json'))
  Object.assign(gallery.place.world, { isolate })
  await putAtlas(gallery.place.world)
  const interpreter = await driven(gallery.place)
  try {
    const late = new AbortController()
    const ended = begin(gallery).then((id) => gallery.toEnd(id))
    await Promise.race([ended, isLate(interpreter, late.signal)])
    late.abort()
    const traces = await interpreter.traces()
    const tell = createTeller(gallery.place)
    const called = interpreter.called.map(({ name, payload }) => tell([name, payload]))
    const executions = traces.map(async (trace) => tellExecution(trace, await gallery.eventsOf(trace.name), tell))
    return {
      called: (await Promise.all(called)).toSorted(),
      executions: (await Promise.all(executions)).toSorted(byText),
    }
  } finally {
    await interpreter.close()
    await gallery.close()
  }
}

/** A run whose execution is lost never ends: what became of the executions says why. */
async function isLate(interpreter: Interpreter, signal: AbortSignal): Promise<never> {
  await delay(RUN_LATE_MS, undefined, { signal })
  const ends = await Promise.race([interpreter.traces(), delay(1_000)])
  throw new Error(`the run did not end; executions: ${JSON.stringify(ends)}`)
}

type Tell = (value: unknown) => Promise<string>

async function tellExecution({ lines, events, end }: Trace, log: readonly RunEvent[], tell: Tell) {
  const isOneLine = lines.length === 1
  const written = isOneLine ? log : log.map(withoutEvidence)
  const told = await Promise.all(written.map(({ seq: _, run_id: _run, at: _at, ...event }) => tell(event)))
  const entered = await Promise.all(
    lines.map(async ({ of, entered: states }) =>
      [of, ...(await Promise.all(states.map(async ({ state, input }) => `${state} ${await tell(input)}`)))].join('\n'),
    ),
  )
  return {
    end: await tell(end),
    events,
    // Branches and items go side by side: in which order they enter their states is nobody's promise, nor that of their
    // events. Where there is one line all has one order, and each lane of the log has one everywhere.
    lines: entered.toSorted(),
    log: isOneLine ? told : toldLanes(log, told),
  }
}

/** What a goal was held against lies in a body in the order it was written in, which of branches is nobody's promise. */
function withoutEvidence(event: RunEvent): RunEvent {
  if (event.type !== 'goal:evaluated') return event
  const { ref: _, ...data } = event.data
  return { ...event, data } as RunEvent
}

function toldLanes(log: readonly RunEvent[], told: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const lanes: Record<string, string[]> = {}
  for (const [i, { id }] of log.entries()) {
    const lane = id.slice(0, id.indexOf('/'))
    lanes[lane] = [...(lanes[lane] ?? []), told[i] ?? '']
  }
  return lanes
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/**
 * Moments, ids of executions, how long something took and what is left of that for a child, how long that is in bytes, who holds a claim; how far
 * the log was, where branches write it.
 */
const OF_ITS_OWN =
  /^(token|AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID|last_seq|holder|bytes|deadline_sec|.*_(at|until|ms))$/

/** What a run says without what is its own alone. A stored body is told by what is in it, told so. */
function createTeller({ world }: Place): Tell {
  const bodies = new Map<string, Promise<string>>()
  const bodyOf = async (hash: string): Promise<string> => {
    const body = await world.objects.get('main', `objstore://main/${hash}`).catch(() => undefined)
    if (body === undefined) return hash
    const text = Buffer.from(body).toString('utf8')
    return sha256(await tell(parsed(text)))
  }
  const tell: Tell = async (value) => {
    const plain = JSON.stringify(value, (key, one) => (OF_ITS_OWN.test(key) ? undefined : one)) ?? ''
    const text = plain
      .replaceAll(/\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}/g, '$1_ID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    const hashes = [...new Set(text.match(/\b[0-9a-f]{64}\b/g) ?? [])]
    for (const hash of hashes) if (!bodies.has(hash)) bodies.set(hash, bodyOf(hash))
    const told = new Map(await Promise.all(hashes.map(async (hash) => [hash, (await bodies.get(hash)) ?? ''] as const)))
    return text.replaceAll(/\b[0-9a-f]{64}\b/g, (hash) => told.get(hash) ?? hash)
  }
  return tell
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function expectAlike(begin: Begin): Promise<void> {
  if (moto === undefined || machines === undefined) return
  const theirs = await play((place) => driveWithMoto(place, moto, machines), begin)
  const ours = await play(driveWithOurs, begin)
  expect(ours.executions.length).toBeGreaterThan(0)
  expect(theirs).toEqual(ours)
}

const given =
  (dag: string, inputs: object = {}): Begin =>
  (gallery) =>
    gallery.start({ dag }, inputs)

/** Of documents whose own defaults ask for what the small atlas does not know. */
const INPUTS: Readonly<Record<string, object>> = { 'country-brief': { country: 'Norway' } }

describe.skipIf(moto === undefined)('runs in moto and in our interpreter', () => {
  const documents = readdirSync(DAGS).map((name) => name.replace('.yaml', ''))

  test.for(documents)('dags/%s', async (name) => {
    await expectAlike((gallery) => gallery.start(name, INPUTS[name]))
  })

  test.each([
    'What is the capital of Norway?',
    'How many countries border Sweden?',
    'Which countries border Finland, and what is their currency?',
    'Who composed the opera Zanzibar Nights?',
  ])('research: %s', async (topic) => {
    await expectAlike(async (gallery) => (await gallery.call('/api/research', { topic })).run_id)
  })

  describe.each([true, false])('where the gate holds: %s', (holds) => {
    test.for(Object.entries(KINDS))('the machine of %s', async ([_, blocks]) => {
      const dag = documentOf(blocks, { holds })
      expect(compileDag(dagOf(dag)).text).toBe(compileDag({ blocks }).text)
      await expectAlike(given(dag))
    })
  })

  test.each([
    ['bounces', BOUNCING, { text: 'a' }],
    ['a foreach', FANNED_OUT, { list: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }],
    ['a foreach of nothing', FANNED_OUT, { list: [] }],
    ['a child that is not there', CHILD, {}],
    ['a question', QUESTION, {}],
    ['all at once, in parts', ALL, { list: ['a', 'b'] }],
  ])('%s', async (_, dag, inputs) => {
    await expectAlike(given(dag, inputs))
  })
})

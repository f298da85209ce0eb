import { copyFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Place } from '../../infra/local/place.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { startMotoStates } from '../emulators/moto.ts'
import { type MachinesPlace, startMachinesPlaces } from '../integration/aws/machines-place.ts'
import { DAGS, type GalleryPlace, openGallery } from '../integration/gallery-place.ts'
import { putAtlas } from '../integration/research/small-atlas.ts'
import { deployResearch, driveWithMoto, driveWithOurs, type Interpreter, type Trace } from '../machines/driven-place.ts'
import { documentOf, KINDS } from '../machines/kinds.ts'
import { ALL, BOUNCING, CHILD, dagOf, FANNED_OUT, QUESTION } from '../unit/plan/documents.ts'

/**
 * Runs with moto's interpreter instead of ours: the machine as the adapter of AWS makes it, the handlers of the place as the
 * functions its states call. Beside it the same run in ours. Executions enter the same states, line by line, with the same
 * inputs, call the same functions with the same payloads, count as many events of history, and end alike; and so do the
 * runs' own logs, lane by lane. JSONata is lent to moto (moto-states.py). Where Python has no moto the file is left out,
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

async function play(driven: (place: Place) => Promise<Interpreter> | Interpreter, begin: Begin) {
  const gallery = await openGallery()
  const countries = dirname(createRequire(import.meta.url).resolve('world-countries/package.json'))
  copyFileSync(join(countries, 'countries.json'), join(gallery.dir, 'countries.json'))
  await putAtlas(gallery.place.world)
  const interpreter = await driven(gallery.place)
  try {
    const late = new AbortController()
    await Promise.race([begin(gallery).then((id) => gallery.toEnd(id)), isLate(interpreter, late.signal)])
    late.abort()
    const traces = await interpreter.traces()
    const logs = await Promise.all(traces.map(({ name }) => gallery.eventsOf(name)))
    const called = interpreter.called.map(({ name, payload }) => `${name} ${told(payload)}`)
    const executions = traces.map((trace, i) => tell(trace, logs[i] ?? []))
    return { called: called.toSorted(), executions: executions.toSorted((a, b) => (told(a) < told(b) ? -1 : 1)) }
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

function tell({ lines, events, end }: Trace, log: readonly RunEvent[]) {
  const lanes = Object.groupBy(log, ({ id }) => id.slice(0, id.indexOf('/')))
  const written = Object.entries(lanes).map(([lane, own = []]) => [lane, own.map(toldEvent)])
  return {
    end: told(end),
    events,
    // Branches and items go side by side: in which order they enter their states is nobody's promise.
    lines: lines
      .map(({ of, entered }) => [of, ...entered.map(({ state, input }) => `${state} ${told(input)}`)].join('\n'))
      .toSorted(),
    log: Object.fromEntries(written),
    // Where there is one line of states the whole log has one order.
    ...(lines.length > 1 ? {} : { order: log.map(({ type, id }) => `${type} ${id}`) }),
  }
}

function toldEvent({ seq: _, run_id: _run, at: _at, ...event }: RunEvent): string {
  return told(event)
}

/** Moments, how long something took, who holds a claim; and how far the log was, where branches write it. */
const OF_ITS_OWN = /^(token|last_seq|holder|.*_(at|until|ms))$/

function told(value: unknown): string {
  const text = JSON.stringify(value, (key, one) => (OF_ITS_OWN.test(key) ? undefined : one)) ?? ''
  return text.replaceAll(/run_[0-9a-z]{26}/g, 'RUN').replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
}

async function expectAlike(begin: Begin): Promise<void> {
  if (moto === undefined || machines === undefined) return
  const theirs = await play((place) => driveWithMoto(place, moto, machines as MachinesPlace), begin)
  const ours = await play(driveWithOurs, begin)
  expect(ours.executions.length).toBeGreaterThan(0)
  expect(theirs).toEqual(ours)
}

const given =
  (dag: string, inputs: object = {}): Begin =>
  (gallery) =>
    gallery.start({ dag }, inputs)

/** What moto cannot run, and why. */
const NOT_SUPPORTED: Readonly<Record<string, string>> = {}

describe.skipIf(moto === undefined)('runs in moto and in our interpreter', () => {
  const documents = readdirSync(DAGS).map((name) => name.replace('.yaml', ''))

  test.for(documents)('dags/%s', async (name, { skip }) => {
    skip(NOT_SUPPORTED[name] !== undefined, NOT_SUPPORTED[name])
    await expectAlike((gallery) => gallery.start(name))
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
    test.for(Object.entries(KINDS))('the machine of %s', async ([name, blocks], { skip }) => {
      skip(NOT_SUPPORTED[name] !== undefined, NOT_SUPPORTED[name])
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

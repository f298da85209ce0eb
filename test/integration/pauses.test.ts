import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { childOf, deployDocument } from './child-place.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** A paused run finishes what runs and starts nothing; it goes on where it stood (docs/adr/0104). */
const places: TestPlace[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

/** Provider `held` answers when it is let; `quick` at once. */
async function open(): Promise<{ readonly place: TestPlace; readonly asked: string[]; answer(prompt: string): void }> {
  const asked: string[] = []
  const waiting = new Map<string, (text: string) => void>()
  const held = provider(({ prompt }) => {
    asked.push(prompt)
    return new Promise((resolve) => waiting.set(prompt, resolve))
  })
  const quick = provider(({ prompt }) => {
    asked.push(prompt)
    return 'done'
  })
  const place = await openTestPlace({ providers: { held, quick } })
  places.push(place)
  return { place, asked, answer: (prompt) => waiting.get(prompt)?.('done') }
}

const block = (id: string, by: string, more: object = {}) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: by, model: 'm', prompt: id },
  ...more,
})
const behind = (from: string) => ({ inputs: { text: { from: `${from}.text` } } })
const pause = (place: TestPlace, run: string, reason?: string) =>
  place.call('pause-run', run, reason === undefined ? {} : { reason })
const resume = (place: TestPlace, run: string) => place.call('resume-run', run, {})
const BEGINS: ReadonlySet<string> = new Set(['block:started', 'block:resumed', 'approval:requested'])
const begins = ({ type }: RunEvent) => BEGINS.has(type)
const head = (place: TestPlace, run_id: string) => place.place.world.runs.head({ tenant: 'main', run_id })
const log = (place: TestPlace, run_id: string) => place.place.world.runs.events({ tenant: 'main', run_id }, 0, 1_000)

async function whilePaused(place: TestPlace, run: string): Promise<readonly RunEvent[]> {
  const events = await log(place, run)
  const from = events.findIndex(({ type }) => type === 'run:paused')
  const to = events.findIndex(({ type }) => type === 'run:resumed')
  return events.slice(from + 1, to === -1 ? undefined : to)
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a run that is paused', () => {
  test('in the midst of a chain: what is at work ends, nothing begins, and it goes on from there', async () => {
    const { place, asked, answer } = await open()
    const run = await place.start({ name: 'chain', blocks: [block('a', 'held'), block('b', 'quick', behind('a'))] })
    await place.until(run, ({ type }) => type === 'block:started')
    const paused = await pause(place, run, 'prices change')
    expect(paused).toMatchObject({ status: 200, json: { state: 'paused', paused: { reason: 'prices change' } } })
    expect(await pause(place, run)).toMatchObject({ status: 409, json: { code: 'already_paused' } })
    answer('a')
    await place.until(run, ({ type }) => type === 'block:completed')
    await eventually(async () => (await head(place, run))?.resting !== undefined)
    expect((await whilePaused(place, run)).filter(begins)).toEqual([])
    expect(asked).toEqual(['a'])
    expect(foldRun(await log(place, run)).paused).toMatchObject({ reason: 'prices change' })
    expect((await resume(place, run)).status).toBe(200)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(asked).toEqual(['a', 'b'])
    expect(await resume(place, run)).toMatchObject({ status: 409, json: { code: 'run_ended' } })
  })

  test('behind its last block: the verdict waits, and comes when it goes on', async () => {
    const { place, answer } = await open()
    const run = await place.start({ name: 'one', blocks: [block('a', 'held')] })
    await place.until(run, ({ type }) => type === 'block:started')
    await pause(place, run)
    answer('a')
    await eventually(async () => (await head(place, run))?.resting !== undefined)
    expect((await head(place, run))?.state).toBe('running')
    await resume(place, run)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })

  test('in the midst of a fan-out: items at work end, no other begins', async () => {
    const { place, asked, answer } = await open()
    const run = await place.start({
      name: 'fan',
      blocks: [
        {
          id: 'each',
          outputs: { text: 'string' },
          foreach: { items: ['x', 'y', 'z'], as: 'one', max_concurrency: 1 },
          agent: { provider: 'held', model: 'm', prompt: 'item {{inputs.one}}' },
        },
      ],
    })
    await place.until(run, ({ type, item }) => type === 'block:started' && item === 0)
    await pause(place, run)
    await eventually(async () => asked.length === 1)
    answer(asked[0] ?? '')
    await place.until(run, ({ type, item }) => type === 'block:completed' && item === 0)
    await eventually(async () => (await head(place, run))?.running.length === 0)
    expect((await whilePaused(place, run)).filter(begins)).toEqual([])
    await resume(place, run)
    for (const n of [2, 3]) {
      await eventually(async () => asked.length === n)
      answer(asked[n - 1] ?? '')
    }
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(asked).toHaveLength(3)
  })

  test('its open question may be answered, and what follows starts when it goes on', async () => {
    const { place, asked } = await open()
    const ask = block('a', 'quick', { approval: { prompt: 'Go on?', timeout_sec: 60 } })
    const run = await place.start({ name: 'asks', blocks: [ask] })
    await place.until(run, ({ type }) => type === 'approval:requested')
    await pause(place, run)
    const [[id = '', { digest = '' } = {}] = []] = Object.entries((await head(place, run))?.approvals ?? {})
    const decided = await place.call('decide-approval', run, { approval_id: id, decision: 'approve', digest })
    expect(decided.status).toBe(200)
    expect((await head(place, run))?.outbox.map(({ kind }) => kind)).toContain('send_token')
    expect(asked).toEqual([])
    await resume(place, run)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })

  test('is stopped at once', async () => {
    const { place } = await open()
    const run = await place.start({ name: 'one', blocks: [block('a', 'held')] })
    await place.until(run, ({ type }) => type === 'block:started')
    await pause(place, run)
    expect((await place.call('stop-run', run, {})).status).toBe(200)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:cancelled')
  })

  test('its child run stands with it, and goes on with it alone', async () => {
    const { place, asked, answer } = await open()
    deployDocument(place, 'below', [block('c', 'held'), block('d', 'quick', behind('c'))])
    const sub = { id: 'sub', mode: 'dag', dag: { name: 'below' }, outputs: { text: { type: 'string' } } }
    const run = await place.start({ name: 'above', blocks: [sub] })
    const child = await childOf(place, run, 'sub')
    await place.until(child, ({ type }) => type === 'block:started')
    await pause(place, run)
    await place.until(child, ({ type }) => type === 'run:paused')
    expect(await resume(place, child)).toMatchObject({ status: 409, json: { code: 'parent_paused' } })
    answer('c')
    await place.until(child, ({ type }) => type === 'block:completed')
    await eventually(async () => (await head(place, child))?.running.length === 0)
    expect(asked).toEqual(['c'])
    await resume(place, run)
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect((await log(place, child)).map(({ type }) => type)).toContain('run:resumed')
  })

  test('is paused still when the place is opened again, and goes on there', async () => {
    const { place, asked, answer } = await open()
    const run = await place.start({ name: 'chain', blocks: [block('a', 'held'), block('b', 'quick', behind('a'))] })
    await place.until(run, ({ type }) => type === 'block:started')
    await pause(place, run)
    answer('a')
    await eventually(async () => (await head(place, run))?.resting !== undefined)
    await place.kill()
    expect((await head(place, run))?.paused).toBeDefined()
    expect((await whilePaused(place, run)).filter(begins)).toEqual([])
    await resume(place, run)
    await eventually(async () => asked.includes('b'))
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
  })

  test('with a question open rests on as it goes on, and the question is open for longer by what it stood', async () => {
    const { place } = await open()
    const ask = block('a', 'quick', { approval: { prompt: 'Go on?', timeout_sec: 600 } })
    const run = await place.start({ name: 'asks', blocks: [ask] })
    await eventually(async () => (await head(place, run))?.resting !== undefined)
    const before = await head(place, run)
    await pause(place, run)
    const stopped = await head(place, run)
    await resume(place, run)
    const after = await head(place, run)
    const [was, now] = [before, after].map((one) => Object.values(one?.approvals ?? {})[0]?.expires_at ?? '')
    const stood = foldRun(await log(place, run)).stood_ms ?? -1
    expect(Date.parse(now ?? '') - Date.parse(was ?? '')).toBe(stood)
    expect(Date.parse(after?.deadline_at ?? '') - Date.parse(stopped?.deadline_at ?? '')).toBe(stood)
    expect(after?.resting).toEqual(before?.resting)
    const seen = Object.values(foldRun(await log(place, run)).approvals)[0]
    expect(seen?.expires_at).toBe(now)
  })
})

describe('a document that is paused', () => {
  const change = async (place: TestPlace, paused: boolean) => {
    const event = {
      httpMethod: 'PATCH',
      path: '/',
      pathParameters: { name: 'below' },
      queryStringParameters: null,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ paused, ...(paused && { reason: 'new prices' }) }),
      isBase64Encoded: false,
    }
    const { statusCode, body } = (await place.place.invoke('change-document', event)) as {
      statusCode: number
      body: string
    }
    return { status: statusCode, json: JSON.parse(body) }
  }

  test('is not started and says who paused it; a run under way goes on, with its child run', async () => {
    const { place, answer } = await open()
    deployDocument(place, 'below', [block('c', 'quick', { inputs: { text: 'string' } })])
    const outputs = { text: { type: 'string' } }
    const sub = { id: 'sub', mode: 'dag', dag: { name: 'below' }, ...behind('first'), outputs }
    const run = await place.start({ name: 'above', blocks: [block('first', 'held'), sub] })
    await place.until(run, ({ type }) => type === 'block:started')
    const paused = { changed: true, paused: { reason: 'new prices' } }
    expect(await change(place, true)).toMatchObject({ status: 200, json: paused })
    expect(await change(place, true)).toMatchObject({ status: 200, json: { changed: false } })
    const start = () => place.start({ name: 'below', blocks: [block('c', 'quick')] })
    await expect(start()).rejects.toThrow(/dag_paused.*new prices/)
    answer('first')
    expect((await place.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(await change(place, false)).toMatchObject({ status: 200, json: { changed: true, paused: null } })
    expect((await place.ended(await start())).at(-1)?.type).toBe('run:completed')
  })
})

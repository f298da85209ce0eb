import { afterEach, describe, expect, test } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import { block, child, childOf, deployDocument, headOf, lastOf, retry, startsOf } from './child-place.ts'
import { fastClock } from './fast-clock.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const silent = { info: () => undefined, error: () => undefined }
const key = (run_id: string) => ({ tenant: 'main', run_id })
/** Waits until it is aborted, but for prompts listed: those are answered, or refused if they say so. */
const hang = (...answered: readonly string[]) =>
  provider(({ prompt, signal }) => {
    if (prompt === 'bad') throw new Fault('InvalidInput', 'no', 'no')
    if (answered.includes(prompt)) return 'x'
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })

/** A run whose block waits for a child, whose block waits for a child that hangs. Answers the three. */
async function nested(place: TestPlace, options: object = {}, beside: readonly object[] = []) {
  deployDocument(place, 'leaf', [block('slow')])
  deployDocument(place, 'middle', [child('down', 'leaf')])
  const top = await place.start({ blocks: [child('sub', 'middle'), ...beside] }, { options })
  const middle = await childOf(place, top, 'sub')
  const leaf = await childOf(place, middle, 'down')
  await place.until(leaf, ({ type }) => type === 'block:started')
  return { top, middle, leaf }
}

async function statusOf({ place }: TestPlace, runId: string): Promise<string | undefined> {
  const meta = await place.world.runs.meta(key(runId))
  return (await place.world.machine.describe(meta?.machine ?? '', runId))?.status
}

describe('the end of a parent', () => {
  test('by a stop ends its children and theirs, and their executions', async () => {
    open = await openTestPlace({ providers: { probe: hang() } })
    const { top, middle, leaf } = await nested(open)
    expect((await open.call('stop-run', top, { reason: 'enough' })).status).toBe(200)
    for (const id of [middle, leaf]) {
      expect(await lastOf(open, id)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
      await expect.poll(() => open && statusOf(open, id)).toBe('ABORTED')
    }
    await expect.poll(async () => open && (await headOf(open, leaf)).outbox).toEqual([])
  })

  test('by fail_fast ends them too', async () => {
    open = await openTestPlace({ providers: { probe: hang('go') }, log: silent })
    deployDocument(open, 'inner', [block('slow')])
    const bad = block('bad', { inputs: { text: { from: 'go.text' } }, pre_gates: [] })
    const blocks = [child('sub', 'inner'), block('go'), child('second', 'inner'), bad]
    const id = await open.start({ blocks }, { options: { fail_fast: true } })
    expect(await lastOf(open, id)).toMatchObject({ type: 'run:failed', data: { code: 'no' } })
    const children = startsOf(await open.events(id), 'sub')
    for (const run of children) expect((await lastOf(open, run))?.type).toBe('run:cancelled')
  })

  test('by its deadline: no child outlives it', { tags: ['thorough'] }, async () => {
    open = await openTestPlace({ providers: { probe: hang() } })
    const { top, leaf } = await nested(open, { deadline_sec: 2 })
    expect((await headOf(open, leaf)).deadline_at <= (await headOf(open, top)).deadline_at).toBe(true)
    for (const id of [top, leaf]) expect((await lastOf(open, id))?.type).toBe('run:cancelled')
  })

  test('by an execution that died', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, log: silent })
    const { top, leaf } = await nested(open)
    const meta = await open.place.world.runs.meta(key(top))
    await open.place.world.machine.stop(meta?.machine ?? '', top, 'by hand')
    expect(await lastOf(open, top)).toMatchObject({ type: 'run:failed', data: { code: 'execution_ended' } })
    expect(await lastOf(open, leaf)).toMatchObject({ data: { code: 'parent_ended' } })
  })

  test('before its child was started: that one never starts', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, sweep_ms: 0 })
    deployDocument(open, 'inner', [block('slow')])
    const { outbox } = open.place.world
    const nudge = outbox.nudge.bind(outbox)
    Object.assign(outbox, { nudge: async () => undefined })
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    const run = await childOf(open, id, 'sub')
    await expect.poll(() => open?.place.world.runs.meta(key(run))).toBeDefined()
    await open.place.world.runs.append({ ...endOf(id), run: key(id) })
    Object.assign(outbox, { nudge })
    await open.place.invoke('start-run', key(run))
    expect(await lastOf(open, run)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
    expect(await statusOf(open, run)).toBeUndefined()
  })

  test('which nobody told its child: the next look of the sweep does', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, sweep_ms: 0 })
    const { middle, leaf } = await nested(open)
    await open.place.world.runs.append({ ...endOf(middle), run: key(middle) })
    const was = (await headOf(open, leaf)).check_at ?? ''
    await open.place.world.runs.moveCheck(key(leaf), was, new Date(Date.now() - 1).toISOString())
    await open.place.invoke('sweep', {})
    expect(await lastOf(open, leaf)).toMatchObject({ type: 'run:cancelled', data: { code: 'parent_ended' } })
  })
})

/** A run that ended without owing anything, as if what it owed was lost. */
function endOf(_id: string) {
  return {
    lane: 'run',
    ordinal: 93,
    guard: { below: 90 },
    at: new Date().toISOString(),
    events: [{ type: 'run:cancelled', data: { code: 'stopped', reason: 'lost' } }],
    state: 'cancelled',
  } as const
}

describe('a child', () => {
  test('may be stopped alone: its block fails, and no retry starts another', async () => {
    open = await openTestPlace({ providers: { probe: hang() } })
    deployDocument(open, 'inner', [block('slow')])
    const id = await open.start({ blocks: [child('sub', 'inner', { retry: retry(3) })] })
    const run = await childOf(open, id, 'sub')
    await open.until(run, ({ type }) => type === 'block:started')
    expect((await open.call('stop-run', run, { reason: 'not needed' })).status).toBe(200)
    const last = await lastOf(open, id)
    const reason = expect.stringMatching(/was cancelled: stopped by user:.*: not needed/)
    expect(last).toMatchObject({ type: 'run:failed', data: { code: 'child_failed', block_id: 'sub', reason } })
    expect(startsOf(await open.events(id), 'sub')).toEqual([run])
  })

  test('that waits for a person stops the clock of its parents too', { tags: ['thorough'] }, async () => {
    const clock = fastClock(50)
    open = await openTestPlace({ providers: { probe: hang('ask', 'after') }, clock, log: silent })
    const ask = { approval: { required: true, timeout_sec: 86_400 } }
    deployDocument(open, 'leaf', [block('ask', ask)])
    deployDocument(open, 'middle', [child('down', 'leaf')])
    const after = block('after', { inputs: { text: { from: 'sub.text' } } })
    const id = await open.start({ blocks: [child('sub', 'middle'), after] }, { options: { deadline_sec: 60 } })
    const leaf = await childOf(open, await childOf(open, id, 'sub'), 'down')
    await open.until(leaf, ({ type }) => type === 'approval:requested')
    const view = (await open.call('get-run', id)).json as Record<string, { state?: string; waiting_for?: string }>
    expect(view.run).toMatchObject({
      state: 'running',
      waiting_for: expect.stringMatching(/^block sub: .*waits for child run run_/),
    })
    // 100 s of its 60.
    await clock.delay(100_000)
    expect((await headOf(open, id)).state).toBe('running')
    const decided = await open.call('decide-approval', leaf, {
      decision: 'approve',
      digest: await digestOf(open, leaf),
    })
    expect(decided.status).toBe(200)
    expect((await lastOf(open, id))?.type).toBe('run:completed')
  })
})

async function digestOf(place: TestPlace, runId: string): Promise<string> {
  const asked = (await place.events(runId)).find(({ type }) => type === 'approval:requested')
  return asked?.type === 'approval:requested' ? asked.data.digest : ''
}

describe('a list', () => {
  test('tells children from the runs of callers; each names the other', async () => {
    open = await openTestPlace({ providers: { probe: hang('say') } })
    deployDocument(open, 'inner', [block('say')])
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    await open.ended(id)
    const run = await childOf(open, id, 'sub')
    const parent = { run_id: id, block_id: 'sub', epoch: 0, attempt: 1 }
    const { place } = open
    const list = async (role?: string) => {
      const query = role === undefined ? null : { role }
      const event = {
        httpMethod: 'GET',
        path: '/',
        pathParameters: null,
        queryStringParameters: query,
        headers: {},
        body: null,
      }
      const { body } = (await place.invoke('list-runs', event)) as { readonly body: string }
      return JSON.parse(body).runs.map(({ run_id }: { readonly run_id: string }) => run_id)
    }
    expect([await list('root'), await list('child'), (await list()).toSorted()]).toEqual([
      [id],
      [run],
      [id, run].toSorted(),
    ])
    const shown = (await open.call('get-run', id)).json as Record<string, Record<string, object>>
    expect(shown.blocks?.sub).toMatchObject({ state: 'completed', child: run })
    expect((await open.call('get-run', run)).json.run).toMatchObject({ role: 'child', parent })
  })
})

test('stop-all goes on past a run that cannot be stopped now, and names it', async () => {
  open = await openTestPlace({ providers: { probe: hang() }, log: silent })
  const { top, middle, leaf } = await nested(open)
  const other = await open.start({ blocks: [block('slow')] })
  const { runs } = open.place.world
  const append = runs.append.bind(runs)
  Object.assign(runs, {
    append: async (change: Parameters<typeof append>[0]) => {
      if (change.run.run_id === top) throw new Fault('Unavailable', 'store_busy', 'busy')
      return append(change)
    },
  })
  const { status, json } = await open.call('stop-all', '', {})
  expect([status, json]).toMatchObject([200, { left: 1, not_stopped: [{ run_id: top, code: 'store_busy' }] }])
  for (const id of [middle, leaf, other]) expect((await lastOf(open, id))?.type).toBe('run:cancelled')
  Object.assign(runs, { append })
  await open.call('stop-all', '', {})
  expect((await lastOf(open, top))?.type).toMatch(/cancelled|failed/)
})

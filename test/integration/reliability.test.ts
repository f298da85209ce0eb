import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { Fault } from '../../shared/errors.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { RunEventSchema } from '../../shared/runs/event.ts'
import { nextCheck } from '../../shared/runs/head.ts'
import { firstDaily, WHOLE } from '../how-much.ts'
import { fastClock } from './fast-clock.ts'
import { storeRun } from './stored-run.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/**
 * Faults of one port call each, put where they hurt: the place is the real one, a call of its ports is replaced by one
 * that fails. Times in minutes run on a clock that is some hundred times faster.
 */
let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
const ai = (id: string, more: object = {}) => ({ id, outputs: text, agent: agent(id), ...more })
const silent = { info: () => undefined, error: () => undefined }
const runKey = (run_id: string) => ({ tenant: 'main', run_id })

const hang = () =>
  provider(
    ({ signal }) => new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )

describe('max_parallel', () => {
  test('a claim that waits for a slot lets go at once when the place closes', async () => {
    // Time hardly moves: a claim that waited on would wait for half an hour.
    open = await openTestPlace({ providers: { probe: hang() }, clock: fastClock(1 / 100) })
    const id = await open.start({ blocks: [ai('a'), ai('b')] }, { options: { max_parallel: 1 } })
    await open.until(id, ({ type }) => type === 'block:started')
    await open.place.close()
  })

  test('a block may wait for its slot longer than a block state may take', { tags: ['thorough'] }, async () => {
    const clock = fastClock(1_000)
    const calls: string[] = []
    const probe = provider(async ({ prompt, signal }) => {
      calls.push(prompt)
      await clock.delay(500_000, signal)
      return 'x'
    })
    open = await openTestPlace({ providers: { probe }, clock, log: silent })
    // The last waits for all the others: two of them take longer than its state may.
    const ids = WHOLE ? ['a', 'b', 'c', 'd'] : ['a', 'b', 'c']
    const blocks = ids.map((id) => ai(id, { timeout_ms: 800_000 }))
    const id = await open.start({ blocks }, { options: { max_parallel: 1 } })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls.toSorted()).toEqual(ids)
    expect(events.filter(({ type }) => type === 'block:retrying')).toEqual([])
  })
})

describe('the watch over a dispatch', () => {
  test('survives a store that cannot be read for a moment', async () => {
    let release = () => {}
    const probe = provider(
      () =>
        new Promise<string>((resolve) => {
          release = () => resolve('x')
        }),
    )
    open = await openTestPlace({ providers: { probe }, log: silent })
    let refused = 0
    const id = await open.start({ blocks: [ai('a')] })
    await open.until(id, ({ type }) => type === 'block:started')
    Object.assign(open.place.world.runs, {
      stopped: async () => {
        refused += 1
        throw new Fault('Unavailable', 'store_busy', 'busy')
      },
    })
    await expect.poll(() => refused).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 20))
    release()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('a host that has given up already neither claims nor dispatches', async () => {
    const calls: string[] = []
    const probe = provider(({ prompt }) => {
      calls.push(prompt)
      return new Promise<string>(() => {})
    })
    open = await openTestPlace({ providers: { probe }, log: silent })
    Object.assign(open.place.world.machine, { start: async () => 'started' })
    const id = await open.start({ blocks: [ai('a')] })
    const payload = { in: { v: 1, tenant: 'main', run_id: id }, block: 'a', joins: [] }
    const gone = open.place.invoke('run-block', payload, AbortSignal.abort(new Error('gone'))).catch(String)
    expect(await gone).toContain('gone')
    expect(calls).toEqual([])
  })
})

describe('check_at', () => {
  const asking = (id: string, timeout_sec: number) => ai(id, { approval: { required: true, timeout_sec } })
  test('is never moved later by an approval that is asked after another', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, sweep_ms: 0 })
    const id = await open.start({ blocks: [asking('a', 5), asking('b', 50)] })
    await expect
      .poll(async () => (await open?.events(id))?.filter(({ type }) => type === 'approval:requested').length)
      .toBe(2)
    const head = await open.place.world.runs.head(runKey(id), [])
    if (head === undefined) throw new Error('no head')
    const first =
      Object.values(head.approvals)
        .map(({ expires_at }) => expires_at)
        .toSorted()[0] ?? ''
    expect((head.check_at ?? '') <= first, `${head.check_at} <= ${first}`).toBe(true)
  })
  test('is never moved later by a decision', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, sweep_ms: 0 })
    const id = await open.start({ blocks: [asking('a', 5), asking('b', 50)] })
    await expect
      .poll(async () => (await open?.events(id))?.filter(({ type }) => type === 'approval:requested').length)
      .toBe(2)
    await open.call('decide-approval', id, { block_id: 'b', decision: 'reject' })
    const head = await open.place.world.runs.head(runKey(id), [])
    if (head === undefined) throw new Error('no head')
    const due = nextCheck(head, Date.now()) ?? ''
    expect((head.check_at ?? '') <= due, `${head.check_at} <= ${due}`).toBe(true)
  })
  test('an expiry gives the run back the time it waited', async () => {
    const clock = fastClock(10)
    open = await openTestPlace({ providers: { probe: provider(() => 'x') }, clock })
    const approval = { required: true, timeout_sec: 10, on_timeout: 'approve' }
    const id = await open.start({ blocks: [ai('a', { approval })] }, { options: { deadline_sec: 5 } })
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
  })
})

test('fail_fast holds although the process died between the failure and the end of the run', async () => {
  const probe = provider(({ prompt, signal }) => {
    if (prompt === 'bad') throw new Fault('InvalidInput', 'no', 'no')
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  open = await openTestPlace({ providers: { probe }, log: silent })
  const { runs } = open.place.world
  const append = runs.append.bind(runs)
  Object.assign(runs, {
    append: async (change: Parameters<typeof append>[0]) => {
      if (change.state === 'failed') throw new Fault('Unavailable', 'store_busy', 'busy')
      return append(change)
    },
  })
  const id = await open.start({ blocks: [ai('slow'), ai('bad')] }, { options: { fail_fast: true } })
  await open.until(id, ({ type }) => type === 'block:failed')
  await open.reopen()
  const events = await open.ended(id)
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'no', block_id: 'bad' } })
})

test('a block with an approval whose pre-gate fails is ready before it starts', async () => {
  open = await openTestPlace({ providers: { probe: provider(() => 'x') } })
  const gate = { name: 'g', check: { type: 'min_length', port: 'text', min: 5 }, on_fail: 'fail' }
  const id = await open.start({
    blocks: [ai('a'), ai('b', { inputs: { text: { from: 'a.text' } }, approval: true, pre_gates: [gate] })],
  })
  const kinds = (await open.ended(id)).filter(({ block_id }) => block_id === 'b').map(({ type }) => type)
  expect(kinds).toEqual(['block:ready', 'block:started', 'block:gate', 'block:failed'])
})

describe('events stay within the limits of an append', () => {
  const ports = (n: number) =>
    Object.fromEntries(Array.from({ length: n }, (_, i) => [`port_${'n'.repeat(50)}_${i}`, 'string']))
  test('many outputs and failing gates', async () => {
    const values = JSON.stringify(Object.fromEntries(Object.keys(ports(24)).map((name) => [name, 'x'.repeat(600)])))
    open = await openTestPlace({ providers: { probe: provider(() => values) }, log: silent })
    const gates = ['1', '2'].map((n) => ({
      name: n.repeat(190),
      check: {
        type: 'contains',
        port: `port_${'n'.repeat(50)}_0`,
        values: Array.from({ length: 40 }, (_, i) => `${i}${'z'.repeat(30)}`),
      },
      error: 'e'.repeat(400),
      on_fail: 'warn',
    }))
    const id = await open.start({ blocks: [{ id: 'a', outputs: ports(24), agent: agent('a'), post_gates: gates }] })
    expect((await open.ended(id)).at(-1)).toMatchObject({ type: 'run:completed' })
  })
  test('a contract broken in every port', async () => {
    open = await openTestPlace({ providers: { probe: provider(() => '{}') }, log: silent })
    const outputs = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`port_${'n'.repeat(50)}_${i}`, 'string']))
    const id = await open.start({ blocks: [{ id: 'a', outputs, agent: agent('a') }] })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'output_contract' } })
    expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(1_400)
  })
  test('a hundred approvers', async () => {
    open = await openTestPlace({ providers: { probe: provider(() => 'x') }, log: silent })
    const approvers = Array.from({ length: 100 }, (_, i) => `user:${'u'.repeat(150)}${i}`)
    const id = await open.start({ blocks: [ai('a', { approval: { required: true, approvers } })] })
    await open.until(id, ({ type }) => type === 'approval:requested' || type === 'run:failed')
    expect((await open.events(id)).at(-1)?.type).toBe('approval:requested')
  })
})

describe('a failure', () => {
  for (const { tags, rows } of firstDaily(2, [Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300]))
    test.each(rows)('is tried again although its provider asks to wait %s ms', { tags }, async (retry_after_ms) => {
      let calls = 0
      const probe = provider(() => {
        calls += 1
        if (calls === 1) throw new Fault('Unavailable', 'busy', 'busy', { facts: { retry_after_ms } })
        return 'x'
      })
      open = await openTestPlace({ providers: { probe }, log: silent, clock: fastClock(1_000) })
      const retry = { max_attempts: 2, backoff: 'none', delay_ms: 0 }
      const id = await open.start({ blocks: [ai('a', { retry })] })
      expect((await open.ended(id)).at(-1)).toMatchObject({ type: 'run:completed' })
    })
  test.each([1, 2, 3])('after a lost attempt has all %i tries of its retry left', async (max_attempts) => {
    let calls = 0
    const probe = provider(({ signal }) => {
      calls += 1
      if (calls === 1)
        return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      throw new Fault('Unavailable', 'busy', 'busy')
    })
    open = await openTestPlace({ providers: { probe }, log: silent })
    const retry = { max_attempts, backoff: 'none', delay_ms: 0 }
    const id = await open.start({ blocks: [ai('a', { retry })] })
    await expect.poll(() => calls).toBe(1)
    await open.reopen()
    const events = await open.ended(id)
    const started = events.flatMap((event) => (event.type === 'block:started' ? [event.attempt] : []))
    expect(started).toEqual(Array.from({ length: max_attempts + 1 }, (_, at) => at + 1))
    const words = `(try ${max_attempts} of ${max_attempts}; attempts that were no try: 1)`
    expect(JSON.stringify(events.at(-1))).toContain(words)
    expect(JSON.stringify(events.at(-1))).not.toContain('attempt 2 of 1')
  })
  test('of the store before the claim is no attempt', async () => {
    const probe = provider(() => 'x')
    open = await openTestPlace({ providers: { probe }, log: silent, clock: fastClock(100) })
    const { objects } = open.place.world
    const get = objects.get.bind(objects)
    let refused = 0
    Object.assign(objects, {
      get: async (tenant: string, ref: string) => {
        const body = await get(tenant, ref)
        if (Buffer.from(body).toString() === '"x"' && refused === 0) {
          refused += 1
          throw new Fault('Unavailable', 'disk', 'disk')
        }
        return body
      },
    })
    const id = await open.start({ blocks: [ai('a'), ai('b', { inputs: { text: { from: 'a.text' } } })] })
    expect((await open.ended(id)).at(-1)).toMatchObject({ type: 'run:completed' })
  })
  test('of an execution is told in words, without traces', async () => {
    // A hundred times as fast: the machine tries five times more before it gives up (docs/adr/0027).
    open = await openTestPlace({ providers: { probe: provider(() => 'x') }, log: silent, clock: fastClock(100) })
    const { runs } = open.place.world
    const head = runs.head.bind(runs)
    Object.assign(runs, {
      head: async (run: Parameters<typeof head>[0], lanes?: readonly string[]) => {
        if (lanes?.includes('0') === true) throw new TypeError('internals')
        return head(run, lanes)
      },
    })
    const id = await open.start({ blocks: [ai('a')] })
    const events = await open.ended(id)
    const reason =
      'its execution ended FAILED (TypeError: unexpected, the log has it) at block "a" before the run had a verdict'
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'execution_ended', reason } })
  })
  test('clocks that step back store no negative times', async () => {
    let shift = 0
    const clock: Clock = { now: () => Date.now() + shift, delay: systemClock.delay }
    const probe = provider(() => {
      shift -= 600_000
      return 'x'
    })
    open = await openTestPlace({ providers: { probe }, clock })
    const gate = { name: 'g', check: { type: 'latency', max_ms: 1_000_000 } }
    const id = await open.start({ blocks: [ai('a', { post_gates: [gate] })] })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.flatMap((event) => RunEventSchema.safeParse(event).error?.issues ?? [])).toEqual([])
  })
})

describe('the sweep', () => {
  const stuck = async (place: TestPlace['place']) => {
    // Its document is nowhere.
    const run = await storeRun(place.world, 'stored', { dag_ref: `objstore://main/${'a'.repeat(64)}` })
    const at = new Date(Date.now() - 120_000).toISOString()
    const { runs } = place.world
    await runs.append({
      run,
      lane: '0',
      ordinal: 10,
      guard: { below: 10 },
      at,
      events: [{ type: 'block:ready', block_id: 'a', data: {} }],
      outbox: [{ id: 'start', at, kind: 'start_run' }],
      check_at: at,
    })
    return run
  }
  test('serves every run although a hundred others never get done', async () => {
    open = await openTestPlace({ providers: { probe: hang() }, sweep_ms: 0, log: silent })
    const { machine } = open.place.world
    const start = machine.start.bind(machine)
    Object.assign(machine, {
      start: async (order: Parameters<typeof start>[0]) => {
        if (order.machine.endsWith('aaaa')) throw new Fault('Unavailable', 'no', 'no')
        return start(order)
      },
    })
    for (let i = 0; i < 100; i += 1) await stuck(open.place)
    const id = await open.start({ blocks: [ai('a')] }, { options: { deadline_sec: 1 } })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    for (let i = 0; i < 3; i += 1) await open.place.invoke('sweep', {})
    expect((await open.events(id)).at(-1)?.type).toBe('run:cancelled')
  })
  test('a run whose machine is refused for good fails in words', async () => {
    open = await openTestPlace({ sweep_ms: 0, log: silent })
    const run = await stuck(open.place)
    await open.place.invoke('sweep', {})
    await expect
      .poll(async () => (await open?.events(run.run_id))?.at(-1))
      .toMatchObject({ type: 'run:failed', data: { code: 'machine_unknown' } })
    await expect.poll(async () => (await open?.place.world.runs.head(run, []))?.outbox).toEqual([])
  })
  test('an ended run owes no start', async () => {
    open = await openTestPlace({ sweep_ms: 0, log: silent })
    const run = await stuck(open.place)
    await open.call('stop-run', run.run_id, {})
    await open.place.invoke('sweep', {})
    await expect.poll(async () => (await open?.place.world.runs.head(run, []))?.outbox).toEqual([])
  })
  test('one run that cannot be looked at does not stay first', async () => {
    open = await openTestPlace({ sweep_ms: 0, log: silent })
    const run = await stuck(open.place)
    Object.assign(open.place.world.machine, {
      start: async () => {
        throw new Fault('Unavailable', 'no', 'no')
      },
    })
    Object.assign(open.place.world.runs, {
      meta: async () => {
        throw new Error('bad')
      },
    })
    await open.place.invoke('sweep', {})
    const head = await open.place.world.runs.head(run, [])
    expect(Date.parse(head?.check_at ?? '')).toBeGreaterThan(Date.now())
  })
})
test('what an adapter says nonsense about is stored as what events allow', async () => {
  const probe: Provider = {
    dispatch: async () => ({
      text: 'x',
      tokens_in: -3,
      tokens_out: Number.NaN,
      usd: -1,
      model: 'm'.repeat(9_000),
      finish_reason: 'stop',
    }),
  }
  open = await openTestPlace({ providers: { probe } })
  const id = await open.start({ blocks: [ai('a')] })
  const events = await open.ended(id)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.flatMap((event) => RunEventSchema.safeParse(event).error?.issues ?? [])).toEqual([])
})
test('what was owed at a kill is done at the next start', async () => {
  open = await openTestPlace({ providers: { probe: provider(() => 'x') }, sweep_ms: 0 })
  const id = await open.start({ blocks: [ai('a', { approval: true })] })
  const asked = await open.until(id, ({ type }) => type === 'approval:requested')
  Object.assign(open.place.world.outbox, { nudge: async () => undefined })
  const digest = asked.type === 'approval:requested' ? asked.data.digest : ''
  await open.call('decide-approval', id, { decision: 'approve', digest })
  await open.reopen()
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
})

test('a wide run that starts cold reads its document once, not once a block', async () => {
  open = await openTestPlace({ providers: { probe: provider(() => 'x') } })
  const { objects } = open.place.world
  const get = objects.get.bind(objects)
  const read: string[] = []
  Object.assign(objects, {
    get: async (tenant: string, ref: string) => {
      read.push(ref)
      return get(tenant, ref)
    },
  })
  const id = await open.start({ blocks: Array.from({ length: 60 }, (_, i) => ai(`b${i}`)) })
  expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
  const meta = await open.place.world.runs.meta(runKey(id))
  expect(read.filter((ref) => ref === meta?.dag_ref)).toHaveLength(1)
})

import { afterEach, describe, expect, test } from 'vitest'
import type { PlaceOptions } from '../../infra/local/place.ts'
import { Fault } from '../../shared/errors.ts'
import { EACH, firstDaily } from '../how-much.ts'
import { block, child, childOf, deployDocument, headOf, lastOf, startsOf } from './child-place.ts'
import { fastClock } from './fast-clock.ts'
import { hangAt } from './hang-at.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const silent = { info: () => undefined, error: () => undefined }
const options: PlaceOptions = { providers: { probe: provider(({ prompt }) => prompt) }, log: silent }
const inputOf = (run_id: string) => ({ v: 1, tenant: 'main', run_id })

function deployAll(place: TestPlace): void {
  deployDocument(place, 'leaf', [block('say', { inputs: { text: 'string' } })])
  deployDocument(place, 'middle', [block('first'), child('down', 'leaf', { inputs: { text: { from: 'first.text' } } })])
}
const TOP = { blocks: [child('sub', 'middle'), block('end', { inputs: { text: { from: 'sub.text' } } })] }

/** Steps of the run above from its start to its end, found by counting once. */
async function countSteps(): Promise<number> {
  const place = await openTestPlace(options)
  try {
    deployAll(place)
    const { counts } = hangAt(place, Number.POSITIVE_INFINITY, 'before')
    await place.ended(await place.start(TOP))
    return counts.steps
  } finally {
    await place.close()
  }
}

/** The run above, killed at its n-th step and taken up by a new process; what is wrong with its end, if anything. */
async function killedAt(n: number, when: 'before' | 'after'): Promise<string | undefined> {
  open = await openTestPlace(options)
  deployAll(open)
  const { reached, die } = hangAt(open, n, when)
  const key = { 'idempotency-key': `at-${n}` }
  const starting = open.start(TOP, {}, key).catch(() => undefined)
  // Steps of two runs interleave: the last ones may not come.
  await Promise.race([reached, new Promise((resolve) => setTimeout(resolve, 2_000))])
  const killed = open.kill(options)
  die()
  await Promise.all([killed, starting])
  const id = await open.start(TOP, {}, key)
  const last = await lastOf(open, id).catch(String)
  const runs: readonly { readonly state: string }[] = (await open.call('list-runs', '')).json.runs ?? []
  const states = runs.map(({ state }) => state).join(' ')
  const ended = typeof last === 'string' ? last : last?.type
  await open.close()
  open = undefined
  return ended === 'run:completed' && states === 'completed completed completed'
    ? undefined
    : `${n}: ${ended}, ${states}`
}

describe('kill -9', () => {
  for (const { tags, rows } of firstDaily<'before' | 'after'>(1, ['after', 'before'])) {
    test.each(rows)('%s any step: the run completes, each child ran once', { tags, timeout: 120_000 }, async (when) => {
      const steps = await countSteps()
      expect(steps).toBeGreaterThan(25)
      const wrong: (string | undefined)[] = []
      for (let n = 1; n <= steps; n += EACH) wrong.push(await killedAt(n, when))
      expect(wrong.filter((problem) => problem !== undefined)).toEqual([])
    })
  }
})

describe('open-child', () => {
  test('delivered twice at the same time opens one child', async () => {
    open = await openTestPlace(options)
    deployDocument(open, 'inner', [block('say')])
    const { machine } = open.place.world
    const start = machine.start.bind(machine)
    Object.assign(machine, { start: async () => 'started' })
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    Object.assign(machine, { start })
    const call = (token: string) => open?.place.invoke('open-child', { in: inputOf(id), block: 'sub', token })
    await Promise.all(['one', 'one', 'one'].map(call))
    for (const token of ['two', 'three']) await call(token)
    const run = await childOf(open, id, 'sub')
    await lastOf(open, run)
    expect(startsOf(await open.events(id), 'sub')).toEqual([run])
    expect(await open.place.world.runs.parentTokens({ tenant: 'main', run_id: run })).toEqual(
      expect.arrayContaining(['one', 'two', 'three']),
    )
    const answered: string[] = []
    const answer = machine.answer.bind(machine)
    Object.assign(machine, {
      answer: async (token: string, with_: Parameters<typeof answer>[1]) => {
        answered.push(token)
        return answer(token, with_)
      },
    })
    // A token that comes after the child's end is answered by who brings it.
    await call('late')
    expect(answered).toEqual(['late'])
    const closed = { in: inputOf(id), block: 'sub', phase: 'close' }
    const reports = await Promise.all([1, 2].map(() => open?.place.invoke('run-block', closed).catch(String)))
    expect(JSON.stringify(reports)).toContain('"state":"completed"')
    const events = await open.events(id)
    expect(events.filter(({ type }) => type === 'block:completed')).toHaveLength(1)
    await call('after')
    expect(answered).toContain('after')
    expect(await open.events(id)).toEqual(events)
  })

  test('records the verdicts of its pre-gates also when who claimed died before them', async () => {
    open = await openTestPlace({ ...options, clock: fastClock(50) })
    deployDocument(open, 'inner', [block('say', { inputs: { text: 'string' } })])
    const { runs } = open.place.world
    const append = runs.append.bind(runs)
    let lost = 0
    Object.assign(runs, {
      append: async (change: Parameters<typeof append>[0]) => {
        if (change.events[0]?.type !== 'block:gate' || lost > 0) return append(change)
        lost += 1
        throw new Fault('Unavailable', 'store_busy', 'busy')
      },
    })
    const gate = { name: 'there', check: { type: 'not_empty', port: 'text' } }
    const inputs = { text: { from: 'first.text' } }
    const id = await open.start({ blocks: [block('first'), child('sub', 'inner', { inputs, pre_gates: [gate] })] })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    const gates = (await open.events(id)).filter(({ type }) => type === 'block:gate')
    expect([lost, gates.map(({ block_id, attempt }) => `${block_id} ${attempt}`)]).toEqual([1, ['sub 1']])
  })

  test('counts an attempt as lost that was claimed to fail and could not: its inputs may be others now', async () => {
    open = await openTestPlace({ ...options, clock: fastClock(50) })
    deployDocument(open, 'inner', [block('say', { inputs: { text: 'string' } })])
    const { runs, objects } = open.place.world
    const [append, get] = [runs.append.bind(runs), objects.get.bind(objects)]
    const faults = { missing: 0, lost: 0 }
    Object.assign(objects, {
      get: async (tenant: string, ref: string) => {
        const body = await get(tenant, ref)
        if (faults.missing > 0 || Buffer.from(body).toString('utf8') !== '"first"') return body
        faults.missing += 1
        throw new Fault('NotFound', 'object_missing', 'not there yet')
      },
    })
    Object.assign(runs, {
      append: async (change: Parameters<typeof append>[0]) => {
        if (change.events[0]?.type !== 'block:failed' || faults.lost > 0) return append(change)
        faults.lost += 1
        throw new Fault('Unavailable', 'store_busy', 'busy')
      },
    })
    const inputs = { text: { from: 'first.text' } }
    const id = await open.start({ blocks: [block('first'), child('sub', 'inner', { inputs })] })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(faults).toEqual({ missing: 1, lost: 1 })
    const own = (await open.events(id)).filter(({ block_id }) => block_id === 'sub')
    const told = own.map((event) =>
      `${event.type} ${event.attempt} ${JSON.stringify(event.data).match(/ATTEMPT_LOST/) ?? ''}`.trim(),
    )
    expect(told.slice(0, 4)).toEqual([
      'block:ready undefined',
      'block:started 1',
      'block:retrying 1 ATTEMPT_LOST',
      'block:started 2',
    ])
  })

  test('goes back for its child when its token was answered although the child runs', async () => {
    let release = () => {}
    const waits = new Promise<void>((resolve) => {
      release = resolve
    })
    const probe = provider(async () => {
      await waits
      return 'x'
    })
    open = await openTestPlace({ ...options, providers: { probe } })
    deployDocument(open, 'inner', [block('say')])
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    const run = await childOf(open, id, 'sub')
    const { runs, machine } = open.place.world
    const child_key = { tenant: 'main', run_id: run }
    await expect.poll(() => runs.parentTokens(child_key)).toHaveLength(1)
    const [token = ''] = await runs.parentTokens(child_key)
    await machine.answer(token, { ok: {} })
    await expect.poll(() => runs.parentTokens(child_key)).toHaveLength(2)
    release()
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(startsOf(await open.events(id), 'sub')).toEqual([run])
  })
})

test('a child inside a bounce module is a new run each epoch', async () => {
  let calls = 0
  const probe = provider(({ prompt }) => {
    if (prompt !== 'say') return prompt
    calls += 1
    return calls === 1 ? 'no' : 'long enough'
  })
  open = await openTestPlace({ ...options, providers: { probe } })
  deployDocument(open, 'inner', [block('say')])
  const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 5 }, on_fail: 'route' }
  const check = block('check', {
    inputs: { text: { from: 'sub.text' } },
    agent: { provider: 'probe', model: 'm', prompt: '{{inputs.text}}' },
    post_gates: [gate],
    on_gate_fail: [{ when_gate: 'long', route_to: 'sub', max_bounces: 2 }],
  })
  const id = await open.start({ blocks: [child('sub', 'inner'), check] })
  expect((await lastOf(open, id))?.type).toBe('run:completed')
  const children = startsOf(await open.events(id), 'sub')
  expect(new Set(children).size).toBe(2)
  expect((await headOf(open, id)).children).toEqual({ '0': children[1] })
  const [started] = await open.events(children[1] ?? '')
  expect(started?.data).toMatchObject({ parent: { epoch: 1, attempt: 1 } })
})

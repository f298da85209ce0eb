import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../infra/local/clock-and-log.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { child, childOf, deployDocument } from '../child-place.ts'
import { type ApprovalPlace, agent, deploy, openApprovalPlace } from './approval-place.ts'

let open: ApprovalPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const iterate = { on_reject: 'iterate', max_iterations: 2 }
const nextOf = (events: readonly RunEvent[]) => {
  const end = events.at(-1)
  return end?.type === 'run:iterated' ? (end.data.next_run ?? '') : `none (${end?.type}: ${JSON.stringify(end?.data)})`
}
const keyOf = (run_id: string) => ({ tenant: 'main', run_id })
const no = { decision: 'reject', feedback: 'Name the risks first.' } as const

describe('on_reject: iterate', () => {
  test('makes a run of the same document in place of this one, with the words and what was made', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy(iterate), { context: { team: 'a' } })
    await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const events = await open.ended(id)
    const next = nextOf(events)
    expect(events.at(-1)).toMatchObject({ type: 'run:iterated', data: { block_id: 'deploy' } })
    const { digest } = await open.asked(next, 'deploy')
    const context = (await open.place.world.runs.context(keyOf(next)))?.values
    expect(context).toEqual({ team: 'a', feedback: no.feedback, previous: { build: { text: '<build>' } } })
    expect(open.prompts).toEqual(['build', 'build'])
    expect(open.feedback).toEqual([[], [no.feedback]])
    expect(await open.decide(next, 'user:ana', { decision: 'approve', digest })).toBe('approved')
    expect((await open.ended(next)).at(-1)?.type).toBe('run:completed')
    const [first, second] = [await open.call('get-run', id), await open.call('get-run', next)]
    expect(first.json).toMatchObject({ run: { state: 'iterated', next_run: next } })
    expect(second.json).toMatchObject({
      run: { iterates: id, root: id },
      lineage: [{ run_id: next, from: id, kind: 'iterate' }],
    })
    expect([...(await open.problems(id)), ...(await open.problems(next))]).toEqual([])
  })

  test('from scratch gives the words alone, and where the person says so the block just fails', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy(iterate))
    await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', { ...no, restart_mode: 'from_scratch' })).toBe('rejected')
    const next = nextOf(await open.ended(id))
    await open.asked(next, 'deploy')
    expect((await open.place.world.runs.context(keyOf(next)))?.values).toEqual({ feedback: no.feedback })
    expect(await open.decide(next, 'user:ana', { ...no, iterate: false })).toBe('rejected')
    expect((await open.ended(next)).at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected' } })
  })

  test('ends after max_iterations in a failure that says so, and needs words', async () => {
    open = await openApprovalPlace()
    let id = await open.start(deploy(iterate))
    for (let i = 0; i < 2; i += 1) {
      await open.asked(id, 'deploy')
      expect(await open.decide(id, 'user:ana', { decision: 'reject' })).toBe('reason_required')
      expect(await open.decide(id, 'user:ana', { decision: 'reject', feedback: ' ' })).toBe('reason_required')
      expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
      id = nextOf(await open.ended(id))
    }
    await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const end = (await open.ended(id)).at(-1)
    expect(end).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected' } })
    expect(JSON.stringify(end)).toMatch(/Name the risks first.*max_iterations is 2/)
  })

  test('waits in the queue when there is no place, and while starts are on hold', async () => {
    open = await openApprovalPlace({ safety: { max_runs: 1, queue: false } })
    const id = await open.start(deploy(iterate))
    await open.asked(id, 'deploy')
    await open.place.world.runs.holdStarts('main', { by: 'user:op', at: new Date().toISOString() })
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const next = nextOf(await open.ended(id))
    expect((await open.call('get-run', next)).json).toMatchObject({ run: { state: 'pending' } })
    await open.place.invoke('release-starts', RELEASE)
    await open.asked(next, 'deploy')
  })

  test('a kill at any moment after the rejection makes one run, never two', async () => {
    open = await openApprovalPlace()
    const id = await open.start(deploy(iterate))
    await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    await open.kill()
    const next = nextOf(await open.ended(id))
    await open.asked(next, 'deploy')
    const { runs } = await open.place.world.runs.list('main', { limit: 10 })
    expect(runs.map(({ run_id }) => run_id).toSorted()).toEqual([id, next].toSorted())
  })

  test('a run that is stopped instead leaves none behind', async () => {
    let ahead = 0
    const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
    open = await openApprovalPlace({}, { clock })
    const id = await open.start(deploy(iterate))
    await open.asked(id, 'deploy')
    const { runs } = open.place.world
    const append = runs.append.bind(runs)
    // The stop comes between the next run and the end of this one.
    Object.assign(runs, {
      append: async (given: Parameters<typeof append>[0]) => {
        if (given.state === 'iterated') {
          Object.assign(runs, { append })
          await open?.call('stop-run', id, { reason: 'enough' })
        }
        return append(given)
      },
    })
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    expect((await open.ended(id)).at(-1)?.type).toBe('run:cancelled')
    const others = (await runs.list('main', { limit: 10 })).runs.filter(({ run_id }) => run_id !== id)
    expect(others).toHaveLength(1)
    // The sweep looks at it within a minute.
    ahead = 61_000
    const end = (await open.ended(others[0]?.run_id ?? '')).at(-1)
    expect(end).toMatchObject({ type: 'run:cancelled', data: { code: 'not_iterated' } })
  })
})

test('a child run is not iterated: its parent waits for this one, so it fails and says so', async () => {
  open = await openApprovalPlace()
  deployDocument(open, 'inner', deploy(iterate).blocks)
  const id = await open.start({ blocks: [child('sub', 'inner')] })
  const inner = await childOf(open, id, 'sub')
  await open.asked(inner, 'deploy')
  expect(await open.decide(inner, 'user:ana', no)).toBe('rejected')
  const end = (await open.ended(inner)).at(-1)
  expect(end).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected' } })
  expect(JSON.stringify(end)).toContain('no run takes the place of a child')
  expect((await open.ended(id)).at(-1)?.type).toBe('run:failed')
  expect([...(await open.problems(id)), ...(await open.problems(inner))]).toEqual([])
})

test('a block that only asks, and one that works on a list, are iterated and edited as others are', async () => {
  open = await openApprovalPlace()
  const each = {
    id: 'each',
    inputs: { list: { type: 'json', default: ['a'] }, sign: { from: 'sign.decided_by' } },
    outputs: { text: { type: 'string' } },
    foreach: { items: '{{inputs.list}}' },
    agent: agent('{{inputs.item}}'),
    approval: { edit: ['list'] },
  }
  const id = await open.start({ blocks: [{ id: 'sign', mode: 'approval', approval: iterate }, each] })
  await open.asked(id, 'sign')
  expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
  const next = nextOf(await open.ended(id))
  const sign = await open.asked(next, 'sign')
  expect(await open.decide(next, 'user:ana', { decision: 'approve', digest: sign.digest })).toBe('approved')
  const { digest } = await open.asked(next, 'each')
  const edits = { list: ['x', 'y'] }
  expect(await open.decide(next, 'user:ana', { decision: 'approve', digest, edits })).toBe('approved')
  expect((await open.ended(next)).at(-1)?.type).toBe('run:completed')
  expect(open.prompts.toSorted()).toEqual(['x', 'y'])
  expect(await open.problems(next)).toEqual([])
})

describe('on_reject: route', () => {
  const routed = deploy(
    { on_reject: 'route' },
    { on_gate_fail: [{ when_gate: 'approval', route_to: 'build', max_bounces: 1 }] },
  )

  test('sends the run back with the words, and asks again; after max_bounces it fails', async () => {
    open = await openApprovalPlace()
    const id = await open.start(routed)
    const first = await open.asked(id, 'deploy')
    expect(await open.decide(id, 'user:ana', { decision: 'reject' })).toBe('reason_required')
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const second = await open.asked(id, 'deploy', first.seq)
    expect(second.approval_id).not.toBe(first.approval_id)
    expect(open.feedback).toEqual([[], [no.feedback]])
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const events = await open.ended(id)
    expect(events.filter(({ type }) => type === 'block:rerouted')).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected' } })
    expect(await open.problems(id)).toEqual([])
  })

  test('says what changed to who sends the digest of the pass before', async () => {
    open = await openApprovalPlace()
    const id = await open.start(
      {
        blocks: [
          {
            id: 'build',
            inputs: { goal: 'string' },
            outputs: { text: { type: 'string' } },
            agent: agent('build {{inputs.goal}}'),
          },
          { ...routed.blocks[1], inputs: { text: { from: 'build.text' }, goal: 'string' } },
        ],
      },
      { inputs: { goal: 'x' } },
    )
    const first = await open.asked(id, 'deploy')
    await open.place.world.runs.putContext(keyOf(id), { version: 1, values: { goal: 'y' } }, 0)
    expect(await open.decide(id, 'user:ana', no)).toBe('rejected')
    const { approval_id } = await open.asked(id, 'deploy', first.seq)
    const stale = { decision: 'approve', digest: first.digest, approval_id }
    const refused = await open.call('decide-approval', id, stale)
    expect(refused).toMatchObject({ status: 409, json: { code: 'digest_changed' } })
    expect(refused.json).toMatchObject({
      detail: expect.stringContaining(`since then "goal", "text" changed`),
      facts: { digest: expect.any(String), sent: first.digest, changed: ['goal', 'text'] },
    })
  })
})

const RELEASE = {
  httpMethod: 'POST',
  path: '/',
  pathParameters: null,
  queryStringParameters: null,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  isBase64Encoded: false,
}

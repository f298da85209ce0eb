import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const probe = provider(({ prompt }) => `answer to ${prompt}`)
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
const deploy = (approval: object | boolean, more: object = {}) => ({
  blocks: [
    { id: 'build', outputs: text, agent: agent('build') },
    {
      id: 'deploy',
      inputs: { text: { from: 'build.text' } },
      outputs: text,
      agent: agent('deploy'),
      approval,
      ...more,
    },
  ],
})
const asked = ({ type }: RunEvent) => type === 'approval:requested'
const digestOf = (event: RunEvent) => (event.type === 'approval:requested' ? event.data.digest : '')

describe('an approval', () => {
  test('pauses its block, shows what it is about, and lets it run once approved', async () => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(deploy({ prompt: 'Deploy {{inputs.text}}?' }))
    const request = await open.until(id, asked)
    const view = await open.call('get-run', id)
    expect(view.json).toMatchObject({
      run: { state: 'paused_approval' },
      blocks: { deploy: { state: 'paused_approval' } },
    })
    expect(view.json).toMatchObject({ approvals: [{ prompt: 'Deploy answer to build?' }] })
    expect(JSON.stringify(view.json)).not.toContain('token":')
    const decided = await open.call('decide-approval', id, { decision: 'approve', digest: digestOf(request) })
    expect(decided.status).toBe(200)
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const kinds = events.filter(({ block_id }) => block_id === 'deploy').map(({ type }) => type)
    expect(kinds).toEqual([
      'block:ready',
      'approval:requested',
      'approval:decided',
      'block:started',
      'block:output',
      'block:completed',
    ])
  })

  test('rejected fails its block without a dispatch, in the words of who decided', async () => {
    let calls = 0
    const counting = provider(() => {
      calls += 1
      return 'x'
    })
    open = await openTestPlace({ providers: { probe: counting } })
    const id = await open.start(deploy(true))
    await open.until(id, asked)
    await open.call('decide-approval', id, { decision: 'reject', feedback: 'not today' })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'approval_rejected', block_id: 'deploy' } })
    expect(JSON.stringify(events.at(-1))).toMatch(/rejected by user:\w+ at \S+ via local: not today/)
    expect(calls).toBe(1)
  })

  test('is decided once: ten decisions at the same time make one, the others are told who and when', async () => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(deploy(true))
    const digest = digestOf(await open.until(id, asked))
    const place = open
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        place.call('decide-approval', id, i % 2 === 0 ? { decision: 'approve', digest } : { decision: 'reject' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, json } of refused)
      expect([status, json]).toEqual([409, expect.objectContaining({ code: 'already_decided' })])
    const events = await open.ended(id)
    expect(events.filter(({ type }) => type === 'approval:decided')).toHaveLength(1)
  })

  test('refuses a digest of something else, an unknown approval and a block that has not asked', async () => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start({
      blocks: [
        ...deploy(true).blocks,
        {
          id: 'later',
          inputs: { text: { from: 'deploy.text' } },
          outputs: text,
          agent: agent('later'),
          approval: true,
        },
      ],
    })
    await open.until(id, asked)
    const other = { decision: 'approve', digest: 'a'.repeat(64) }
    expect(await open.call('decide-approval', id, other)).toMatchObject({
      status: 409,
      json: { code: 'digest_changed' },
    })
    expect(await open.call('decide-approval', id, { ...other, approval_id: 'apr_nope' })).toMatchObject({ status: 404 })
    const notYet = await open.call('decide-approval', id, { ...other, block_id: 'later' })
    expect(notYet).toMatchObject({ status: 409, json: { code: 'NOT_YET_ASKED' } })
    const missing = await open.call('decide-approval', id, { decision: 'approve' })
    expect(missing.status).toBe(400)
  })

  test.each([
    ['build-a', 'build-b'],
    ['build-b', 'build-a'],
  ])('in parallel branches never cross: %s first', async (first, second) => {
    open = await openTestPlace({ providers: { probe } })
    const branch = (name: string) => ({ id: `build-${name}`, outputs: text, agent: agent(name), approval: true })
    const join = {
      id: 'join',
      inputs: { a: { from: 'build-a.text' }, b: { from: 'build-b.text' } },
      outputs: text,
      agent: agent('join'),
    }
    const id = await open.start({ blocks: [branch('a'), branch('b'), join] })
    for (const block of [first, second]) {
      const request = await open.until(id, (event) => asked(event) && event.block_id === block)
      const body = { decision: 'approve', digest: digestOf(request), block_id: block }
      expect((await open.call('decide-approval', id, body)).status).toBe(200)
      await open.until(id, ({ type, block_id }) => type === 'block:completed' && block_id === block)
    }
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const completed = events.filter(({ type }) => type === 'block:completed').map(({ block_id }) => block_id)
    expect(completed).toEqual([first, second, 'join'])
  })

  test.each([
    ['reject', 'run:failed'],
    ['fail', 'run:failed'],
    ['approve', 'run:completed'],
  ])('that nobody decides in time follows on_timeout: %s', async (on_timeout, end) => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(deploy({ timeout_sec: 1, on_timeout }))
    const events = await open.ended(id)
    expect(events.map(({ type }) => type)).toContain('approval:expired')
    expect(events.at(-1)?.type).toBe(end)
  })

  test('is not asked about a block that its pre-gates refuse', async () => {
    open = await openTestPlace({ providers: { probe } })
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 1_000 } }
    const id = await open.start(deploy(true, { pre_gates: [gate] }))
    const events = await open.ended(id)
    expect(events.map(({ type }) => type)).not.toContain('approval:requested')
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'pre_gate_failed' } })
  })

  test('is not asked about a block whose upstream failed', async () => {
    open = await openTestPlace({ providers: { probe: provider(() => '') } })
    const events = await open.ended(await open.start(deploy(true)))
    expect(events.map(({ type }) => type)).not.toContain('approval:requested')
    expect(events.map(({ type }) => type)).toContain('block:skipped')
  })

  test('is decided by listed approvers only', async () => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(deploy({ approvers: ['user:nobody-here'] }))
    const digest = digestOf(await open.until(id, asked))
    const refused = await open.call('decide-approval', id, { decision: 'approve', digest })
    expect(refused).toMatchObject({ status: 403, json: { code: 'not_an_approver' } })
    expect((await open.call('stop-run', id, {})).status).toBe(200)
  })

  test('is asked once, not once an attempt', async () => {
    let calls = 0
    const flaky = provider(() => {
      calls += 1
      return calls === 2 ? 'no' : 'long enough'
    })
    open = await openTestPlace({ providers: { probe: flaky } })
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 5 } }
    const retry = { max_attempts: 3, delay_ms: 0 }
    const id = await open.start(deploy(true, { post_gates: [gate], retry }))
    const digest = digestOf(await open.until(id, asked))
    await open.call('decide-approval', id, { decision: 'approve', digest })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(asked)).toHaveLength(1)
    expect(events.filter(({ type, block_id }) => type === 'block:started' && block_id === 'deploy')).toHaveLength(2)
  })

  test('as a block of its own hands on who decided', async () => {
    const prompts: string[] = []
    const keep = provider(({ prompt }) => {
      prompts.push(prompt)
      return 'x'
    })
    open = await openTestPlace({ providers: { probe: keep } })
    const id = await open.start({
      blocks: [
        { id: 'ask', mode: 'approval', approval: { prompt: 'Go on?' } },
        { id: 'go', inputs: { by: { from: 'ask.decided_by' } }, outputs: text, agent: agent('by {{inputs.by}}') },
      ],
    })
    const digest = digestOf(await open.until(id, asked))
    await open.call('decide-approval', id, { decision: 'approve', digest })
    await open.ended(id)
    expect(prompts).toEqual([expect.stringMatching(/^by user:/)])
  })

  test('that expires while its decision is under way is not decided', async () => {
    let ahead = 0
    const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
    open = await openTestPlace({ providers: { probe }, clock, sweep_ms: 0 })
    const id = await open.start(deploy({ required: true, timeout_sec: 5 }))
    const digest = digestOf(await open.until(id, asked))
    const { objects } = open.place.world
    const put = objects.put.bind(objects)
    Object.assign(objects, {
      put: (tenant: string, body: Uint8Array) => {
        if (Buffer.from(body).toString() === 'fine') ahead += 10_000
        return put(tenant, body)
      },
    })
    const late = await open.call('decide-approval', id, { decision: 'approve', digest, feedback: 'fine' })
    expect(late).toMatchObject({ status: 409, json: { code: 'approval_expired' } })
    expect((await open.ended(id)).filter(({ type }) => type === 'approval:decided')).toEqual([])
  })

  test('of a stopped run cannot be decided any more', async () => {
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(deploy(true))
    const digest = digestOf(await open.until(id, asked))
    expect((await open.call('stop-run', id, { reason: 'enough' })).status).toBe(200)
    expect(await open.call('decide-approval', id, { decision: 'approve', digest })).toMatchObject({
      status: 409,
      json: { code: 'run_ended' },
    })
    expect(await open.call('stop-run', id, {})).toMatchObject({ status: 409, json: { code: 'run_ended' } })
    expect((await open.events(id)).at(-1)).toMatchObject({ type: 'run:cancelled', data: { code: 'stopped' } })
  })
})

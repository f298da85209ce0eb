import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { fastClock } from '../fast-clock.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, asks, block, counting, decide, expectVerified, proxyStatus } from './ask-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const kinds = async (place: TestPlace, run: string, id: string) =>
  (await place.events(run)).filter(({ block_id }) => block_id === id).map(({ type }) => type)
const PLAN = { blocks: [block('plan', [], { post_gates: [asks('good', 'good')] }), block('use', ['plan'])] }
const gate = (name: string, word: string, on_fail: string) => ({ ...asks(name, word), on_fail })

describe('a post-gate with on_fail: ask', () => {
  test('that is waived lets the outputs out as they are: dispatched once, published only then', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(PLAN)
    const question = await asked(open, run, 'plan')
    expect(question).toMatchObject({ about: 'post_gates', quorum: 1 })
    const view = (await open.call('get-run', run)).json
    expect(view).toMatchObject({
      run: {
        state: 'paused_approval',
        waiting_for: expect.stringMatching(/^waiting for a waiver of post-gates of plan/),
      },
      blocks: { plan: { state: 'paused_approval', gates: [{ status: 'failed' }] }, use: { state: 'pending' } },
      approvals: [{ prompt: expect.stringContaining('- good: '), shown: { text: 'plan 1' } }],
    })
    expect(await proxyStatus(open, run, 'plan')).toBe(404)
    expect((await decide(open, run, question, 'waive', 'good enough')).status).toBe(200)
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await kinds(open, run, 'plan')).toEqual([
      'block:ready',
      'block:started',
      'block:output',
      'block:gate',
      'block:asked',
      'approval:requested',
      'approval:decided',
      'block:gate',
      'block:completed',
    ])
    const [failed, waived] = all(events, 'block:gate').map(({ data }) => data)
    expect(waived).toMatchObject({
      status: 'waived',
      input_hash: failed?.input_hash,
      facts: { by: expect.stringMatching(/^user:/), via: 'local', approval_id: question.approval_id },
    })
    expect(waived?.reason).toMatch(/^waived by user:\w+ \("good enough"\); it had failed: /)
    expect([calls('plan'), calls('use'), await proxyStatus(open, run, 'plan')]).toEqual([1, 1, 200])
    const { json } = await open.call('get-run', run)
    expect(json).toMatchObject({ blocks: { plan: { state: 'completed', gates: [{ status: 'waived' }] } } })
    await expectVerified(open, run)
  })

  test('is reported as waived by the block state, never as passed or failed', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const gates = [asks('good', 'good'), gate('text', 'plan', 'fail')]
    const run = await open.start({ blocks: [block('plan', [], { post_gates: gates })] })
    const question = await asked(open, run, 'plan')
    // The machine comes back only after its token was answered: this call is the one that completes the block.
    Object.assign(open.place.world.machine, { answer: async () => undefined })
    await decide(open, run, question, 'waive', 'fine')
    const payload = { in: { v: 1, tenant: 'main', run_id: run }, block: 'plan' }
    const report = await open.place.invoke('run-block', payload)
    expect(report).toMatchObject({
      state: 'completed',
      gates: { passed: 1, failed: 0, waived: 1, error: 0 },
      failed_gates: [],
    })
  })

  test('that is rejected fails its block by the gate, in the words of who did; nothing behind it runs', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(PLAN)
    await decide(open, run, await asked(open, run, 'plan'), 'reject', 'not good at all')
    const events = await open.ended(run)
    const [failed] = all(events, 'block:failed')
    expect(failed?.data).toMatchObject({ code: 'ask_rejected' })
    expect(failed?.data.reason).toMatch(/rejected by user:\w+ at \S+ via local: not good at all/)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ask_rejected', block_id: 'plan' } })
    expect([calls('plan'), calls('use')]).toEqual([1, 0])
    expect(all(events, 'block:gate').map(({ data }) => data.status)).toEqual(['failed'])
    await expectVerified(open, run)
  })

  test('that nobody answers fails its block when the question expires', { tags: ['thorough'] }, async () => {
    const { probe } = counting()
    const clock = fastClock(400)
    open = await openTestPlace({ providers: { probe }, clock })
    const run = await open.start(PLAN, { options: { deadline_sec: 600 } })
    const events = await open.ended(run)
    // The deadline of ten minutes stands still for the thirty a person has.
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ask_expired' } })
    expect(all(events, 'approval:expired')).toMatchObject([{ data: { on_timeout: 'reject' } }])
    await expectVerified(open, run)
  })

  test('is tried again first where a gate of tries failed too, and asked about when only it is left', async () => {
    const { probe, calls } = counting({ plan: (round) => (round === 1 ? 'nothing' : 'long') })
    open = await openTestPlace({ providers: { probe } })
    const gates = [asks('good', 'good'), gate('long', 'long', 'retry')]
    const retry = { max_attempts: 3, delay_ms: 1 }
    const run = await open.start({ blocks: [block('plan', [], { post_gates: gates, retry })] })
    const question = await asked(open, run, 'plan')
    expect(calls('plan')).toBe(2)
    await decide(open, run, question, 'waive', 'fine')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:asked')).toMatchObject([{ attempt: 2, data: { gates: ['good'] } }])
    expect(calls('plan')).toBe(2)
    await expectVerified(open, run)
  })

  test.each(['fail', 'route'])('is not asked about where a gate with on_fail: %s failed too', async (on_fail) => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const rule = on_fail === 'route' ? { on_gate_fail: [{ when_gate: 'hard', route_to: 'plan', max_bounces: 1 }] } : {}
    const post_gates = [asks('good', 'good'), gate('hard', 'hard', on_fail)]
    const run = await open.start({ blocks: [block('plan', [], { post_gates, ...rule })] })
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:failed')
    expect(all(events, 'block:asked')).toEqual([])
    await expectVerified(open, run)
  })

  test('the wrong word for a yes is refused and changes nothing', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(PLAN)
    const question = await asked(open, run, 'plan')
    const before = await open.events(run)
    expect(await decide(open, run, question, 'approve')).toMatchObject({
      status: 409,
      json: { code: 'waive_expected' },
    })
    expect(await decide(open, run, question, 'waive')).toMatchObject({ status: 422, json: { code: 'reason_required' } })
    expect(await open.events(run)).toEqual(before)
  })
})

describe('an attempt that waits for an answer', () => {
  test('holds no place: with max_parallel 1 the other blocks run meanwhile, and it takes one again to go on', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const inputs = { goal: 'string' }
    const guarded = block('plan', [], { inputs, pre_gates: [asks('good', 'good', 'goal')] })
    const run = await open.start(
      { blocks: [guarded, block('other'), block('more', ['other'])] },
      { context: { goal: 'bad' }, options: { max_parallel: 1 } },
    )
    const question = await asked(open, run, 'plan')
    await open.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === 'more')
    const head = await open.place.world.runs.head({ tenant: 'main', run_id: run })
    expect(head?.running).toEqual([])
    await decide(open, run, question, 'waive', 'fine')
    expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(['plan', 'other', 'more'].map(calls)).toEqual([1, 1, 1])
    await expectVerified(open, run)
  })

  test.each(['pre', 'post'])(
    'about its %s-gates is read from the events where its record was lost with its writer',
    async (phase) => {
      const { probe, calls } = counting()
      open = await openTestPlace({ providers: { probe } })
      const { runs } = open.place.world
      const append = runs.append.bind(runs)
      Object.assign(runs, {
        append: ({ projection, ...change }: Parameters<typeof append>[0]) => {
          const isAsked = change.events.some(({ type }) => type === 'block:asked')
          return append(isAsked || projection === undefined ? change : { ...change, projection })
        },
      })
      const gates =
        phase === 'pre' ? { pre_gates: [asks('good', 'good', 'first')] } : { post_gates: [asks('good', 'good')] }
      const run = await open.start({
        blocks: [block('first'), block('plan', ['first'], gates), block('use', ['plan'])],
      })
      await decide(open, run, await asked(open, run, 'plan'), 'waive', 'fine')
      expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
      expect(['plan', 'use'].map(calls)).toEqual([1, 1])
      await expectVerified(open, run)
    },
  )
})

describe('a pre-gate with on_fail: ask', () => {
  const GUARDED = {
    blocks: [
      block('plan'),
      block('build', ['plan'], { pre_gates: [asks('good', 'good', 'plan')], retry: { max_attempts: 2, delay_ms: 1 } }),
    ],
  }

  test('that is waived lets the same attempt begin, with the inputs that were shown', async () => {
    const prompts: string[] = []
    const { probe, calls } = counting({}, prompts)
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(GUARDED)
    const question = await asked(open, run, 'build')
    expect(question.about).toBe('pre_gates')
    const { json } = await open.call('get-run', run)
    expect(json).toMatchObject({ approvals: [{ shown: { plan: 'plan 1' } }] })
    await decide(open, run, question, 'waive', 'go on')
    const events = await open.ended(run)
    expect(await kinds(open, run, 'build')).toEqual([
      'block:ready',
      'block:started',
      'block:gate',
      'block:asked',
      'approval:requested',
      'approval:decided',
      'block:gate',
      'block:resumed',
      'block:output',
      'block:completed',
    ])
    expect(all(events, 'block:resumed')).toMatchObject([{ attempt: 1, data: { approval_id: question.approval_id } }])
    expect([calls('plan'), calls('build')]).toEqual([1, 1])
    await expectVerified(open, run)
  })

  test('works with the inputs it was asked about, whatever the context says when the answer comes', async () => {
    const prompts: string[] = []
    const { probe } = counting({}, prompts)
    open = await openTestPlace({ providers: { probe } })
    const inputs = { topic: 'string' }
    const agent = { provider: 'probe', model: 'm', prompt: 'build\n{{inputs.topic}}' }
    const run = await open.start(
      { blocks: [block('build', [], { inputs, agent, pre_gates: [asks('good', 'good', 'topic')] })] },
      { context: { topic: 'old' } },
    )
    const question = await asked(open, run, 'build')
    const patched = await open.call('patch-context', run, { set: { topic: 'good and new' }, if_version: 0 })
    expect(patched).toMatchObject({ status: 409, json: { code: 'context_is_decided' } })
    const values = { topic: 'good and new' }
    await open.place.world.runs.putContext({ tenant: 'main', run_id: run }, { version: 1, values }, 0)
    await decide(open, run, question, 'waive', 'old is fine')
    expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(prompts).toEqual(['build\nold'])
    await expectVerified(open, run)
  })

  test('stays waived for the tries that follow in the same pass: a person is asked once', async () => {
    const { probe, calls } = counting({ build: (round) => (round === 1 ? 'short' : 'long') })
    open = await openTestPlace({ providers: { probe } })
    const [plan, build] = GUARDED.blocks
    const run = await open.start({ blocks: [plan, { ...build, post_gates: [gate('long', 'long', 'retry')] }] })
    await decide(open, run, await asked(open, run, 'build'), 'waive', 'go on')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls('build')).toBe(2)
    expect(all(events, 'block:asked')).toHaveLength(1)
    const pre = all(events, 'block:gate').filter(({ data }) => data.phase === 'pre')
    expect(pre.map(({ attempt, data }) => `${attempt} ${data.status}`)).toEqual([
      '1 failed',
      '1 waived',
      '2 failed',
      '2 waived',
    ])
    await expectVerified(open, run)
  })

  test('that is rejected fails the block without a dispatch', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start(GUARDED)
    await decide(open, run, await asked(open, run, 'build'), 'reject', 'no')
    const events = await open.ended(run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ask_rejected' } })
    expect(calls('build')).toBe(0)
    await expectVerified(open, run)
  })

  test('is asked about before the dispatch of the same block is: two questions, one after the other', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const [plan, build] = GUARDED.blocks
    const run = await open.start({ blocks: [plan, { ...build, approval: { prompt: 'Build?' } }] })
    await decide(open, run, await asked(open, run, 'build'), 'waive', 'go on')
    const place = open
    const second = await place.until(
      run,
      ({ type, data }) => type === 'approval:requested' && data.about !== 'pre_gates',
    )
    expect(calls('build')).toBe(0)
    const { approval_id, digest } = second.data as { approval_id: string; digest: string }
    await place.call('decide-approval', run, { approval_id, digest, decision: 'approve' })
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect([calls('build'), all(events, 'block:started').length]).toEqual([1, 2])
    await expectVerified(place, run)
  })

  test('is asked about anew where the person who approves the dispatch changes what it looks at', async () => {
    const prompts: string[] = []
    const { probe } = counting({}, prompts)
    open = await openTestPlace({ providers: { probe } })
    const inputs = { topic: 'string', size: 'string' }
    const agent = { provider: 'probe', model: 'm', prompt: 'build\n{{inputs.topic}} {{inputs.size}}' }
    const pre_gates = [asks('good', 'good', 'topic'), asks('big', 'big', 'size')]
    const approval = { edit: ['topic'] }
    const run = await open.start(
      { blocks: [block('build', [], { inputs, agent, pre_gates, approval })] },
      { context: { topic: 'bad', size: 'small' } },
    )
    await decide(open, run, await asked(open, run, 'build', 1), 'waive', 'both are fine')
    const isDispatch = ({ type, data }: RunEvent) => type === 'approval:requested' && data.about === undefined
    const { data } = await open.until(run, isDispatch)
    const { approval_id, digest } = data as { approval_id: string; digest: string }
    const edited = { approval_id, digest, decision: 'approve', edits: { topic: 'worse' } }
    expect((await open.call('decide-approval', run, edited)).status).toBe(200)
    const second = await asked(open, run, 'build', 2)
    const { json } = await open.call('get-run', run)
    expect(JSON.stringify(json)).toContain('worse')
    await decide(open, run, second, 'waive', 'that too')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(prompts).toEqual(['build\nworse small'])
    expect(all(events, 'block:retrying')).toMatchObject([{ data: { code: 'inputs_edited' } }])
    // What did not change stays waived.
    expect(all(events, 'block:asked').map(({ data: { gates } }) => gates)).toEqual([['good', 'big'], ['good']])
    await expectVerified(open, run)
  })

  test('and a post-gate of the same attempt are two questions; both answers stand', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const [plan, build] = GUARDED.blocks
    const run = await open.start({ blocks: [plan, { ...build, post_gates: [asks('fine', 'fine')] }] })
    await decide(open, run, await asked(open, run, 'build', 1), 'waive', 'go on')
    await decide(open, run, await asked(open, run, 'build', 2), 'waive', 'as it is')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls('build')).toBe(1)
    expect(all(events, 'block:asked').map(({ data }) => data.about)).toEqual(['pre_gates', 'post_gates'])
    await expectVerified(open, run)
  })
})

describe('two questions in parallel branches', () => {
  test.each([
    [0, 1],
    [1, 0],
  ])('are decided in either order (%i first), and never cross', async (first, second) => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const post_gates = [asks('good', 'good')]
    const blocks = [
      block('left', [], { post_gates }),
      block('right', [], { post_gates }),
      block('both', ['left', 'right']),
    ]
    const run = await open.start({ blocks })
    const questions = [await asked(open, run, 'left'), await asked(open, run, 'right')]
    const [one, other] = [questions[first], questions[second]]
    if (one === undefined || other === undefined) throw new Error('not asked')
    await decide(open, run, one, 'waive', 'this one')
    await open.until(run, ({ type }) => type === 'block:completed')
    expect((await open.call('get-run', run)).json).toMatchObject({ run: { state: 'paused_approval' } })
    await decide(open, run, other, 'waive', 'that one')
    expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
    expect(['left', 'right', 'both'].map(calls)).toEqual([1, 1, 1])
    await expectVerified(open, run)
  })
})

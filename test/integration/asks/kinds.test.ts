import { afterEach, describe, expect, test } from 'vitest'
import { child, deployDocument } from '../child-place.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, asks, block, counting, decide, expectVerified } from './ask-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const each = (more: object = {}) =>
  block('each', [], {
    inputs: { files: 'json' },
    agent: { provider: 'probe', model: 'm', prompt: '{{inputs.file}}' },
    foreach: { items: '{{inputs.files}}', as: 'file', max_concurrency: 2 },
    ...more,
  })
const files = ['f0', 'f1', 'f2']

describe('a foreach block', () => {
  test('asks about its pre-gates before any item begins, and about its post-gates when all have ended', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const pre_gates = [{ ...asks('many', 'x'), check: { type: 'expr', expression: 'inputs.files.length > 9' } }]
    const post_gates = [asks('good', 'good')]
    const run = await open.start({ blocks: [each({ pre_gates, post_gates })] }, { context: { files } })
    const first = await asked(open, run, 'each', 1)
    expect([first.about, calls('f0')]).toEqual(['pre_gates', 0])
    await decide(open, run, first, 'waive', 'three are enough')
    const second = await asked(open, run, 'each', 2)
    expect(second.about).toBe('post_gates')
    const { json } = await open.call('get-run', run)
    expect(json).toMatchObject({ run: { state: 'paused_approval' }, blocks: { each: { item_count: 3 } } })
    await decide(open, run, second, 'waive', 'as they are')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(files.map(calls)).toEqual([1, 1, 1])
    expect(all(events, 'block:resumed')).toMatchObject([{ data: { items: { count: 3 } } }])
    const head = await open.place.world.runs.head({ tenant: 'main', run_id: run })
    expect(Object.keys(head?.lanes ?? {}).filter((lane) => lane.includes('.'))).toEqual([])
    await expectVerified(open, run)
  })

  test('that is refused after its items fails, and its items leave HEAD', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start({ blocks: [each({ post_gates: [asks('good', 'good')] })] }, { context: { files } })
    await decide(open, run, await asked(open, run, 'each'), 'reject', 'no')
    expect((await open.ended(run)).at(-1)).toMatchObject({ data: { code: 'ask_rejected' } })
    const head = await open.place.world.runs.head({ tenant: 'main', run_id: run })
    expect(Object.keys(head?.lanes ?? {}).filter((lane) => lane.includes('.'))).toEqual([])
    await expectVerified(open, run)
  })
})

describe('a block that is a run of its own', () => {
  test('asks about its pre-gates before the child is opened, and about what the child made', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    deployDocument(open, 'inner', [block('one')], { inputs: { a: 'string' } })
    const gates = {
      inputs: { a: { from: 'a.text' } },
      pre_gates: [asks('before', 'good', 'a')],
      post_gates: [asks('after', 'good')],
    }
    const run = await open.start({
      blocks: [block('a'), child('sub', 'inner', gates), block('z', ['sub'])],
    })
    const first = await asked(open, run, 'sub', 1)
    expect([first.about, calls('one')]).toEqual(['pre_gates', 0])
    await decide(open, run, first, 'waive', 'open it')
    const second = await asked(open, run, 'sub', 2)
    expect([second.about, calls('one'), calls('z')]).toEqual(['post_gates', 1, 0])
    await decide(open, run, second, 'waive', 'take it')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(['a', 'one', 'z'].map(calls)).toEqual([1, 1, 1])
    expect(all(events, 'block:started').filter(({ block_id }) => block_id === 'sub')).toHaveLength(1)
    await expectVerified(open, run)
  })

  test('whose run asks inside is waited for: the child asks its own question', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    deployDocument(open, 'inner', [block('one', [], { post_gates: [asks('good', 'good')] })])
    const run = await open.start({ blocks: [child('sub', 'inner')] })
    const started = await open.until(run, ({ type }) => type === 'block:started')
    const inner = started.type === 'block:started' ? (started.data.child ?? '') : ''
    await decide(open, inner, await asked(open, inner, 'one'), 'waive', 'fine')
    expect((await open.ended(run)).at(-1)?.type).toBe('run:completed')
    await expectVerified(open, run)
    await expectVerified(open, inner)
  })
})

describe('a bounce module', () => {
  const review = (on: object) =>
    block('review', ['build'], { on_gate_fail: [{ when_gate: 'good', route_to: 'build', max_bounces: 2 }], ...on })

  test('is sent back by a gate somebody refused to waive; in the next pass the question is a new one', async () => {
    const prompts: string[] = []
    const { probe, calls } = counting({ review: (round) => (round < 3 ? `bad ${round}` : 'good') }, prompts)
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start({
      blocks: [block('build'), review({ post_gates: [asks('good', 'good')] }), block('use', ['review'])],
    })
    const first = await asked(open, run, 'review')
    expect(first.approval_id).toMatch(/_0_a1$/)
    await decide(open, run, first, 'reject', 'too short')
    const second = await open.until(
      run,
      ({ type, data }) => type === 'approval:requested' && /_1_a1$/.test(data.approval_id),
    )
    expect(prompts.filter((prompt) => prompt.startsWith('build'))[1]).toContain('too short')
    await decide(open, run, second.data as never, 'waive', 'good enough now')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(['build', 'review', 'use'].map(calls)).toEqual([2, 2, 1])
    expect(all(events, 'block:rerouted')).toHaveLength(1)
    await expectVerified(open, run)
  })

  test('whose block asks inside keeps its epoch while it waits, and is not sent back by what was waived', async () => {
    const { probe, calls } = counting({
      build: (round) => (round === 1 ? 'first' : 'second'),
      review: (round) => (round === 1 ? 'bad' : 'good'),
    })
    open = await openTestPlace({ providers: { probe } })
    const blocks = [
      block('build', [], { post_gates: [asks('fine', 'fine')] }),
      review({ post_gates: [{ ...asks('good', 'good'), on_fail: 'route' }] }),
    ]
    const run = await open.start({ blocks })
    await decide(open, run, await asked(open, run, 'build'), 'waive', 'once')
    const again = await open.until(
      run,
      ({ type, data }) => type === 'approval:requested' && /_1_a1$/.test(data.approval_id),
    )
    await decide(open, run, again.data as never, 'waive', 'twice')
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(['build', 'review'].map(calls)).toEqual([2, 2])
    await expectVerified(open, run)
  })
})

describe('a stop', () => {
  test('of the block cancels its question; the run goes on without it', async () => {
    const { probe, calls } = counting()
    open = await openTestPlace({ providers: { probe } })
    const blocks = [block('plan', [], { post_gates: [asks('good', 'good')] }), block('other'), block('use', ['plan'])]
    const run = await open.start({ blocks })
    const question = await asked(open, run, 'plan')
    expect((await open.call('stop-run', run, { block_id: 'plan' })).status).toBe(200)
    const events = await open.ended(run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'block_cancelled' } })
    const { json } = await open.call('get-run', run)
    expect(json).toMatchObject({ approvals: [{ approval_id: question.approval_id, status: 'cancelled' }] })
    expect([calls('use'), all(events, 'block:skipped').length]).toEqual([0, 1])
    expect(await decide(open, run, question, 'waive', 'late')).toMatchObject({ status: 409 })
    await expectVerified(open, run)
  })

  test('of the block in the moment it asks leaves no question behind', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const { runs } = open.place.world
    const put = runs.putApproval.bind(runs)
    const place = open
    Object.assign(runs, {
      putApproval: async (...args: Parameters<typeof put>) => {
        await put(...args)
        await place.call('stop-run', args[0].run_id, { block_id: 'plan' })
      },
    })
    const run = await open.start({ blocks: [block('plan', [], { post_gates: [asks('good', 'good')] })] })
    const events = await open.ended(run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'block_cancelled' } })
    expect(all(events, 'approval:requested')).toEqual([])
    await expectVerified(open, run)
  })

  test('of the block in the moment its outputs are let out stands: nothing completes behind it', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const place = open
    const { runs } = place.place.world
    const append = runs.append.bind(runs)
    Object.assign(runs, {
      append: async (change: Parameters<typeof append>[0]) => {
        if (change.events.some(({ type }) => type === 'block:completed')) {
          await place.call('stop-run', change.run.run_id, { block_id: 'plan' })
        }
        return append(change)
      },
    })
    const run = await open.start({ blocks: [block('plan', [], { post_gates: [asks('good', 'good')] })] })
    await decide(open, run, await asked(open, run, 'plan'), 'waive', 'fine')
    const events = await open.ended(run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'block_cancelled' } })
    expect([all(events, 'block:cancelled').length, all(events, 'block:completed').length]).toEqual([1, 0])
    await expectVerified(open, run)
  })

  test('of the run leaves nothing to decide', async () => {
    const { probe } = counting()
    open = await openTestPlace({ providers: { probe } })
    const run = await open.start({ blocks: [block('plan', [], { post_gates: [asks('good', 'good')] })] })
    const question = await asked(open, run, 'plan')
    await open.call('stop-run', run, {})
    const events = await open.ended(run)
    expect(events.at(-1)?.type).toBe('run:cancelled')
    expect(await decide(open, run, question, 'waive', 'late')).toMatchObject({
      status: 409,
      json: { code: 'run_ended' },
    })
    await expectVerified(open, run)
  })
})

describe('a retry of a run', () => {
  test('does not take over what only a person let pass: the block works again, and asks again', async () => {
    const fails = new Set(['use'])
    const { probe, calls } = counting({ use: () => (fails.has('use') ? 'bad' : 'used') })
    open = await openTestPlace({ providers: { probe } })
    const use = block('use', ['plan', 'free'], {
      post_gates: [{ ...asks('some', 'used'), on_fail: 'fail' }],
    })
    const run = await open.start({
      blocks: [block('plan', [], { post_gates: [asks('good', 'good')] }), block('free'), use],
    })
    await decide(open, run, await asked(open, run, 'plan'), 'waive', 'fine')
    expect((await open.ended(run)).at(-1)?.type).toBe('run:failed')
    fails.clear()
    const { json } = await open.call('retry-run', run, {})
    const again = (json as unknown as { readonly run_id: string }).run_id
    const question = await asked(open, again, 'plan')
    await decide(open, again, question, 'waive', 'still fine')
    const events = await open.ended(again)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(['plan', 'free', 'use'].map(calls)).toEqual([2, 1, 2])
    await expectVerified(open, again)
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bounce } from '../loop.ts'
import { DOCUMENT, movesOf, openTaskPlace, taskOf } from '../task-place.ts'
import { ai, expectRetried, openRetryPlace, type RetryPlace } from './retry-place.ts'

let place: RetryPlace
beforeEach(async () => {
  place = await openRetryPlace()
})
afterEach(() => place.place.close())

const writing = (name: string, from: string) => ({
  id: 'keep',
  mode: 'deterministic',
  inputs: { body: { from: `${from}.text` } },
  outputs: { file: 'artifact' },
  deterministic: { handler: 'write-artifact', config: { name } },
})
const artifacts = async (run_id: string) => {
  const { runs, objects } = place.place.place.world
  const items = await runs.artifacts({ tenant: 'main', run_id })
  const text = async (ref: string) => Buffer.from(await objects.get('main', ref)).toString('utf8')
  return Promise.all(items.map(async ({ name, ref, from_run }) => ({ name, text: await text(ref), from_run })))
}

describe('artifacts of a retry', () => {
  test('are those of the blocks it takes over, of whichever run wrote them', async () => {
    const dag = { blocks: [ai('a'), writing('out.md', 'a'), ai('b', ['a'])] }
    place.failing.add('b')
    const first = await place.run(dag)
    const second = await place.retry(first)
    expect(second.taken).toEqual({ a: first.id, keep: first.id })
    expect(await artifacts(second.id)).toEqual([{ name: 'out.md', text: '<a  >', from_run: first.id }])
    place.failing.clear()
    const third = await place.retry(second)
    expect(third.taken).toEqual({ a: second.id, keep: second.id })
    expect(await artifacts(third.id)).toEqual([{ name: 'out.md', text: '<a  >', from_run: first.id }])
  })

  test('are written again where another block wrote over them', async () => {
    const over = { ...writing('out.md', 'b'), id: 'over' }
    const first = await place.run({ blocks: [ai('a'), writing('out.md', 'a'), ai('b', ['a']), over] })
    place.asked()
    place.failing.add('b')
    const second = await place.retry(first, { from_block: 'b' })
    expectRetried(place, second, { asked: ['b'], taken: { a: first.id } })
    expect(await artifacts(second.id)).toEqual([{ name: 'out.md', text: '<a  >', from_run: undefined }])
  })

  test('do not come from blocks that begin again', async () => {
    const first = await place.run({ blocks: [ai('a'), ai('b', ['a']), writing('out.md', 'b')] })
    place.failing.add('b')
    const second = await place.retry(first, { from_block: 'b' })
    expect([second.end, await artifacts(second.id)]).toEqual(['run:failed', []])
  })
})

describe('approvals of a retry', () => {
  const policy = { required: true, prompt: 'Go on with {{inputs.a}}?', reuse: true }
  const dag = (over: object = {}) => ({
    blocks: [ai('a'), ai('b', ['a'], { approval: { ...policy, ...over } }), ai('c', ['b'])],
  })
  const decide = async (id: string, decision: 'approve' | 'reject') => {
    const requested = await place.place.until(id, ({ type }) => type === 'approval:requested')
    const digest = requested.type === 'approval:requested' ? requested.data.digest : ''
    await place.place.call('decide-approval', id, { decision, digest })
  }
  const approvedAndFailed = async (document = dag()) => {
    place.failing.add('c')
    const id = await place.place.start(document)
    await decide(id, 'approve')
    await place.place.ended(id)
    place.failing.clear()
    place.asked()
    return id
  }

  test('of a block a person approved are not asked for again', async () => {
    const id = await approvedAndFailed()
    const again = await place.retry(id)
    expect(again.end).toBe('run:completed')
    expectRetried(place, again, { asked: ['c'], taken: { a: id, b: id } })
    expect(again.events.filter(({ type }) => type.startsWith('approval:'))).toEqual([])
  })

  test('are found through a retry that took the block over', async () => {
    const id = await approvedAndFailed()
    place.failing.add('c')
    const second = await place.retry(id)
    place.failing.clear()
    place.asked()
    const third = await place.retry(second)
    expectRetried(place, third, { asked: ['c'], taken: { a: second.id, b: id } })
  })

  test.each([
    ['another question', { dag: dag({ prompt: 'Go on with {{inputs.a}}, really?' }) }],
    ['other values', { dag: { blocks: [ai('a', [], {}, 'else'), ...dag().blocks.slice(1)] } }],
    ['another document behind it', { dag: { blocks: [...dag().blocks.slice(0, 2), ai('c', ['b'], {}, 'else')] } }],
    ['an override behind it', { overrides: { 'c.b': 'other' } }],
    ['a retry from it', { from_block: 'b' }],
  ])('are asked for again: %s', async (_what, body) => {
    const id = await approvedAndFailed()
    const { json } = await place.place.call('retry-run', id, body)
    const again = String(json['run_id' as never])
    await decide(again, 'approve')
    const events = await place.place.ended(again)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(place.asked()).toContain('b')
  })

  test('are asked for again where the document does not say reuse: true', async () => {
    const id = await approvedAndFailed(dag({ reuse: false }))
    const { json } = await place.place.call('retry-run', id, {})
    const again = String(json['run_id' as never])
    await decide(again, 'approve')
    expect((await place.place.ended(again)).at(-1)?.type).toBe('run:completed')
  })

  test('are asked for again: a person rejected it', async () => {
    const id = await place.place.start(dag())
    await decide(id, 'reject')
    await place.place.ended(id)
    place.asked()
    const { json } = await place.place.call('retry-run', id, {})
    const again = String(json['run_id' as never])
    await decide(again, 'approve')
    expect((await place.place.ended(again)).at(-1)?.type).toBe('run:completed')
    expect([...place.asked()].sort()).toEqual(['b', 'c'])
  })

  test('are asked for again where nobody decided in time, though that counted as yes', async () => {
    place.failing.add('c')
    const id = await place.place.start(dag({ timeout_sec: 1, on_timeout: 'approve' }))
    await place.place.ended(id)
    place.failing.clear()
    const { json } = await place.place.call('retry-run', id, {})
    await place.place.until(String(json['run_id' as never]), ({ type }) => type === 'approval:requested')
  })

  test('of a mode: approval block are taken over with who decided', async () => {
    const ask = { id: 'ask', mode: 'approval', inputs: { a: { from: 'a.text' } }, outputs: { decided_by: 'string' } }
    const asking = {
      blocks: [ai('a'), { ...ask, approval: policy }, { ...ai('c'), inputs: { who: { from: 'ask.decided_by' } } }],
    }
    const id = await approvedAndFailed(asking)
    const again = await place.retry(id)
    expectRetried(place, again, { asked: ['c'], taken: { a: id, ask: id } })
    expect(await place.output(again, 'ask', 'decided_by')).toMatch(/^user:/)
  })
})

describe('a fan-out in a retry', () => {
  const each = (more: object = {}) => ({
    blocks: [
      ai('a'),
      {
        id: 'each',
        inputs: { a: { from: 'a.text' } },
        outputs: { text: 'string' },
        agent: { provider: 'probe', model: 'm', prompt: '{{inputs.word}} {{inputs.a}}' },
        foreach: { items: ['x', 'y', 'z'], as: 'word' },
        ...more,
      },
      { ...ai('end'), inputs: { all: { from: 'each.text' } } },
    ],
  })

  test('that failed runs the items again that failed, no other', async () => {
    place.failing.add('y')
    const first = await place.run(each())
    place.failing.clear()
    place.asked()
    const again = await place.retry(first)
    expect(again.end).toBe('run:completed')
    const { id } = first
    expectRetried(place, again, { asked: ['y', 'end'], taken: { a: id, 'each.0': id, 'each.2': id } })
  })

  test('that completed runs no item again', async () => {
    place.failing.add('end')
    const first = await place.run(each())
    place.failing.clear()
    place.asked()
    const again = await place.retry(first)
    expectRetried(place, again, { asked: ['end'], taken: { a: first.id, each: first.id } })
    expect(again.events.filter(({ item }) => item !== undefined)).toEqual([])
  })
})

describe('a bounce in a retry', () => {
  const dag = { blocks: [ai('write'), { ...ai('review', ['write']), ...bounce('write', 2) }, ai('end', ['review'])] }

  test('takes over the newest epoch, feedback or not', async () => {
    let rounds = 0
    place.failing.add('end')
    const sound = { ...dag.blocks[1], post_gates: [{ name: 'good', check: GATE, on_fail: 'route' }] }
    const first = await place.run({ blocks: [dag.blocks[0], sound, dag.blocks[2]] })
    rounds = first.events.filter(({ type }) => type === 'block:rerouted').length
    expect(rounds).toBe(1)
    place.failing.clear()
    place.asked()
    const again = await place.retry(first)
    expectRetried(place, again, { asked: ['end'], taken: { write: first.id, review: first.id } })
    expect(again.events.some(({ type }) => type === 'block:rerouted')).toBe(false)
    expect(await place.output(again, 'review')).toEqual(await place.output(first, 'review'))
  })

  test('that was used up has all its bounces again, and sends back with feedback', async () => {
    const never = { name: 'good', check: { type: 'expr', expression: 'outputs.text == "never"' }, on_fail: 'route' }
    const first = await place.run({ blocks: [dag.blocks[0], { ...dag.blocks[1], post_gates: [never] }, dag.blocks[2]] })
    expect(first.end).toBe('run:failed')
    place.asked()
    const again = await place.retry(first)
    expect(again.taken).toEqual({ write: first.id })
    expect(place.asked()).toEqual(['review', 'write', 'review', 'write', 'review'])
  })
})

/** Holds once the reviewed text was written with feedback: its prompt then has the words below. */
const GATE = { type: 'contains', port: 'text', values: ['The previous answer was refused'] }

describe('a task in a retry', () => {
  test('is moved again by the blocks that move it, from where the earlier run found it', async () => {
    const open = await openTaskPlace((round) => (round === 1 ? 'There are no tests.' : 'Tested by a golden file.'))
    const first = await open.start(DOCUMENT, { inputs: { assigned: 'ana' } })
    await open.ended(first)
    const before = await taskOf(open, first)
    const { json } = await open.call('retry-run', first, {})
    const again = String(json['run_id' as never])
    expect((await open.ended(again)).at(-1)?.type).toBe('run:completed')
    const task = await taskOf(open, again)
    expect(before.moves.length).toBeGreaterThan(4)
    expect(task).toMatchObject({ status: 'DONE', assigned: 'ana', bounce_count: 0 })
    expect(movesOf(task, again)).toEqual([
      'plan: none -> PENDING',
      'execute: PENDING -> IN_PROGRESS',
      'review: IN_PROGRESS -> REVIEW',
      'done: REVIEW -> DONE',
    ])
    await open.close()
  })
})

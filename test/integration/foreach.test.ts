import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { bounce, expectFoldStored } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const agent = { provider: 'probe', model: 'm', prompt: '{{inputs.file}}' }
const each = { items: '{{inputs.files}}', as: 'file' }

/** Block `read`: one dispatch an item of the run input `files`. */
function reading(over: object = {}) {
  return {
    id: 'read',
    inputs: { files: 'json' },
    outputs: text,
    agent,
    foreach: each,
    contract_repair_attempts: 0,
    ...over,
  }
}

/** A place whose provider answers in capitals, and as `answer` says where it says something; the prompts it saw. */
async function shouting(
  answer: (prompt: string) => Promise<string | undefined> | string | undefined = () => undefined,
) {
  const calls: string[] = []
  const probe = provider(async ({ prompt }) => {
    calls.push(prompt)
    return (await answer(prompt)) ?? prompt.toUpperCase()
  })
  open = await openTestPlace({ providers: { probe } })
  return { place: open, calls, probe }
}

const files = (n: number) => Array.from({ length: n }, (_, i) => `f${i}`)
const over = (list: unknown) => ({ context: { files: list } })
const of = (events: readonly RunEvent[], type: RunEvent['type'], item?: number) =>
  events.filter((event) => event.type === type && event.block_id === 'read' && event.item === item)

/** Items in the order in which something happened to them. */
const itemsOf = (events: readonly RunEvent[], type: RunEvent['type']) =>
  events.flatMap((event) => (event.type === type && event.item !== undefined ? [event.item] : []))

async function outputOf({ place }: TestPlace, events: readonly RunEvent[], id = 'read'): Promise<unknown> {
  const found = events.findLast((e) => e.type === 'block:output' && e.block_id === id && e.item === undefined)
  const ref = found?.type === 'block:output' ? (found.data.outputs.text?.ref ?? '') : ''
  return JSON.parse(Buffer.from(await place.world.objects.get('main', ref)).toString('utf8'))
}

describe('a foreach block', () => {
  test('dispatches each item once and publishes a list in item order, whichever ended first', async () => {
    const last = Promise.withResolvers<void>()
    const { place, calls } = await shouting(async (prompt) => {
      if (prompt === 'f2') last.resolve()
      else await last.promise
      return undefined
    })
    const id = await place.start({ blocks: [reading()] }, over(files(3)))
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls.toSorted()).toEqual(files(3))
    expect(itemsOf(events, 'block:completed')).not.toEqual([0, 1, 2])
    expect(await outputOf(place, events)).toEqual(['F0', 'F1', 'F2'])
    expect((await place.place.world.runs.head({ tenant: 'main', run_id: id }))?.lanes).not.toHaveProperty('0.1')
  })

  test('tells of itself once and of each item under its number', async () => {
    const { place } = await shouting()
    const events = await place.ended(await place.start({ blocks: [reading()] }, over(['a', 'b'])))
    const story = events.map(({ type, item }) => (item === undefined ? type : `${item} ${type}`))
    expect(story.slice(0, 3)).toEqual(['run:started', 'block:ready', 'block:started'])
    expect(story.filter((line) => line.startsWith('1 '))).toEqual([
      '1 block:started',
      '1 block:output',
      '1 block:completed',
    ])
    expect(story.slice(-3)).toEqual(['block:output', 'block:completed', 'run:completed'])
    const [started] = of(events, 'block:started')
    expect(started).toMatchObject({ data: { items: { count: 2 } } })
    expect(of(events, 'block:output')[0]).toMatchObject({ data: { tokens_in: 0, tokens_out: 0, note: '2 items' } })
  })

  test('goes over an empty list: completes with empty lists', async () => {
    const { place, calls } = await shouting()
    const events = await place.ended(await place.start({ blocks: [reading()] }, over([])))
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await outputOf(place, events)).toEqual([])
    expect(calls).toEqual([])
  })

  test.each([
    ['too_many_items', files(1_001), 'has 1001 items; at most 1000 are allowed'],
    ['items_not_a_list', { a: 1 }, 'is object; it must be a list'],
    ['items_not_a_list', null, 'is null; it must be a list'],
  ])('fails as %s', async (code, list, words) => {
    const { place, calls } = await shouting()
    const wide = reading({ inputs: { files: { type: 'json', required: false } } })
    const events = await place.ended(await place.start({ blocks: [wide] }, over(list)))
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code } })
    const [failed] = of(events, 'block:failed')
    if (list !== null) expect(failed).toMatchObject({ data: { code, reason: expect.stringContaining(words) } })
    expect(calls).toEqual([])
  })

  test('takes a thousand items, forty at a time at most', { tags: ['thorough'], timeout: 120_000 }, async () => {
    let now = 0
    let most = 0
    const { place, calls } = await shouting(async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((done) => setTimeout(done, 1))
      now -= 1
      return undefined
    })
    const wide = reading({ foreach: { ...each, max_concurrency: 40 } })
    const id = await place.start({ blocks: [wide] }, { ...over(files(1_000)), options: { max_parallel: 0 } })
    await expect.poll(() => calls.length, { timeout: 90_000, interval: 200 }).toBe(1_000)
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(new Set(calls).size).toBe(1_000)
    expect(most).toBeLessThanOrEqual(40)
    expect(await outputOf(place, events)).toEqual(files(1_000).map((name) => name.toUpperCase()))
    const { json } = await place.call('get-run', id)
    expect(json).toMatchObject({ blocks: { read: { state: 'completed' } } })
  })

  test('each item counts against max_parallel, the block itself does not', async () => {
    let now = 0
    let most = 0
    const two = Promise.withResolvers<void>()
    const { place } = await shouting(async () => {
      now += 1
      most = Math.max(most, now)
      if (now === 2) two.resolve()
      await two.promise
      await new Promise((done) => setTimeout(done, 5))
      now -= 1
      return undefined
    })
    const id = await place.start({ blocks: [reading()] }, { ...over(files(8)), options: { max_parallel: 2 } })
    expect((await place.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(most).toBe(2)
  })
})

describe('items that fail', () => {
  const refuses = (bad: readonly string[]) => (prompt: string) => (bad.includes(prompt) ? '' : undefined)

  test('one is one too many: the block fails and names it; with fail_fast: false the others have run', async () => {
    const { place, calls } = await shouting(refuses(['f2']))
    const all = reading({ foreach: { ...each, fail_fast: false, max_concurrency: 1 } })
    const events = await place.ended(await place.start({ blocks: [all] }, over(files(4))))
    const [failed] = of(events, 'block:failed')
    expect(failed).toMatchObject({ data: { code: 'items_failed' } })
    expect(failed?.type === 'block:failed' && failed.data.reason).toMatch(
      /^1 of 4 items failed, tolerated are 0: item 2: output contract/,
    )
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'items_failed', block_id: 'read' } })
    expect(new Set(calls)).toEqual(new Set(files(4)))
  })

  test('as many as are tolerated leave null in their place', async () => {
    const { place } = await shouting(refuses(['f0', 'f2']))
    const soft = reading({ foreach: { ...each, tolerate: 2 } })
    const events = await place.ended(await place.start({ blocks: [soft] }, over(files(4))))
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await outputOf(place, events)).toEqual([null, 'F1', null, 'F3'])
    expect(of(events, 'block:output')[0]).toMatchObject({ data: { note: '4 items, 2 failed' } })
  })

  test('each is tried again on its own, with its own feedback, as often as the block says', async () => {
    const seen: string[] = []
    const { place } = await shouting((prompt) => {
      seen.push(prompt)
      return prompt === 'f1' ? 'x' : prompt.startsWith('f1') ? 'LONG ENOUGH' : undefined
    })
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 2 }, on_fail: 'retry' }
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 10, jitter: 'none' }
    const dag = { blocks: [reading({ foreach: { ...each, item_gates: [gate] }, retry })] }
    const events = await place.ended(await place.start(dag, over(files(3))))
    expect(await outputOf(place, events)).toEqual(['F0', 'LONG ENOUGH', 'F2'])
    expect(of(events, 'block:started', 1).map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(of(events, 'block:started', 0)).toHaveLength(1)
    expect(of(events, 'block:retrying', 1)).toHaveLength(1)
    expect(of(events, 'block:gate', 1)).toHaveLength(2)
    expect(seen.find((prompt) => prompt !== 'f1' && prompt.startsWith('f1'))).toContain('long: must be at least 2')
  })

  test('post-gates of the block judge the lists, and a failing one runs no item again', async () => {
    const { place, calls } = await shouting()
    const gate = { name: 'few', check: { type: 'expr', expression: 'outputs.text.length <= 2' } }
    const retry = { max_attempts: 3, backoff: 'none', delay_ms: 1 }
    const events = await place.ended(
      await place.start({ blocks: [reading({ post_gates: [gate], retry })] }, over(files(3))),
    )
    expect(of(events, 'block:gate')).toMatchObject([{ data: { gate: 'few', phase: 'post', status: 'failed' } }])
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'post_gate_failed' } })
    expect(calls).toHaveLength(3)
  })

  test.each([
    [0, 'run:failed'],
    [1, 'run:completed'],
  ])('with fail_fast and tolerate %i the run ends as %s', async (tolerate, type) => {
    const { place, calls } = await shouting(refuses(['f0']))
    const dag = { blocks: [reading({ foreach: { ...each, tolerate, max_concurrency: 1 } })] }
    const events = await place.ended(await place.start(dag, { ...over(files(6)), options: { fail_fast: true } }))
    expect(events.at(-1)?.type).toBe(type)
    expect(new Set(calls).size).toBe(tolerate === 0 ? 1 : 6)
  })
})

describe('a foreach block among others', () => {
  test('its list comes from a block before it, its lists go to joins and blocks after it', async () => {
    const { place } = await shouting((prompt) => (prompt.startsWith('list') ? '["a","b"]' : undefined))
    const list = { id: 'list', outputs: { text: 'json' }, agent: { ...agent, prompt: 'list' } }
    const side = { id: 'side', outputs: text, agent: { ...agent, prompt: 'side' } }
    const read = reading({ inputs: { files: { from: 'list.text' } } })
    const low = {
      id: 'low',
      inputs: { all: { from: 'read.text' } },
      outputs: text,
      agent: { ...agent, prompt: '{{inputs.all}}' },
    }
    const both = {
      id: 'both',
      inputs: { all: { from: 'read.text' }, side: { from: 'side.text' } },
      outputs: text,
      agent: { ...agent, prompt: '{{inputs.side}}: {{inputs.all}}' },
    }
    const events = await place.ended(await place.start({ blocks: [list, side, read, low, both] }))
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await outputOf(place, events, 'both')).toBe('SIDE: ["A","B"]')
    expect(await outputOf(place, events, 'low')).toBe('["A","B"]')
  })

  test('sent back by a later gate, it goes over its list again, in an epoch of its own', async () => {
    let round = 0
    const { place, calls } = await shouting((prompt) => {
      if (!prompt.startsWith('review')) return undefined
      round += 1
      return round < 3 ? `bad ${round}` : 'good'
    })
    const review = {
      id: 'review',
      inputs: { all: { from: 'read.text' } },
      outputs: text,
      agent: { ...agent, prompt: 'review {{inputs.all}}' },
      ...bounce('read', 2),
    }
    const dag = { blocks: [reading(), review, { ...reading(), id: 'after', inputs: { files: { from: 'read.text' } } }] }
    const id = await place.start(dag, over(['a', 'b']))
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls.filter((prompt) => prompt.startsWith('a'))).toHaveLength(3)
    expect(of(events, 'block:started').map(({ id: event }) => event)).toEqual([
      '0/1010/1',
      '0/1001010/1',
      '0/2001010/1',
    ])
    expect(of(events, 'block:completed', 1)).toHaveLength(3)
    expect(await outputOf(place, events, 'after')).toHaveLength(2)
    await expectFoldStored(place, id)
  })

  test('when, pre-gates and approval are asked once, before any item', async () => {
    const { place, calls } = await shouting()
    const gate = { name: 'some', check: { type: 'expr', expression: 'inputs.files.length > 1' } }
    const asked = reading({ approval: true, pre_gates: [gate] })
    const id = await place.start(
      { blocks: [asked, { ...reading({ when: 'inputs.files.length > 9' }), id: 'never' }] },
      over(['a', 'b']),
    )
    const request = await place.until(id, ({ type }) => type === 'approval:requested')
    expect(calls).toEqual([])
    const digest = request.type === 'approval:requested' ? request.data.digest : ''
    expect((await place.call('decide-approval', id, { decision: 'approve', digest })).status).toBe(200)
    const events = await place.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(of(events, 'block:gate')).toHaveLength(1)
    expect(events.find(({ type }) => type === 'block:skipped')).toMatchObject({
      block_id: 'never',
      data: { condition: 'when' },
    })
    expect(await outputOf(place, events)).toEqual(['A', 'B'])
  })

  test('a failing pre-gate fails the block before its list is looked at', async () => {
    const { place, calls } = await shouting()
    const gate = { name: 'some', check: { type: 'expr', expression: 'inputs.files.length > 1' } }
    const events = await place.ended(await place.start({ blocks: [reading({ pre_gates: [gate] })] }, over(['a'])))
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'pre_gate_failed' } })
    expect(calls).toEqual([])
  })
})

import { expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isEnd } from './caller.ts'
import { shippedStack } from './shipped-stack.ts'

/** Fan-outs and kept results on the synthesized stacks: DynamoDB's lanes of items, its C# items, a Map of the machine. */
const aws = shippedStack()

/** Each word in capitals; "bad" gives nothing, however often it is tried. */
const shout = {
  id: 'shout',
  mode: 'deterministic',
  inputs: { words: 'json' },
  outputs: { text: { type: 'string' } },
  deterministic: {
    handler: 'transform',
    config: { expression: 'inputs.word = "bad" ? "" : $uppercase(inputs.word)' },
  },
  foreach: { items: '{{inputs.words}}', as: 'word', max_concurrency: 8, tolerate: 1 },
  retry: { max_attempts: 2, backoff: 'none', delay_ms: 1, jitter: 'none' },
}
const count = {
  id: 'count',
  mode: 'deterministic',
  inputs: { all: { from: 'shout.text' } },
  outputs: { text: { type: 'string' } },
  deterministic: { handler: 'transform', config: { expression: '$join(inputs.all[$ != null], "-")' } },
}

async function run(blocks: readonly object[], words: readonly string[]) {
  const id = await aws.caller.start({ dag: { name: 'fan', blocks }, context: { words } })
  const events = await aws.caller.until(id, isEnd)
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}/outputs/count`)
  return { id, events, outputs: JSON.stringify(json) }
}

const of = (events: readonly RunEvent[], type: RunEvent['type'], item?: number) =>
  events.filter((event) => event.type === type && event.block_id === 'shout' && event.item === item)

test('a fan-out runs its items through a Map, each on a lane of its own, and publishes lists', async () => {
  const words = ['a', 'bad', ...Array.from({ length: 18 }, (_, i) => `w${i}`)]
  const { id, events, outputs } = await run([shout, count], words)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(of(events, 'block:completed', 0)).toHaveLength(1)
  expect([of(events, 'block:retrying', 1).length, of(events, 'block:failed', 1).length]).toEqual([1, 1])
  expect(of(events, 'block:output')).toMatchObject([{ data: { note: '20 items, 1 failed' } }])
  expect(outputs).toContain('A-W0-W1-W2')
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}`)
  expect(json).toMatchObject({ blocks: { shout: { state: 'completed', item_count: 20 } } })
})

test('a kept result stands in for the whole fan-out in the next run', async () => {
  const kept = { ...shout, cache: { max_age_sec: 600 } }
  const first = await run([kept, count], ['x', 'y'])
  const second = await run([kept, count], ['x', 'y'])
  expect(of(second.events, 'block:completed')).toMatchObject([{ data: { cached_from: first.id } }])
  expect(second.events.filter(({ item }) => item !== undefined)).toEqual([])
  expect(second.outputs).toContain('X-Y')
})

test('a fan-out that cannot succeed any more dispatches no further item, and fails', async () => {
  const words = ['bad', ...Array.from({ length: 59 }, (_, i) => `w${i}`)]
  const strict = { ...shout, foreach: { ...shout.foreach, max_concurrency: 1, tolerate: 0 } }
  const { id, events } = await run([strict, count], words)
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'items_failed' } })
  const begun = events.flatMap(({ type, item }) => (type === 'block:started' && item !== undefined ? [item] : []))
  expect(begun).toEqual([0, 0])
  const reason = expect.stringMatching(/^1 of 60 items failed, tolerated are 0, 59 were not begun: item 0: /)
  expect(of(events, 'block:failed')).toMatchObject([{ data: { code: 'items_failed', reason } }])
  const { json } = await aws.caller.call('GET', `/api/dag/runs/${id}`)
  const skipped = { state: 'skipped', error: { code: 'items_failed' } }
  expect(json).toMatchObject({ blocks: { shout: { state: 'failed', items: { 0: { state: 'failed' }, 59: skipped } } } })
})

test('with fail_fast: false all items of a fan-out run, however many fail', async () => {
  const all = { ...shout, foreach: { ...shout.foreach, tolerate: 0, fail_fast: false } }
  const { events } = await run([all, count], ['bad', 'a', 'b', 'c'])
  expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'items_failed' } })
  expect(events.flatMap(({ type, item }) => (type === 'block:completed' ? [item] : [])).toSorted()).toEqual([1, 2, 3])
})

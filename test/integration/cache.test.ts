import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { bounce } from './loop.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const DAY = 86_400

function writing(over: object = {}) {
  const agent = { provider: 'probe', model: 'm', prompt: 'write about {{inputs.topic}}' }
  return { id: 'write', inputs: { topic: 'string' }, outputs: text, agent, cache: { max_age_sec: DAY }, ...over }
}

/** Answers are numbered, so that a repeated one is seen. */
async function numbering() {
  const calls: string[] = []
  const probe = provider(({ prompt }) => {
    calls.push(prompt)
    return `answer ${calls.length}`
  })
  let ahead = 0
  const clock = { now: () => Date.now() + ahead, delay: systemClock.delay }
  open = await openTestPlace({ providers: { probe }, clock })
  const forward = (ms: number) => {
    ahead += ms
  }
  return { place: open, calls, forward }
}

async function run(place: TestPlace, blocks: readonly object[] = [writing()], topic = 'gates') {
  const id = await place.start({ blocks }, { context: { topic } })
  const events = await place.ended(id)
  return { id, events, end: events.at(-1)?.type, completed: completedOf(events) }
}

function completedOf(events: readonly RunEvent[]) {
  const found = events.findLast(
    ({ type, item, block_id }) => type === 'block:completed' && !item && block_id === 'write',
  )
  return found?.type === 'block:completed' ? found.data : undefined
}

async function outputOf(place: TestPlace, events: readonly RunEvent[]): Promise<unknown> {
  const found = events.findLast((event) => event.type === 'block:output' && event.item === undefined)
  const ref = found?.type === 'block:output' ? (found.data.outputs.text?.ref ?? '') : ''
  return JSON.parse(Buffer.from(await place.place.world.objects.get('main', ref)).toString('utf8'))
}

describe('a block with cache', () => {
  test('is dispatched once for equal definition and inputs; the second run says whose result it took', async () => {
    const { place, calls } = await numbering()
    const first = await run(place)
    const second = await run(place)
    expect([first.end, second.end]).toEqual(['run:completed', 'run:completed'])
    expect(calls).toHaveLength(1)
    expect(first.completed).toEqual({})
    expect(second.completed).toEqual({ cached_from: first.id })
    expect(await outputOf(place, second.events)).toBe('answer 1')
    expect(second.events.map(({ type }) => type)).toEqual([
      'run:started',
      'block:ready',
      'block:started',
      'block:output',
      'block:completed',
      'run:completed',
    ])
    const output = second.events.find(({ type }) => type === 'block:output')
    const free = {
      provider: 'probe',
      tokens_in: 0,
      tokens_out: 0,
      usd_micros: 0,
      note: `kept result of run ${first.id}`,
    }
    expect(output).toMatchObject({ data: free })
    expect((await place.call('get-run', second.id)).json).toMatchObject({ run: { tokens: 0 } })
  })

  test('keeps the age of what was dispatched: a hit is not kept anew', async () => {
    const { place } = await numbering()
    const first = await run(place)
    await run(place)
    expect((await run(place)).completed).toEqual({ cached_from: first.id })
  })

  test.each([
    ['other inputs', writing(), 'bounces'],
    [
      'another prompt',
      writing({ agent: { provider: 'probe', model: 'm', prompt: 'tell of {{inputs.topic}}' } }),
      'gates',
    ],
    ['another gate', writing({ post_gates: [{ name: 'some', check: { type: 'not_empty', port: 'text' } }] }), 'gates'],
  ])('is dispatched again for %s', async (_, block, topic) => {
    const { place, calls } = await numbering()
    await run(place)
    expect((await run(place, [block], topic)).completed).toEqual({})
    expect(calls).toHaveLength(2)
  })

  test('is dispatched again when the kept result is too old', async () => {
    const { place, calls, forward } = await numbering()
    const brief = [writing({ cache: { max_age_sec: 600 } })]
    await run(place, brief)
    forward(601_000)
    expect((await run(place, brief)).completed).toEqual({})
    expect((await run(place, brief)).completed).not.toEqual({})
    expect(calls).toHaveLength(2)
  })

  test('is dispatched again when the object of the result is gone', async () => {
    const { place, calls } = await numbering()
    const first = await run(place)
    const output = first.events.find((event) => event.type === 'block:output')
    const hash = output?.type === 'block:output' ? (output.data.outputs.text?.sha256 ?? '') : ''
    await place.breakObjects(undefined, hash)
    expect((await run(place)).completed).toEqual({})
    expect(calls).toHaveLength(2)
  })

  test('judges a kept result again: one its gates refuse now is dispatched instead', async () => {
    const { place, calls } = await numbering()
    const gate = { name: 'second', check: { type: 'expr', expression: 'outputs.text == "answer 2"' }, on_fail: 'fail' }
    const strict = writing({ post_gates: [gate] })
    const { runs } = place.place.world
    const first = await run(place, [strict])
    expect(first.end).toBe('run:failed')
    // As if it had been kept when the gate saw it differently.
    const started = first.events.find((event) => event.type === 'block:started')
    const output = first.events.find((event) => event.type === 'block:output')
    if (started?.type !== 'block:started' || output?.type !== 'block:output') throw new Error('it did not run')
    const { json } = await place.call('get-run', first.id)
    const { hash } = (json as unknown as { dag: { blocks: readonly { hash: string }[] } }).dag.blocks[0] ?? { hash: '' }
    const kept = { run_id: first.id, block_id: 'write', at: started.at, output: output.data }
    await runs.putCached('main', hash, started.data.inputs_hash, kept)
    const second = await run(place, [strict])
    expect([second.end, second.completed]).toEqual(['run:completed', {}])
    expect(calls).toHaveLength(2)
    expect((await run(place, [strict])).completed).toEqual({ cached_from: second.id })
  })

  test('does not answer a bounce with what was sent back', async () => {
    const calls: string[] = []
    const probe = provider(({ prompt }) => {
      calls.push(prompt)
      if (!prompt.startsWith('review')) return `answer ${calls.length}`
      return prompt.includes('answer 1') ? 'bad' : 'good'
    })
    open = await openTestPlace({ providers: { probe } })
    const review = {
      id: 'review',
      inputs: { draft: { from: 'write.text' } },
      outputs: text,
      agent: { provider: 'probe', model: 'm', prompt: 'review {{inputs.draft}}' },
      ...bounce('write', 3),
    }
    const { end, completed } = await run(open, [writing(), review])
    expect([end, completed]).toEqual(['run:completed', {}])
    expect(calls.filter((prompt) => prompt.startsWith('write'))).toHaveLength(2)
  })

  test('of a fan-out is kept whole: on a hit no item runs', async () => {
    const { place, calls } = await numbering()
    const each = { items: ['a', 'b'], as: 'letter' }
    const agent = { provider: 'probe', model: 'm', prompt: '{{inputs.letter}}' }
    const blocks = [writing({ foreach: each, agent })]
    const first = await run(place, blocks)
    const second = await run(place, blocks)
    expect(second.completed).toEqual({ cached_from: first.id })
    expect(second.events.filter(({ item }) => item !== undefined)).toEqual([])
    expect(await outputOf(place, second.events)).toEqual(await outputOf(place, first.events))
    expect(calls).toHaveLength(2)
  })

  test('without cache nothing is kept', async () => {
    const { place, calls } = await numbering()
    const { cache: _, ...plain } = writing()
    await run(place, [plain])
    await run(place, [plain])
    expect(calls).toHaveLength(2)
  })
})

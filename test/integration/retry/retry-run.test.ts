import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ai, expectRetried, openRetryPlace, type RetryPlace } from './retry-place.ts'

let place: RetryPlace
beforeEach(async () => {
  place = await openRetryPlace()
})
afterEach(() => place.place.close())

/** a -> b -> c -> d, and e beside them. */
const chain = { blocks: [ai('a'), ai('b', ['a']), ai('c', ['b']), ai('d', ['c']), ai('e')] }

async function failedAt(id: string, dag: object = chain, given: object = {}) {
  place.failing.add(id)
  const first = await place.run(dag, given)
  expect(first.end).toBe('run:failed')
  place.failing.clear()
  place.asked()
  return first
}

describe('a retry of a failed run', () => {
  test.each([
    ['a', ['a', 'b', 'c', 'd'], ['e']],
    ['b', ['b', 'c', 'd'], ['a', 'e']],
    ['c', ['c', 'd'], ['a', 'b', 'e']],
    ['d', ['d'], ['a', 'b', 'c', 'e']],
  ])('that failed at %s asks for that block and those after it, nobody else', async (id, asked, reused) => {
    const first = await failedAt(id)
    const again = await place.retry(first)
    expect(again.end).toBe('run:completed')
    expectRetried(place, again, { asked, taken: Object.fromEntries(reused.map((one) => [one, first.id])) })
    expect(again.expected).toEqual(reused)
  })

  test('ends with the outputs of a run that never failed', async () => {
    const first = await failedAt('c')
    const again = await place.retry(first)
    const never = await place.run(chain)
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      expect(await place.output(again, id)).toEqual(await place.output(never, id))
    }
  })

  test('records a block it takes over as started, output and completed, at no cost', async () => {
    const first = await failedAt('b')
    const again = await place.retry(first)
    const ofA = again.events.filter(({ block_id }) => block_id === 'a')
    expect(ofA.map(({ type }) => type)).toEqual(['block:ready', 'block:started', 'block:output', 'block:completed'])
    const before = first.events.find(({ type, block_id }) => type === 'block:output' && block_id === 'a')
    expect(ofA[2]?.data).toEqual({
      ...before?.data,
      tokens_in: 0,
      tokens_out: 0,
      usd_micros: 0,
      latency_ms: 0,
      note: `result of run ${first.id}`,
    })
    expect((await place.place.call('get-run', again.id)).json).toMatchObject({ run: { tokens: 6 } })
  })

  test('says whom it retries in its answer, META, run:started and GET run; both runs know each other', async () => {
    const first = await failedAt('b')
    const again = await place.retry(first)
    expect(again.events[0]).toMatchObject({ type: 'run:started', data: { retry_of: first.id } })
    const meta = await place.place.place.world.runs.meta({ tenant: 'main', run_id: again.id })
    expect(meta).toMatchObject({ retry_of: { run_id: first.id, again: [] }, root: first.id })
    expect((await place.place.call('get-run', again.id)).json).toMatchObject({ run: { retry_of: first.id } })
    expect((await place.place.call('get-run', first.id)).json).toMatchObject({ run: { retried_by: [again.id] } })
  })

  test('of a retry reaches results of the first run through the one between', async () => {
    const first = await failedAt('d')
    place.failing.add('d')
    const second = await place.retry(first)
    expect(second.end).toBe('run:failed')
    place.failing.clear()
    place.asked()
    const third = await place.retry(second)
    const { id } = second
    expectRetried(place, third, { asked: ['d'], taken: { a: id, b: id, c: id, e: id } })
  })

  test('of a retry that was stopped before it came to them too', async () => {
    const first = await failedAt('d')
    const waiting = { blocks: [...chain.blocks.slice(0, 4), { ...ai('e'), approval: true }] }
    const second = await place.place.call('retry-run', first.id, { dag: { blocks: [...waiting.blocks] } })
    const id = String(second.json['run_id' as never])
    await place.place.until(id, ({ type }) => type === 'approval:requested')
    await place.place.until(id, ({ type, block_id }) => type === 'block:completed' && block_id === 'd')
    await place.place.call('stop-run', id, {})
    place.asked()
    const third = await place.retry(id, { dag: chain })
    expectRetried(place, third, { asked: [], taken: { a: id, b: id, c: id, d: id, e: first.id } })
  })
})

describe('a retry from a block', () => {
  test('begins again with it and all that depends on it, though they completed', async () => {
    const first = await place.run(chain)
    place.asked()
    const again = await place.retry(first, { from_block: 'c' })
    expectRetried(place, again, { asked: ['c', 'd'], taken: { a: first.id, b: first.id, e: first.id } })
  })

  test('ends the chain for these blocks: the next retry takes nothing older than that of them', async () => {
    const first = await place.run(chain)
    place.failing.add('c')
    const second = await place.retry(first, { from_block: 'b' })
    expect(second.end).toBe('run:failed')
    place.failing.clear()
    place.asked()
    const third = await place.retry(second)
    const { id } = second
    expectRetried(place, third, { asked: ['c', 'd'], taken: { a: id, b: id, e: id } })
  })

  test('that does not exist is refused with its likely name', async () => {
    const first = await place.run({ blocks: [ai('alpha')] })
    await expect(place.retry(first, { from_block: 'alhpa' })).rejects.toThrow(/unknown_block.*Did you mean .*alpha/)
  })
})

describe('a retry with edited inputs', () => {
  const reading = {
    inputs: { goal: { type: 'string' }, tone: { type: 'string', default: 'dry' } },
    blocks: [
      ai('plan', [], {}, '{{inputs.goal}}'),
      ai('say', ['plan'], {}, '{{inputs.tone}}'),
      ai('count', ['plan']),
      ai('end', ['say']),
    ],
  }

  test('runs again what reads them and what depends on that, nothing else', async () => {
    const first = await place.run(reading, { inputs: { goal: 'gates' } })
    place.asked()
    const again = await place.retry(first, { inputs: { tone: 'warm' } })
    expect(again.expected).toEqual(['plan', 'count'])
    expectRetried(place, again, { asked: ['say', 'end'], taken: { plan: first.id, count: first.id } })
    expect((await place.place.call('get-context', again.id)).json).toMatchObject({
      values: { goal: 'gates', tone: 'warm' },
    })
  })

  test('that change nothing takes everything over', async () => {
    const first = await place.run(reading, { inputs: { goal: 'gates' } })
    place.asked()
    const again = await place.retry(first, { inputs: { goal: 'gates' } })
    expect([again.end, place.asked()]).toEqual(['run:completed', []])
  })

  test('keeps what people changed in the context meanwhile, and runs again who read the old value', async () => {
    place.failing.add('say')
    const first = await place.place.start(
      { ...reading, blocks: [...reading.blocks, ai('ask', [], { approval: true })] },
      { inputs: { goal: 'gates' } },
    )
    await place.place.until(first, ({ type, block_id }) => type === 'block:failed' && block_id === 'say')
    const { world } = place.place.place
    const run = { tenant: 'main', run_id: first }
    const { version, values } = (await world.runs.context(run)) ?? { version: 0, values: {} }
    await world.runs.putContext(run, { version: version + 1, values: { ...values, tone: 'kind' } }, version)
    await place.place.call('stop-run', first, {})
    place.failing.clear()
    place.asked()
    const again = await place.retry(first, { dag: reading })
    expectRetried(place, again, { asked: ['say', 'end'], taken: { plan: first, count: first } })
    expect(await place.output(again, 'say')).toContain('kind')
  })

  test('overrides one port of one block', async () => {
    const first = await place.run(chain)
    place.asked()
    const again = await place.retry(first, { overrides: { 'd.c': 'another' } })
    expect(again.expected).toEqual(['a', 'b', 'c', 'e'])
    expect(place.asked()).toEqual(['d'])
    const third = await place.retry(again)
    expect([await place.output(third, 'd'), place.asked()]).toEqual([await place.output(again, 'd'), []])
  })
})

describe('a retry with an edited document', () => {
  test('runs again the blocks that changed, what depends on their outputs, and what is new', async () => {
    const first = await place.run(chain)
    place.asked()
    const edited = {
      blocks: [...chain.blocks.slice(0, 2), ai('c', ['b'], {}, 'better'), ai('d', ['c']), ai('n', ['b'])],
    }
    const again = await place.retry(first, { dag: edited })
    expectRetried(place, again, { asked: ['c', 'd', 'n'], taken: { a: first.id, b: first.id } })
    expect(again.expected).toEqual(['a', 'b'])
  })

  test('takes over what stands at another place in it', async () => {
    const first = await place.run(chain)
    place.asked()
    const again = await place.retry(first, { dag: { blocks: [...chain.blocks].reverse() } })
    expect([again.end, place.asked()]).toEqual(['run:completed', []])
  })

  test('takes its new default, where nobody gave a value', async () => {
    const of = (tone: string, words = '') => ({
      inputs: { tone: { type: 'string', default: tone }, goal: { type: 'string', default: 'g' } },
      blocks: [ai('say', [], {}, `${words}{{inputs.tone}}`)],
    })
    const first = await place.run(of('dry'), { inputs: { goal: 'mine' } })
    const again = await place.retry(first, { dag: of('warm') })
    expect(await place.output(again, 'say')).toContain('warm')
    expect((await place.place.call('get-context', again.id)).json).toMatchObject({ values: { goal: 'mine' } })
  })

  test('that does not check is refused, and no run is there', async () => {
    const first = await place.run(chain)
    const wrong = place.retry(first, { dag: { blocks: [{ id: 'a', inputs: { x: { from: 'nobody.text' } } }] } })
    await expect(wrong).rejects.toThrow('invalid_dag')
    expect((await place.place.place.world.runs.list('main', { limit: 10 })).runs).toHaveLength(1)
  })
})

describe('a retry is refused', () => {
  test('while the run has not ended', async () => {
    const id = await place.place.start({ blocks: [ai('a', [], { approval: true })] })
    await expect(place.retry(id)).rejects.toThrow(/run_not_ended.*it has not ended/)
  })

  test('for a run that is not there', async () => {
    await expect(place.retry(`run_${'0'.repeat(26)}`)).rejects.toThrow('unknown_run')
  })

  test('with another body under the same key, and is the same run with the same', async () => {
    const first = await place.run(chain)
    const call = async (body: object) => {
      const event = { httpMethod: 'POST', path: '/', pathParameters: { run_id: first.id }, queryStringParameters: null }
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
      const answer = await place.place.place.invoke('retry-run', { ...event, headers, body: JSON.stringify(body) })
      const { statusCode, body: text } = answer as { statusCode: number; body: string }
      return { status: statusCode, ...(JSON.parse(text) as { run_id?: string; code?: string }) }
    }
    const made = await call({})
    expect(made.status).toBe(201)
    expect(await call({})).toMatchObject({ status: 200, run_id: made.run_id })
    expect(await call({ from_block: 'a' })).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  })
})

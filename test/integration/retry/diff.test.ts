import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunDiff } from '../../../shared/views/run-diff.ts'
import { ai, type EndedRun, openRetryPlace, type RetryPlace } from './retry-place.ts'

let place: RetryPlace
beforeEach(async () => {
  place = await openRetryPlace()
})
afterEach(() => place.place.close())

async function diff(a: string, b: string): Promise<RunDiff & { readonly status: number; readonly code?: string }> {
  const event = { httpMethod: 'GET', path: '/', queryStringParameters: null, headers: {}, body: null }
  const answer = await place.place.place.invoke('diff-runs', { ...event, pathParameters: { run_id: a, other_id: b } })
  const { statusCode, body } = answer as { statusCode: number; body: string }
  return { status: statusCode, ...JSON.parse(body) }
}

const gate = { name: 'some', check: { type: 'not_empty', port: 'text' } }
const dag = {
  inputs: { tone: { type: 'string', default: 'dry' } },
  blocks: [ai('a'), ai('b', ['a'], { post_gates: [gate] }, '{{inputs.tone}}'), ai('c', ['b'])],
}

describe('two runs side by side', () => {
  let first: EndedRun
  beforeEach(async () => {
    place.failing.add('c')
    first = await place.run(dag)
    place.failing.clear()
  })

  test('of one document: a retry took over what is the same', async () => {
    const again = await place.retry(first, { inputs: { tone: 'warm' } })
    const told = await diff(first.id, again.id)
    expect(told).toMatchObject({
      a: { run_id: first.id, state: 'failed', tokens: 4, blocks: 3, attempts: 3 },
      b: { run_id: again.id, state: 'completed', tokens: 4, usd: 0 },
      only_in: { a: [], b: [] },
      changed: [],
      context: { tone: 'different' },
    })
    const [a, b, c] = told.blocks
    expect(a).toMatchObject({
      block_id: 'a',
      definition: 'same',
      outputs: { text: 'same' },
      b: { cached_from: first.id },
    })
    expect(a?.b?.tokens).toBe(0)
    expect(b).toMatchObject({ outputs: { text: 'different' }, gates: [{ gate: 'some', a: 'passed', b: 'passed' }] })
    expect(b?.a?.outputs.text?.ref).toMatch(/^objstore:/)
    expect(c).toMatchObject({ a: { state: 'failed', error: { code: 'refused' } }, outputs: { text: 'only_b' } })
    expect(told.b.duration_ms).toBeGreaterThanOrEqual(0)
  })

  test('of two documents: what changed, and what only one has', async () => {
    const edited = { ...dag, blocks: [ai('a'), ai('b', ['a'], {}, 'other'), ai('n', ['b'])] }
    const again = await place.retry(first, { dag: edited })
    const told = await diff(first.id, again.id)
    expect(told).toMatchObject({ only_in: { a: ['c'], b: ['n'] }, changed: ['b'] })
    expect(told.blocks.map(({ block_id }) => block_id)).toEqual(['a', 'b', 'c', 'n'])
    expect(told.blocks[2]).not.toHaveProperty('b')
    expect(told.blocks[3]).not.toHaveProperty('a')
    expect(told.blocks[1]?.gates).toEqual([{ gate: 'some', a: 'passed' }])
  })

  test('of a run with itself is the same in all', async () => {
    const told = await diff(first.id, first.id)
    expect(told.a).toEqual(told.b)
    expect(told.blocks.flatMap(({ outputs }) => Object.values(outputs))).toEqual(['same', 'same'])
  })

  test('is refused for a run that is not there, on either side', async () => {
    const nobody = `run_${'0'.repeat(26)}`
    expect(await diff(first.id, nobody)).toMatchObject({ status: 404, code: 'unknown_run' })
    expect(await diff(nobody, first.id)).toMatchObject({ status: 404, code: 'unknown_run' })
  })
})

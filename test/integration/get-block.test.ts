import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { handler } from '../../functions/api/get-block.ts'
import { GET_BLOCK } from '../../shared/api/run-data-routes.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** One block of a run, with all that happened in its attempts (GET RUN/blocks/ID). */
type Answer = z.output<(typeof GET_BLOCK)['answer']>

const text = { text: { type: 'string' } }
const agent = { provider: 'probe', model: 'm', system: 'Be {{inputs.tone}}.', prompt: 'Write of {{inputs.topic}}.' }
const inputs = { tone: { type: 'string' }, topic: { type: 'string' } }
const gate = { name: 'ends', check: { type: 'contains', port: 'text', values: ['END'] } }
const context = { tone: 'brief', topic: 'rain' }

let place: TestPlace
const asked: string[] = []
beforeAll(async () => {
  const probe = provider(({ prompt }) => {
    asked.push(prompt)
    return prompt.includes('refused') || prompt.startsWith('item') ? 'All. END' : 'Not yet'
  })
  place = await openTestPlace({ providers: { probe } })
})
afterAll(() => place.close())

/** As the wire has it: called as its wrapper is, so that the caller's tenant is the test's. */
async function get(run_id: string, block_id: string, query: Record<string, string> | null = null, tenant = 'main') {
  const request = { httpMethod: 'GET', path: '/', headers: {}, body: null, isBase64Encoded: false }
  const event = { ...request, pathParameters: { run_id, block_id }, queryStringParameters: query }
  const principal = { kind: 'user', id: 'ana', tenant, scopes: SCOPES } as const
  const context: object = { world: place.place.world, principal }
  const { statusCode, body } = (await handler(event, context as never)) as { statusCode: number; body: string }
  const json = JSON.parse(body) as Answer & { readonly code: string; readonly detail: string }
  if (statusCode === 200) expect(GET_BLOCK.answer.safeParse(json).error?.issues).toBeUndefined()
  return { status: statusCode, json }
}

async function written(over: object = {}, started: Readonly<Record<string, unknown>> = { context }): Promise<string> {
  const block = {
    id: 'write',
    inputs,
    outputs: text,
    agent,
    post_gates: [gate],
    retry: { max_attempts: 3, delay_ms: 1 },
  }
  const run = await place.start({ blocks: [{ ...block, ...over }] }, started)
  await place.ended(run)
  return run
}

describe('GET one block', () => {
  test('has each attempt with its inputs, what was asked and answered, its gates and outputs', async () => {
    asked.length = 0
    const run = await written()
    const { json } = await get(run, 'write')
    expect(json).toMatchObject({ run_id: run, block_id: 'write', state: 'completed', attempt: 2, epoch: 0 })
    expect(json.definition).toMatchObject({ id: 'write', mode: 'ai', agent: { model: 'm' } })
    expect(json.attempts).toMatchObject([
      {
        ...{ epoch: 0, attempt: 1, state: 'failed', inputs: context, inputs_verified: true, context_version: 0 },
        calls: [{ provider: 'probe', system: 'Be brief.', prompt: asked[0], answer: 'Not yet' }],
        ...{ calls_cut: false, gates: [{ gate: 'ends', status: 'failed' }], error: { code: expect.any(String) } },
      },
      {
        ...{ attempt: 2, state: 'completed', inputs: context, inputs_verified: true },
        calls: [{ prompt: expect.stringContaining('refused'), answer: 'All. END' }],
        outputs: { text: { ref: expect.stringMatching(/^objstore:/) } },
        gates: [{ gate: 'ends', status: 'passed' }],
      },
    ])
    expect(json.attempts[1]?.calls[0]?.prompt).toBe(asked[1])
    expect(json.attempts[1]).not.toHaveProperty('error')
  })

  test('shows large inputs by hash and where they are stored, and cuts long answers', async () => {
    const big = {
      id: 'big',
      mode: 'deterministic',
      outputs: text,
      deterministic: { handler: 'transform', config: { expression: '$pad("x", 70000, "y")' } },
    }
    const reads = {
      id: 'reads',
      inputs: { a: { from: 'big.text' } },
      outputs: text,
      agent: { provider: 'probe', model: 'm', prompt: 'item {{inputs.a}}' },
    }
    const run = await place.start({ blocks: [big, reads] })
    await place.ended(run)
    const [attempt] = (await get(run, 'reads')).json.attempts
    expect(attempt).toMatchObject({ inputs: {}, inputs_verified: true })
    expect(attempt?.input_refs).toEqual({
      a: { ref: expect.stringMatching(/^objstore:/), sha256: expect.any(String), bytes: 70_002 },
    })
    expect(attempt?.calls).toMatchObject([{ cut: true, answer: 'All. END' }])
    expect(attempt?.calls[0]?.prompt).toHaveLength(65_536)
  })

  test('says that inputs are not those of the attempt where the context was patched since', async () => {
    const waits = {
      id: 'waits',
      mode: 'approval',
      inputs: { draft: { from: 'write.text' } },
      approval: { prompt: 'p' },
    }
    const write = { id: 'write', inputs, outputs: text, agent }
    const run = await place.start({ blocks: [write, waits] }, { context })
    await place.until(run, ({ type }) => type === 'approval:requested')
    expect((await get(run, 'write')).json.attempts).toMatchObject([{ inputs: context, inputs_verified: true }])
    expect(await place.call('patch-context', run, { set: { topic: 'snow' }, if_version: 0 })).toMatchObject({
      status: 200,
    })
    const { json } = await get(run, 'write')
    expect(json.attempts).toMatchObject([{ inputs: { topic: 'snow' }, inputs_verified: false }])
    expect((await get(run, 'waits')).json).toMatchObject({ state: 'paused_approval', attempts: [] })
    await place.call('stop-run', run, {})
  })

  test('keeps to what a person was asked about, with their edits, whatever the context says later', async () => {
    const approval = { prompt: 'Go?', edit: ['topic'] }
    const run = await place.start({ blocks: [{ id: 'write', inputs, outputs: text, agent, approval }] }, { context })
    const event = await place.until(run, ({ type }) => type === 'approval:requested')
    const digest = event.type === 'approval:requested' ? event.data.digest : ''
    await place.call('patch-context', run, { set: { tone: 'loud' }, if_version: 0 })
    const said = await place.call('decide-approval', run, { decision: 'approve', digest, edits: { topic: 'hail' } })
    expect(said.status).toBe(200)
    await place.ended(run)
    const [attempt] = (await get(run, 'write')).json.attempts
    expect(attempt).toMatchObject({ inputs: { tone: 'brief', topic: 'hail' }, inputs_verified: true })
    expect(attempt?.approvals).toEqual([event.type === 'approval:requested' ? event.data.approval_id : ''])
    expect(attempt?.calls[0]?.prompt).toContain('hail')
  })

  test('has the attempts of one item of a foreach block, and refuses an item there is not', async () => {
    const each = { items: '{{inputs.files}}', as: 'file' }
    const read = {
      id: 'read',
      inputs: { files: 'json' },
      outputs: text,
      foreach: each,
      agent: { ...agent, system: 'S', prompt: 'item {{inputs.file}}' },
    }
    const run = await place.start({ blocks: [read] }, { context: { files: ['a', 'b'] } })
    await place.ended(run)
    const { json } = await get(run, 'read', { item: '1' })
    expect(json).toMatchObject({ item: 1, state: 'completed', attempt: 1 })
    expect(json.attempts).toMatchObject([
      { item: 1, inputs: { file: 'b' }, inputs_verified: true, calls: [{ prompt: 'item b', system: 'S' }] },
    ])
    expect((await get(run, 'read')).json.attempts).toMatchObject([{ item_count: 2, inputs_verified: true, calls: [] }])
    expect(await get(run, 'read', { item: '2' })).toMatchObject({ status: 404, json: { code: 'unknown_item' } })
  })

  test('answers at most fifty attempts, the newest, and says so', async () => {
    const never = { name: 'never', check: { type: 'contains', port: 'text', values: ['NEVER'] } }
    const back = {
      blocks: [
        { id: 'a', outputs: text, inputs, agent },
        {
          id: 'b',
          inputs: { x: { from: 'a.text' } },
          outputs: text,
          agent: { ...agent, system: 's', prompt: 'p' },
          post_gates: [never],
          retry: { max_attempts: 5, delay_ms: 1 },
          on_gate_fail: [{ when_gate: 'never', route_to: 'a', max_bounces: 10 }],
        },
      ],
    }
    const run = await place.start(back, { context })
    await place.ended(run)
    const { json } = await get(run, 'b')
    expect(json.attempts).toHaveLength(50)
    expect(json.attempts_cut).toBe(true)
    expect(json.attempts.at(-1)).toMatchObject({ epoch: json.epoch, attempt: json.attempt, inputs_verified: true })
  })

  test('hints at the block that was meant, and tells other tenants of no run', async () => {
    const run = await written()
    const { status, json } = await get(run, 'wirte')
    expect({ status, code: json.code }).toEqual({ status: 404, code: 'unknown_block' })
    expect(json.detail).toContain('Did you mean "write"?')
    expect(await get(run, 'write', null, 'other')).toMatchObject({ status: 404, json: { code: 'unknown_run' } })
  })
})

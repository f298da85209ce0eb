import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runTraceId } from '../../../shared/telemetry/span-ids.ts'
import { startEmbedder } from '../../emulators/embedding-server.ts'
import { completes, startOpenai } from '../../emulators/openai-server.ts'
import { json, type ProviderServer } from '../../emulators/provider-server.ts'
import { child, childOf, deployDocument } from '../child-place.ts'
import { putAtlas } from '../research/small-atlas.ts'
import { provider } from '../test-place.ts'
import { openTracedPlace, outside, TOKEN, type TracedPlace, tree } from './place.ts'

/** Whole runs of the local place, and the traces a collector has of them. */
const KEY = 'sk-canary-4f1d9a7c22'
const WORDS = 'canary-prompt-words'
let model: ProviderServer
let open: TracedPlace

beforeEach(async () => {
  model = await startOpenai(() => 'An answer.', KEY)
  open = await openTracedPlace(
    {
      providers: { probe: provider(({ prompt }) => prompt) },
      keys: new Map([
        ['KEY', KEY],
        ['OTLP_AUTH', `Bearer ${TOKEN}`],
      ]),
    },
    { providers: { big: { type: 'openai-compatible', url: `${model.url}/v1`, key: { env: 'KEY' } } } },
  )
})
afterEach(async () => {
  await open.close()
  await model.close()
})

const outputs = { text: { type: 'string' } }
const ask = (more: object = {}) => ({
  agent: { provider: 'big', model: 'g-1', prompt: `Say ${WORDS}`, model_params: { temperature: 0.2, max_tokens: 64 } },
  outputs,
  ...more,
})
const ofCalls = ({ name }: { readonly name: string }) => name.startsWith('chat ')
const run = async (dag: object) => {
  const id = await open.place.start(dag)
  const events = await open.place.ended(id)
  return { id, end: events.at(-1)?.type, spans: await open.spansOf(id) }
}

describe('a run', () => {
  test('is one trace: the run, its attempts, their calls, each within the one above', async () => {
    const dag = {
      name: 'traced',
      blocks: [
        { id: 'write', ...ask() },
        { id: 'review', inputs: { text: { from: 'write.text' } }, ...ask() },
      ],
    }
    const { id, end, spans } = await run(dag)
    expect(end).toBe('run:completed')
    expect(open.collector.refused).toEqual([])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([runTraceId(id)]))
    expect(tree(spans).toSorted()).toEqual([
      'block review < invoke_workflow traced',
      'block write < invoke_workflow traced',
      'chat g-1 < block review',
      'chat g-1 < block write',
      'invoke_workflow traced',
    ])
    expect(outside(spans)).toEqual([])
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
  })

  test('a call says what the convention asks for, and where in the run it belongs', async () => {
    const { id, spans } = await run({ name: 'one', blocks: [{ id: 'write', ...ask() }] })
    const call = spans.find(ofCalls)
    const { port } = new URL(model.url)
    expect(call).toMatchObject({ name: 'chat g-1', kind: 3 })
    expect(call?.status).toBeUndefined()
    expect(call?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'g-1',
      'gen_ai.request.temperature': 0.2,
      'gen_ai.request.max_tokens': 64,
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.model': 'g-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 21,
      'gen_ai.usage.output_tokens': 9,
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'sluice.provider': 'big',
      'sluice.run_id': id,
      'sluice.tenant': 'main',
      'sluice.block': 'write',
      'sluice.attempt': 1,
      'sluice.epoch': 0,
    })
    expect(call?.resource).toEqual({
      'service.name': 'sluice',
      'deployment.environment.name': 'local',
      'service.instance.id': open.place.place.world.ids.boot,
    })
    expect(spans.find(({ name }) => name.startsWith('invoke_workflow'))?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'one',
      'sluice.state': 'completed',
      'sluice.usage.tokens': 30,
    })
  })

  test('each try is a span with a call of its own, and says why it failed', async () => {
    model.next(json(500, { error: WORDS }), json(429, {}))
    const retry = { max_attempts: 3, backoff: 'none', delay_ms: 1 }
    const { spans } = await run({ name: 'again', blocks: [{ id: 'a', ...ask({ retry }) }] })
    const byAttempt = (name: string) =>
      spans
        .filter((span) => span.name === name)
        .map(({ attributes, status }) => [attributes['sluice.attempt'], attributes['error.type'], status?.code])
        .toSorted()
    const tries = [
      [1, 'provider_unavailable', 2],
      [2, 'provider_throttled', 2],
      [3, undefined, undefined],
    ]
    expect(byAttempt('chat g-1')).toEqual(tries)
    expect(byAttempt('block a')).toEqual(tries)
    expect(outside(spans)).toEqual([])
  })

  test('one that is stopped shows the attempt its end cut off', async () => {
    model.next((response) => void response)
    const id = await open.place.start({ name: 'stopped', blocks: [{ id: 'a', ...ask() }] })
    await open.place.until(id, ({ type }) => type === 'block:started')
    await open.place.call('stop-run', id, { reason: 'enough' })
    const end = await open.place.ended(id)
    expect(end.at(-1)?.type).toBe('run:cancelled')
    await expect
      .poll(async () => tree(await open.spansOf(id)).toSorted())
      .toEqual(['block a < invoke_workflow stopped', 'chat g-1 < block a', 'invoke_workflow stopped'])
    const block = (await open.spansOf(id)).find(({ name }) => name === 'block a')
    expect(block?.attributes['sluice.state']).toBe('cancelled')
  })

  test('judges of gates ask in the attempt they judge; before it was claimed below the run', async () => {
    const check = { type: 'llm_review', provider: 'big', model: 'j-1', criteria: 'It is good.', samples: 1 }
    const yes = completes('{"pass": true, "rationale": "good"}')
    model.next(yes, completes('An answer.'), yes)
    const { end, spans } = await run({
      name: 'judged',
      blocks: [
        { id: 'first', outputs, agent: { provider: 'probe', model: 'm', prompt: 'x' } },
        {
          id: 'a',
          ...ask(),
          inputs: { x: { from: 'first.text' } },
          pre_gates: [{ name: 'before', check: { ...check, port: 'x' } }],
          post_gates: [{ name: 'after', check: { ...check, port: 'text' } }],
        },
      ],
    })
    expect([end, tree(spans).toSorted()]).toEqual([
      'run:completed',
      [
        'block a < invoke_workflow judged',
        'block first < invoke_workflow judged',
        'chat g-1 < block a',
        'chat j-1 < block a',
        'chat j-1 < invoke_workflow judged',
        'chat m < block first',
        'invoke_workflow judged',
      ],
    ])
    expect(outside(spans)).toEqual([])
    expect(spans.filter(ofCalls).map(({ attributes }) => attributes['sluice.block'])).toEqual(['first', 'a', 'a', 'a'])
  })

  test('items hang below their block', async () => {
    const dag = { blocks: [{ id: 'each', inputs: { list: 'json' }, foreach: { items: '{{inputs.list}}' }, ...ask() }] }
    const id = await open.place.start({ name: 'many', ...dag }, { context: { list: ['a', 'b'] } })
    await open.place.ended(id)
    const spans = await open.spansOf(id)
    const whole = spans.find(({ name, attributes }) => name === 'block each' && attributes['sluice.item'] === undefined)
    const items = spans.filter(
      ({ attributes, name }) => name === 'block each' && attributes['sluice.item'] !== undefined,
    )
    expect(items.map(({ attributes }) => attributes['sluice.item']).toSorted()).toEqual([0, 1])
    expect(items.map(({ parentSpanId }) => parentSpanId)).toEqual([whole?.spanId, whole?.spanId])
    const parents = spans.filter(ofCalls).map(({ parentSpanId }) => parentSpanId)
    expect(parents.toSorted()).toEqual(items.map(({ spanId }) => spanId).toSorted())
    expect(outside(spans)).toEqual([])
  })

  test('a child has a trace of its own, linked to the attempt that waits for it', async () => {
    deployDocument(open.place, 'inner', [{ id: 'say', ...ask() }])
    const { id, spans } = await run({ name: 'outer', blocks: [child('sub', 'inner')] })
    const childId = await childOf(open.place, id, 'sub')
    const waits = spans.find(({ name }) => name === 'block sub')
    const own = (await open.spansOf(childId)).find(({ name }) => name === 'invoke_workflow inner')
    expect(own?.links).toEqual([{ traceId: waits?.traceId, spanId: waits?.spanId, attributes: [] }])
    expect(waits?.traceId).toBe(runTraceId(id))
    // It lasts as long as its child, though other invocations began and ended it.
    expect(BigInt(waits?.endTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(BigInt(own?.endTimeUnixNano ?? 1))
    expect(BigInt(waits?.startTimeUnixNano ?? 1)).toBeLessThanOrEqual(BigInt(own?.startTimeUnixNano ?? 0))
  })

  test('an attempt that died with its process is a span too, from its claim to when that was found', async () => {
    model.next((response) => void response)
    const id = await open.place.start({ name: 'lost', blocks: [{ id: 'a', ...ask() }] })
    await open.place.until(id, ({ type }) => type === 'block:started')
    await expect.poll(() => model.asked.length).toBe(1)
    await open.place.kill()
    await open.place.ended(id)
    const tries = (await open.spansOf(id)).filter(({ name }) => name === 'block a')
    const lost = tries.find(({ attributes }) => attributes['sluice.attempt'] === 1)
    expect(lost?.attributes).toMatchObject({ 'sluice.state': 'retrying', 'error.type': 'ATTEMPT_LOST' })
    expect(BigInt(lost?.endTimeUnixNano ?? 0)).toBeGreaterThan(BigInt(lost?.startTimeUnixNano ?? 0))
    expect(tries.map(({ attributes }) => attributes['sluice.attempt']).toSorted()).toEqual([1, 2])
  })

  test('the research chain: its stages’ calls of models and of embeddings lie below the run', async () => {
    const embedder = await startEmbedder((text) => [text.length, 1])
    const traced = await openTracedPlace(
      {},
      {
        providers: {
          near: { type: 'ollama', url: embedder.url },
        },
        research: { embeddings: { provider: 'near', model: 'e-1' } },
      },
    )
    try {
      await putAtlas(traced.place.place.world)
      const { json: started } = await traced.place.call('start-research', '', {
        topic: 'Which parliament lies on the sea?',
      })
      const id = String((started as { readonly run_id?: unknown }).run_id)
      await traced.place.ended(id)
      const spans = await traced.spansOf(id)
      const near = spans.filter(({ name }) => name === 'embeddings e-1')
      expect(near.length).toBeGreaterThan(0)
      expect(near[0]?.attributes).toMatchObject({
        'gen_ai.operation.name': 'embeddings',
        'gen_ai.provider.name': 'ollama',
        'gen_ai.embeddings.dimension.count': 2,
        'gen_ai.usage.input_tokens': expect.any(Number),
        'sluice.stage': 'nl_classify',
      })
      const mine = spans.filter(({ name }) => name === 'chat extractive')
      expect(mine[0]).toMatchObject({ kind: 1, attributes: { 'gen_ai.provider.name': 'sluice.extractive' } })
      const root = spans.find(({ name }) => name.startsWith('invoke_workflow'))
      expect(root?.attributes['sluice.kind']).toBe('research')
      expect(new Set(spans.flatMap(({ parentSpanId }) => parentSpanId ?? []))).toEqual(new Set([root?.spanId]))
      expect(outside(spans)).toEqual([])
    } finally {
      await traced.close()
      await embedder.close()
    }
  })
})

describe('content and secrets', () => {
  const dag = { name: 'secret', blocks: [{ id: 'a', ...ask() }] }
  const everything = () => JSON.stringify([open.collector.requests.map(({ body }) => body), open.logged])

  test('no word of prompts, answers or errors, and no key, is in a span or in the log', async () => {
    model.next(json(500, { error: { message: `${WORDS} ${KEY}` } }), completes(`Echo ${WORDS} ${KEY}`))
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 1 }
    const { spans } = await run({ ...dag, blocks: [{ id: 'a', ...ask({ retry }) }] })
    expect(spans.filter(ofCalls)).toHaveLength(2)
    expect(everything()).not.toMatch(/canary/)
    expect(everything()).not.toContain('An answer')
    expect(open.collector.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
    const config = await open.place.call('get-config', '')
    expect(JSON.stringify(config.json)).not.toMatch(/canary/)
  })

  test('what was asked and answered is there for who asked for it, without what looks like a secret', async () => {
    await open.close()
    open = await openTracedPlace(
      { providers: { big: provider(() => 'Answer sk-abcdefghijklmnopqrst') } },
      {},
      {
        capture_content: true,
      },
    )
    const system = 'Be short.'
    const { spans } = await run({ name: 'told', blocks: [{ ...ask(), id: 'a', agent: { ...ask().agent, system } }] })
    const { attributes = {} } = spans.find(ofCalls) ?? {}
    const read = (name: string) => JSON.parse(String(attributes[`gen_ai.${name}`]))
    expect(read('system_instructions')).toEqual([{ type: 'text', content: 'Be short.' }])
    expect(read('input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: expect.stringContaining(WORDS) }] },
    ])
    expect(read('output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Answer [redacted]' }], finish_reason: 'stop' },
    ])
  })
})

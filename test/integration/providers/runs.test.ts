import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { EventType, RunEvent } from '../../../shared/runs/event.ts'
import { startHttpProvider } from '../../emulators/http-provider-server.ts'
import { startOllama } from '../../emulators/ollama-server.ts'
import { completes, startOpenai } from '../../emulators/openai-server.ts'
import { hang, json, type ProviderServer } from '../../emulators/provider-server.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Whole runs on the local place, whose providers are servers of this test. */
const KEY = 'sk-canary-4f1d9a7c22'
let own: ProviderServer
let big: ProviderServer
let place: TestPlace
const logged: string[] = []
const log = {
  info: (message: string, facts?: object) => void logged.push(JSON.stringify([message, facts])),
  error: (message: string, facts?: object) => void logged.push(JSON.stringify([message, facts])),
}

beforeEach(async () => {
  logged.length = 0
  own = await startOllama(({ body }) => `Draft by ${body.model}`)
  big = await startOpenai(() => 'Reviewed.', KEY)
  place = await openTestPlace({ log, keys: new Map([['BIG_KEY', KEY]]) }, settings())
})
afterEach(async () => {
  await place.close()
  await own.close()
  await big.close()
})

const settings = () => ({
  providers: {
    own: { type: 'ollama', url: own.url },
    big: { type: 'openai-compatible', url: `${big.url}/v1`, key: { env: 'BIG_KEY' }, timeout_ms: 60_000 },
    hasty: { type: 'openai-compatible', url: `${big.url}/v1`, key: { env: 'BIG_KEY' }, timeout_ms: 2_000 },
    unkeyed: { type: 'openai-compatible', url: big.url, key: { env: 'NOT_SET' } },
  },
  agents: {
    writer: { role: 'worker', provider: 'own', model: 'llama3:8b', capabilities: ['prose'] },
    editor: { role: 'reviewer', provider: 'big', model: 'g-1', system: 'You judge drafts.' },
  },
})

const TEXT = { text: { type: 'string' } }
const routed = {
  name: 'routed',
  blocks: [
    { id: 'write', outputs: TEXT, agent: { role: 'worker', prompt: 'Write about {{inputs.topic}}' } },
    {
      id: 'review',
      inputs: { text: { from: 'write.text' } },
      outputs: TEXT,
      agent: { role: 'reviewer', prompt: 'Judge: {{inputs.text}}' },
    },
  ],
}
const one = (block: object) => ({
  blocks: [{ id: 'a', outputs: TEXT, agent: { provider: 'big', model: 'g-1', prompt: 'Go' }, ...block }],
})
/** The first event of a type, with the data of that type. */
function of<T extends EventType>(events: readonly RunEvent[], type: T) {
  return events.find((event): event is Extract<RunEvent, { type: T }> => event.type === type)
}

describe('a DAG routed by role', () => {
  test('asks each agent’s provider and model, and records them', async () => {
    const events = await place.ended(await place.start(routed, { context: { topic: 'sluices' } }))
    expect(events.at(-1)?.type).toBe('run:completed')
    const outputs = events.filter(({ type }) => type === 'block:output').map(({ data }) => data)
    expect(outputs).toMatchObject([
      { provider: 'own', model: 'llama3:8b', tokens_in: 21, tokens_out: 9, usd_micros: 0, finish_reason: 'stop' },
      { provider: 'big', model: 'g-1', tokens_in: 21, tokens_out: 9, finish_reason: 'stop' },
    ])
    expect(outputs[1]).not.toHaveProperty('usd_micros')
    expect(own.asked[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'Write about sluices' }] })
    const messages = [
      { role: 'system', content: 'You judge drafts.' },
      { role: 'user', content: 'Judge: Draft by llama3:8b' },
    ]
    expect(big.asked[0]?.body).toMatchObject({ model: 'g-1', messages })
  })

  test('has one dag_hash whoever does it, and the run shows who did', async () => {
    const id = await place.start(routed, { context: { topic: 'x' } })
    const started = of(await place.ended(id), 'run:started')
    const { json: shown } = await place.call('get-run', id)
    expect(JSON.stringify(shown)).toContain('"agent":"writer"')
    const other = {
      ...settings(),
      agents: { ...settings().agents, writer: { role: 'worker', provider: 'own', model: 'other' } },
    }
    const changed = await openTestPlace({ log }, other)
    const again = of(await changed.ended(await changed.start(routed, { context: { topic: 'x' } })), 'run:started')
    await changed.close()
    expect(again?.data.dag_hash).toBe(started?.data.dag_hash ?? 'none')
    expect(own.asked.map(({ body }) => body.model)).toEqual(['llama3:8b', 'other'])
  })

  test('is refused at start and by validate, with the place, when nobody fits', async () => {
    const nobody = { blocks: [{ id: 'a', outputs: TEXT, agent: { capability: 'prosa', prompt: 'p' } }] }
    await expect(place.start(nobody)).rejects.toThrow(/invalid_dag.*no_agent.*Did you mean .{1,2}prose/s)
    const { json: judged } = await place.call('validate-dag', '', { dag: nobody })
    expect(judged).toMatchObject({ valid: false, errors: [{ code: 'no_agent', path: 'blocks[0].agent' }] })
  })
})

describe('a failure of a provider', () => {
  test('that asks to wait is tried again after that time', async () => {
    big.next(json(429, {}, { 'retry-after': '1' }))
    const events = await place.ended(
      await place.start(one({ retry: { max_attempts: 2, backoff: 'none', delay_ms: 1 } })),
    )
    const retrying = of(events, 'block:retrying')
    expect(retrying?.data).toMatchObject({
      code: 'provider_throttled',
      reason: expect.stringContaining('answered 429'),
    })
    const [first, second] = events.filter(({ type }) => type === 'block:started').map(({ at }) => Date.parse(at))
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(big.asked.map(({ headers }) => headers['idempotency-key']).map((key) => key?.split('/').slice(-2))).toEqual([
      ['1', '0'],
      ['2', '0'],
    ])
  })

  test('that refuses is final, whatever retry allows', async () => {
    big.next(json(403, {}))
    const events = await place.ended(await place.start(one({ retry: { max_attempts: 3 } })))
    expect(of(events, 'block:failed')?.data).toMatchObject({ code: 'provider_refused' })
    expect(big.asked).toHaveLength(1)
  })

  test('is a time-out when it says nothing for timeout_ms of the provider', async () => {
    big.next(hang)
    const retry = { max_attempts: 5, backoff: 'none', delay_ms: 1 }
    const hasty = { provider: 'hasty', model: 'g-1', prompt: 'Go' }
    const events = await place.ended(await place.start(one({ agent: hasty, retry })))
    expect(of(events, 'block:retrying')?.data).toMatchObject({ code: 'provider_timeout' })
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('is none when the run is stopped: the call is hung up', async () => {
    big.next(hang)
    const id = await place.start(one({}))
    await expect.poll(() => big.asked.length).toBe(1)
    await place.call('stop-run', id, {})
    await expect.poll(() => big.hungUp.length).toBe(1)
    expect((await place.ended(id)).at(-1)?.type).toBe('run:cancelled')
  })
})

describe('the output contract', () => {
  const stored = async (output: Extract<RunEvent, { type: 'block:output' }> | undefined, port: string) => {
    const ref = output?.data.outputs[port]?.ref ?? ''
    return Buffer.from(await place.place.world.objects.get('main', ref)).toString()
  }
  const PORTS = { title: { type: 'string' }, steps: { type: 'number' } }

  test('is repaired within the attempt: each dispatch is told what was wrong, and all of them are counted', async () => {
    big.next(
      completes('Sure! Here it is.'),
      completes('{"title": "T", "ste'),
      completes('{"title": "T", "steps": "many"}'),
    )
    big.next(completes('Here:\n```json\n{"title": "T", "steps": 3}\n```'))
    const events = await place.ended(
      await place.start(one({ outputs: PORTS, strict_output: true, contract_repair_attempts: 3 })),
    )
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'block:started')).toHaveLength(1)
    expect(of(events, 'block:output')?.data).toMatchObject({ tokens_in: 84, tokens_out: 36 })
    const prompts = big.asked.map(({ body }) => JSON.stringify((body.messages as readonly object[]).at(-1)))
    expect(prompts[0]).not.toContain('refused')
    expect(prompts[1]).toMatch(/refused.*missing port title: the answer is no JSON object/)
    expect(prompts[2]).toMatch(/missing port steps: the answer is no JSON object/)
    expect(prompts[3]).toMatch(/port steps must be number, got string/)
    expect(prompts[3]).not.toContain('no JSON object')
  })

  test('fails the attempt after the last repair, in the words of the contract', async () => {
    const events = await place.ended(await place.start(one({ outputs: PORTS, strict_output: true })))
    expect(of(events, 'block:failed')?.data).toMatchObject({
      code: 'output_contract',
      reason: expect.stringContaining('missing port title'),
    })
    expect(big.asked).toHaveLength(2)
  })

  test('takes a list in a fence for a json port, and no half of one', async () => {
    const data = { outputs: { data: { type: 'json' } }, strict_output: true }
    big.next(completes('[1, 2'), completes('```json\n[1, 2]\n```'))
    const output = of(await place.ended(await place.start(one(data))), 'block:output')
    expect(await stored(output, 'data')).toBe('[1,2]')
    expect(JSON.stringify(big.asked[1]?.body.messages)).toContain('begins as JSON and does not parse')
  })
})

describe('keys', () => {
  test('one that is not set is told at the start and stops only who needs it', async () => {
    expect(logged.join('\n')).toMatch(/unkeyed.*environment variable NOT_SET is not set/)
    const events = await place.ended(
      await place.start(one({ agent: { provider: 'unkeyed', model: 'm', prompt: 'p' } })),
    )
    expect(of(events, 'block:failed')?.data).toMatchObject({
      code: 'provider_key_missing',
      reason: expect.stringMatching(/provider "unkeyed": environment variable NOT_SET is not set/),
    })
    expect(big.asked).toEqual([])
  })

  test('stand in no event, log, answer or file of the place, whatever servers send back', async () => {
    big.next((response, asked) => completes(`I was sent ${asked.headers.authorization}`)(response, asked))
    const ids = [await place.start(routed, { context: { topic: 'x' } })]
    await place.ended(ids[0] ?? '')
    big.next((response, asked) => json(418, { error: asked.headers })(response, asked))
    ids.push(await place.start(one({})))
    await place.ended(ids[1] ?? '')
    const told = [JSON.stringify(await place.events(ids[0] ?? '')), JSON.stringify(await place.events(ids[1] ?? ''))]
    for (const name of ['get-run', 'get-config', 'get-agents'])
      told.push(JSON.stringify(await place.call(name, ids[0] ?? '')))
    const files = readdirSync(place.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files) told.push(readFileSync(join(parentPath, name), 'latin1'))
    expect(big.asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true)
    expect(told.join('')).toContain('I was sent Bearer [key]')
    expect([...told, ...logged].filter((text) => text.includes('canary'))).toEqual([])
  })
})

test('GET /api/agents and /api/config show who there is, without what a url may hide', async () => {
  const mine = await startHttpProvider(() => ({ text: 'x' }))
  const providers = {
    mine: { type: 'http', url: `${mine.url}/answer?token=sk-canary`, models: ['m'] },
    aws: { type: 'bedrock', endpoint: 'https://vpce.example/x?token=sk-canary', max_concurrency: 4 },
  }
  const agents = { ana: { role: 'worker', provider: 'mine', model: 'm', capabilities: ['prose'], system: 'S' } }
  const other = await openTestPlace({ log }, { providers, agents })
  const [shown, config] = [await other.call('get-agents', ''), await other.call('get-config', '')]
  await other.close()
  await mine.close()
  expect(shown.json).toEqual({
    agents: [{ name: 'ana', role: 'worker', provider: 'mine', model: 'm', capabilities: ['prose'] }],
    providers: ['local', 'extractive', 'mine', 'aws'],
  })
  const aws = { type: 'bedrock', endpoint: 'https://vpce.example/x?token=hidden', max_concurrency: 4 }
  expect(config.json).toMatchObject({ config: { providers: { mine: { type: 'http', models: ['m'] }, aws }, agents } })
  expect(JSON.stringify(config.json)).not.toContain('canary')
})

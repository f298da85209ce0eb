import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { type McpEmulator, startMcpServer } from '../emulators/mcp-server.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { type Script, startScriptedModel } from '../emulators/scripted-model.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'

/** Agents that call tools on the deployed application: their model and their server speak over HTTP, each with its key. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/desk-AbCdEf'
const MODEL_SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/model-AbCdEf'
const [KEY, MODEL_KEY] = ['desk-canary-5d21c8', 'sk-canary-77b1f0c2']
const TURNS = 60
const scripts = new Map<string, Script>()
let server: McpEmulator
let model: ProviderServer
let made: Synthesized
let place: Deployment
let caller: Caller

beforeAll(async () => {
  const inputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  server = await startMcpServer([{ name: 'find', description: 'Finds a customer.', inputSchema }], KEY)
  // Which script answers is the model's name: a server may have several models.
  model = await startScriptedModel((seen) => {
    const script = scripts.get(seen.model) ?? 'No script.'
    return typeof script === 'function' ? script(seen) : 'No script.'
  }, MODEL_KEY)
  const { providers, mcp_servers } = SettingsSchema.parse({
    providers: { scripted: { type: 'openai-compatible', url: `${model.url}/v1`, key: { secret: MODEL_SECRET } } },
    mcp_servers: { desk: { url: server.url, key: { secret: SECRET }, tools: ['find'], effects: { find: 'read' } } },
  })
  const shipped = readStageSettings(join(import.meta.dirname, '../..'), { stage: 'dev' })
  const settings = { ...shipped, providers: { ...shipped.providers, ...providers }, mcp_servers }
  made = await synthesize({}, settings)
  place = await deploy(made.out, { [SECRET]: KEY, [MODEL_SECRET]: MODEL_KEY })
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await server?.close()
  await model?.close()
  made?.remove()
})

const write = (name: string) => ({ tool: 'artifact__write', arguments: { name, text: 'x' } })

async function act(name: string, script: Script, agent: object): Promise<string> {
  scripts.set(name, script)
  const block = {
    id: 'act',
    outputs: { answer: 'string' },
    agent: { provider: 'scripted', model: name, prompt: 'Go.', ...agent },
  }
  return caller.start({ dag: { name: `agent-${name}`, blocks: [block] } })
}

async function expectSound(id: string): Promise<void> {
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/verify`)
  const { checks } = json as unknown as { checks: readonly { n: number; ok: boolean; problems: readonly string[] }[] }
  expect(checks.flatMap(({ n, ok, problems }) => (ok ? [] : [n, ...problems]))).toEqual([])
}

const ended = (events: readonly RunEvent[], item: number) =>
  events.find((event) => event.item === item && ['block:completed', 'block:failed'].includes(event.type))

test('a tool of a server, a tool of ours, an approval with a changed argument, and a denial', async () => {
  const asks = { use: 'artifact.write', approval: { when: "args.name != 'free.md'", edit: ['name'] } }
  const id = await act(
    'desk',
    ({ turn }) => {
      if (turn === 0) return { calls: [{ tool: 'desk__find', arguments: { name: 'Ada' } }, write('free.md')] }
      if (turn === 1) return { calls: [write('first.md')] }
      return turn === 2 ? { calls: [write('second.md')] } : 'Done.'
    },
    { tools: ['desk.find', asks], taint: 'off' },
  )
  const decide = async (n: number, decision: object) => {
    const isAsked = (event: RunEvent) => event.type === 'approval:requested'
    await caller.until(id, (event) => isAsked(event) && event.seq > n)
    const events = await caller.until(id, (event) => isAsked(event) && event.seq > n)
    const asked = events.findLast(isAsked)
    const { approval_id, digest } = asked?.type === 'approval:requested' ? asked.data : { approval_id: '', digest: '' }
    const { status } = await caller.call('POST', `/api/dag/runs/${id}/approvals`, { approval_id, digest, ...decision })
    expect(status).toBe(200)
    return asked?.seq ?? 0
  }
  const first = await decide(0, { decision: 'approve', edits: { name: 'changed.md' } })
  await decide(first, { decision: 'reject', feedback: 'one is enough' })
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  expect([ended(events, 1), ended(events, 2), ended(events, 101)].map((one) => one?.type)).toEqual(
    Array.from({ length: 3 }, () => 'block:completed'),
  )
  expect(ended(events, 201)?.data).toMatchObject({ reason: expect.stringContaining('one is enough') })
  const called = server.asked.filter(({ method }) => method === 'tools/call')
  expect(called.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`])
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/artifacts`)
  expect(JSON.stringify(json)).toContain('changed.md')
  expect(JSON.stringify(json)).not.toContain('second.md')
  const transcript = await caller.call('GET', `/api/dag/runs/${id}/blocks/act/transcript`)
  expect(transcript.status).toBe(200)
  expect(JSON.stringify(transcript.json)).toContain('one is enough')
  await expectSound(id)
})

test('a model that obeys what it read writes nothing without a yes', async () => {
  const id = await act(
    'obedient',
    ({ turn }) =>
      turn === 0 ? { calls: [{ tool: 'desk__find', arguments: { name: 'Eve' } }] } : { calls: [write('loot.md')] },
    { tools: ['desk.find', { use: 'artifact.write', effect: 'write', idempotent: true }], max_turns: 2 },
  )
  const asked = await caller.until(id, ({ type }) => type === 'approval:requested')
  const question = asked.findLast(({ type }) => type === 'approval:requested')
  expect(question?.data).toMatchObject({ about: 'call' })
  expect((await caller.call('POST', `/api/dag/runs/${id}/stop`, {})).status).toBe(200)
  expect((await caller.until(id, isEnd)).at(-1)).toMatchObject({ type: 'run:cancelled' })
  await expectSound(id)
})

test('sixty turns, each a function of its own: none of ours waits for the next', async () => {
  const id = await act(
    'long',
    ({ turn }) => (turn < TURNS - 1 ? { calls: [write(`${turn % 7}.md`)] } : 'Done after sixty.'),
    { tools: ['artifact.write'], max_turns: TURNS },
  )
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  const turns = events.filter(({ type, item }) => type === 'block:completed' && item !== undefined && item % 100 === 0)
  expect(turns).toHaveLength(TURNS)
  await expectSound(id)
  const body = { from_block: 'act', keep_turns: TURNS - 2, say: 'Be quick.' }
  const { status, json } = await caller.call('POST', `/api/dag/runs/${id}/retry`, body)
  expect(status).toBe(201)
  const fork = String((json as { run_id?: unknown }).run_id)
  const after = await caller.until(fork, isEnd)
  expect(after.at(-1)).toMatchObject({ type: 'run:completed' })
  expect(after.filter(({ type, item }) => type === 'block:completed' && (item ?? 1) % 100 === 0)).toHaveLength(2)
  await expectSound(fork)
}, 240_000)

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import { stepFunction, stepSlug } from '../../shared/steps/described-step.ts'
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
const TURNS = 6

/** Code of a project that only a tool names: a call of 13 fails, and the first try of one of 60 is cut off by its time. */
const REFUND = `
import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({
  description: 'Pays money back.',
  inputs: z.object({ amount: z.number().describe('In euros') }),
  outputs: z.object({ said: z.string() }),
  async run({ inputs, log, progress, artifacts, attempt, key }) {
    log.info('refunding ' + inputs.amount)
    progress(0.5, 'half')
    if (inputs.amount === 13) throw new Error('unlucky')
    if (inputs.amount === 60 && attempt === 1) await new Promise((resolve) => setTimeout(resolve, 60_000))
    await artifacts.write('receipt.txt', key)
    return { said: 'refunded ' + inputs.amount }
  },
})
`
const PROJECT = {
  'steps/refund.ts': REFUND,
  'dags/brief.yaml': `
name: brief
inputs: { topic: string }
blocks:
  - { id: ask, mode: approval, approval: { prompt: "About {{inputs.topic}}?" }, inputs: { topic: string } }
  - id: say
    mode: deterministic
    depends: ask.succeeded
    outputs: { words: string }
    deterministic: { handler: transform, config: { expression: '"All about " & inputs.topic' } }
`,
  'dags/desk.yaml': `
name: desk
inputs: { say: string }
blocks:
  - id: act
    outputs: { answer: string }
    inputs: { say: string }
    agent:
      provider: scripted
      model: desk-document
      prompt: "{{inputs.say}}"
      taint: "off"
      tools: [{ use: ./steps/refund.ts, timeout_ms: 8000, max_calls: 4 }, dag.brief]
`,
}
let project: string
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
  project = mkdtempSync(join(tmpdir(), 'sluice-project-'))
  for (const [name, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  made = await synthesize({}, settings, 'bundled', project)
  place = await deploy(made.out, { [SECRET]: KEY, [MODEL_SECRET]: MODEL_KEY })
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await server?.close()
  await model?.close()
  made?.remove()
  rmSync(project, { recursive: true, force: true })
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

/** A run of the deployed document, whose model makes these calls turn by turn. */
async function desk(...turns: readonly (readonly (readonly [tool: string, args: object])[])[]): Promise<string> {
  scripts.set('desk-document', ({ turn, results }) => {
    const calls = (turns[turn] ?? []).map(([tool, args]) => ({ tool, arguments: args }))
    return calls.length > 0 ? { calls } : results.map(({ text }) => text).join(' | ')
  })
  return caller.start({ name: 'desk', inputs: { say: 'Go.' } })
}

const answerOf = async (id: string) => {
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/outputs/act`)
  return (json.outputs as { readonly answer?: string }).answer
}

test('steps that only a tool names: a function of their own each, with log and files; a failure is told', async () => {
  const id = await desk([
    ['refund', { amount: 7 }],
    ['refund', { amount: 13 }],
    ['refund', { amount: 'many' }],
  ])
  const events = await caller.until(id, isEnd)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  expect(await answerOf(id)).toMatch(/^refunded 7 \| .*unlucky.* \| .*do not fit/s)
  expect(place.functions.get(stepFunction('dev', stepSlug('./steps/refund.ts')))?.counts.invoked).toBe(2)
  const output = events.find(({ type, item }) => type === 'block:output' && item === 1)
  expect(output?.data).toMatchObject({ log: { tail: ['refunding 7'] } })
  expect(JSON.stringify((await caller.call('GET', `/api/dag/runs/${id}/artifacts`)).json)).toContain('receipt')
  await expectSound(id)
})

test('a step that was cut off in a call is asked about, and made again by a yes with the same key', async () => {
  const id = await desk([['refund', { amount: 60 }]])
  const events = await caller.until(id, ({ type }) => type === 'approval:requested')
  const asked = events.find(({ type }) => type === 'approval:requested')
  expect(asked?.data).toMatchObject({ about: 'lost_step' })
  // A deployed step is looked at every five seconds, and is cut off after eight.
  expect(events.find(({ type, item }) => type === 'step:progress' && item === 1)?.data).toMatchObject({ note: 'half' })
  const { json } = await caller.call('GET', '/api/dag/approvals')
  const words = JSON.stringify(json)
  expect(words).toContain('The agent called ./steps/refund.ts (call 1 of turn 1')
  expect(words).toContain('with {\\"amount\\":60}')
  expect((await caller.decide(id, asked, 'approve')).status).toBe(200)
  expect((await caller.until(id, isEnd)).at(-1)).toMatchObject({ type: 'run:completed' })
  expect(await answerOf(id)).toBe('refunded 60')
  await expectSound(id)
})

test('a document as a tool is a run of its own on its deployed machine, and nothing of ours runs while it waits', async () => {
  const id = await desk([
    ['dag__brief', { topic: 'bees' }],
    ['dag__brief', { topic: 'ants' }],
  ])
  const childIn = (events: readonly RunEvent[], item: number) =>
    events.flatMap((event) => (event.type === 'block:started' && event.item === item ? [event.data.child ?? ''] : []))
  for (const [item, decision] of [
    [1, 'approve'],
    [2, 'reject'],
  ] as const) {
    const [child = ''] = childIn(
      await caller.until(id, (event) => event.type === 'block:started' && event.item === item),
      item,
    )
    const isAsked = ({ type }: RunEvent) => type === 'approval:requested'
    const asked = (await caller.until(child, isAsked)).find(isAsked)
    if (item === 1) {
      await place.lambda.settled()
      // What was on its way when it asked may come late; whatever looked again and again would never be quiet for so long.
      const deliveredMeanwhile = async () => {
        const before = place.deliveries.length
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        return place.deliveries.slice(before)
      }
      await expect.poll(deliveredMeanwhile, { timeout: 60_000 }).toEqual([])
    }
    expect((await caller.decide(child, asked, decision)).status).toBe(200)
    await caller.until(child, isEnd)
    await expectSound(child)
  }
  expect((await caller.until(id, isEnd)).at(-1)).toMatchObject({ type: 'run:completed' })
  expect(await answerOf(id)).toMatch(/^All about bees \| child run .* failed/)
  await expectSound(id)
})

test('a stop ends turn, step and child of an agent at once', async () => {
  const id = await desk([
    ['refund', { amount: 60 }],
    ['dag__brief', { topic: 'bees' }],
  ])
  const events = await caller.until(id, (event) => event.type === 'block:started' && event.item === 2)
  const child = events.flatMap((one) => (one.type === 'block:started' && one.item === 2 ? [one.data.child ?? ''] : []))
  await caller.until(child[0] ?? '', ({ type }) => type === 'approval:requested')
  await caller.until(id, ({ type }) => type === 'step:started')
  expect((await caller.call('POST', `/api/dag/runs/${id}/stop`, {})).status).toBe(200)
  expect((await caller.until(id, isEnd)).at(-1)).toMatchObject({ type: 'run:cancelled' })
  expect((await caller.until(child[0] ?? '', isEnd)).at(-1)).toMatchObject({ type: 'run:cancelled' })
  await place.lambda.settled()
  await expectSound(id)
})

test('a stop, of the run or of the block alone, takes every question of its calls with it', async () => {
  for (const body of [{}, { block_id: 'act' }]) {
    const tools = [{ use: 'artifact.write', approval: true }]
    const id = await act('asking', ({ turn }) => (turn === 0 ? { calls: [write('a.md'), write('b.md')] } : 'Done.'), {
      tools,
    })
    const questions = (events: readonly RunEvent[]) => events.filter(({ type }) => type === 'approval:requested')
    await expect.poll(async () => questions(await caller.events(id)), { timeout: 20_000 }).toHaveLength(2)
    expect((await caller.call('POST', `/api/dag/runs/${id}/stop`, body)).status).toBe(200)
    await caller.until(id, isEnd)
    expect(JSON.stringify((await caller.call('GET', '/api/dag/approvals')).json)).not.toContain(id)
    await expectSound(id)
  }
})

test('what others wrote goes on with the answer and the files of an agent that had read it', async () => {
  scripts.set('reads', ({ turn }) => {
    if (turn === 0) return { calls: [{ tool: 'desk__find', arguments: { name: 'Ada' } }] }
    return turn === 1 ? { calls: [write('notes.md')] } : 'Write loot.md.'
  })
  const told: string[] = []
  const writes = { use: 'artifact.write', effect: 'write', idempotent: true }
  const acting = (id: string, tools: readonly unknown[], taint: string) => ({
    id,
    outputs: { answer: 'string' },
    agent: { provider: 'scripted', model: id, prompt: 'Go.', tools, taint },
  })
  for (const inputs of [{ said: { from: 'reads.answer' } }, {}]) {
    scripts.set('writes', ({ turn, results }) => {
      told.push(...results.map(({ text }) => text))
      if (turn === 0) return { calls: [{ tool: 'artifact__read', arguments: { name: 'notes.md' } }] }
      return turn === 1 ? { calls: [write('loot.md')] } : 'Done.'
    })
    const second = { ...acting('writes', ['artifact.read', writes], 'forbid'), depends: 'reads.succeeded', inputs }
    const blocks = [acting('reads', ['desk.find', writes], 'off'), second]
    const id = await caller.start({ dag: { name: 'hands-on', blocks } })
    expect((await caller.until(id, isEnd)).at(-1)).toMatchObject({ type: 'run:completed' })
    expect(told.splice(0).join(' | ')).toMatch(/as data.* \| .*read what others wrote/s)
    await expectSound(id)
  }
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

test('a run goes on from a turn of another, with what its agent said and saw until then', async () => {
  const id = await act('long', ({ turn }) => (turn < TURNS - 1 ? { calls: [write(`${turn % 7}.md`)] } : 'Done.'), {
    tools: ['artifact.write'],
    max_turns: TURNS,
  })
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

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { ProviderServer } from '../emulators/provider-server.ts'
import { startScriptedModel } from '../emulators/scripted-model.ts'
import { type Synthesized, synthesize } from '../integration/aws/synthesized.ts'
import { type Caller, callerOf, isEnd } from './caller.ts'
import { type Deployment, deploy } from './deploy.ts'
import { openVirtualTime, type VirtualTime } from './virtual-time.ts'

/**
 * An agent of sixty turns whose tools are slow: a document that waits three minutes, again and again, and a person who
 * answers after ten. Time passes only while no function is at work, so whatever held one would stop the test.
 */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/model-AbCdEf'
const KEY = 'sk-canary-31c0b7e2'
const MINUTE = 60_000
const TURNS = 60
/** Every eighth turn calls what is slow. */
const EVERY = 8
const SLOW = 'name: slow\nblocks:\n  - { id: rest, mode: wait, wait: { for: 3m } }\n'
const project = mkdtempSync(join(tmpdir(), 'sluice-long-agents-'))
let model: ProviderServer
let made: Synthesized
let place: Deployment
let caller: Caller
let time: VirtualTime

beforeAll(async () => {
  mkdirSync(join(project, 'dags'))
  writeFileSync(join(project, 'dags', 'slow.yaml'), SLOW)
  model = await startScriptedModel(({ turn }) => {
    if (turn === TURNS - 1) return 'Done after sixty.'
    if (turn === 30) return { calls: [{ tool: 'ask_person', arguments: { question: 'Go on?' } }] }
    if (turn % EVERY === 0) return { calls: [{ tool: 'dag__slow', arguments: {} }] }
    return { calls: [{ tool: 'artifact__write', arguments: { name: `${turn % 5}.md`, text: 'x' } }] }
  }, KEY)
  const { providers } = SettingsSchema.parse({
    providers: { scripted: { type: 'openai-compatible', url: `${model.url}/v1`, key: { secret: SECRET } } },
  })
  const shipped = readStageSettings(join(import.meta.dirname, '../..'), { stage: 'dev' })
  made = await synthesize({}, { ...shipped, providers: { ...shipped.providers, ...providers } }, 'bundled', project)
  time = openVirtualTime()
  place = await deploy(made.out, { [SECRET]: KEY }, undefined, undefined, time)
  caller = callerOf(place.api.url)
}, 240_000)
afterAll(async () => {
  await place?.close()
  await model?.close()
  made?.remove()
  rmSync(project, { recursive: true, force: true })
})

const atWork = () => [...place.functions.values()].reduce((sum, one) => sum + one.underWay(), 0)

/** Time passes at a moment when no function is under way. */
async function pass(ms: number): Promise<void> {
  for (const end = Date.now() + 120_000; atWork() > 0; await sleep(5)) {
    if (Date.now() > end)
      throw new Error('a function has been at work for two minutes while nothing but time was waited for')
  }
  time.pass(ms)
}

const waitsIn = (events: readonly RunEvent[]) => {
  const count = (type: RunEvent['type']) => events.filter((event) => event.type === type).length
  return count('block:waiting') - count('block:woken')
}

/** The child run a call of the agent waits for. */
async function slowCall(id: string, seen: ReadonlySet<string>): Promise<string | undefined> {
  const events = await caller.events(id)
  return events
    .flatMap((event) => (event.type === 'block:started' && event.data.child !== undefined ? [event.data.child] : []))
    .find((child) => !seen.has(child))
}

test('sixty turns over more than fifteen minutes, and no function lasts while time passes', async () => {
  const tools = ['dag.slow', 'artifact.write', 'ask_person']
  const agent = { provider: 'scripted', model: 'long', prompt: 'Go.', tools, max_turns: TURNS }
  const block = { id: 'act', outputs: { answer: 'string' }, agent }
  const id = await caller.start({ dag: { name: 'long-agent', blocks: [block] } })
  const seen = new Set<string>()
  for (;;) {
    const events = await caller.events(id)
    if (events.some(isEnd)) break
    const child = await slowCall(id, seen)
    if (child !== undefined && waitsIn(await caller.events(child)) > 0) {
      seen.add(child)
      await pass(3 * MINUTE)
    }
    const asked = events.find(({ type }) => type === 'approval:requested')
    const isOpen = asked !== undefined && !events.some(({ type }) => type === 'approval:decided')
    if (isOpen) {
      await pass(10 * MINUTE)
      expect((await caller.decide(id, asked, 'approve')).status).toBe(200)
    }
    await sleep(50)
  }
  const events = await caller.events(id)
  expect(events.at(-1)).toMatchObject({ type: 'run:completed' })
  const turns = events.filter(({ type, item }) => type === 'block:completed' && item !== undefined && item % 100 === 0)
  expect(turns).toHaveLength(TURNS)
  expect(seen.size).toBe(Math.ceil((TURNS - 1) / EVERY))
  const lasted = Date.parse(events.at(-1)?.at ?? '') - Date.parse(events[0]?.at ?? '')
  expect(lasted).toBeGreaterThan(30 * MINUTE)
  // By the same clock: no invocation was under way when it jumped.
  const longest = Math.max(...[...place.functions.values()].map(({ counts }) => counts.longest_ms))
  expect(longest).toBeLessThan(3 * MINUTE)
  const { json } = await caller.call('GET', `/api/dag/runs/${id}/verify`)
  expect(json).toMatchObject({ ok: true })
}, 900_000)

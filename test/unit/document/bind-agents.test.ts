import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { bindAgents, type Routing } from '../../../shared/document/bind-agents.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const url = 'http://127.0.0.1:1/'
const place = (more: object = {}): Routing =>
  SettingsSchema.parse({
    providers: { big: { type: 'openai-compatible', url, models: ['g-1', 'g-2'] }, own: { type: 'ollama', url } },
    agents: {
      coder: { role: 'worker', provider: 'own', model: 'code:7b', capabilities: ['coding'] },
      tester: {
        role: 'worker',
        provider: 'big',
        model: 'g-1',
        capabilities: ['coding', 'testing'],
        system: 'Be strict.',
      },
      reviewer: { role: 'reviewer', provider: 'big', model: 'g-2' },
    },
    ...more,
  })

const document = (agent: object) => ({
  blocks: [{ id: 'a', outputs: { x: 'string' }, agent: { prompt: 'Do it', ...agent } }],
})

function dagOf(agent: object): Dag {
  const parsed = parseDag(document(agent))
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors))
  return parsed.dag
}

function boundAgent(agent: object, routing = place()) {
  const bound = bindAgents(dagOf(agent), routing)
  const block: Block | undefined = bound.ok ? bound.dag.blocks[0] : undefined
  return block?.mode === 'ai' ? { ...block.agent, hash: block.hash } : bound
}

describe('a route finds the first agent of the file that fits all of it', () => {
  test.each([
    [{ role: 'worker' }, 'coder', 'own', 'code:7b'],
    [{ capability: 'coding' }, 'coder', 'own', 'code:7b'],
    [{ capability: 'testing' }, 'tester', 'big', 'g-1'],
    [{ role: 'worker', capability: 'testing' }, 'tester', 'big', 'g-1'],
    [{ specific: 'reviewer' }, 'reviewer', 'big', 'g-2'],
    [{ role: 'worker', provider: 'big' }, 'tester', 'big', 'g-1'],
    [{ role: 'worker', model: 'code:13b' }, 'coder', 'own', 'code:13b'],
    [{ role: 'worker', provider: 'big', model: 'g-2' }, undefined, 'big', 'g-2'],
  ])('%j', (route, agent, provider, model) => {
    expect(boundAgent(route)).toMatchObject({ provider, model, ...(agent && { agent }) })
  })

  test('and brings its system text, unless the block has its own', () => {
    expect(boundAgent({ specific: 'tester' })).toMatchObject({ system: 'Be strict.' })
    expect(boundAgent({ specific: 'tester', system: 'Be kind.' })).toMatchObject({ system: 'Be kind.' })
    expect(boundAgent({ specific: 'coder' })).not.toHaveProperty('system')
  })

  test('the same every time, and nothing else of the document changes', () => {
    const dag = dagOf({ role: 'worker' })
    const [once, again] = [bindAgents(dag, place()), bindAgents(dag, place())]
    expect(once).toEqual(again)
    const [block] = once.ok ? once.dag.blocks : []
    const { agent: _a, hash: _h, ...rest } = block as Extract<Block, { mode: 'ai' }>
    const { agent: _b, hash: _i, ...before } = dag.blocks[0] as Extract<Block, { mode: 'ai' }>
    expect(rest).toEqual(before)
  })
})

describe('a block’s hash after binding', () => {
  const named = { provider: 'own', model: 'm' }
  const hashOf = (agent: object, more?: object) => (boundAgent(agent, place(more)) as { hash: string }).hash
  const provider = (own: object) => ({ providers: { own }, agents: {} })

  test('is another one for another model, server or system text, and not for another time-out', () => {
    const base = hashOf(named, provider({ type: 'ollama', url }))
    expect(hashOf(named, provider({ type: 'ollama', url, timeout_ms: 5, key: { env: 'K' } }))).toBe(base)
    const others = [
      hashOf({ ...named, model: 'm2' }, provider({ type: 'ollama', url })),
      hashOf(named, provider({ type: 'ollama', url: `${url}x` })),
      hashOf(named, provider({ type: 'http', url })),
      hashOf({ ...named, system: 'S' }, provider({ type: 'ollama', url })),
      dagOf(named).blocks[0]?.hash,
    ]
    expect(new Set([base, ...others]).size).toBe(6)
  })

  test('stands for those who answer in its place too', () => {
    const providers = (port: number) => ({
      providers: { own: { type: 'ollama', url }, other: { type: 'ollama', url: `http://127.0.0.1:${port}/` } },
      agents: {},
    })
    const spare = { ...named, fallback: [{ provider: 'other', model: 'm' }] }
    const hashes = [
      hashOf(named, providers(2)),
      hashOf(spare, providers(2)),
      hashOf(spare, providers(3)),
      hashOf({ ...named, fallback: [{ provider: 'other', model: 'm', model_params: { seed: 1 } }] }, providers(2)),
    ]
    expect(new Set(hashes).size).toBe(4)
    expect(hashOf(named, providers(3))).toBe(hashes[0])
  })

  test('follows the agent a route finds, though the document stays', () => {
    const agents = (one: object) => ({ agents: { one: { role: 'worker', provider: 'own', model: 'a', ...one } } })
    const hashes = [{}, { model: 'b' }, { system: 'S' }].map((one) => hashOf({ role: 'worker' }, agents(one)))
    expect(new Set(hashes).size).toBe(3)
  })
})

describe('nobody fits', () => {
  test.each([
    [
      { specific: 'reviwer' },
      'unknown_agent',
      /names agent "reviwer".*"coder", "tester", "reviewer"/,
      /Did you mean "reviewer"/,
    ],
    [{ capability: 'codng' }, 'no_agent', /capability "codng".*coder \(worker; coding; own\)/, /Did you mean "coding"/],
    [{ role: 'manager' }, 'no_agent', /role "manager".*reviewer \(reviewer; big\)/, /Add it under agents/],
    [{ specific: 'coder', role: 'reviewer' }, 'no_agent', /name "coder", role "reviewer"/, /Add it/],
    [{ role: 'reviewer', provider: 'own' }, 'no_agent', /role "reviewer", provider "own"/, /Add it/],
    [
      { role: 'reviewer', model: 'g-3' },
      'unknown_model',
      /provider "big" for model "g-3".*"g-1", "g-2"/,
      /Did you mean "g-1"/,
    ],
    [{ provider: 'big', model: 'g2' }, 'unknown_model', /model "g2"/, /Did you mean "g-2"/],
  ])('%j is refused with what there is', (agent, code, words, hint) => {
    const bound = bindAgents(dagOf(agent), place())
    const issue = {
      code,
      path: 'blocks[0].agent',
      message: expect.stringMatching(words),
      hint: expect.stringMatching(hint),
    }
    expect(bound).toEqual({ ok: false, issues: [issue] })
  })

  test('the same holds for those who answer in its place, each at its own', () => {
    const agent = {
      provider: 'own',
      model: 'm',
      fallback: [
        { provider: 'own', model: 'n' },
        { provider: 'big', model: 'g2' },
      ],
    }
    const hint = 'Did you mean "g-2"?'
    const issue = { code: 'unknown_model', path: 'blocks[0].agent.fallback[1]', hint }
    expect(bindAgents(dagOf(agent), place())).toMatchObject({ ok: false, issues: [issue] })
    const judge = (fallback: object) =>
      parseDag(document({ ...agent, fallback: [fallback] }), { providers: ['big', 'own'], routing: place() })
    const at = 'blocks[0].agent.fallback[0]'
    expect(judge({ provider: 'big', model: 'g2' })).toMatchObject({
      errors: [{ code: 'unknown_model', path: at, hint }],
    })
    expect(judge({ provider: 'bgi', model: 'g2' })).toMatchObject({
      errors: [{ code: 'unknown_provider', path: `${at}.provider`, hint: 'Did you mean "big"?' }],
    })
  })

  test('is told with its place when a document is judged for a place', () => {
    const yaml = 'blocks:\n  - id: a\n    outputs: { x: string }\n    agent:\n      role: manager\n      prompt: p\n'
    const judged = parseDag(yaml, { providers: ['big', 'own'], routing: place() })
    expect(judged).toMatchObject({
      ok: false,
      errors: [{ code: 'no_agent', path: 'blocks[0].agent', line: 5, column: 7 }],
    })
    expect(parseDag(yaml).ok).toBe(true)
  })

  test('is told of a place without agents in one sentence', () => {
    expect(bindAgents(dagOf({ role: 'worker' }), { agents: {}, providers: {} })).toMatchObject({
      issues: [{ message: expect.stringContaining('none fits; configured are none') }],
    })
  })
})

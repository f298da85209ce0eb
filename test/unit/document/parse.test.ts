import { describe, expect, test } from 'vitest'
import type { Dag } from '../../../shared/dag/dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { expectLinear } from '../gates/linear.ts'

/** A document of the form others write, word for word: it must go on being accepted. */
const CANONICAL = `blocks:
  - id: plan
    outputs:
      plan: { type: string }
    agent:
      provider: local
      model: llama3:8b
      prompt: "Create a plan for: {{inputs.goal}}"

  - id: implement
    inputs:
      plan: { from: plan.plan }
    outputs:
      patch: { type: string }
    agent:
      provider: local
      model: codellama:13b
      prompt: "Implement this plan:\\n{{inputs.plan}}"
`

const DEFAULTS = {
  pre_gates: [],
  post_gates: [],
  gate_composition: { pre: 'all', post: 'all' },
  retry: { max_attempts: 1, backoff: 'exponential', delay_ms: 1_000, max_delay_ms: 30_000, jitter: 'full' },
  timeout_ms: 300_000,
  strict_output: true,
  contract_repair_attempts: 1,
}

function sound(given: string | object, options?: Parameters<typeof parseDag>[1]): Dag {
  const result = parseDag(given, options)
  if (!result.ok) throw new Error(result.errors.map((error) => error.message).join('\n'))
  return result.dag
}

const AGENT = { provider: 'local', model: 'm' }

describe('parseDag()', () => {
  test('takes the canonical example of the seed unchanged', () => {
    const result = parseDag(CANONICAL)
    expect(result).toMatchObject({ ok: true, order: ['plan', 'implement'] })
    expect(result.ok && result.dag_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(result.ok && result.dag).toEqual({
      name: 'dag',
      inputs: { goal: { required: true, declared: false } },
      blocks: [
        {
          ...DEFAULTS,
          id: 'plan',
          index: 0,
          name: 'plan',
          mode: 'ai',
          agent: {
            provider: 'local',
            model: 'llama3:8b',
            prompt: 'Create a plan for: {{inputs.goal}}',
            model_params: {},
          },
          inputs: {},
          outputs: { plan: { type: 'string', required: true } },
          upstream: [],
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        {
          ...DEFAULTS,
          id: 'implement',
          index: 1,
          name: 'implement',
          mode: 'ai',
          agent: {
            provider: 'local',
            model: 'codellama:13b',
            prompt: 'Implement this plan:\n{{inputs.plan}}',
            model_params: {},
          },
          inputs: { plan: { type: 'string', required: true, from: { block: 'plan', output: 'plan' } } },
          outputs: { patch: { type: 'string', required: true } },
          upstream: ['plan'],
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
    })
  })

  test('has one hash for one meaning: flow style, key order, edges instead of from, an object instead of text', () => {
    const flow = `{blocks: [{agent: {model: "llama3:8b", provider: local, prompt: "Create a plan for: {{inputs.goal}}"},
      outputs: {plan: string}, id: plan}, {id: implement, inputs: {plan: string}, outputs: {patch: string},
      agent: {provider: local, model: "codellama:13b", prompt: "Implement this plan:\\n{{inputs.plan}}"}}],
      edges: [{from: plan, output: plan, to: implement, input: plan}]}`
    const object = {
      blocks: [
        {
          id: 'plan',
          outputs: { plan: 'string' },
          agent: { provider: 'local', model: 'llama3:8b', prompt: 'Create a plan for: {{inputs.goal}}' },
        },
        {
          id: 'implement',
          inputs: { plan: { from: 'plan.plan' } },
          outputs: { patch: 'string' },
          agent: { provider: 'local', model: 'codellama:13b', prompt: 'Implement this plan:\n{{inputs.plan}}' },
        },
      ],
    }
    const results = [CANONICAL, flow, object, JSON.stringify(object), `\uFEFF${CANONICAL.replaceAll('\n', '\r\n')}`]
    const hashes = results.map((given) => {
      const result = parseDag(given)
      return result.ok ? result.dag_hash : result.errors
    })
    expect(new Set(hashes).size).toBe(1)
  })

  test('gives another hash to another meaning, and to only the blocks that differ', () => {
    const changed = CANONICAL.replace('codellama:13b', 'codellama:34b')
    const [before, after] = [sound(CANONICAL), sound(changed)]
    expect(before.blocks[0]?.hash).toBe(after.blocks[0]?.hash)
    expect(before.blocks[1]?.hash).not.toBe(after.blocks[1]?.hash)
    const [a, b] = [parseDag(CANONICAL), parseDag(changed)]
    expect(a.ok && b.ok && a.dag_hash !== b.dag_hash).toBe(true)
  })

  test('does not change a block hash when a block is put before it', () => {
    const extra = CANONICAL.replace('blocks:\n', 'blocks:\n  - { id: zero, agent: { provider: local, model: m } }\n')
    expect(sound(extra).blocks[2]?.hash).toBe(sound(CANONICAL).blocks[1]?.hash)
  })

  test('names the document by its name, the given name, or "dag"', () => {
    const blocks = [{ id: 'a', agent: AGENT }]
    expect(sound({ name: 'notes', version: 2, blocks }, { name: 'file' })).toMatchObject({
      name: 'notes',
      version: '2',
    })
    expect(sound({ blocks }, { name: 'file' }).name).toBe('file')
    expect(sound({ blocks })).not.toHaveProperty('version')
  })

  test('orders blocks by what they wait for, ties as in the document', () => {
    const block = (id: string, ...after: string[]) => ({
      id,
      agent: AGENT,
      inputs: Object.fromEntries(after.map((from) => [from, { from: `${from}.o` }])),
      outputs: { o: 'string' },
    })
    const blocks = [block('e', 'd', 'b'), block('d'), block('c', 'a'), block('b', 'a'), block('a')]
    const result = parseDag({ blocks, edges: [{ from: 'c', to: 'd' }] })
    expect(result.ok && result.order).toEqual(['a', 'c', 'd', 'b', 'e'])
    expect(result.ok && result.dag.blocks[0]?.upstream).toEqual(['d', 'b'])
    expect(result.ok && result.dag.blocks[1]?.upstream).toEqual(['c'])
  })

  const reader = (prompt: string, system: string) => ({
    id: 'a',
    inputs: { own: 'string', rows: 'json' },
    agent: { ...AGENT, prompt, system },
  })

  test('keeps declared run inputs, which are all there are', () => {
    const blocks = [reader('{{inputs.goal}} {{inputs.own}} {{inputs.rows.0.x}}', '{{ inputs.any }}')]
    const inputs = {
      goal: { type: 'string', description: 'What' },
      size: { type: 'number', default: 3 },
      any: {},
      s: 'json',
    }
    expect(sound({ inputs, blocks }).inputs).toEqual({
      goal: { type: 'string', required: true, description: 'What', declared: true },
      size: { type: 'number', required: false, default: 3, declared: true },
      any: { required: true, declared: true },
      s: { type: 'json', required: true, declared: true },
    })
  })

  test.each([{}, { inputs: {} }])(
    'takes the names templates read as run inputs where none is declared: %j',
    (given) => {
      const blocks = [reader('{{inputs.own}} {{inputs.more}} {{inputs.rows.0.x}}', '{{ inputs.tone }}')]
      expect(sound({ ...given, blocks }).inputs).toEqual({
        more: { required: true, declared: false },
        tone: { required: true, declared: false },
      })
    },
  )

  test('lets file and artifact fit each other, and an untyped input take the type of its source', () => {
    const dag = sound({
      blocks: [
        { id: 'a', agent: AGENT, outputs: { f: 'file', n: { type: 'number', required: false, description: 'd' } } },
        { id: 'b', agent: AGENT, inputs: { f: { from: 'a.f', type: 'artifact' }, n: { from: 'a.n', default: 1 } } },
      ],
    })
    expect(dag.blocks[0]?.outputs).toEqual({
      f: { type: 'file', required: true },
      n: { type: 'number', required: false, description: 'd' },
    })
    expect(dag.blocks[1]?.inputs).toEqual({
      f: { type: 'artifact', required: true, from: { block: 'a', output: 'f' } },
      n: { type: 'number', required: false, default: 1, from: { block: 'a', output: 'n' } },
    })
  })

  test('reads gates through the registry, with the defaults of their phase', () => {
    const { blocks } = sound({
      blocks: [
        {
          id: 'a',
          agent: AGENT,
          inputs: { goal: 'string' },
          outputs: { plan: 'string' },
          pre_gates: [{ name: 'g', check: { type: 'min_length', port: 'goal', min: 1 } }],
          post_gates: [
            { name: 'h', check: { type: 'contains', port: 'plan', values: ['x'], not: false }, error: 'Say x' },
            { name: 'i', check: { type: 'diff', left: 'goal', right: 'plan' }, on_fail: 'warn' },
            { name: 'j', check: { type: 'expr', expression: 'outputs.plan != inputs.goal' } },
          ],
          gate_composition: { pre: 'any', post: { weights: { h: 1, j: 2 }, threshold: 3 } },
        },
      ],
    })
    expect(blocks[0]?.pre_gates).toEqual([
      { name: 'g', check: { type: 'min_length', port: 'goal', min: 1 }, on_fail: 'fail' },
    ])
    expect(blocks[0]?.post_gates).toEqual([
      {
        name: 'h',
        check: { type: 'contains', port: 'plan', values: ['x'], case_sensitive: false },
        error: 'Say x',
        on_fail: 'retry',
      },
      { name: 'i', check: { type: 'diff', left: 'goal', right: 'plan', mode: 'equal' }, on_fail: 'warn' },
      { name: 'j', check: { type: 'expr', expression: 'outputs.plan != inputs.goal' }, on_fail: 'retry' },
    ])
    expect(blocks[0]?.gate_composition).toEqual({ pre: 'any', post: { weights: { h: 1, j: 2 }, threshold: 3 } })
  })

  test('gives a decision its outputs, and reads approvals with their defaults', () => {
    const { blocks } = sound({
      blocks: [
        { id: 'build', agent: AGENT, inputs: { goal: 'string' }, outputs: { log: 'string' }, approval: true },
        {
          id: 'sign',
          mode: 'approval',
          approval: {
            prompt: 'Ship {{inputs.log}}?',
            show: ['build.log', 'log'],
            approvers: ['iam:release', 'user:ana@example.com'],
            approver: 'andy',
            quorum: 1,
            on_reject: 'fail',
            self_approval: false,
            timeout_sec: 60,
            on_timeout: 'fail',
          },
          inputs: { log: { from: 'build.log' } },
        },
        { id: 'ship', agent: AGENT, inputs: { ok: { from: 'sign.approved' }, why: { from: 'sign.feedback' } } },
        { id: 'none', agent: AGENT, approval: { required: false, prompt: 'x' } },
      ],
    })
    expect(blocks[0]?.approval).toEqual({
      prompt: 'Approve "build"?',
      show: [],
      approvers: [],
      quorum: 1,
      self_approval: true,
      timeout_sec: 1_800,
      on_timeout: 'reject',
      edit: [],
      on_reject: 'fail',
      max_iterations: 5,
    })
    expect(blocks[1]).toMatchObject({
      mode: 'approval',
      outputs: {
        approved: { type: 'boolean', required: true },
        decided_by: { type: 'string', required: true },
        feedback: { type: 'string', required: false },
      },
      approval: {
        prompt: 'Ship {{inputs.log}}?',
        show: ['build.log', 'log'],
        approvers: ['iam:release', 'user:ana@example.com', 'user:andy'],
        self_approval: false,
        timeout_sec: 60,
        on_timeout: 'fail',
      },
    })
    expect(blocks[2]?.inputs.ok?.type).toBe('boolean')
    expect(blocks[3]).not.toHaveProperty('approval')
  })

  test('reads handlers, retry, and accepts the compatibility keys without effect', () => {
    const plain = {
      blocks: [
        {
          id: 'w',
          mode: 'deterministic',
          deterministic: { handler: 'write-artifact', config: { name: 'a.md' } },
          inputs: { body: 'string' },
          outputs: { ref: 'artifact' },
          retry: { max_attempts: 0, backoff: 'linear', delay_ms: 0, max_delay_ms: 5, jitter: 'none' },
          timeout_ms: 840_000,
          strict_output: false,
          contract_repair_attempts: 3,
        },
        { id: 'a', agent: AGENT },
      ],
    }
    const dressed = {
      metadata: { owner: 'x' },
      entrypoints: ['w'],
      terminals: ['w', 'a'],
      blocks: [
        { ...plain.blocks[0], metadata: { x: 1 }, agent: { role: 'worker' } },
        { id: 'a', agent: { ...AGENT, role: 'worker', capability: 'coding', specific: 'coder' } },
      ],
    }
    expect(sound(dressed)).toEqual(sound(plain))
    expect(sound(plain).blocks[0]).toMatchObject({
      mode: 'deterministic',
      handler: 'write-artifact',
      config: { name: 'a.md' },
      retry: { max_attempts: 1, backoff: 'linear', delay_ms: 0, max_delay_ms: 5, jitter: 'none' },
      timeout_ms: 840_000,
      strict_output: false,
      contract_repair_attempts: 3,
    })
  })

  test('judges providers only when told which are configured; local always is', () => {
    const blocks = [{ id: 'a', agent: { provider: 'olama', model: 'm' } }]
    expect(parseDag({ blocks }).ok).toBe(true)
    expect(parseDag({ blocks: [{ id: 'a', agent: AGENT }] }, { providers: [] }).ok).toBe(true)
    expect(parseDag({ blocks }, { name: 'x', providers: ['ollama'] })).toEqual({
      ok: false,
      errors: [
        {
          code: 'unknown_provider',
          path: 'blocks[0].agent.provider',
          message:
            'Cannot compile DAG "x": block "a" uses provider "olama", which is not configured; configured are "ollama", "local". Did you mean "ollama"?',
          hint: 'Did you mean "ollama"?',
        },
      ],
    })
  })

  test('reads 1,000 blocks and 5,000 wires, twice as many in some twice the time', async () => {
    const inputs = (i: number) =>
      Array.from({ length: Math.min(5, i) }, (_, k) => `p${k}: {from: b${(i * 7 + k * 13) % i}.o}`).join(', ')
    const block = (i: number) =>
      `- {id: b${i}, inputs: {${inputs(i)}}, outputs: {o: string}, agent: {provider: local, model: m}}`
    await expectLinear((size) => {
      const result = parseDag(`blocks:\n${Array.from({ length: size }, (_, i) => block(i)).join('\n')}`)
      expect(result.ok && result.order.length).toBe(size)
    }, 500)
  })
})

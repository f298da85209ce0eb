import fc from 'fast-check'

/** Every section once: what is mutated below is near to what people write. */
export const FULL = {
  name: 'full',
  inputs: { goal: { type: 'string', default: 'x' }, n: 'number' },
  entrypoints: ['plan'],
  completion: {
    trust: { from: ['table.out', 'plan.rows'] },
    quality: 'ml',
    pivot: 'auto',
    contract: 'required',
    claim: 'plan.plan',
    blockers: 'plan.rows',
  },
  goal_contract: {
    goal_text: 'Good',
    acceptance_criteria: [
      { id: 'A', kind: 'metric_threshold', metric: 'm', op: '>=', target: { input: 'n' } },
      { id: 'B', kind: 'artifact_exists', artifactPattern: '**/*.md' },
    ],
  },
  metadata: { by: 'x' },
  blocks: [
    {
      id: 'plan',
      outputs: { plan: { type: 'string' }, rows: 'json' },
      agent: { provider: 'local', model: 'm', prompt: 'Plan {{inputs.goal}}', model_params: { temperature: 0 } },
      post_gates: [
        { name: 'long', check: { type: 'min_length', port: 'plan', min: 3 }, error: 'Longer', on_fail: 'retry' },
      ],
      gate_composition: { post: { at_least: 1 } },
      retry: { max_attempts: 3, backoff: 'linear', delay_ms: 10 },
      when: "inputs.goal != '' && inputs.n > 1",
      cache: { key: 'inputs', max_age_sec: 60 },
    },
    {
      id: 'each-row',
      agent: { role: 'worker', capability: 'coding', prompt: 'Do {{inputs.row}} for {{inputs.n}}' },
      inputs: { rows: { from: 'plan.rows' }, count: 'number' },
      outputs: { done: 'string' },
      foreach: {
        items: '{{inputs.rows}}',
        as: 'row',
        max_concurrency: 4,
        tolerate: 1,
        item_gates: [{ name: 'item', check: { type: 'not_empty', port: 'row' }, on_fail: 'fail' }],
      },
      post_gates: [{ name: 'all', check: { type: 'not_empty', port: 'done' }, on_fail: 'route' }],
      on_gate_fail: [
        {
          when_gate: 'all',
          route_to: 'plan',
          reset_blocks: ['each-row'],
          max_bounces: 2,
          feedback_from: 'gate_verdicts',
        },
      ],
    },
    {
      id: 'child',
      mode: 'dag',
      dag: { name: 'other', inputs: { goal: '{{inputs.done}}', n: 1 }, outputs: { out: 'plan.plan' } },
      inputs: { done: { from: 'each-row.done', type: 'json' } },
      outputs: { out: 'string' },
      depends: 'each-row.succeeded && (table.done || !plan.failed)',
    },
    {
      id: 'ask',
      mode: 'research',
      research: { topic: 'on {{inputs.done}}', hints: { domain: '{{inputs.done}}' }, budget_tokens: 9 },
      inputs: { done: { from: 'each-row.done', type: 'json' } },
      outputs: { synthesis: 'string', evidence: 'json' },
    },
    {
      id: 'table',
      mode: 'deterministic',
      deterministic: { handler: 'transform', config: { expression: 'inputs.rows' } },
      inputs: { rows: { from: 'plan.rows' } },
      outputs: { out: 'json' },
    },
    {
      id: 'ok',
      mode: 'approval',
      approval: {
        prompt: 'Go?',
        show: ['plan.plan'],
        approvers: ['user:a', 'group:release'],
        quorum: 1,
        remind_sec: 60,
        escalate: { after_sec: 120, to: ['group:leads'] },
        edit: ['plan'],
        on_reject: 'iterate',
        max_iterations: 2,
      },
      inputs: { plan: { from: 'plan.plan', type: 'string' } },
    },
  ],
  edges: [
    { from: 'table', to: 'ok' },
    { from: 'plan', output: 'plan', to: 'each-row', input: 'count', transform: 'value.length + outputs.rows.length' },
  ],
}

const STRANGE = fc.constantFrom<unknown>(
  null,
  '',
  'x',
  'plan.plan',
  'a.b.c',
  '{{inputs.',
  '{{x}}',
  '__proto__',
  -1,
  0,
  1.5,
  1e300,
  true,
  [],
  {},
  [[]],
  [null],
  [{}],
  { a: { b: {} } },
  { from: 1 },
  { type: [] },
  { __proto__: null },
  'é'.repeat(70),
  ['x', 1],
  'plan.succeeded',
  'each-row.done',
  'inputs.goal',
  '{{inputs.rows}}',
  'a &&',
  'approval',
  'dag',
  'research',
  'route',
  { at_least: 'x' },
)

/** Replaces, removes or adds one thing somewhere in a value. */
function mutate(value: unknown, path: readonly number[], strange: unknown, key: string): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof value !== 'object' || value === null) return strange
  const entries = Object.entries(value)
  if (entries.length === 0) return Array.isArray(value) ? [strange] : { [key]: strange }
  const at = first % (entries.length + 1)
  if (Array.isArray(value)) {
    return at === entries.length
      ? [...value, strange]
      : value.map((item, i) => (i === at ? mutate(item, rest, strange, key) : item))
  }
  const kept = entries.map(([name, item], i) => [name, i === at ? mutate(item, rest, strange, key) : item])
  return Object.fromEntries(at === entries.length ? [...kept, [key, strange]] : kept)
}

/** The full document with one to three things replaced, removed or added. */
export const MUTANT = fc
  .array(
    fc.tuple(
      fc.array(fc.nat(20), { maxLength: 6 }),
      STRANGE,
      fc.constantFrom('id', 'x', 'when', 'depends', 'foreach', 'mode', 'from', 'type', ''),
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((steps) => steps.reduce<unknown>((document, [path, strange, key]) => mutate(document, path, strange, key), FULL))

import type { RunKey } from '../../shared/runs/run-store.ts'
import { chance, type PlannedBlock, type PlannedRun, planRun, upTo } from '../integration/random-runs.ts'
import { planAgents } from './agents/plan-agents.ts'
import { planApproval, planAsks, planBudget, planNotes, planOverrides } from './plan-approvals.ts'
import { planCalls } from './plan-calls.ts'
import { planGoal } from './plan-goals.ts'
import { planSteps } from './plan-steps.ts'
import type { planWaits } from './plan-waits.ts'
import { hashed, type Random } from './rng.ts'

/** One run of a scenario: its document, and what is known of it. */
export interface SimulatedRun extends PlannedRun {
  readonly tenant: string
  readonly run_id: string
  readonly deadline_sec: number
  readonly overrides: Readonly<Record<string, string>>
}

/** The document children are made of: inside it one block reads the other. */
export const CHILD = {
  name: 'child',
  inputs: { note: { type: 'string' } },
  blocks: [
    { id: 'c0', ...written('c0'), retry: { max_attempts: 2, backoff: 'none', delay_ms: 0 } },
    { id: 'c1', ...written('c1'), inputs: { text: { from: 'c0.text' } } },
  ],
}

/** The document of children that ask a person before their work goes on. */
export const ASKER = {
  name: 'asker',
  inputs: { note: { type: 'string' } },
  blocks: [
    { id: 'c0', ...written('c0') },
    {
      id: 'ask',
      mode: 'approval',
      inputs: { text: { from: 'c0.text' } },
      outputs: { decided_by: 'string' },
      approval: { prompt: 'Go on?', timeout_sec: 60, on_timeout: 'approve', reuse: true },
    },
    { id: 'c1', ...written('c1'), inputs: { who: { from: 'ask.decided_by' } } },
  ],
}

/** What parts of a run are drawn from, each by itself. */
interface Streams {
  readonly run: Random
  readonly steps: Random
  readonly calls: Random
  readonly agents: Random
  /** A seed: each block draws for itself. */
  readonly fallbacks: number
}

/** A small random run, with time-outs, delays, repairs, children, checks and handlers sprinkled over its blocks. */
export function planSmallRun(
  { run: random, ...drawn }: Streams,
  { tenant, run_id }: RunKey,
  without: ReadonlySet<string>,
  { goals, waits }: { readonly goals: number; readonly waits: ReturnType<typeof planWaits> },
): SimulatedRun {
  const plan = planRun(random, 4)
  const { blocks } = plan.document as { readonly blocks: readonly Written[] }
  const pairs = plan.blocks.map((block, i) => asking(sprinkled(block, blocks[i] as Written, random), random))
  const knot = chance(random, 0.2) ? KNOT : []
  const all = [...pairs, ...planHandlers(plan.blocks, random), ...knot]
  const budget = planBudget(random)
  // Drawn last, so that all else of a seed is what it was.
  const asked = chance(random, 0.04) ? [QUESTION] : []
  const goal = planGoal(random, without, goals)
  const above = chance(random, 0.25) ? ABOVE : []
  const judges = Object.entries(goal.blocks).map(([id, { port, type, expression }]) =>
    handler(id, { inputs: {}, outputs: { [port]: type } }, 'transform', { expression }, []),
  )
  const kept = [...all, ...asked, ...judges, ...above].filter(([{ id }]) => !without.has(id))
  const noted = planNotes(
    kept.map(([, block]) => withFallback(withoutWritten(block, without), drawn.fallbacks)),
    random,
  )
  const source = plan.blocks.find(({ items }) => items === undefined)?.id
  const steps = [...planSteps(drawn.steps, source, without), ...planCalls(drawn.calls, without)]
  // Of a stream of their own, and last: all else of a seed is what it was.
  const waiting = waits.filter(([{ id, upstream }]) => ![id, ...upstream].some((one) => without.has(one)))
  const added = [...steps, ...waiting, ...planAgents(drawn.agents, source, without)]
  return {
    tenant,
    run_id,
    deadline_sec: 60 * (1 + upTo(random, 30)),
    options: plan.options,
    blocks: [...kept.map(([block]) => withoutPlanned(block, without)), ...added.map(([block]) => block)],
    document: { blocks: [...noted, ...added.map(([, block]) => block)], ...budget, ...goal.document },
    overrides: planOverrides(noted, random),
  }
}

interface Written {
  readonly id: string
  readonly inputs: Readonly<Record<string, { readonly from: string }>>
  readonly [key: string]: unknown
}

function written(id: string) {
  return {
    outputs: { text: 'string' },
    agent: { provider: 'probe', model: 'm', prompt: id },
    timeout_ms: 30_000,
    contract_repair_attempts: 0,
  }
}

/** Somebody else answers some blocks of models, where the first does not. */
function withFallback(block: Written, seed: number): Written {
  if (typeof block.agent !== 'object' || hashed(seed, `fallback ${block.id}`) > 0.3) return block
  return { ...block, agent: { ...block.agent, fallback: [{ provider: 'spare', model: 'm' }] } }
}

/** Wires that no nesting of parallel branches has: joins that wait for several blocks at once. */
const KNOT: readonly (readonly [PlannedBlock, Written])[] = Object.entries<readonly string[]>({
  k0: [],
  k1: [],
  k2: [],
  k3: ['k0', 'k1', 'k2'],
  k4: ['k0', 'k1'],
  k5: ['k1', 'k2', 'k4'],
}).map(([id, upstream]) => [
  { id, upstream, gates: 0, tries: 2 },
  {
    id,
    ...written(id),
    inputs: Object.fromEntries(upstream.map((other) => [`from_${other}`, { from: `${other}.text` }])),
    post_gates: [],
    retry: { max_attempts: 2, backoff: 'none', delay_ms: 0, jitter: 'none' },
  },
])

/** A block whose child is a research run; nothing reads it. */
const QUESTION: readonly [PlannedBlock, Written] = [
  { id: 'q0', upstream: [], gates: 0, tries: 1 },
  {
    id: 'q0',
    mode: 'research',
    research: { topic: 'In what is ore melted?' },
    inputs: {},
    outputs: { synthesis: 'string', sources: 'json' },
  },
]

/** A block whose child asks, and one behind it that reads what people patch and callers override. */
const ABOVE: readonly (readonly [PlannedBlock, Written])[] = [
  [
    { id: 'u0', upstream: [], gates: 0, tries: 1 },
    {
      id: 'u0',
      mode: 'dag',
      dag: { name: 'asker', inputs: { note: 'a note' } },
      inputs: {},
      outputs: { text: 'string' },
    },
  ],
  [
    { id: 'u1', upstream: ['u0'], gates: 0, tries: 2 },
    {
      id: 'u1',
      ...written('u1'),
      inputs: { from_u0: { from: 'u0.text' }, note: { type: 'string', default: 'as planned' } } as never,
      post_gates: [],
      retry: { max_attempts: 2, backoff: 'none', delay_ms: 0, jitter: 'none' },
    },
  ],
]

function sprinkled(block: PlannedBlock, text: Written, random: Random): readonly [PlannedBlock, Written] {
  const timeout_ms = [2_000, 6_000, 20_000][upTo(random, 2)] ?? 6_000
  const delay_ms = [0, 0, 400, 3_000][upTo(random, 3)] ?? 0
  const retry = { ...(text.retry as object), delay_ms }
  const repairs = { contract_repair_attempts: chance(random, 0.2) ? 1 : 0 }
  const isPlain = block.gates === 0 && block.items === undefined && block.bounce === undefined
  const checked: Written = { ...text, ...planChecks(block, text, random), timeout_ms, retry }
  if (!isPlain || chance(random, 0.75)) return [block, { ...checked, ...repairs }]
  const { agent: _agent, contract_repair_attempts: _none, ...rest } = checked
  return [block, { ...rest, mode: 'dag', dag: { name: 'child', inputs: { note: 'a note' } } }]
}

function asking([block, text]: readonly [PlannedBlock, Written], random: Random): readonly [PlannedBlock, Written] {
  const approving = { ...text, ...planApproval(block, text, random) }
  return [block, { ...approving, ...planAsks(approving, random) }]
}

/** Checks that go to other functions, before the work of a block or after it. */
function planChecks({ upstream, items }: PlannedBlock, text: Written, random: Random): object {
  const drawn = upTo(random, 12)
  // Blocks that ask have judges before the question more often.
  const before = checkBefore(drawn > 9 && text.approval !== undefined ? 3 : drawn, upstream[0])
  if (before !== undefined) return { pre_gates: [{ name: 'first', check: before }] }
  const after = items === undefined ? checkAfter(drawn) : undefined
  if (after === undefined) return {}
  return { post_gates: [...(text.post_gates as object[]), { name: 'last', check: after }] }
}

function checkBefore(drawn: number, first: string | undefined): object | undefined {
  if (drawn === 0) return { type: 'shell', command: ['true'] }
  if (drawn === 1) return { type: 'http', url: 'https://example.com/' }
  if (first === undefined) return undefined
  if (drawn === 2) return { type: 'json_schema', port: `from_${first}`, schema: {} }
  return drawn === 3 ? review(`from_${first}`) : undefined
}

function checkAfter(drawn: number): object | undefined {
  if (drawn === 4) return { type: 'shell', command: ['true'] }
  if (drawn === 5) return { type: 'http', url: 'https://example.com/' }
  if (drawn === 6) return { type: 'json_schema', port: 'text', schema: { type: 'string' } }
  return drawn === 7 ? review('text') : undefined
}

function review(port: string): object {
  return { type: 'llm_review', port, criteria: 'Good.', provider: 'judge', model: 'j', samples: 1 }
}

/** Blocks of code of ours beside those of models: they write an artifact, read an input, run a program. */
function planHandlers(blocks: readonly PlannedBlock[], random: Random): readonly (readonly [PlannedBlock, Written])[] {
  const source = blocks.find(({ items }) => items === undefined)?.id ?? 'b0'
  const body = { body: { from: `${source}.text` } }
  const all = [
    handler('x0', { inputs: body, outputs: { file: 'file' } }, 'write-artifact', { name: 'note.txt' }, [source]),
    handler('x1', { inputs: {}, outputs: { text: 'string' } }, 'read-input', { path: 'note.txt' }, []),
    handler('x2', { inputs: {}, outputs: { text: 'string' } }, 'transform', { expression: '"good"' }, []),
  ]
  return all.filter(() => chance(random, 0.15))
}

function handler(
  id: string,
  ports: { readonly inputs: Written['inputs']; readonly outputs: object },
  name: string,
  config: object,
  upstream: readonly string[],
): readonly [PlannedBlock, Written] {
  const planned = { id, upstream, gates: 0, tries: 1 }
  return [planned, { id, mode: 'deterministic', ...ports, deterministic: { handler: name, config } }]
}

/** What is left of a block when others are taken out of its document. */
function withoutPlanned(block: PlannedBlock, without: ReadonlySet<string>): PlannedBlock {
  if (without.size === 0) return block
  const { bounce, when, mends, ...rest } = block
  const upstream = block.upstream.filter((id) => !without.has(id))
  const first = block.upstream[0] ?? ''
  const left = mends?.filter((id) => !without.has(id)) ?? []
  return {
    ...rest,
    upstream,
    ...(when === true && !without.has(first) ? { when } : {}),
    ...(left.length === 0 ? {} : { mends: left }),
    ...(bounce === undefined || without.has(bounce.to) ? {} : { bounce }),
  }
}

function withoutWritten(block: Written, without: ReadonlySet<string>): Written {
  if (without.size === 0) return block
  const inputs = Object.fromEntries(Object.entries(block.inputs).filter(([, { from }]) => !isGone(from, without)))
  const { when, depends, pre_gates, on_gate_fail, post_gates, ...rest } = block
  const names = [...without].map((id) => new RegExp(`\\b(from_)?${id}\\b`))
  const isFree = (part: unknown) => part !== undefined && !names.some((name) => name.test(JSON.stringify(part)))
  const gates = (post_gates as readonly object[] | undefined) ?? []
  return {
    ...rest,
    inputs,
    ...(isFree(when) ? { when } : {}),
    ...(isFree(depends) ? { depends } : {}),
    ...(isFree(pre_gates) ? { pre_gates } : {}),
    ...(isFree(on_gate_fail) ? { on_gate_fail } : {}),
    post_gates: isFree(on_gate_fail) ? gates : gates.map((gate) => ({ ...gate, on_fail: 'retry' })),
  }
}

function isGone(from: string, without: ReadonlySet<string>): boolean {
  return without.has(from.split('.')[0] ?? '')
}

import * as z from 'zod'
import { type GateUse, ON_CONFLICTS } from '../dag/dag.ts'
import type { Program } from '../gates/compile-programs.ts'
import type { GateKinds } from '../gates/project-gates.ts'
import { LIMITS, NAME_RULE } from '../limits.ts'
import { TEMPLATE_NAMES } from '../prompts/templates.ts'
import { ASKED_LIMITS } from '../research/payloads/intent.ts'
import type { ServicesSettings } from '../services/settings.ts'
import type { KnownSteps } from '../steps/described-step.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { issueProblems, unknownKeyProblem } from '../text/schema-issues.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue } from '../text/wording.ts'
import {
  CATCH_UPS,
  HMAC_ALGORITHMS,
  HMAC_ENCODINGS,
  OVERLAPS,
  TRIGGER_LIMITS,
  TRIGGERING_ENDS,
} from '../triggers/trigger.ts'
import type { Routing } from './bind-agents.ts'
import type { DagWarning } from './warnings.ts'

/**
 * The document, one flat strict schema a section (docs/dag.md). `any` is read by a section or check of its own,
 * so that each problem is found once and at its place. Defaults are in parse.ts.
 */
const any = z.custom<Json>().optional()
const text = z.string().max(100_000)
const label = z.string().min(1).max(200)
const names = z.array(label).max(100).optional()
const flag = z.boolean().optional()

/**
 * Accepted wherever other systems' files have them, for people and tools; no effect (docs/dag.md, "Compatibility"), but for
 * the `labels` of a document.
 */
const extras = { metadata: any, version: any, description: any, tags: any, labels: any }

const caps = {
  tokens: z.int().min(1).max(LIMITS.budget_tokens).optional(),
  usd: z.number().min(0.000001).max(LIMITS.budget_usd).optional(),
}

const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
const HEADER_RULE = 'the name of a header: a letter, then letters, digits and "-", 64 at most'

export const SECTIONS = {
  document: z.strictObject({
    ...extras,
    name: z.string().min(1).max(128).optional(),
    version: z.union([z.string().max(64), z.number()], 'must be a text').optional(),
    inputs: any,
    blocks: any,
    edges: any,
    entrypoints: z.array(z.string()).optional(),
    terminals: z.array(z.string()).optional(),
    budget: any,
    completion: any,
    goal_contract: any,
    concurrency: any,
    subject: any,
    triggers: any,
  }),
  concurrency: z.strictObject({
    key: z.string().min(1).max(LIMITS.key_program_characters).optional(),
    limit: z.int().min(1).max(LIMITS.concurrency).optional(),
    on_conflict: z.enum(ON_CONFLICTS).optional(),
  }),
  completion: z.strictObject({
    trust: any,
    quality: z.enum(['standard', 'ml']).optional(),
    pivot: z.enum(['manual', 'auto']).optional(),
    contract: z.enum(['required', 'optional']).optional(),
    claim: z.string().optional(),
    blockers: z.string().optional(),
  }),
  /** Of `completion`: who says how far the evidence can be trusted. */
  trust: z.strictObject({
    from: z.union(
      [z.string(), z.array(z.string()).min(1).max(LIMITS.verifiers)],
      `it must be BLOCK.OUTPUT or a list of 1 to ${LIMITS.verifiers} of them`,
    ),
  }),
  /** A run input, and an input port (which may also have `from`). */
  run_input: z.strictObject({ type: any, required: flag, default: any, description: text.optional(), search: flag }),
  input: z.strictObject({ from: any, type: any, required: flag, default: any, description: text.optional() }),
  output: z.strictObject({ type: any, required: flag, description: text.optional(), search: flag }),
  block: z.strictObject({
    ...extras,
    id: any,
    name: label.optional(),
    mode: any,
    inputs: any,
    outputs: any,
    agent: any,
    deterministic: any,
    dag: any,
    research: any,
    wait: any,
    when: any,
    depends: any,
    foreach: any,
    cache: any,
    budget: any,
    pre_gates: any,
    post_gates: any,
    gate_composition: any,
    on_gate_fail: any,
    approval: any,
    retry: any,
    timeout_ms: z.int().min(1).max(LIMITS.call_timeout_ms).optional(),
    strict_output: flag,
    contract_repair_attempts: z.int().min(0).max(3).optional(),
    block_dir: any,
  }),
  agent: z.strictObject({
    ...extras,
    provider: label.optional(),
    model: label.optional(),
    prompt: text.optional(),
    system: text.optional(),
    prompt_template: z.enum(TEMPLATE_NAMES).optional(),
    model_params: z.record(z.string(), z.json()).optional(),
    role: z.enum(['worker', 'reviewer', 'manager', 'specialist']).optional(),
    capability: label.optional(),
    specific: label.optional(),
    fallback: z.array(z.json()).min(1).max(LIMITS.fallbacks).optional(),
    tools: any,
    max_turns: z.int().min(1).max(LIMITS.agent_turns).optional(),
    max_parallel: z.int().min(1).max(LIMITS.foreach_concurrency).optional(),
    max_refused: z.int().min(0).max(1_000).optional(),
    taint: z.enum(['approve', 'forbid', 'off']).optional(),
  }),
  /** Of an agent: who is asked when those before it could not be. */
  fallback: z.strictObject({
    provider: label,
    model: label,
    model_params: z.record(z.string(), z.json()).optional(),
  }),
  /** One tool of an agent. */
  tool: z.strictObject({
    use: z.string().min(1).max(300),
    effect: z.enum(['read', 'write']).optional(),
    idempotent: flag,
    untrusted: flag,
    gates: any,
    approval: any,
    max_calls: z.int().min(1).max(10_000).optional(),
    timeout_ms: z.int().min(1).max(LIMITS.call_timeout_ms).optional(),
    config: any,
  }),
  deterministic: z.strictObject({ handler: label, config: any }),
  gate: z.strictObject({
    ...extras,
    name: label,
    check: any,
    error: text.optional(),
    on_fail: z.enum(['retry', 'fail', 'warn', 'route', 'ask']).optional(),
  }),
  gate_composition: z.strictObject({ pre: any, post: any }),
  at_least: z.strictObject({ at_least: z.int().min(1) }),
  weights: z.strictObject({ weights: z.record(z.string(), z.number().min(0)), threshold: z.number().gt(0) }),
  approval: z.strictObject({
    required: flag,
    prompt: text.optional(),
    show: names,
    approvers: names,
    approver: label.optional(),
    quorum: z.int().min(1).max(LIMITS.quorum).optional(),
    self_approval: flag,
    timeout_sec: z.int().min(1).max(LIMITS.approval_timeout_sec).optional(),
    on_timeout: z.enum(['reject', 'fail', 'approve']).optional(),
    remind_sec: z.int().min(1).max(LIMITS.approval_timeout_sec).optional(),
    escalate: any,
    edit: names,
    on_reject: z.enum(['fail', 'iterate', 'route']).optional(),
    max_iterations: z.int().min(1).max(LIMITS.iterations).optional(),
    reuse: flag,
  }),
  /** Of an approval: who is asked besides, and when. */
  escalate: z.strictObject({
    after_sec: z.int().min(1).max(LIMITS.approval_timeout_sec),
    to: z.array(label).min(1).max(100),
  }),
  retry: z.strictObject({
    max_attempts: z.int().min(0),
    backoff: z.enum(['none', 'linear', 'exponential']).optional(),
    delay_ms: z.number().min(0).max(LIMITS.retry_delay_ms).optional(),
    max_delay_ms: z.number().min(0).max(LIMITS.retry_delay_ms).optional(),
    jitter: z.enum(['full', 'none']).optional(),
  }),
  edge: z.strictObject({
    ...extras,
    from: z.string(),
    output: z.string().optional(),
    to: z.string(),
    input: z.string().optional(),
    transform: any,
  }),
  foreach: z.strictObject({
    items: any,
    as: any,
    max_concurrency: z.int().min(1).max(LIMITS.foreach_concurrency).optional(),
    tolerate: z.int().min(0).max(LIMITS.foreach_items).optional(),
    fail_fast: z.boolean().optional(),
    item_gates: any,
  }),
  cache: z.strictObject({ key: z.enum(['inputs']).optional(), max_age_sec: z.int().min(1).max(LIMITS.cache_age_sec) }),
  /** Of the document; a block's has no `on_exceed`: what it fails is the block. */
  budget: z.strictObject({ ...caps, on_exceed: z.enum(['fail', 'ask']).optional() }),
  block_budget: z.strictObject(caps),
  /** A rule of `on_gate_fail`. */
  bounce: z.strictObject({
    when_gate: label,
    route_to: any,
    reset_blocks: any,
    max_bounces: z.int().min(1).max(LIMITS.max_bounces).optional(),
    reason: text.optional(),
    feedback_from: z.enum(['gate_verdicts']).optional(),
  }),
  /** The section `dag` of `mode: dag`. */
  child: z.strictObject({ name: z.string().min(1).max(128), inputs: any, outputs: any }),
  /** The section `wait` of `mode: wait`: exactly one of the first four. */
  wait: z.strictObject({
    for: any,
    until: any,
    event: any,
    callback: flag,
    timeout: any,
    on_timeout: z.enum(['fail', 'complete']).optional(),
  }),
  /** Of a wait: which event of outside ends it. */
  wait_event: z.strictObject({ name: any, key: any, match: z.string().min(1).max(LIMITS.match_characters).optional() }),
  /** One of `triggers`: exactly one of the kinds. */
  trigger: z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, NAME_RULE)
      .optional(),
    inputs: any,
    priority: z.int().min(-LIMITS.priority_sec).max(LIMITS.priority_sec).optional(),
    schedule: any,
    webhook: any,
    event: any,
    run: any,
    object: any,
    debounce: any,
    rate: any,
  }),
  trigger_schedule: z.strictObject({
    cron: z.string().min(1).max(200).optional(),
    timezone: z.string().min(1).max(64).optional(),
    overlap: z.enum(OVERLAPS).optional(),
    catch_up: z.enum(CATCH_UPS).optional(),
  }),
  trigger_webhook: z.strictObject({
    verify: any,
    dedupe: z.string().min(1).max(TRIGGER_LIMITS.program_characters).optional(),
    map: any,
    max_body_bytes: z.int().min(1).max(TRIGGER_LIMITS.most_body_bytes).optional(),
    max_per_minute: z.int().min(1).max(TRIGGER_LIMITS.most_per_minute).optional(),
  }),
  trigger_verify: z.strictObject({ hmac: any }),
  trigger_hmac: z.strictObject({
    header: z.string().regex(HEADER_NAME, HEADER_RULE).optional(),
    secret: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, NAME_RULE)
      .optional(),
    algorithm: z.enum(HMAC_ALGORITHMS).optional(),
    encoding: z.enum(HMAC_ENCODINGS).optional(),
    prefix: z.string().max(40).optional(),
    timestamp: any,
  }),
  trigger_timestamp: z.strictObject({
    header: z.string().regex(HEADER_NAME, HEADER_RULE).optional(),
    window_sec: z.int().min(1).max(TRIGGER_LIMITS.most_window_sec).optional(),
  }),
  trigger_event: z.strictObject({
    name: any,
    match: z.string().min(1).max(TRIGGER_LIMITS.program_characters).optional(),
    map: any,
  }),
  trigger_run: z.strictObject({
    dag: z.string().min(1).max(128).optional(),
    ends: z.array(z.enum(TRIGGERING_ENDS)).min(1).optional(),
    map: any,
  }),
  trigger_object: z.strictObject({
    prefix: z.string().max(TRIGGER_LIMITS.key_characters).optional(),
    suffix: z.string().max(TRIGGER_LIMITS.key_characters).optional(),
    max_bytes: z.int().min(1).max(TRIGGER_LIMITS.most_object_bytes).optional(),
    map: any,
  }),
  trigger_debounce: z.strictObject({ for: any, at_most: any }),
  trigger_rate: z.strictObject({ limit: z.int().min(1).max(TRIGGER_LIMITS.most_rate).optional(), per: any }),
  /** The section `research` of `mode: research`. */
  research: z.strictObject({
    topic: z.string().max(ASKED_LIMITS.topic_characters).regex(/\S/, 'it is blank'),
    hints: any,
    budget_tokens: z.int().min(0).max(ASKED_LIMITS.budget_tokens).optional(),
    max_iterations: z.int().min(0).optional(),
    keep_unsupported: flag,
  }),
} as const

/** What the checks share: the problems found so far, the gates there are, and the providers when they are known. */
export interface Reading {
  readonly problems: Problem[]
  /** What a document without problems will suffer from. */
  readonly warnings: DagWarning[]
  /** Gates whose ports are looked at when every port has its type. */
  readonly gate_uses: LocatedGate[]
  /** What gates compile: checked last, here or in the isolate (parse.ts). */
  readonly programs: LocatedProgram[]
  /** What the gates read so far have cost (limits.ts). */
  readonly spent: { compiled_parts: number; program_characters: number; schema_nodes: number }
  readonly gates: GateKinds
  readonly providers?: readonly string[]
  /** Services that blocks of the handler `http` may ask, when they are known. */
  readonly services?: ServicesSettings
  /** Steps of the project that the document names, when the project is known. */
  readonly steps?: KnownSteps
  /** Agents and providers of the place, when they are known. */
  readonly routing?: Routing
}

/** A gate and where its check stands, below its block. */
export interface LocatedGate {
  readonly use: GateUse
  readonly phase: 'pre' | 'post' | 'item' | 'tool'
  readonly path: Path
}

/** A program of a gate, with the problem that it does not compile. */
export interface LocatedProgram {
  readonly program: Program
  readonly refuse: (message: string) => Problem
}

type Problems = Pick<Reading, 'problems'>

export type Mapping = Readonly<Record<string, Json>>

/** A value its schema accepts; otherwise undefined, and each issue is a problem. */
export function readMember<S extends z.ZodType>(
  { problems }: Problems,
  schema: S,
  given: Json | undefined,
  path: Path,
): z.output<S> | undefined {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  // One problem a place: the first rule that is broken is enough to go on with.
  const told = new Set<string>()
  for (const issue of result.error.issues) {
    const place = JSON.stringify(issue.path.map(String))
    if (!told.has(place)) problems.push(...issueProblems(issue, path, given, schema))
    told.add(place)
  }
  return undefined
}

/** A mapping as it is, or a problem. */
export function readMapping(reading: Problems, given: Json | undefined, path: Path): Mapping | undefined {
  // TypeScript does not take readonly lists out of Json by Array.isArray.
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Mapping
  wrong(reading, path, given, 'a mapping')
  return undefined
}

/** A list as it is, or a problem. */
export function readList(reading: Problems, given: Json | undefined, path: Path): readonly Json[] | undefined {
  if (Array.isArray(given)) return given
  wrong(reading, path, given, 'a list')
  return undefined
}

function wrong({ problems }: Problems, path: Path, given: Json | undefined, what: string): void {
  const hint = given === null ? `Give ${what}, or remove the key.` : undefined
  const say: Problem['say'] = ({ place }) => ({ text: `${place} must be ${what}, got ${describeValue(given)}`, hint })
  problems.push({ code: path.length === 0 ? 'not_a_mapping' : 'wrong_type', path, say })
}

/**
 * Reads a mapping key by key: what is right is answered, what is wrong is a problem at its place, so one mistake hides
 * no other. Unknown keys are problems too. `undefined` = not a mapping.
 */
export function readSection<S extends z.ZodObject>(
  reading: Problems,
  schema: S,
  given: Json | undefined,
  path: Path,
): Partial<z.output<S>> | undefined {
  const mapping = readMapping(reading, given, path)
  if (mapping === undefined) return undefined
  const known = () => Object.keys(schema.shape)
  for (const key of Object.keys(mapping)) {
    if (!Object.hasOwn(schema.shape, key)) reading.problems.push(unknownKeyProblem([...path, key], known))
  }
  const values: Record<string, unknown> = {}
  for (const [key, type] of Object.entries(schema.shape)) {
    const value = readMember(reading, type, Object.hasOwn(mapping, key) ? mapping[key] : undefined, [...path, key])
    if (value !== undefined) values[key] = value
  }
  // Each member came from its own schema of the shape.
  return values as Partial<z.output<S>>
}

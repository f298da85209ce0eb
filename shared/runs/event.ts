import * as z from 'zod'
import { DeclaredSchema } from '../auth/declared-client.ts'
import { FINAL_STATUSES } from '../goals/decision-table.ts'
import { StepLogSchema } from '../steps/step-order.ts'
import { ASKED_ABOUT, RESTART_MODES } from './head.ts'

const text = z.string()
const count = z.int().min(0)
const final_status = z.enum(FINAL_STATUSES).optional()
/** Of the decision table: `PASS x NOT_MET`. A number in events of before there was one. */
const row = z.union([text, count])

/** How a run ended. */
export const RunEndedSchema = z.strictObject({
  code: text,
  reason: text,
  block_id: text.optional(),
  /** What the two gates made of it, and the row of their table. */
  final_status,
  row: row.optional(),
  /** The linked run that goes on from here. */
  next_run: text.optional(),
  /** Tokens, and money in millionths of a US dollar, of calls whose price was known. */
  spent: z.strictObject({ tokens: count, usd_micros: count }).optional(),
})

/** What the gates said of a run. `status`: of the goal; `ref`: the whole evaluation (shared/goals/completion.ts). */
export const GoalEvaluatedSchema = z.strictObject({
  status: text,
  met: count,
  total: count,
  row,
  attempt: count,
  trust_passed: z.boolean().optional(),
  quality_passed: z.boolean().optional(),
  final_status,
  action: text.optional(),
  /** What did not hold, as much of it as there is room for. */
  reason: text.optional(),
  ref: text.optional(),
})

const time = z.iso.datetime()

/** Where one output value lies: `objstore://<tenant>/<sha256>`, its hash and size in bytes. */
export const StoredValueSchema = z.strictObject({ ref: text, sha256: text, bytes: count })
export type StoredValue = z.infer<typeof StoredValueSchema>

/** What a wait is for. */
export const WAITS_FOR = ['time', 'event', 'callback'] as const
/** What ends one. */
export const WOKEN_BY = [...WAITS_FOR, 'limit'] as const

const GATE_STATUSES = ['passed', 'failed', 'error', 'waived'] as const

/**
 * What calls of providers used that no block:output tells of: those of judges, of an attempt that failed before it had
 * an answer, and of one that was lost (there the estimate stands for it, whole in `tokens_in`).
 */
const used = z.strictObject({
  tokens_in: count,
  tokens_out: count,
  usd_micros: count.optional(),
  /** Of several calls of which only some have a price: the tokens of the others. */
  unpriced_tokens: count.optional(),
})
export type UsedByCalls = z.infer<typeof used>

/** One stage of the research chain: `n` is its step, `ref` the state of the chain after it. */
const research = z.strictObject({
  n: count,
  action: text.optional(),
  sufficient: z.boolean().optional(),
  /** Of the model calls this event is the first to tell of; all events together are what the chain used. */
  tokens: count,
  usd_micros: count.optional(),
  unpriced_tokens: used.shape.unpriced_tokens,
  ref: text,
})
const blockEnded = z.strictObject({ code: text, reason: text, spent: used.optional() })

/** Why a word on an open question does not count: whose it is, or what it is about. */
export const REFUSED_CODES = [
  'not_an_approver',
  'self_approval',
  'person_unknown',
  'already_voted',
  'digest_changed',
] as const

const held = {
  holder: text,
  lease_until: time,
  /** The child run that does this attempt's work (mode dag): it is the holder then, until its deadline. */
  child: text.optional(),
  /** What a question of that child binds of this run (shared/approvals/decision-binding.ts). */
  binding_ref: text.optional(),
  /**
   * foreach: how many items begin with it, and the ref of the block's resolved inputs they all work with. Of an agent that
   * acts nobody knows how many there will be: `turn` is the first of this attempt.
   */
  items: z.strictObject({ count, inputs_ref: text, turn: count.optional() }).optional(),
}

/** The block of another run that waits for this run (mode dag). */
export const ParentSchema = z.strictObject({
  run_id: text,
  block_id: text,
  epoch: count,
  attempt: count,
  binding_ref: text.optional(),
  /** An agent that had read what others wrote began this run, or fed what did. */
  tainted: z.exactOptional(z.literal(true)),
})

/** What an event of each type holds. How it changes a run and what it says to people is its row in event-types.ts. */
const DATA = {
  'run:started': z.strictObject({
    dag_name: text,
    dag_hash: text,
    inputs_hash: text,
    starter: text,
    /** The person, where `starter` is not their own name. */
    starter_person: text.optional(),
    deadline_at: time,
    caps: z.record(text, z.number()),
    parent: ParentSchema.optional(),
    /** The run this one goes on from (its context and artifacts are seen). */
    continues: text.optional(),
    /** The run whose completed results are taken over where definition and inputs are the same. */
    retry_of: text.optional(),
    /** The run this one takes the place of, since somebody rejected what it asked. */
    iterates: text.optional(),
    /** The run whose goal it tries again. */
    pivots: text.optional(),
    /** The run whose end or event fired the trigger that started it. */
    follows: text.optional(),
    /** Its completion is judged, by the contract of this sha256 if there is one. */
    goal: z.strictObject({ contract_hash: text.optional(), source: z.enum(['request', 'dag']).optional() }).optional(),
    /** Input ports that its starter set over what they are wired to: how many, the first of them, and the hash of all. */
    overrides: z.strictObject({ sha256: text, count, ports: z.array(text).readonly() }).optional(),
    /** Keys of its first context that a plain start would not have: as `overrides`. */
    context: z.strictObject({ sha256: text, count, keys: z.array(text).readonly() }).optional(),
    /** Its document is another one than the deployed one of its name, or than that of the run it retries. */
    edited: z.strictObject({ of: text, dag_hash: text, blocks: z.array(text).readonly() }).optional(),
    /** It waits for a slot among the active runs first. */
    queued: z.literal(true).optional(),
    /** Its labels: how many, the first of them as `key=value`, and the hash of all. */
    labels: z.strictObject({ sha256: text, count, first: z.array(text).readonly() }).optional(),
  }),
  /** Nothing of it begins until it goes on, and its deadlines stand still; `parent`: the run above it that was paused. */
  'run:paused': z.strictObject({
    by: text,
    person: text.optional(),
    reason: text.optional(),
    parent: text.optional(),
  }),
  /** It goes on: since when it stood, and for how many milliseconds its deadline and those of open questions moved on. */
  'run:resumed': z.strictObject({
    by: text,
    person: text.optional(),
    reason: text.optional(),
    since: time,
    stood_ms: count,
    parent: text.optional(),
  }),
  'run:completed': RunEndedSchema,
  'run:partial': RunEndedSchema,
  'run:blocked': RunEndedSchema,
  'run:failed': RunEndedSchema,
  'run:cancelled': RunEndedSchema,
  'run:iterated': RunEndedSchema,
  'block:ready': z.strictObject({}),
  'block:started': z.strictObject({
    inputs_hash: text,
    context_version: count,
    /** The decisions it stands on, of blocks before it that ask. */
    decisions: z
      .array(z.strictObject({ approval_id: text, digest: text }))
      .readonly()
      .optional(),
    /** The same as JSON, where there are more than an event has room for. */
    decisions_ref: text.optional(),
    /** Of an agent's call: the tool as the model named it and as the document does, and its arguments. */
    call: z.strictObject({ tool: text, use: text, args_ref: text }).optional(),
    ...held,
  }),
  /** The work of a step began: from here on it may have had an effect. */
  'step:started': z.strictObject({ holder: text }),
  /** How far it says it is: 0 to 1, and what it does. */
  'step:progress': z.strictObject({ fraction: z.number().min(0).max(1), note: text }),
  'block:output': z.strictObject({
    outputs: z.record(text, StoredValueSchema),
    provider: text,
    model: text,
    params_hash: text,
    prompt_hash: text,
    tokens_in: count,
    tokens_out: count,
    usd_micros: count.optional(),
    unpriced_tokens: used.shape.unpriced_tokens,
    latency_ms: z.number().min(0),
    finish_reason: text,
    note: text.optional(),
    /** Candidates before the one that answered, and why they did not. */
    passed_over: z
      .array(z.strictObject({ provider: text, model: text, code: text }))
      .readonly()
      .optional(),
    /** The answers of its calls as they came, repairs too (shared/providers/recording.ts). */
    raw_ref: text.optional(),
    /** What a step wrote: its last lines, and where all of them are. */
    log: StepLogSchema.optional(),
    /** What a step came to, as whoever ran it told it (shared/steps/step-order.ts). */
    outcome_ref: text.optional(),
    /** An agent that calls tools made it, and had read what others wrote; of a call: what it gave is of such an agent. */
    tainted: z.exactOptional(z.literal(true)),
  }),
  'block:gate': z.strictObject({
    gate: text,
    type: text,
    phase: z.enum(['pre', 'post']),
    status: z.enum(GATE_STATUSES),
    reason: text,
    input_hash: text,
    /** Of a gate of the project: the hash of the code that judged. */
    version: text.optional(),
    facts: z.unknown(),
    duration_ms: z.number().min(0),
    /** What judges answered, as it came. */
    raw_ref: text.optional(),
    spent: used.optional(),
  }),
  'block:retrying': z.strictObject({ code: text, reason: text, due_at: time, spent: used.optional() }),
  /** A person is asked about the attempt, which waits and holds no slot (docs/adr/0038). */
  'block:asked': z.strictObject({
    approval_id: text,
    about: z.enum(ASKED_ABOUT).exclude(['dispatch']),
    /** Those that did not hold, as many as there is room for. */
    gates: z.array(text),
    reason: text,
    /** The inputs it goes on with, as JSON, where they are needed again. */
    inputs_ref: text.optional(),
    /** Caps of the run with which the refused call would fit. */
    raise: z.strictObject({ tokens: z.exactOptional(count), usd_micros: z.exactOptional(count) }).optional(),
    spent: used.optional(),
  }),
  /** It goes on with its work after a yes. */
  'block:resumed': z.strictObject({ approval_id: text, ...held }),
  /** Nothing of it runs until what it waits for comes, or its time. */
  'block:waiting': z.strictObject({
    for: z.enum(WAITS_FOR),
    until: time,
    name: text.optional(),
    key: text.optional(),
    /** What it works with, fixed when it began: its `match` and its post-gates see nothing else. */
    inputs_ref: text,
    /** The event an earlier attempt or pass was woken by: neither it nor what came before it wakes this one. */
    after_at: time.optional(),
    after_id: text.optional(),
  }),
  /** An event of its name that its `match` could not judge, which counts as none. The first few are told. */
  'block:match_failed': z.strictObject({ event_id: text, reason: text }),
  /** What it waited for is there, or its time has come. */
  'block:woken': z.strictObject({
    /** `limit`: more events are kept for it than its `match` is asked about. */
    by: z.enum(WOKEN_BY),
    /** Of an event or a callback: when it came, and what it said. */
    came_at: time.optional(),
    event_id: text.optional(),
    payload: StoredValueSchema.optional(),
  }),
  /** `cached_from`: the run whose result stands in for a dispatch. */
  'block:completed': z.strictObject({ cached_from: text.optional(), spent: used.optional() }),
  'block:failed': blockEnded,
  /** `because`: upstream blocks that did not complete; `condition`: the block's own condition was false. */
  'block:skipped': z.strictObject({ because: z.array(text), condition: z.enum(['when', 'depends']).optional() }),
  /** Stopped alone; the run goes on (a run that ends cancels its blocks without an event of theirs). */
  'block:cancelled': blockEnded,
  'block:rerouted': z.strictObject({
    to: text,
    reset: z.array(text),
    bounce: z.int().min(1),
    max: z.int().min(1),
    epoch: z.int().min(1),
    reason: text,
    /** The failed gates' verdicts as JSON lines: what the next prompts of the reset blocks carry. */
    feedback_ref: text.optional(),
  }),
  'approval:requested': z.strictObject({
    approval_id: text,
    digest: text,
    prompt_hash: text,
    expires_at: time,
    approvers: z.array(text),
    quorum: z.int().min(1),
    /** Absent = a dispatch. */
    about: z.enum(ASKED_ABOUT).optional(),
    /** By judges of the pre-gates, before anybody was asked. */
    spent: used.optional(),
  }),
  'approval:decided': z.strictObject({
    approval_id: text,
    /** `waive`: the yes to a question about gates. Fewer yeses than needed (`have` < `need`) leave it open. */
    decision: z.enum(['approve', 'reject', 'waive']),
    by: z.strictObject({ kind: text, id: text }),
    /** The person, where `by` is not their own name. */
    person: text.optional(),
    /** By what the place saw it come, and what the client said of itself. */
    via: text,
    declared: DeclaredSchema.optional(),
    digest: text,
    feedback_ref: text.optional(),
    have: count,
    need: count,
    waited_ms: z.number().min(0),
    /** The rule that let this person decide: `anyone_allowed`, `approvers`, `people:NAME`, `group:NAME`, `default_group:NAME`. */
    policy: text,
    /** sha256 of approvers, quorum, self-approval and groups as they were then. */
    policy_hash: text.optional(),
    edits_hash: text.optional(),
    edits_ref: text.optional(),
    iterate: z.enum(RESTART_MODES).optional(),
    rest: z.literal(true).optional(),
    stop: z.literal(true).optional(),
  }),
  /** Somebody's word on it that did not count: it stays open. Of a run the first hundred are recorded. */
  'approval:refused': z.strictObject({
    approval_id: text,
    decision: z.enum(['approve', 'reject', 'waive']),
    by: z.strictObject({ kind: text, id: text }),
    /** The person, where `by` is not their own name. */
    person: text.optional(),
    via: text,
    declared: DeclaredSchema.optional(),
    code: z.enum(REFUSED_CODES),
    reason: text,
  }),
  'approval:expired': z.strictObject({ approval_id: text, on_timeout: z.enum(['reject', 'fail', 'approve']) }),
  'approval:reminded': z.strictObject({ approval_id: text, n: z.int().min(1) }),
  'approval:escalated': z.strictObject({ approval_id: text, to: z.array(text) }),
  /** Before a call of a provider: what it may use at the most. */
  'budget:reserved': z.strictObject({ tokens: count, usd_micros: count }),
  /** A call that was not made: `wanted` would have gone over `cap`; both in the unit of `of`. */
  'budget:exceeded': z.strictObject({
    of: z.enum(['run_tokens', 'run_usd_micros', 'block_tokens', 'block_usd_micros']),
    cap: count,
    wanted: count,
  }),
  /** Four fifths of a cap of `spending` are used or reserved; amounts only in the units it has, none of one over several tenants. */
  'spending:near': z.strictObject({
    cap: text,
    period: text,
    tokens: count.optional(),
    cap_tokens: count.optional(),
    usd_micros: count.optional(),
    cap_usd_micros: count.optional(),
  }),
  'goal:evaluated': GoalEvaluatedSchema,
  'research:requested': research,
  'research:classified': research,
  'research:routed': research,
  'research:executed': research,
  'research:assessed': research,
  'research:synthesized': research,
  'research:continued': research,
  'context:patched': z.strictObject({ version: count, keys: z.array(text), by: text.optional() }),
} as const

export type EventType = keyof typeof DATA
export type EventData<T extends EventType> = z.infer<(typeof DATA)[T]>

/** The types of events, as a list: what may be subscribed to. */
export const EVENT_TYPES = Object.keys(DATA) as readonly EventType[]

/** The types that end a run: exactly one of them is its last event. */
export type RunEnd = Exclude<Extract<EventType, `run:${string}`>, 'run:started' | 'run:paused' | 'run:resumed'>

/** What a writer hands to the store: the store adds seq, id, run_id and the time of the append. */
export type NewEvent = {
  [T in EventType]: {
    readonly type: T
    readonly block_id?: string
    /** Number of the foreach item it is about; absent = the block itself. */
    readonly item?: number
    readonly attempt?: number
    readonly data: EventData<T>
  }
}[EventType]

/** A stored event. `seq` is 1..n of its run; `id` is `<lane>/<ordinal>/<position in the append>`; `at` ISO 8601 UTC ms. */
export type RunEvent = NewEvent & {
  readonly seq: number
  readonly id: string
  readonly run_id: string
  readonly at: string
}

const members = Object.entries(DATA).map(([type, data]) =>
  z.strictObject({
    seq: z.int().min(1),
    id: text,
    type: z.literal(type),
    run_id: text,
    block_id: text.optional(),
    item: count.optional(),
    attempt: z.int().min(0).optional(),
    at: time,
    data,
  }),
)

/** Parses one stored event; used at the edges (API document, CLI, tests), never on the hot path. */
export const RunEventSchema = z.discriminatedUnion('type', members as never) as unknown as z.ZodType<RunEvent>

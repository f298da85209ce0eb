import type { GoalContract } from '../goals/goal-contract.ts'
import type { QualityProfile } from '../goals/quality-gate.ts'
import type { Json } from '../text/json.ts'
import type { TaskStatus } from './task-status.ts'

/** Types of ports. file and artifact values are object refs; json is any object, array or scalar. */
export const PORT_TYPES = ['string', 'number', 'boolean', 'json', 'file', 'artifact'] as const
export type PortType = (typeof PORT_TYPES)[number]

/** A run input the document declares; `declared: false`: one a template reads in a document that declares none. */
export interface RunInput {
  readonly type?: PortType
  readonly required: boolean
  readonly default?: Json
  readonly description?: string
  readonly declared: boolean
}

export interface InputPort {
  readonly type: PortType
  readonly required: boolean
  readonly default?: Json
  readonly description?: string
  /** The upstream output wired to it. */
  readonly from?: {
    readonly block: string
    readonly output: string
    /** Expression over `value` (the output) and `outputs` (all outputs of its block), from an edge's `transform`. */
    readonly transform?: string
  }
}

export interface OutputPort {
  readonly type: PortType
  readonly required: boolean
  readonly description?: string
}

/** One gate of a block: its check is already parsed by the gate registry (type plus that type's parameters). */
export interface GateUse {
  readonly name: string
  readonly check: { readonly type: string } & Readonly<Record<string, Json>>
  readonly error?: string
  readonly on_fail: 'retry' | 'fail' | 'warn' | 'route' | 'ask'
}

/**
 * One rule of `on_gate_fail`: which failed gate sends the run back, where to, and how often (docs/dag.md, "Bounce").
 */
export interface Bounce {
  readonly when_gate: string
  /** This block or one upstream of it. */
  readonly route_to: string
  /** Further blocks that run again; the hull adds what lies between. */
  readonly reset_blocks: readonly string[]
  /** At least 1; after as many bounces the failed gate is an ordinary failure. */
  readonly max_bounces: number
  readonly reason?: string
  readonly feedback_from: 'gate_verdicts'
}

/** Fan-out over a list: one lane an item, outputs published as lists in item order (docs/dag.md, "Foreach"). */
export interface Foreach {
  /** One placeholder, `{{inputs.files}}`, whose value is a list; or the list itself. At most 1,000 items. */
  readonly items: string | readonly Json[]
  /** Name under which an item's inputs hold its value. */
  readonly as: string
  /** 1 to 40. */
  readonly max_concurrency: number
  /** How many failed items the block survives; their place in the outputs is null. */
  readonly tolerate: number
  /** Once more items have failed than that, none is dispatched any more. Absent: of an earlier version, which ran them all. */
  readonly fail_fast?: boolean
  readonly item_gates: readonly GateUse[]
}

/** A previous result of the same block definition and inputs may stand in for a dispatch. */
export interface CachePolicy {
  readonly key: 'inputs'
  readonly max_age_sec: number
}

/** `mode: dag`: a child run of a deployed document. */
export interface ChildDag {
  readonly name: string
  /** Run inputs of the child; texts are templates over this block's inputs. Absent: the block's inputs by name. */
  readonly inputs: Readonly<Record<string, Json>>
  /** Port of this block -> `block.output` of the child; a port not named takes the like-named output of a sink block. */
  readonly outputs: Readonly<Record<string, string>>
}

/** `mode: research`: a chain over the knowledge graph, as a child run. Texts are templates over this block's inputs. */
export interface Research {
  readonly topic: string
  readonly hints: Readonly<Record<string, string>>
  /** Resolved: the same as the defaults is the same document. */
  readonly budget_tokens: number
  readonly max_iterations: number
  /** Sentences of the answer that are unsupported stay, marked; absent = they are left out. */
  readonly keep_unsupported?: true
}

/**
 * `mode: wait`: what the block waits for while nothing of it runs (docs/dag.md, "Wait"). `at` is an ISO time or one
 * placeholder; `key` is a template; `match` is JSONata over `{event, inputs}`.
 */
export type Wait =
  | { readonly kind: 'for'; readonly sec: number }
  | { readonly kind: 'until'; readonly at: string }
  | (WaitsForAnswer & {
      readonly kind: 'event'
      readonly name: string
      readonly key?: string
      readonly match?: string
    })
  | (WaitsForAnswer & { readonly kind: 'callback' })

/** Of waits that somebody else ends: how long, and what it means when nobody did. */
interface WaitsForAnswer {
  readonly timeout_sec: number
  readonly on_timeout: 'fail' | 'complete'
}

/** The output of a wait for a callback that is known before anything of the run is: a wire from it makes no order. */
export const CALLBACK_URL = 'callback_url'

/** What calls of providers may use in all; an absent cap is none. At least one is there. */
export interface BudgetCaps {
  readonly tokens?: number
  readonly usd?: number
}

export type GateComposition =
  | 'all'
  | 'any'
  | { readonly at_least: number }
  | { readonly weights: Readonly<Record<string, number>>; readonly threshold: number }

export interface ApprovalPolicy {
  readonly prompt: string
  /** Ports shown: `port` of this block's inputs, or `block.port` of an upstream output. Empty = all inputs. */
  readonly show: readonly string[]
  readonly approvers: readonly string[]
  /** So many people have to approve; one who rejects is enough. */
  readonly quorum: number
  readonly self_approval: boolean
  readonly timeout_sec: number
  readonly on_timeout: 'reject' | 'fail' | 'approve'
  readonly remind_sec?: number
  /** From then on these may decide too. */
  readonly escalate?: { readonly after_sec: number; readonly to: readonly string[] }
  /** Inputs the person who approves may change. */
  readonly edit: readonly string[]
  readonly on_reject: 'fail' | 'iterate' | 'route'
  /** Of a lineage of runs; after as many a rejection is a failure. */
  readonly max_iterations: number
  /** A retry may take over a decision that binds exactly the same; absent = it asks again. */
  readonly reuse?: true
}

export interface RetryPolicy {
  /** TOTAL tries; at least 1 after normalising. */
  readonly max_attempts: number
  readonly backoff: 'none' | 'linear' | 'exponential'
  readonly delay_ms: number
  readonly max_delay_ms: number
  readonly jitter: 'full' | 'none'
}

/** How an agent is found in sluice.yaml when the document does not name provider and model. */
export interface AgentRoute {
  readonly role?: 'worker' | 'reviewer' | 'manager' | 'specialist'
  readonly capability?: string
  /** Its name in sluice.yaml. */
  readonly specific?: string
}

/** A gate on a tool's call: it judges the arguments, or, `after`, what came back before the model sees it. */
export interface ToolGate extends GateUse {
  readonly after: boolean
}

/** When a person is asked before a tool is called, and who. */
export interface ToolApproval {
  /** Expression over `args`; absent = always. */
  readonly when?: string
  /** Its prompt is a template over `args`, and `edit` names arguments. */
  readonly policy: ApprovalPolicy
  /** Who says yes may say it for every later call of the tool in the run. */
  readonly allow_rest: boolean
}

/** What of a tool a run is pinned to. */
export interface ToolPin {
  readonly description: string
  /** A JSON Schema of an object. */
  readonly input_schema: Json
  /** Hex sha256 of name, description and schema, as they were told. */
  readonly hash: string
  /** Of a step of the project. */
  readonly step?: StepPin
  /** Of a step or document: what it gives. */
  readonly outputs?: Readonly<Record<string, OutputPort>>
}

/** One tool an agent may call (docs/agents.md). */
export interface ToolUse {
  /** `server.tool`, `./steps/x.ts`, `dag.NAME`, or one of ours: `graph.search`. */
  readonly use: string
  readonly kind: 'mcp' | 'step' | 'dag' | 'builtin'
  /** As the model is shown it: unique among those of its agent. */
  readonly name: string
  /** `write`: it changes something outside; one whose outcome is not known is not done again without a person. */
  readonly effect: 'read' | 'write'
  /** Doing it twice with the same key is doing it once. */
  readonly idempotent: boolean
  /** What it gives was written by others: it is shown to the model as data. */
  readonly untrusted: boolean
  readonly gates: readonly ToolGate[]
  readonly approval?: ToolApproval
  /** Calls of the tool in one pass of the block, the refused ones among them. */
  readonly max_calls?: number
  readonly timeout_ms: number
  /** Of a step. */
  readonly config: Readonly<Record<string, Json>>
  /** Of a run's document. */
  readonly pin?: ToolPin
}

/** What makes an agent one that acts. */
export interface Acting {
  readonly tools: readonly ToolUse[]
  readonly max_turns: number
  /** Calls of one turn that run side by side. */
  readonly max_parallel: number
  /** Calls that gates or people may refuse before the block fails. */
  readonly max_refused: number
  /** What `write` tools are after something untrusted was read. */
  readonly taint: 'approve' | 'forbid' | 'off'
}

/** Who is asked when those before it could not be: not there, unwilling, or over budget. */
export interface Fallback {
  readonly provider: string
  readonly model: string
  readonly model_params: Readonly<Record<string, Json>>
}

/** Either provider and model, or a route that is bound to an agent at run start (shared/document/bind-agents.ts). */
export interface Agent {
  /** '' where the document does not name one: then there is a route, and binding fills in the found agent's. */
  readonly provider: string
  /** As `provider`. */
  readonly model: string
  /** As written in the document, and only where provider or model is not: a route beside both has no effect. */
  readonly route?: AgentRoute
  /** Name of the agent of sluice.yaml it was bound to. */
  readonly agent?: string
  readonly prompt?: string
  readonly system?: string
  readonly model_params: Readonly<Record<string, Json>>
  /** In the order in which they are asked. */
  readonly fallback?: readonly Fallback[]
  /** Absent = it asks once and calls nothing. */
  readonly acting?: Acting
}

/** What of its step a block of a run is pinned to (docs/steps.md). */
export interface StepPin {
  /** `native`: AWS does the work itself (docs/native-calls.md); `container`: this machine runs one. */
  readonly kind: 'module' | 'program' | 'container' | 'native'
  /** Hex sha256 of its code, or of what a call is of: which one a run began with. */
  readonly hash: string
  /** The path of the module or program that stands in for a call of AWS. */
  readonly stand_in?: string
  /** `once`: a person is asked before it is done again. */
  readonly effect: 'again' | 'once'
}

interface BlockBase {
  readonly id: string
  /** Position in the canonical document; item keys use it, never the id. */
  readonly index: number
  readonly name: string
  readonly inputs: Readonly<Record<string, InputPort>>
  readonly outputs: Readonly<Record<string, OutputPort>>
  readonly pre_gates: readonly GateUse[]
  readonly post_gates: readonly GateUse[]
  readonly gate_composition: { readonly pre: GateComposition; readonly post: GateComposition }
  readonly approval?: ApprovalPolicy
  readonly retry: RetryPolicy
  readonly timeout_ms: number
  readonly strict_output: boolean
  readonly contract_repair_attempts: number
  readonly on_gate_fail?: readonly Bounce[]
  /** Expression over `inputs`; false = the block is skipped. */
  readonly when?: string
  /** Expression over outcomes of upstream blocks (`plan.succeeded`); those it does not name must have succeeded. */
  readonly depends?: string
  readonly foreach?: Foreach
  readonly cache?: CachePolicy
  /** Of all its attempts, repairs, items and judges together. No part of the hash: it changes no answer. */
  readonly budget?: BudgetCaps
  /** Ids of the blocks this one waits for: wired inputs and plain edges, without duplicates, in document order. */
  readonly upstream: readonly string[]
  /** sha256 of the block's canonical definition with its agent settings. */
  readonly hash: string
}

export type Block =
  | (BlockBase & { readonly mode: 'ai'; readonly agent: Agent })
  | (BlockBase & {
      readonly mode: 'deterministic'
      readonly handler: string
      readonly config: Readonly<Record<string, Json>>
      /** Of a run's document, where the handler is a step of the project: which code it began with. */
      readonly step?: StepPin
      /** Of an agent's call, which no document holds: as that of a step. */
      readonly effect?: StepPin['effect']
    })
  | (BlockBase & { readonly mode: 'approval'; readonly approval: ApprovalPolicy })
  | (BlockBase & { readonly mode: 'dag'; readonly dag: ChildDag })
  | (BlockBase & { readonly mode: 'research'; readonly research: Research })
  | (BlockBase & { readonly mode: 'wait'; readonly wait: Wait })

/**
 * The normalised document: what the compiler, the handlers and the hash see. It is plain JSON: it is stored as an
 * object at start and read back by every block (its canonical JSON is the identity of the DAG).
 */
export interface Dag {
  readonly name: string
  readonly version?: string
  readonly inputs: Readonly<Record<string, RunInput>>
  /** Of the whole run; over it a call is not made, and its block fails or a person is asked to raise the cap. */
  readonly budget?: BudgetCaps & { readonly on_exceed: 'fail' | 'ask' }
  /** How its runs are judged beyond "every block completed"; absent = by nothing, unless there is a goal contract. */
  readonly completion?: CompletionSettings
  /** What its runs are to reach, where the request of a run brings no contract of its own. */
  readonly goal_contract?: GoalContract
  /** How many of its runs go on at once; absent = as many as the place lets in. */
  readonly concurrency?: Concurrency
  /** Of every run of it. */
  readonly labels?: Readonly<Record<string, string>>
  /** Whose data its runs hold: where among the run inputs that stands (shared/runs/subject.ts). */
  readonly subjects?: readonly string[]
  /** What words of its runs are searched in: names of run inputs, and `block.output`. */
  readonly searched?: { readonly inputs: readonly string[]; readonly outputs: readonly string[] }
  /** In document order; `blocks[i].index === i`. */
  readonly blocks: readonly Block[]
  /** Of a run's document only: the gates its task's moves stand before (shared/document/task-gates.ts). */
  readonly task_gates?: readonly TaskGate[]
}

/** What becomes of a run that is started while as many of its key go on as may. */
export const ON_CONFLICTS = ['queue', 'skip', 'cancel_running', 'replace_queued'] as const
export type OnConflict = (typeof ON_CONFLICTS)[number]

/** Runs of one document take turns (docs/dag.md, "Concurrency"). */
export interface Concurrency {
  /** JSONata over `inputs`: runs of one value take turns. Absent: all runs of the document do. */
  readonly key?: string
  readonly limit: number
  readonly on_conflict: OnConflict
}

/** What decides how a run ends, as its document has it (docs/dag.md, "Completion"); refs are `block.output`. */
export interface CompletionSettings {
  /** Outputs that are trust scores, or have one: at least one. Absent = no verifier, and the trust gate fails. */
  readonly trust?: { readonly from: readonly string[] }
  readonly quality: QualityProfile
  /** Who starts the next attempt at a goal that was not met: a person, or the run itself. */
  readonly pivot: 'manual' | 'auto'
  /** `required`: a run without a goal contract is refused at its start. */
  readonly contract: 'required' | 'optional'
  /** The status the workers claim; absent = SUCCESS. */
  readonly claim?: string
  /** What keeps the goal from being met: a list of texts. */
  readonly blockers?: string
}

/** Of a document without the section, whose run has a contract all the same. */
export const DEFAULT_COMPLETION: CompletionSettings = { quality: 'standard', pivot: 'manual', contract: 'optional' }

/** Whether runs of a document are judged by more than their blocks, whatever their request brings along. */
export function isJudged({ completion, goal_contract }: Pick<Dag, 'completion' | 'goal_contract'>): boolean {
  return completion !== undefined || goal_contract !== undefined
}

/** Ids of the blocks that judge, claim or block: what they say is a verdict, never evidence for the goal. */
export function judgingBlocks({ trust, claim, blockers }: CompletionSettings): ReadonlySet<string> {
  const refs = [...(trust?.from ?? []), claim, blockers].filter((ref) => ref !== undefined)
  return new Set(refs.map((ref) => ref.slice(0, ref.indexOf('.'))))
}

/** Whether a block's work is a run of its own, which it waits for (docs/adr/0024). */
export function opensChild(mode: Block['mode'] | undefined): mode is 'dag' | 'research' {
  return mode === 'dag' || mode === 'research'
}

/** Whether this output of a block is there before the block is: the address of a callback. */
export function isKnownOutput(block: Pick<Block, 'mode'> | undefined, output: string): boolean {
  return block?.mode === 'wait' && output === CALLBACK_URL
}

/** What rules of `on_gate_fail` call a rejection, with `on_reject: route`: no gate of such a block may have this name. */
export const REJECTION_GATE = 'approval'

/** A gate as a run is pinned to it: part of its document from the start on. */
export interface TaskGate extends GateUse {
  readonly from?: TaskStatus
  readonly to?: TaskStatus
}

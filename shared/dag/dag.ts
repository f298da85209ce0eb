import type { Json } from '../canonical.ts'

/** Types of ports. file and artifact values are object refs; json is any object, array or scalar. */
export const PORT_TYPES = ['string', 'number', 'boolean', 'json', 'file', 'artifact'] as const
export type PortType = (typeof PORT_TYPES)[number]

/** A run input the document declares, or one a template reads without declaring it (`declared: false`). */
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
  readonly from?: { readonly block: string; readonly output: string }
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
  readonly on_fail: 'retry' | 'fail' | 'warn'
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
  readonly self_approval: boolean
  readonly timeout_sec: number
  readonly on_timeout: 'reject' | 'fail' | 'approve'
}

export interface RetryPolicy {
  /** TOTAL tries; at least 1 after normalising. */
  readonly max_attempts: number
  readonly backoff: 'none' | 'linear' | 'exponential'
  readonly delay_ms: number
  readonly max_delay_ms: number
  readonly jitter: 'full' | 'none'
}

export interface Agent {
  readonly provider: string
  readonly model: string
  readonly prompt?: string
  readonly system?: string
  readonly model_params: Readonly<Record<string, Json>>
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
    })
  | (BlockBase & { readonly mode: 'approval'; readonly approval: ApprovalPolicy })

/**
 * The normalised document: what the compiler, the handlers and the hash see. It is plain JSON: it is stored as an
 * object at start and read back by every block (its canonical JSON is the identity of the DAG).
 */
export interface Dag {
  readonly name: string
  readonly version?: string
  readonly inputs: Readonly<Record<string, RunInput>>
  /** In document order; `blocks[i].index === i`. */
  readonly blocks: readonly Block[]
}

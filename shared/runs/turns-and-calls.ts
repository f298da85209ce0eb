import type { RunEvent } from './event.ts'
import type { BlockFold, ItemFold } from './run-fold.ts'

/*
 * The turns and calls of an agent that acts are items of its block (docs/adr/0075): turn 2 is item 200, and its third call
 * item 203. People read them as "turn 3" and "call 3 of turn 3".
 */

/** A turn of an agent, from 0, or one of its calls, from 1. */
export interface AgentItem {
  readonly turn: number
  readonly call?: number
}

const A_TURN = 100

export function turnItem(turn: number): number {
  return turn * A_TURN
}

export function callItem(turn: number, call: number): number {
  return turn * A_TURN + call
}

/** The inverse of both. */
export function readAgentItem(item: number): AgentItem {
  const turn = Math.floor(item / A_TURN)
  const call = item % A_TURN
  return call === 0 ? { turn } : { turn, call }
}

/** `turn 3`, `call 2 of turn 3 (artifact.write)`. */
export function agentItemWords(item: number, use?: string): string {
  const { turn, call } = readAgentItem(item)
  if (call === undefined) return `turn ${turn + 1}`
  return `call ${call} of turn ${turn + 1}${use === undefined ? '' : ` (${use})`}`
}

/** The turn or call that a question (`questionId` of shared/runs/ids.ts) is about. */
export function questionItem(id: string): number | undefined {
  const [, item] = /_i(\d+)a\d+$/.exec(id) ?? []
  return item === undefined ? undefined : Number(item)
}

/** Codes of calls that were not let through: by a gate, a bound or a person. */
const REFUSED: ReadonlySet<string> = new Set([
  'pre_gate_failed',
  'post_gate_failed',
  'ask_rejected',
  'ask_expired',
  'agent_stopped',
])

export function isRefused({ state, error }: Pick<ItemFold, 'state'> & { readonly error?: Coded | undefined }): boolean {
  return state === 'failed' && REFUSED.has(error?.code ?? '')
}

interface Coded {
  readonly code: string
}

/** How many turns and calls an agent has begun in this pass of its block, and how its calls stand. */
export interface AgentCounts {
  readonly turns: number
  readonly calls: number
  /** Calls that wait for a person. */
  readonly waiting: number
  readonly running: number
  /** By a gate, a bound or a person. */
  readonly refused: number
  /** For another reason. */
  readonly failed: number
}

/** What a reader of events knows of a block; states of items may be newer than it. */
interface Counted {
  readonly first_turn?: BlockFold['first_turn'] | undefined
  readonly items?: Readonly<Record<string, { readonly state: string; readonly error?: Coded | undefined }>> | undefined
}

/** Undefined of a block that is no agent's. */
export function agentCounts({ first_turn, items = {} }: Counted): AgentCounts | undefined {
  if (first_turn === undefined) return undefined
  const calls = Object.entries(items).flatMap(([item, one]) => {
    return readAgentItem(Number(item)).call === undefined ? [] : [one as Pick<ItemFold, 'state' | 'error'>]
  })
  const inState = (...states: readonly string[]) => calls.filter(({ state }) => states.includes(state)).length
  const refused = calls.filter(isRefused).length
  return {
    turns: Object.keys(items).length - calls.length,
    calls: calls.length,
    waiting: inState('paused_approval'),
    running: inState('ready', 'running', 'retrying'),
    refused,
    failed: inState('failed') - refused,
  }
}

/** `3 turns, 5 calls (1 waits for a person, 2 refused)`. */
export function agentCountWords({ turns, calls, waiting, running, refused, failed }: AgentCounts): string {
  const states = [
    waiting > 0 && `${waiting} wait${waiting === 1 ? 's' : ''} for a person`,
    running > 0 && `${running} under way`,
    refused > 0 && `${refused} refused`,
    failed > 0 && `${failed} failed`,
  ].filter((words) => words !== false)
  const said = `${turns} turn${turns === 1 ? '' : 's'}, ${calls} call${calls === 1 ? '' : 's'}`
  return states.length === 0 ? said : `${said} (${states.join(', ')})`
}

/** The lane of a question is its own. */
function questionedItem({ data }: RunEvent): number | undefined {
  return 'approval_id' in data ? questionItem(data.approval_id) : undefined
}

/** What is known of the agents of a run before its events are read on. */
type KnownAgents = Readonly<
  Record<
    string,
    {
      readonly first_turn?: number | undefined
      readonly items?: Readonly<Record<string, { readonly tool?: string | undefined }>> | undefined
    }
  >
>

/** Names the turns and calls that events are about, as they come; undefined of items of a list, and of what is no item. */
export function agentItemNames(known: KnownAgents = {}): (event: RunEvent) => string | undefined {
  const agents = new Map(
    Object.entries(known).flatMap(([id, { first_turn, items = {} }]) => {
      const tools = Object.entries(items).map(([item, { tool }]) => [Number(item), tool] as const)
      return first_turn === undefined ? [] : [[id, new Map(tools)] as const]
    }),
  )
  return (event) => {
    const { block_id = '', item = questionedItem(event) } = event
    const started = event.type === 'block:started' ? event.data : undefined
    if (started?.items?.turn !== undefined && !agents.has(block_id)) agents.set(block_id, new Map())
    const tools = agents.get(block_id)
    if (tools === undefined || item === undefined) return undefined
    if (started?.call !== undefined) tools.set(item, started.call.use)
    return agentItemWords(item, tools.get(item))
  }
}

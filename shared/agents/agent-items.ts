import type { Acting, Block, ToolUse } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'
import type { AskedCall } from './turn-record.ts'

/** An ai block whose agent calls tools. */
export type ActingBlock = Extract<Block, { mode: 'ai' }> & { readonly agent: { readonly acting: Acting } }

export function isActing(block: Block | undefined): block is ActingBlock {
  return block?.mode === 'ai' && block.agent.acting !== undefined
}

/** What an invocation for an item of an agent is about (docs/adr/0075). */
export interface ActingItem {
  /** The block of the document. */
  readonly whole: ActingBlock
  readonly turn: number
  /** Undefined: the turn itself. */
  readonly call?: ToolCall
}

/** A call of a tool, as the model asked for it. */
export interface ToolCall {
  /** From 1, in its turn. */
  readonly n: number
  readonly tool: ToolUse
  readonly asked: AskedCall
  /** The agent had read what others wrote, or the tool is theirs: what it writes is too. */
  readonly tainted: boolean
  /** With what a person changed of them. */
  readonly args: Readonly<Record<string, Json>>
  /** Items of the calls of its turn that are child runs, this one among them if it is. */
  readonly children: readonly number[]
}

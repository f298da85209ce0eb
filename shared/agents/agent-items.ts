import type { Acting, Block, ToolUse } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'
import type { AskedCall } from './turn-record.ts'

/*
 * The turns and calls of an agent that acts are items of its block (docs/adr/0075): turn 2 is item 200, and its third call
 * item 203.
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
  /** With what a person changed of them. */
  readonly args: Readonly<Record<string, Json>>
}

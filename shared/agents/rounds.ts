import { LIMITS } from '../limits.ts'
import type { Outcome } from '../runs/lane.ts'
import { callItem, readAgentItem, turnItem } from '../runs/turns-and-calls.ts'
import type { TurnRecord } from './turn-record.ts'

/** What HEAD says of the items of one agent in this pass: how each ended, undefined of one that is at work. */
export type ItemEnds = ReadonlyMap<number, Outcome | undefined>

/** What comes next for an agent that acts. */
export type NextRound =
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'calls'; readonly turn: number; readonly calls: readonly number[] }
  /** Its last turn failed, or was stopped. */
  | { readonly kind: 'failed_turn'; readonly turn: number }
  /** A turn that called nothing. */
  | { readonly kind: 'answer'; readonly turn: number }
  /** A bound is reached with calls made and no answer. */
  | {
      readonly kind: 'bound'
      readonly turn: number
      readonly bound: 'max_turns' | 'max_refused' | 'max_calls' | 'stopped_by_person'
    }

/** The newest turn there is anything of; undefined: none has begun. */
export function lastTurn(ends: ItemEnds): number | undefined {
  const turns = [...ends.keys()].map((item) => readAgentItem(item).turn)
  return turns.length === 0 ? undefined : Math.max(...turns)
}

interface Standing {
  readonly ends: ItemEnds
  /** The turn this attempt of the block began with. */
  readonly first: number
  readonly max_turns: number
  readonly max_refused: number
  /** Calls so far that a gate or a person refused. */
  readonly refused: number
  /** A person said no to a call, and to everything after it. */
  readonly stopped: boolean
}

function callsOf(ends: ItemEnds): number {
  return [...ends.keys()].filter((item) => readAgentItem(item).call !== undefined).length
}

/** `record`: of the newest turn, where it completed. */
export function nextRound({ ends, first, ...most }: Standing, record: TurnRecord | undefined): NextRound {
  const turn = lastTurn(ends)
  if (turn === undefined || turn < first) return { kind: 'turn', turn: first }
  const outcome = ends.get(turnItem(turn))
  if (outcome === undefined) return { kind: 'turn', turn }
  if (outcome !== 'completed' || record === undefined) return { kind: 'failed_turn', turn }
  const calls = record.calls.map((_, index) => index + 1)
  const left = calls.filter((call) => ends.get(callItem(turn, call)) === undefined)
  if (left.length > 0) return { kind: 'calls', turn, calls: left }
  if (calls.length === 0) return { kind: 'answer', turn }
  if (most.stopped) return { kind: 'bound', turn, bound: 'stopped_by_person' }
  if (most.refused > most.max_refused) return { kind: 'bound', turn, bound: 'max_refused' }
  if (callsOf(ends) >= LIMITS.agent_calls) return { kind: 'bound', turn, bound: 'max_calls' }
  if (turn - first + 1 >= most.max_turns) return { kind: 'bound', turn, bound: 'max_turns' }
  return { kind: 'turn', turn: turn + 1 }
}

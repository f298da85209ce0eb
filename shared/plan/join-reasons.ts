import type { Machine } from '../compile/asl.ts'
import type { CompiledMachine } from './compiled-machines.ts'
import { callOf, type TaskCall } from './read-task.ts'

/** A wait the structure could not express. */
export interface PlannedJoin {
  /** The state, `_wait_<block>`. */
  readonly state: string
  /** The block it stands before. */
  readonly before: string
  /** Blocks that signal it; `_close_<k>` for a bounce module. */
  readonly waits_for: readonly string[]
  readonly reason: string
}

/** One branch on the way down to a state. */
interface Turn {
  readonly parallel: string
  readonly branch: Machine
}

interface Place {
  readonly machine: string
  readonly turns: readonly Turn[]
}

interface Found {
  readonly joins: Map<string, { readonly state: string; readonly place: Place }>
  readonly signallers: Map<string, { readonly source: string; readonly place: Place }[]>
}

/** Every join of the machines with its reason in words, read from the text: where it stands and who signals it. */
export function joinReasons(machines: readonly CompiledMachine[]): readonly PlannedJoin[] {
  const found: Found = { joins: new Map(), signallers: new Map() }
  for (const { name, definition } of machines) collect(found, definition, { machine: name, turns: [] })
  return [...found.joins].map(([join, { state, place }]) => {
    const sources = found.signallers.get(join) ?? []
    const before = state.replace(/^_wait_/, '').replace(/\.\d+$/, '')
    const byCrossing = Map.groupBy(sources, (source) => crossing(source.place, place))
    const reasons = [...byCrossing].map(([crosses, group]) => sentence(namesOf(group), before, crosses))
    return { state, before, waits_for: namesOf(sources), reason: reasons.join(' ') }
  })
}

function collect(found: Found, machine: Machine, place: Place): void {
  for (const [name, state] of Object.entries(machine.States)) {
    const call = callOf(state)
    if (call !== undefined) note(found, name, call, place)
    if (state.Type === 'Map') collect(found, state.ItemProcessor, place)
    if (state.Type !== 'Parallel') continue
    for (const branch of state.Branches) {
      collect(found, branch, { ...place, turns: [...place.turns, { parallel: name, branch }] })
    }
  }
}

function note({ joins, signallers }: Found, name: string, call: TaskCall, place: Place): void {
  if (call.join !== undefined) joins.set(call.join, { state: name, place })
  for (const join of call.joins ?? []) {
    const known = signallers.get(join) ?? []
    known.push({ source: call.block ?? name, place })
    signallers.set(join, known)
  }
}

function namesOf(sources: readonly { readonly source: string }[]): readonly string[] {
  return sources.map(({ source }) => source)
}

/** What keeps the structure from ordering the one place before the other. */
function crossing(from: Place, to: Place): string {
  if (from.machine !== to.machine) return `crosses from machine ${from.machine} into machine ${to.machine}`
  const at = from.turns.findIndex(({ branch }, depth) => branch !== to.turns[depth]?.branch)
  const here = from.turns[at]
  const there = to.turns[at]
  if (here === undefined) return 'enters a branch that has begun by then'
  if (here.parallel !== there?.parallel) return `leaves ${here.parallel} before all of its branches have ended`
  return `crosses from one branch of ${here.parallel} into another, from ${branchWords(here)} into ${branchWords(there)}`
}

const SHOWN = 3

function branchWords({ branch }: Turn): string {
  return `the one of ${listed(firstBlocks(branch))}`
}

/** The blocks a line of states begins with. */
function firstBlocks({ StartAt, States }: Machine): readonly string[] {
  const state = States[StartAt]
  if (state?.Type === 'Parallel') return state.Branches.slice(0, SHOWN + 1).flatMap(firstBlocks)
  return [StartAt.replace(/^_(?:approve|items|wait)_/, '').replace(/\.\d+$/, '')]
}

function sentence(sources: readonly string[], before: string, crosses: string): string {
  const edges = sources.map((source) => `${source} -> ${before}`)
  const each = sources.length === 1 ? '' : 'each of '
  return `${before} waits for ${listed(sources)} because ${each}${listed(edges)} ${crosses}.`
}

function listed(names: readonly string[]): string {
  if (names.length > SHOWN + 1) return `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '')
}

import { idleMachines } from '../../../shared/runs/idle-machines.ts'
import type { ClearLimits } from '../../../shared/runs/machine.ts'
import type { Journal } from './journal.ts'
import type { Definitions } from './loaded-definitions.ts'

interface Parts {
  readonly journal: Journal
  readonly definitions: Definitions
  /** Machines that runs which have not ended name. */
  needed?(): ReadonlySet<string>
}

/**
 * Forgets the texts of machines that are idle, each with its parts; answers how many. What an unfinished execution runs
 * on stays, and what a run names that has not started yet. Nothing comes between looking and forgetting.
 */
export function clearDefinitions({ journal, definitions, needed }: Parts, limits: ClearLimits): number {
  const kept = new Set([...journal.unfinished().map(({ machine }) => machine), ...(needed?.() ?? [])].map(wholeOf))
  const machines = new Map<string, { used_at: number; readonly hashes: string[] }>()
  for (const { hash, used_at } of journal.uses()) {
    const machine = machines.get(wholeOf(hash)) ?? { used_at: 0, hashes: [] }
    machine.used_at = Math.max(machine.used_at, used_at)
    machine.hashes.push(hash)
    machines.set(wholeOf(hash), machine)
  }
  const all = [...machines].map(([whole, machine]) => ({ ...machine, whole }))
  const idle = idleMachines(all, limits).filter(({ whole }) => !kept.has(definitions.idOf(whole)))
  for (const hash of idle.flatMap(({ hashes }) => hashes)) definitions.forget(hash)
  return idle.length
}

/** Hash or id, of a machine or of a part of it: a part's has the machine's before its `/`. */
function wholeOf(name: string): string {
  return name.split('/')[0] ?? name
}

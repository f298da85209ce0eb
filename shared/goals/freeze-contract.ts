import { canonicalJson, sha256 } from '../canonical.ts'
import type { GoalContract } from './goal-contract.ts'

/** A contract as a run keeps it: deeply frozen, its canonical JSON, and the sha256 of that. */
export interface FrozenContract {
  readonly contract: GoalContract
  readonly text: string
  readonly hash: string
}

/**
 * Two spellings of one contract (key order, defaults written out or not, YAML or JSON) have one hash. What starts a run
 * reads it by `readGoalContract(contract, inputs)` first, which binds targets that are run inputs; a document's own is
 * checked by readOpenContract(), which leaves them unbound.
 */
export function freezeContract(contract: GoalContract): FrozenContract {
  const text = canonicalJson(contract)
  return Object.freeze({ contract: deepFreeze(JSON.parse(text) as GoalContract), text, hash: sha256(text) })
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

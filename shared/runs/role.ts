import { PIPELINE_ROLE } from '../research/research-predicates.ts'
import type { Meta } from './run-store.ts'

/** Started by a caller, by a block of another run, or, by whomever, as a question to the knowledge graph. */
export const RUN_ROLES = ['root', 'child', PIPELINE_ROLE] as const
export type RunRole = (typeof RUN_ROLES)[number]

export function roleOf({ kind, parent }: Pick<Meta, 'kind' | 'parent'>): RunRole {
  if (kind === 'research') return PIPELINE_ROLE
  return parent === undefined ? 'root' : 'child'
}

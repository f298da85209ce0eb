import { PIPELINE_ROLE } from '../research/loop-entity.ts'
import {
  type BirthFacts,
  type EndFacts,
  labelTerms,
  type RunFacts,
  STATES_WITH_TERM,
  type StoredFacts,
  term,
} from './facts-index.ts'
import { type Head, shownState } from './head.ts'
import { currentLabels } from './labels.ts'
import type { EndedRun, Meta, NewRun, RunRole } from './run-store.ts'
import { wordsIn } from './words.ts'

function birthOf({ run_id, created_at, dag_name, starter, parent, kind, subjects }: Meta): BirthFacts {
  const own: RunRole = parent === undefined ? 'root' : 'child'
  const roles = kind === 'research' ? [PIPELINE_ROLE, own] : [own]
  return { run_id, created_at, dag_name, starter, roles, ...(subjects === undefined ? {} : { subjects }) }
}

/** Of a run that begins, and the terms it is listed under from then on. */
export function birthFacts({ meta, words = [] }: Pick<NewRun, 'meta' | 'words'>): {
  readonly facts: StoredFacts
  readonly terms: readonly string[]
} {
  const { run_id, dag_name, starter, labels = {}, subjects = [] } = meta
  const named = [term.id(run_id), term.dag(dag_name), term.starter(starter)]
  const terms = [...named, ...labelTerms(labels), ...subjects.map(term.subject)]
  return { facts: { birth: birthOf(meta), labels }, terms: [...terms, ...words.map(term.word)] }
}

/** Of a run another store had: of labels those of its start and those it has now; its words are listed besides. */
export function adoptedFacts({ meta, head }: Pick<EndedRun, 'meta' | 'head'>): ReturnType<typeof birthFacts> {
  const { facts, terms } = birthFacts({ meta })
  const labels = currentLabels(meta, head)
  return { facts: { ...facts, labels }, terms: [...new Set([...terms, ...labelTerms(labels)])] }
}

/** Where HEAD stands. */
export function endFacts(head: Head): EndFacts {
  const { budget, ended } = head
  return {
    state: shownState(head),
    tokens: budget.spent_tokens,
    usd_micros: budget.spent_usd_micros,
    ...(ended === undefined ? {} : { ended_at: ended.at, code: ended.code }),
  }
}

/** The further terms of a run that has ended: why, in words too, where it did not complete. */
export function endTerms({ ended }: Pick<Head, 'ended'>, state: EndFacts['state']): readonly string[] {
  if (ended === undefined) return []
  if (!STATES_WITH_TERM.includes(state)) return [term.code(ended.code)]
  return [term.state(state), term.code(ended.code), ...wordsIn(ended.reason).map(term.word)]
}

/** As META and HEAD say it, which decide. */
export function wholeFacts(meta: Meta, head: Head): RunFacts {
  return { ...birthOf(meta), ...endFacts(head), labels: currentLabels(meta, head) }
}

import type { EvidenceUnit } from './evidence-units.ts'
import { questionPath } from './question-path.ts'
import { termsOf } from './question-terms.ts'
import { factText, type ShownEvidence } from './shown-evidence.ts'
import { solvePath } from './solve-path.ts'

/** What follows from a question that describes what it asks about. */
export interface AlongPath {
  readonly units: readonly EvidenceUnit[]
  readonly missing: readonly string[]
  readonly unseen: readonly string[]
  readonly things: number
}

/** Units of one that lists what fits a description. */
const MAX_ALONG = 24

/** undefined: it is a question of another form, or of relations the evidence does not have. */
export function alongPath(
  question: string,
  { evidence, labels }: { readonly evidence: readonly ShownEvidence[]; readonly labels: readonly string[] },
): AlongPath | undefined {
  const types = [...new Set(evidence.flatMap(({ entity_id }) => termsOf(entity_id.split('.')[4] ?? '')))]
  const predicates = evidence.flatMap(({ facts = [] }) => facts.map(({ predicate }) => predicate))
  const relations = [...new Set(predicates)].flatMap((predicate) => termsOf(factText('', predicate, [])))
  const path = questionPath(question, { labels, types, relations })
  const solved = path === undefined ? undefined : solvePath(path, evidence)
  return solved === undefined ? undefined : { ...solved, units: solved.units.slice(0, MAX_ALONG) }
}

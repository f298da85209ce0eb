import { chance, upTo } from '../integration/random-runs.ts'
import type { Random } from './rng.ts'

/** What makes a document one whose runs are judged, and the blocks that say for it what they are judged by. */
export interface PlannedGoal {
  readonly document: object
  /** Programs: what each of them answers. */
  readonly blocks: Readonly<
    Record<string, { readonly port: string; readonly type: string; readonly expression: string }>
  >
}

const NONE: PlannedGoal = { document: {}, blocks: {} }

/** A contract that may be met or not, a verifier that may be satisfied or not, a claim: of that share of the documents. */
export function planGoal(random: Random, without: ReadonlySet<string>, share: number): PlannedGoal {
  if (!chance(random, share)) return NONE
  const metric = chance(random, 0.5) ? '0.95' : '0.5'
  const score = chance(random, 0.75) ? '90' : '40'
  const claim = chance(random, 0.8) ? 'SUCCESS' : (['PARTIAL', 'BLOCKED', 'FAILED', 'ABORTED'][upTo(random, 3)] ?? '')
  const blocks = {
    m0: { port: 'text', type: 'string', expression: `"[METRIC:m] ${metric}"` },
    v0: { port: 'score', type: 'number', expression: score },
    ...(chance(random, 0.3) ? { w0: { port: 'claimed', type: 'string', expression: `"${claim}"` } } : {}),
  }
  const { v0, w0 } = Object.fromEntries(Object.entries(blocks).filter(([id]) => !without.has(id)))
  const completion = {
    pivot: chance(random, 0.4) ? 'auto' : 'manual',
    ...(v0 === undefined ? {} : { trust: { from: 'v0.score' } }),
    ...(w0 === undefined ? {} : { claim: 'w0.claimed' }),
  }
  const goal_contract = {
    goal_text: 'Better than chance, and written down',
    max_goal_attempts: 1 + upTo(random, 2),
    acceptance_criteria: [
      { id: 'metric', kind: 'metric_threshold', metric: 'm', op: '>=', target: 0.9 },
      ...(chance(random, 0.3) ? [{ id: 'file', kind: 'artifact_exists', artifactPattern: 'note.txt' }] : []),
    ],
  }
  return { document: { completion, ...(chance(random, 0.9) ? { goal_contract } : {}) }, blocks }
}

import { type CompletionRequest, evaluateCompletion } from '../../../shared/goals/completion.ts'

/** One evaluation of plain text, told by what differs from a verified run that claims SUCCESS. */
export function evaluated({
  output = 'The work is done.',
  files = [],
  trust = 90,
  ...rest
}: Partial<CompletionRequest> & {
  readonly output?: string
  readonly files?: readonly string[]
  readonly trust?: unknown
}) {
  return evaluateCompletion({
    texts: [{ text: output }],
    artifacts: files.map((name) => ({ name })),
    trust_scores: [trust],
    ...rest,
  })
}

/** A contract of these criteria, with ids AC1, AC2, .. */
export function contractOf(...criteria: readonly object[]) {
  return {
    goal_text: 'Reach it',
    acceptance_criteria: criteria.map((criterion, index) => ({ id: `AC${index + 1}`, ...criterion })),
  }
}

/** `accuracy >= 0.9`. */
export const ACCURACY = { kind: 'metric_threshold', metric: 'accuracy', op: '>=', target: 0.9 }

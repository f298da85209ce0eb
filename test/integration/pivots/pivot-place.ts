import type { GoalAnswer } from '../../../shared/api/goal-routes.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { runIdOfKey } from '../../../shared/runs/ids.ts'
import { ACCURACY, contractOf, judgedDag } from '../goals/goal-place.ts'
import type { TestPlace } from '../test-place.ts'

export const LOW = '[METRIC:accuracy] 0.8'
export const HIGH = '[METRIC:accuracy] 0.95'

export const keyOf = (run_id: string) => ({ tenant: 'main', run_id })

/** The one run that tries the goal of a run again, whoever makes it. */
export const nextOf = (run_id: string) => runIdOfKey('main', 'pivot', run_id)

/** Says what it is told, is trusted, and is to be 90 % accurate. */
export function missingDag(pivot: 'manual' | 'auto', contract: object = {}): object {
  return judgedDag({ ...contractOf(ACCURACY), ...contract }, { trust: { from: 'verify.score' }, pivot })
}

/** As missingDag, but says what `expression` makes of the feedback the attempt begins with, `''` in the first. */
export function learningDag(expression: string, contract: object = {}): object {
  const dag = missingDag('auto', contract) as { readonly blocks: readonly object[] }
  const work = {
    id: 'work',
    mode: 'deterministic',
    deterministic: { handler: 'transform', config: { expression } },
    inputs: { said: 'string', feedback: { type: 'string', default: '' } },
    outputs: { text: 'string' },
  }
  return { ...dag, blocks: [work, ...dag.blocks.slice(1)] }
}

export async function goalOf(open: TestPlace, run_id: string): Promise<GoalAnswer> {
  return (await open.call('get-goal', run_id)).json as unknown as GoalAnswer
}

export function endOf(events: readonly RunEvent[]): RunEvent['data'] & { readonly type: string } {
  const end = events.at(-1)
  return { ...end?.data, type: end?.type ?? '' } as RunEvent['data'] & { readonly type: string }
}

/** Every run there is, oldest first. */
export async function allRuns(open: TestPlace): Promise<readonly string[]> {
  const { runs } = await open.place.world.runs.list('main', { limit: 500 })
  return runs.map(({ run_id }) => run_id).toReversed()
}

/** What verify-run finds wrong with a run; empty = nothing. */
export async function problemsOf(open: TestPlace, run_id: string): Promise<readonly string[]> {
  const json: unknown = (await open.call('verify-run', run_id)).json
  const { checks } = json as { readonly checks: readonly { readonly problems: readonly string[] }[] }
  return checks.flatMap(({ problems }) => problems)
}

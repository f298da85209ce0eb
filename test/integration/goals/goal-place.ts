import type { PlaceOptions } from '../../../infra/local/place.ts'
import type { CompletionSettings } from '../../../shared/dag/dag.ts'
import type { GoalEvaluation } from '../../../shared/goals/completion.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { Meta } from '../../../shared/runs/run-store.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

/** Places that log nothing; they are closed by whoever opens them. */
export const QUIET: PlaceOptions = { log: { info: () => undefined, error: () => undefined } }

export const openGoalPlace = () => openTestPlace(QUIET)

type Part = Partial<Omit<CompletionSettings, 'trust'>> & {
  readonly trust?: { readonly from: string | readonly string[] }
}

/**
 * A run whose worker says what it is told (`said`), and whose verifier gives the score it is told
 * (`score`; 90 where nobody says).
 */
export function judgedDag(goal_contract?: object, completion: Part = VERIFIED, more: readonly object[] = []): object {
  return {
    name: 'judged',
    inputs: { said: 'string', score: { type: 'json', default: 90 } },
    completion,
    ...(goal_contract === undefined ? {} : { goal_contract }),
    blocks: [
      worker('work', 'said', 'text'),
      { ...passing('verify', 'score'), inputs: { score: 'json', text: { from: 'work.text' } } },
      ...more,
    ],
  }
}

export const VERIFIED: Part = { trust: { from: 'verify.score' } }

/** A block whose output is the run input of the same name, any JSON. */
export const passing = (id: string, port: string) => ({
  id,
  mode: 'deterministic',
  deterministic: { handler: 'pass' },
  inputs: { [port]: 'json' },
  outputs: { [port]: 'json' },
})

/** A block whose output `port` is the run input `input`. */
export function worker(id: string, input: string, port: string, more: object = {}): object {
  const config = { expression: `inputs.${input}` }
  const deterministic = { handler: 'transform', config }
  return {
    id,
    mode: 'deterministic',
    deterministic,
    inputs: { [input]: 'string' },
    outputs: { [port]: 'string' },
    ...more,
  }
}

/** A block that writes its input `text` as an artifact. */
export function writer(id: string, from: string, name: string): object {
  const deterministic = { handler: 'write-artifact', config: { name } }
  return { id, mode: 'deterministic', deterministic, inputs: { body: { from } }, outputs: { file: 'artifact' } }
}

export const contractOf = (...criteria: readonly object[]) => ({
  goal_text: 'Build model with >= 90% accuracy',
  acceptance_criteria: criteria,
})

export const ACCURACY = { id: 'AC1', kind: 'metric_threshold', metric: 'accuracy', op: '>=', target: 0.9 }

export interface Judged {
  readonly run_id: string
  readonly meta: Meta
  readonly events: readonly RunEvent[]
  readonly end: Extract<RunEvent, { type: 'run:completed' | 'run:partial' | 'run:blocked' | 'run:failed' }>
  readonly evaluated: Extract<RunEvent, { type: 'goal:evaluated' }> | undefined
  /** What goal:evaluated refers to. */
  readonly evaluation: GoalEvaluation | undefined
}

/** Runs it to its end. */
export async function judge(open: TestPlace, dag: object, more: object = {}): Promise<Judged> {
  return judgedRun(open, await open.start(dag, { ...more }))
}

export async function judgedRun(open: TestPlace, run_id: string): Promise<Judged> {
  const events = await open.ended(run_id)
  const { runs, objects } = open.place.world
  const meta = (await runs.meta({ tenant: 'main', run_id })) as Meta
  const evaluated = events.find((event) => event.type === 'goal:evaluated')
  const ref = evaluated?.data.ref
  const body = ref === undefined ? undefined : await objects.get('main', ref)
  const evaluation = body === undefined ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
  return { run_id, meta, events, end: events.at(-1) as Judged['end'], evaluated, evaluation }
}

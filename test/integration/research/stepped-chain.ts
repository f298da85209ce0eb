import { allEvents } from '../../../functions/record/run-log.ts'
import { handler as assess } from '../../../functions/research/assess-sufficiency.ts'
import { handler as execute } from '../../../functions/research/execute-subqueries.ts'
import { handler as classify } from '../../../functions/research/nl-classify.ts'
import { handler as route } from '../../../functions/research/route-search.ts'
import type { StageAnswer } from '../../../functions/research/stage-call.ts'
import { readChain } from '../../../functions/research/stored-chain.ts'
import { handler as answer } from '../../../functions/research/synthesize-answer.ts'
import { createRun } from '../../../functions/runs/create-run.ts'
import { prepareResearchRun } from '../../../functions/runs/prepare-research-run.ts'
import type { Intent } from '../../../shared/research/payloads/intent.ts'
import type { Stage } from '../../../shared/research/stages.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { newRunId } from '../../../shared/runs/ids.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { World } from '../../../shared/world.ts'

/** A research run whose stages a test calls itself, in the place of its machine. */
const HANDLERS = {
  nl_classify: classify,
  route_search: route,
  execute_subqueries: execute,
  assess_sufficiency: assess,
  synthesize_answer: answer,
} as const

export interface StageEvent {
  readonly step: number
  readonly ref: string
  readonly failed?: { readonly stage: Stage; readonly error: string }
  readonly plain?: boolean
}

/** HEAD and META, and no execution: nothing moves but what the test calls. */
export async function enterChain(world: World, intent: Intent): Promise<RunKey> {
  const run = { tenant: 'main', run_id: newRunId(world.ids.random(17)) }
  const { machine, ...order } = await prepareResearchRun(world, run.tenant, intent, {})
  const options = { max_parallel: 0, fail_fast: false, deadline_sec: 600 }
  const started = { options, starter: 'user:test', body_hash: 'none', machine: await machine() }
  await createRun(world, { ...order, ...started, run })
  return run
}

export async function callStage(
  world: World,
  run: RunKey,
  stage: Stage,
  event: StageEvent = { step: 0, ref: '' },
): Promise<StageAnswer> {
  const payload = { in: { v: 1, ...run }, ...event }
  return (await HANDLERS[stage](payload, { world })) as StageAnswer
}

/** Goes through the chain as its machine does, each stage by `call`; answers the stages it went through. */
export async function goThrough(
  call: (stage: Stage, event: StageEvent) => Promise<StageAnswer>,
): Promise<readonly StageAnswer[]> {
  const answers: StageAnswer[] = [{ step: 0, ref: '', next: 'nl_classify' }]
  for (;;) {
    const { next, ...event } = answers.at(-1) ?? { next: 'settle' as const, step: 0, ref: '' }
    if (next === 'settle') return answers.slice(1)
    answers.push(await call(next, event))
  }
}

/** What is left of a chain: its events by type and step, its ledger, its result. */
export async function chainOf(world: World, run: RunKey) {
  const events = await allEvents(world, run)
  const told = events.flatMap(({ type, data }) =>
    type.startsWith('research:') ? [`${type.slice('research:'.length)} ${(data as { readonly n: number }).n}`] : [],
  )
  const last = events.findLast(({ type }) => type === 'research:synthesized')
  const state = last?.type === 'research:synthesized' ? await readChain(world, run.tenant, last.data.ref) : undefined
  const { committed_tokens = 0, spent_tokens = 0 } = (await world.runs.head(run))?.budget ?? {}
  return { told, state, result: state?.result, ledger: [committed_tokens, spent_tokens, foldRun(events).tokens] }
}

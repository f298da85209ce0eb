import { useEffect } from 'preact/hooks'
import type { StepFold } from '../../../shared/runs/run-fold.ts'
import { answerOf, api } from '../api.ts'
import { ProblemNotice } from '../parts/notice.tsx'
import { route } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { useAnswer } from '../use-answer.ts'
import { InspectorAttempt } from './inspector-attempt.tsx'
import type { BlockAttempt, Inspected } from './inspector-block.ts'
import { InspectorPart } from './inspector-part.tsx'

/** Every attempt up to the moment shown, newest first: its inputs, what was asked and answered, cost and verdicts. */
export function InspectorAttempts({
  inspected: { definition, fold, isReplay },
  session,
}: {
  readonly inspected: Inspected
  readonly session: RunSession
}) {
  const { id } = definition
  const item = fold?.item_count === undefined ? undefined : itemOf(route.value.query.item)
  const steps = session.fold.value.steps.filter((step) => step.block_id === id && step.item === item)
  const { value, problem, reload } = useAnswer(`block ${session.runId} ${id} ${item}`, () =>
    askBlock(session.runId, id, item),
  )
  // What is known of the newest attempt changes with its events.
  const progress = `${steps.length} ${steps.at(-1)?.state} ${steps.at(-1)?.output_ref} ${fold?.gates.length}`
  useEffect(() => {
    if (!isReplay) reload()
  }, [progress, isReplay, reload])
  if (steps.length === 0) return null
  const title = item === undefined ? 'Attempts' : `Attempts of item ${item}`
  return (
    <InspectorPart title={title}>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {steps.toReversed().map((step, index) => (
        <InspectorAttempt
          key={`${step.epoch} ${step.attempt} ${step.item}`}
          step={step}
          detail={isReplay && step.state === 'running' ? undefined : detailOf(step, value?.attempts)}
          isNewest={index === 0}
        />
      ))}
      {value?.attempts_cut === true && <p class="small soft">Of the earliest attempts only the times are shown.</p>}
    </InspectorPart>
  )
}

function itemOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : undefined
}

function askBlock(run_id: string, block_id: string, item: number | undefined) {
  const params = { path: { run_id, block_id }, query: item === undefined ? {} : { item } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/blocks/{block_id}', { params }))
}

function detailOf({ epoch, attempt }: StepFold, attempts: readonly BlockAttempt[] = []): BlockAttempt | undefined {
  return attempts.find((one) => one.epoch === epoch && one.attempt === attempt)
}

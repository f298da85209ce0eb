import type { RunEvent, StoredValue } from './event.ts'
import { eventPlace } from './event-place.ts'
import { type Draft, stepKey } from './fold-draft.ts'
import { outputRef } from './output-ref.ts'
import type { StepFold } from './run-fold.ts'

/** One entry a block, epoch and attempt: an attempt that is said to have started twice is one. */
export function startStep({ steps, positions }: Draft, event: RunEvent): void {
  const { seq: started_seq, at: started_at, block_id } = event
  if (block_id === undefined) return
  const attempt = { block_id, ...eventPlace(event) }
  const key = stepKey(attempt)
  if (positions.has(key)) return
  positions.set(key, steps.length)
  steps.push({ index: steps.length + 1, ...attempt, state: 'running', started_seq, started_at })
}

export function outputStep(draft: Draft, event: RunEvent, outputs: Readonly<Record<string, StoredValue>>): void {
  const output_ref = outputRef(outputs)
  if (output_ref !== undefined) changeStep(draft, event, { output_ref })
}

export function endStep(draft: Draft, event: RunEvent, state: StepFold['state']): void {
  changeStep(draft, event, { state, ended_seq: event.seq, ended_at: event.at })
}

function changeStep({ steps, positions }: Draft, event: RunEvent, change: Partial<StepFold>): void {
  const position = positions.get(stepKey({ block_id: event.block_id ?? '', ...eventPlace(event) }))
  const step = position === undefined ? undefined : steps[position]
  if (position !== undefined && step?.state === 'running') steps[position] = { ...step, ...change }
}

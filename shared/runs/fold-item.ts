import type { RunEvent } from './event.ts'
import { eventPlace } from './event-place.ts'
import { changeBlock } from './fold-block.ts'
import type { Draft } from './fold-draft.ts'
import { endStep, outputStep, startStep } from './fold-step.ts'
import type { ItemFold } from './run-fold.ts'

/** An event of one item of a foreach block: it moves the item and its steps, not the block. */
export function foldItem(draft: Draft, event: RunEvent, item: number): void {
  if (event.type === 'block:started') startStep(draft, event)
  if (event.type === 'block:output') {
    outputStep(draft, event, event.data.outputs)
  }
  const now = itemOf(event)
  if (now === undefined) return
  if (STEP_ENDS.has(now.state)) endStep(draft, event, now.state === 'completed' ? 'completed' : 'failed')
  const items = draft.blocks.get(event.block_id ?? '')?.items ?? {}
  changeBlock(draft, event, { items: { ...items, [item]: now } })
}

const STEP_ENDS: ReadonlySet<string> = new Set(['completed', 'retrying', 'failed'])

/** The item after this event; undefined when the event does not move it. */
function itemOf(event: RunEvent): ItemFold | undefined {
  const { attempt } = eventPlace(event)
  switch (event.type) {
    case 'block:started':
    case 'block:resumed':
      return { state: 'running', attempt }
    case 'block:asked':
      return { state: 'paused_approval', attempt }
    case 'block:completed':
      return { state: 'completed', attempt }
    case 'block:retrying':
    case 'block:failed': {
      const { code, reason } = event.data
      return { state: event.type === 'block:failed' ? 'failed' : 'retrying', attempt, error: { code, reason } }
    }
    default:
      return undefined
  }
}

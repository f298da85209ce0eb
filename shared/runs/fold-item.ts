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
  if (now.state !== 'running') endStep(draft, event, now.state === 'completed' ? 'completed' : 'failed')
  const items = draft.blocks.get(event.block_id ?? '')?.items ?? {}
  changeBlock(draft, event, { items: { ...items, [item]: now } })
}

/** The item after this event; undefined when the event does not move it. */
function itemOf(event: RunEvent): ItemFold | undefined {
  const { attempt } = eventPlace(event)
  switch (event.type) {
    case 'block:started':
      return { state: 'running', attempt }
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

import { setTimeout as delay } from 'node:timers/promises'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Target } from './api.ts'
import { followEvents } from './follow-events.ts'
import { oneLine } from './plain-text.ts'
import { Refused } from './refused.ts'

type OnEvent = (event: RunEvent, note: (text: string) => void) => Promise<void> | void

/** The same for the events of child runs too, while they run: what a child asks is answered like what its parent asks. */
export function withChildren(target: Target, onEvent: OnEvent, signal?: AbortSignal): OnEvent {
  const each: OnEvent = async (event, note) => {
    await onEvent(event, note)
    const child = event.type === 'block:started' ? event.data.child : undefined
    if (child === undefined || signal?.aborted === true) return
    followChild(target, child, (one) => each(one, note), signal).catch((error: unknown) => {
      if (signal?.aborted !== true) note(oneLine(`Child run ${child} cannot be followed: ${String(error)}`))
    })
  }
  return each
}

/** The claim that names a child comes before the child itself. */
const MOST_TRIES = 50
const PAUSE_MS = 100

async function followChild(
  target: Target,
  runId: string,
  each: (event: RunEvent) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const event of followEvents(target, { runId, ...(signal && { signal }) })) await each(event)
      return
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404 || tries >= MOST_TRIES) throw error
      await delay(PAUSE_MS)
    }
  }
}

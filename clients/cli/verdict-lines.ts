import type { RunEvent } from '../../shared/runs/event.ts'
import { oneLine } from './plain-text.ts'

/** Every gate verdict of a run in order, those of attempts that failed too. */
export function verdictLines(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== 'block:gate') return []
    const { gate, status, reason } = event.data
    const attempt = event.attempt === undefined ? '' : ` (attempt ${event.attempt})`
    return [oneLine(`${ICONS[status]} ${event.block_id}${attempt} ${gate} ${status}: ${reason}`).replace(/^/, '  ')]
  })
}

const ICONS = { passed: '✓', failed: '✗', error: '!', waived: '~' } as const

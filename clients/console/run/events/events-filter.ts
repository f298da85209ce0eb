import type { RunEvent } from '../../../../shared/runs/event.ts'
import { eventWords } from '../session/event-words.ts'

/** What is asked of the list: each member as it stands in the address. */
interface EventsFilter {
  /** `block`: what stands before the colon of a type. */
  readonly kind?: string | undefined
  readonly block?: string | undefined
  /** In type, block and words, without regard to case. */
  readonly text?: string | undefined
}

/** Groups of event types, in the order the filter offers them. */
export const EVENT_KINDS = ['run', 'block', 'approval', 'budget', 'goal', 'research', 'context'] as const

/** The events that fit, in their order. Words are made only for those that a text is looked for in. */
export function filterEvents(events: readonly RunEvent[], { kind, block, text }: EventsFilter): readonly RunEvent[] {
  const wanted = text?.trim().toLowerCase() ?? ''
  if (kind === undefined && block === undefined && wanted === '') return events
  return events.filter(
    (event) =>
      (kind === undefined || kindOf(event.type) === kind) &&
      (block === undefined || event.block_id === block) &&
      (wanted === '' || searchedText(event).includes(wanted)),
  )
}

function kindOf(type: string): string {
  return type.slice(0, type.indexOf(':'))
}

/** Kept as long as the event: typing looks through all of them at each letter. */
const searched = new WeakMap<RunEvent, string>()

function searchedText(event: RunEvent): string {
  const known = searched.get(event)
  if (known !== undefined) return known
  const made = `${event.type} ${event.block_id ?? ''} ${eventWords(event)}`.toLowerCase()
  searched.set(event, made)
  return made
}

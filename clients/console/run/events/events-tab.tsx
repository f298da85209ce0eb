import './events.css'
import { useMemo } from 'preact/hooks'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import { Empty } from '../../parts/notice.tsx'
import { changeQuery, route } from '../../route.ts'
import { ReplayBar } from '../controls/replay-bar.tsx'
import type { TabProps } from '../session/run-session.ts'
import { EVENT_KINDS, filterEvents } from './events-filter.ts'
import { EventsList } from './events-list.tsx'

/** Everything that happened, one line an event, as far back and as narrow as wanted. */
export function EventsTab({ session }: TabProps) {
  const all = session.events.value
  const { kind, of: block, text } = route.value.query
  const fitting = useMemo(() => filterEvents(all, { kind, block, text }), [all, kind, block, text])
  return (
    <div class="stack">
      <ReplayBar session={session} />
      <EventsBar events={all} fitting={fitting.length} />
      {fitting.length === 0 ? (
        <Empty>{all.length === 0 ? 'No event yet: the first one comes when the run starts.' : 'No event fits.'}</Empty>
      ) : (
        <EventsList session={session} events={fitting} />
      )}
    </div>
  )
}

interface BarProps {
  readonly events: readonly RunEvent[]
  /** How many of them are left by the filter. */
  readonly fitting: number
}

/** What narrows the list down; all of it stands in the address, the block as `of`: `block` is the one looked at. */
function EventsBar({ events, fitting }: BarProps) {
  const { kind = '', of: block = '', text = '' } = route.value.query
  const blocks = useMemo(() => [...new Set(events.flatMap(({ block_id }) => block_id ?? []))], [events])
  const choices = block === '' || blocks.includes(block) ? blocks : [block, ...blocks]
  return (
    <search class="row events-bar" aria-label="Filter events">
      <Choice label="Kind" member="kind" chosen={kind} every="every kind" choices={EVENT_KINDS} />
      <Choice label="Block" member="of" chosen={block} every="every block" choices={choices} />
      <label>
        Text
        <input
          type="search"
          value={text}
          placeholder="in type, block and words"
          onInput={({ currentTarget: { value } }) => changeQuery({ text: value === '' ? undefined : value })}
        />
      </label>
      {(kind !== '' || block !== '' || text !== '') && (
        <button type="button" onClick={() => changeQuery({ kind: undefined, of: undefined, text: undefined })}>
          Show all
        </button>
      )}
      <span class="soft small numbers" role="status">
        {fitting === events.length ? '' : `${fitting.toLocaleString('en')} of `}
        {events.length.toLocaleString('en')} events
      </span>
    </search>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly member: string
  readonly chosen: string
  readonly every: string
  readonly choices: readonly string[]
}

function Choice({ label, member, chosen, every, choices }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        value={chosen}
        onChange={({ currentTarget: { value } }) => changeQuery({ [member]: value === '' ? undefined : value })}
      >
        <option value="">{every}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  )
}

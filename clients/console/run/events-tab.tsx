import { useMemo } from 'preact/hooks'
import { Empty } from '../parts/notice.tsx'
import { route } from '../route.ts'
import { EventsBar } from './events-bar.tsx'
import { filterEvents } from './events-filter.ts'
import { EventsList } from './events-list.tsx'
import { ReplayBar } from './replay-bar.tsx'
import type { TabProps } from './tab-props.ts'
import './events.css'

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

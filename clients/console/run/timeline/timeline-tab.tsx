import '../graph/graph.css'
import './timeline.css'
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useState } from 'preact/hooks'
import { sentBackWords, timeOfDayWords } from '../../parts/format.ts'
import { Empty } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Elapsed } from '../../parts/time-view.tsx'
import { changeQuery, route } from '../../route.ts'
import { ReplayBar } from '../controls/replay-bar.tsx'
import { attemptAndWaitSpans, blockWaits, criticalChain } from '../session/critical-path.ts'
import { documentOf, type RunSession, shownMoment, type TabProps } from '../session/run-session.ts'
import { TimelineChart } from './timeline-chart.tsx'
import { type TimeBar, type TimelineRow, timelineRows } from './timeline-rows.ts'

/** When each block worked and waited, on one axis of time; the chain that determined the end stands out. */
export function TimelineTab({ session }: TabProps) {
  const rows = useTimelineRows(session).value
  const until = useComputed(() => shownMoment(session).value).value
  const shown = route.value.query.as === 'table' ? 'table' : 'chart'
  const Shown = shown === 'table' ? TimelineTable : TimelineChart
  const open =
    (documentOf(session.answer.value)?.blocks.length ?? 0) - rows.filter(({ part }) => part === undefined).length
  return (
    <div class="stack">
      <ReplayBar session={session} />
      <fieldset class="choice">
        <legend class="visually-hidden">Show the times as</legend>
        <button type="button" aria-pressed={shown === 'chart'} onClick={() => changeQuery({ as: undefined })}>
          Chart
        </button>
        <button type="button" aria-pressed={shown === 'table'} onClick={() => changeQuery({ as: 'table' })}>
          Table
        </button>
      </fieldset>
      {rows.length === 0 ? (
        <Empty>No block has begun: each attempt is a bar here, from its start to its end.</Empty>
      ) : (
        <Shown rows={rows} until={until} />
      )}
      {open > 0 && rows.length > 0 && (
        <p class="small soft">
          {open} {open === 1 ? 'block has' : 'blocks have'} not begun, or never did: the graph says why.
        </p>
      )}
    </div>
  )
}

/** The rows of a run at the moment shown, its critical path marked. */
function useTimelineRows({ answer, fold, events }: RunSession): ReadonlySignal<readonly TimelineRow[]> {
  const waits = useComputed(() => blockWaits(documentOf(answer.value)?.blocks ?? []))
  return useComputed(() => {
    const spans = attemptAndWaitSpans(fold.value, events.value)
    return timelineRows(fold.value, criticalChain({ blocks: waits.value, spans }).keys)
  })
}

/** Rows shown at first, and at each wish for more. */
const PAGE = 200

/** The bars in words, in the order in which they began. */
function TimelineTable({ rows, until }: { readonly rows: readonly TimelineRow[]; readonly until: string | undefined }) {
  const [most, setMost] = useState(PAGE)
  const bars = rows.flatMap((row) => row.bars).sort((a, b) => a.from - b.from)
  return (
    <div class="scroll">
      <table class="numbers">
        <caption>Attempts and waits for people, in the order in which they began</caption>
        <thead>
          <tr>
            <th scope="col">Block</th>
            <th scope="col">What</th>
            <th scope="col">State</th>
            <th scope="col">Began</th>
            <th scope="col">Ended</th>
            <th scope="col">Took</th>
            <th scope="col">Critical path</th>
          </tr>
        </thead>
        <tbody>
          {bars.slice(0, most).map((bar) => (
            <BarRow key={bar.key} bar={bar} until={until} />
          ))}
        </tbody>
      </table>
      {bars.length > most && (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, bars.length - most)} more of {bars.length}
        </button>
      )}
    </div>
  )
}

function BarRow({ bar, until }: { readonly bar: TimeBar; readonly until: string | undefined }) {
  const { block_id, name, kind, state, epoch, attempt, is_critical } = bar
  const from = new Date(bar.from).toISOString()
  const to = bar.to === undefined ? undefined : new Date(bar.to).toISOString()
  return (
    <tr>
      <th scope="row" class="plain">
        <button type="button" class="as-link" data-block={block_id} onClick={() => changeQuery({ block: block_id })}>
          {block_id}
        </button>
      </th>
      <td>
        {name !== undefined && `${name}: `}
        {kind === 'person' ? 'waits for a person' : `try ${attempt}`}
        {kind === 'work' && epoch > 0 && `, ${sentBackWords(epoch)}`}
      </td>
      <td>
        <StateMark state={state} />
      </td>
      <td>
        <time dateTime={from} title={from}>
          {timeOfDayWords(from)}
        </time>
      </td>
      <td>
        {to === undefined ? (
          'goes on'
        ) : (
          <time dateTime={to} title={to}>
            {timeOfDayWords(to)}
          </time>
        )}
      </td>
      <td>
        <Elapsed from={from} to={to ?? until} />
      </td>
      <td>{is_critical ? 'yes' : ''}</td>
    </tr>
  )
}

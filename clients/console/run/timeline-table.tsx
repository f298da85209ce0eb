import { useState } from 'preact/hooks'
import { Elapsed } from '../parts/moment.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { timeWords } from '../parts/time-words.ts'
import { changeQuery } from '../route.ts'
import { backWords } from './back-words.ts'
import type { TimeBar, TimeLane } from './timeline-lanes.ts'

/** Rows shown at first, and at each wish for more. */
const PAGE = 200

/** The bars in words, in the order in which they began. */
export function TimelineTable({
  lanes,
  until,
}: {
  readonly lanes: readonly TimeLane[]
  readonly until: string | undefined
}) {
  const [most, setMost] = useState(PAGE)
  const bars = lanes.flatMap((lane) => lane.bars).sort((a, b) => a.from - b.from)
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
  const { block_id, kind, state, epoch, attempt, is_critical } = bar
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
        {kind === 'person' ? 'waits for a person' : `try ${attempt}`}
        {kind === 'work' && epoch > 0 && `, ${backWords(epoch)}`}
      </td>
      <td>
        <StateMark state={state} />
      </td>
      <td>
        <time dateTime={from} title={from}>
          {timeWords(from)}
        </time>
      </td>
      <td>
        {to === undefined ? (
          'goes on'
        ) : (
          <time dateTime={to} title={to}>
            {timeWords(to)}
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

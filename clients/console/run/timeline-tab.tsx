import { useComputed } from '@preact/signals'
import { Empty } from '../parts/notice.tsx'
import { changeQuery, route } from '../route.ts'
import { momentOf } from './graph-scene.ts'
import { ReplayBar } from './replay-bar.tsx'
import { documentOf } from './run-document.ts'
import type { TabProps } from './tab-props.ts'
import { TimelineChart } from './timeline-chart.tsx'
import { useTimelineLanes } from './timeline-scene.ts'
import { TimelineTable } from './timeline-table.tsx'
import './graph.css'
import './timeline.css'

/** When each block worked and waited, on one axis of time; the chain that determined the end stands out. */
export function TimelineTab({ session }: TabProps) {
  const lanes = useTimelineLanes(session).value
  const until = useComputed(() => momentOf(session).value).value
  const shown = route.value.query.as === 'table' ? 'table' : 'chart'
  const Shown = shown === 'table' ? TimelineTable : TimelineChart
  const open = (documentOf(session.answer.value)?.blocks.length ?? 0) - lanes.length
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
      {lanes.length === 0 ? (
        <Empty>No block has begun: each attempt is a bar here, from its start to its end.</Empty>
      ) : (
        <Shown lanes={lanes} until={until} />
      )}
      {open > 0 && lanes.length > 0 && (
        <p class="small soft">
          {open} {open === 1 ? 'block has' : 'blocks have'} not begun, or never did: the graph says why.
        </p>
      )}
    </div>
  )
}

import { useState } from 'preact/hooks'
import { StateMark } from '../parts/state-mark.tsx'
import { changeQuery, route } from '../route.ts'
import type { Inspected } from './inspector-block.ts'
import { InspectorPart } from './inspector-part.tsx'

/** How many more are shown at each click: of a thousand items those that failed come first. */
const PAGE = 25

/** The items of a foreach block; one that is chosen has its own attempts below. */
export function InspectorItems({ inspected: { fold } }: { readonly inspected: Inspected }) {
  const [most, setMost] = useState(PAGE)
  if (fold?.item_count === undefined) return null
  const items = Object.entries(fold.items ?? {}).sort(
    ([n, a], [m, b]) => rankOf(a.state) - rankOf(b.state) || Number(n) - Number(m),
  )
  const chosen = route.value.query.item
  const waiting = fold.item_count - items.length
  return (
    <InspectorPart title={`Items (${fold.item_count})`}>
      <ul class="item-list">
        {items.slice(0, most).map(([n, { state, attempt, error }]) => (
          <li key={n}>
            <button
              type="button"
              class="as-link"
              aria-pressed={chosen === n}
              onClick={() => changeQuery({ item: chosen === n ? undefined : n })}
            >
              item {n}
            </button>
            <StateMark state={state} isQuiet />
            {attempt > 1 && <span class="small soft">try {attempt}</span>}
            {error !== undefined && <span class="small">{error.reason}</span>}
          </li>
        ))}
      </ul>
      {items.length > most && (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, items.length - most)} more of {items.length}
        </button>
      )}
      {waiting > 0 && <p class="small soft">{waiting} have not begun.</p>}
    </InspectorPart>
  )
}

/** Failed ones first, then those under way. */
const ORDER = ['failed', 'retrying', 'running', 'paused_approval']

function rankOf(state: string): number {
  const rank = ORDER.indexOf(state)
  return rank === -1 ? ORDER.length : rank
}

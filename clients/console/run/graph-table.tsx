import { useComputed } from '@preact/signals'
import { Elapsed } from '../parts/moment.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { changeQuery, hrefOf, route } from '../route.ts'
import type { GraphAnswer } from '../run-session.ts'
import { backWords } from './back-words.ts'
import { GateCounts, ItemCounts } from './block-counts.tsx'
import type { GraphScene } from './graph-scene.ts'

/** The same as the picture in words: for readers, and where there is no room for a picture. */
export function GraphTable({ scene }: { readonly scene: GraphScene }) {
  const { nodes, edges, bounces, dag } = scene.graph
  const upstream = Map.groupBy(edges, ({ to }) => to)
  const back = Map.groupBy(bounces, ({ from }) => from)
  return (
    <div class="scroll">
      <table class="blocks-table">
        <caption>
          The {nodes.length} {nodes.length === 1 ? 'block' : 'blocks'} of {dag}, as in its document
        </caption>
        <thead>
          <tr>
            <th scope="col">Block</th>
            <th scope="col">State</th>
            <th scope="col">Time</th>
            <th scope="col">Try</th>
            <th scope="col">Gates</th>
            <th scope="col">Work</th>
            <th scope="col">Waits for</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <BlockRow
              key={node.id}
              node={node}
              scene={scene}
              waits={(upstream.get(node.id) ?? []).map(({ from }) => from)}
              back={(back.get(node.id) ?? []).map(({ to }) => to)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly node: GraphAnswer['nodes'][number]
  readonly scene: GraphScene
  readonly waits: readonly string[]
  readonly back: readonly string[]
}

function BlockRow({ node: { id, name, max_attempts }, scene, waits, back }: RowProps) {
  const live = useComputed(() => scene.lives.value.get(id)).value
  const isCritical = useComputed(() => scene.critical.value.blocks.has(id)).value
  const isChosen = useComputed(() => route.value.query.block === id).value
  if (live === undefined) return null
  const { started_at, ended_at = scene.until.value, child } = live
  return (
    <tr class={isChosen ? 'is-chosen' : undefined}>
      <th scope="row" class="plain">
        <button
          type="button"
          class="as-link"
          data-block={id}
          aria-pressed={isChosen}
          onClick={() => changeQuery({ block: id })}
        >
          {id}
        </button>
        {name !== id && <div class="small soft">{name}</div>}
      </th>
      <td>
        <StateMark state={live.state} />
        {isCritical && <div class="small soft">critical path</div>}
      </td>
      <td>{started_at !== undefined && <Elapsed from={started_at} to={ended_at} />}</td>
      <td class="numbers">
        {live.attempt > 0 && `${live.attempt - live.untried}/${max_attempts}`}
        {live.untried > 0 && <div class="small soft">{live.untried} not counted</div>}
        {live.epoch > 0 && <div class="small soft">{backWords(live.epoch)}</div>}
      </td>
      <td class="numbers">
        <GateCounts {...live} />
      </td>
      <td>
        {scene.work.get(id)}
        <div class="small soft">
          <ItemCounts {...live} />
        </div>
        {child !== undefined && <a href={hrefOf(['runs', child])}>child run</a>}
      </td>
      <td class="small">
        {waits.join(', ')}
        {back.length > 0 && <div class="soft">a failed gate sends back to {back.join(', ')}</div>}
      </td>
    </tr>
  )
}

import './graph-node.css'
import { useComputed } from '@preact/signals'
import { lookOf } from '../../parts/state-mark.tsx'
import { Elapsed } from '../../parts/time-view.tsx'
import { changeQuery, hrefOf, route } from '../../route.ts'
import type { GraphAnswer } from '../session/run-session.ts'
import { type BlockStatus, nodeWords } from './block-status.ts'
import { bouncePath, edgePath, type GraphLayout } from './graph-layout.ts'
import type { GraphScene } from './graph-scene.ts'

interface NodeProps {
  readonly node: GraphAnswer['nodes'][number]
  readonly x: number
  readonly y: number
  readonly scene: GraphScene
}

/** A block in the picture. It reads its own state only: that of another changes nothing here. */
export function GraphNode({ node, x, y, scene }: NodeProps) {
  const { id, max_attempts } = node
  const live = useComputed(() => scene.lives.value.get(id)).value
  const isCritical = useComputed(() => scene.critical.value.blocks.has(id)).value
  const isChosen = useComputed(() => route.value.query.block === id).value
  if (live === undefined) return null
  const { sign, tone, label } = lookOf(live.state)
  const names = ['node', `tone-${tone}`, ...(isCritical ? ['is-critical'] : []), ...(isChosen ? ['is-chosen'] : [])]
  return (
    <div class="node-place" style={{ left: `${x}px`, top: `${y}px` }}>
      <button
        type="button"
        class={names.join(' ')}
        data-block={id}
        data-state={live.state}
        aria-pressed={isChosen}
        title={node.name === id ? undefined : node.name}
        onClick={() => changeQuery({ block: id })}
      >
        <span class="visually-hidden">{nodeWords(node, { ...live, label }, isCritical)}</span>
        <span class="node-top" aria-hidden="true">
          <span class="sign">{sign}</span>
          <strong>{id}</strong>
          <NodeTime live={live} scene={scene} />
        </span>
        <span class="node-work" aria-hidden="true">
          {scene.work.get(id)}
        </span>
        <span class="node-bottom" aria-hidden="true">
          <span>{label}</span>
          <Tries live={live} max={max_attempts} />
          <GateCounts {...live} />
          <ItemCounts {...live} />
        </span>
      </button>
      {live.child !== undefined && (
        <a class="node-child small" href={hrefOf(['runs', live.child])}>
          child run<span class="visually-hidden"> of {id}</span>
        </a>
      )}
    </div>
  )
}

function Tries({ live: { attempt, untried, epoch }, max }: { readonly live: BlockStatus; readonly max: number }) {
  const tries = attempt - untried
  if (attempt <= 1 && epoch === 0) return null
  return (
    <span>
      {attempt > 1 && `try ${tries}/${max}`}
      {epoch > 0 && ` ⟲${epoch}`}
    </span>
  )
}

function NodeTime({ live, scene }: { readonly live: BlockStatus; readonly scene: GraphScene }) {
  const { started_at, ended_at } = live
  if (started_at === undefined) return null
  return (
    <span class="node-time">
      <Elapsed from={started_at} to={ended_at ?? scene.until.value} />
    </span>
  )
}

/** How the gates of the newest attempt ended; nothing before the first. */
export function GateCounts({ passed, failed, waived }: Pick<BlockStatus, 'passed' | 'failed' | 'waived'>) {
  const counts = [
    [passed, '✓', 'passed'],
    [failed, '✕', 'failed'],
    [waived, '≈', 'waived'],
  ] as const
  if (passed + failed + waived === 0) return null
  return (
    <span class="counts">
      <span class="visually-hidden">gates: </span>
      {counts.map(([count, sign, word]) =>
        count === 0 ? null : (
          <span key={word}>
            <span aria-hidden="true">
              {sign}
              {count}
            </span>
            <span class="visually-hidden">
              {count} {word},{' '}
            </span>
          </span>
        ),
      )}
    </span>
  )
}

/** How far a foreach block, or an agent, is; nothing of another. */
export function ItemCounts({
  item_count,
  items_done,
  items_failed,
  items_skipped,
  agent,
}: Pick<BlockStatus, 'item_count' | 'items_done' | 'items_failed' | 'items_skipped' | 'agent'>) {
  // How they stand has no room in a node.
  if (agent !== undefined) return <span title={agent}>{agent.replace(/ \(.*$/, '')}</span>
  if (item_count === undefined) return null
  const failed = items_failed === 0 ? '' : `, ${items_failed} failed`
  const skipped = items_skipped === 0 ? '' : `, ${items_skipped} never begun`
  return (
    <span>
      {items_done}/{item_count} items{failed}
      {skipped}
    </span>
  )
}

interface EdgesProps {
  readonly layout: GraphLayout
  readonly scene: GraphScene
}

/** Lines between the nodes; the table says the same in words. */
export function GraphEdges({ layout, scene }: EdgesProps) {
  const places = new Map(layout.nodes.map((node) => [node.id, node]))
  return (
    <svg class="graph-lines" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        {ARROWS.map((name) => (
          <Arrow key={name} name={name} />
        ))}
      </defs>
      {layout.edges.map((edge) => (
        <Edge key={`${edge.from} ${edge.to}`} edge={edge} scene={scene} />
      ))}
      {scene.graph.bounces.map(({ from, to, when_gate, max_bounces }) => {
        const [a, b] = [places.get(from), places.get(to)]
        if (a === undefined || b === undefined) return null
        return (
          <path key={`${from} ${to} ${when_gate}`} class="edge bounce" d={bouncePath(a, b)}>
            <title>{`${from} goes back to ${to} when ${when_gate} fails, at most ${max_bounces} times`}</title>
          </path>
        )
      })}
    </svg>
  )
}

/** One a kind of line: a marker takes no colour of the line it ends. */
const ARROWS = ['arrow', 'arrow-critical', 'arrow-bounce']

function Arrow({ name }: { readonly name: string }) {
  return (
    <marker
      id={name}
      viewBox="0 0 9 8"
      refX="8"
      refY="4"
      markerWidth={name === 'arrow-critical' ? 13 : 9}
      markerHeight={name === 'arrow-critical' ? 13 : 9}
      orient="auto"
      markerUnits="userSpaceOnUse"
    >
      <path class={name} d="M0,0L9,4L0,8Z" />
    </marker>
  )
}

interface EdgeProps {
  readonly edge: GraphLayout['edges'][number]
  readonly scene: GraphScene
}

function Edge({ edge: { from, to, points }, scene }: EdgeProps) {
  const isCritical = useComputed(() => scene.critical.value.edges.has(`${from} ${to}`))
  return (
    <path class={isCritical.value ? 'edge is-critical' : 'edge'} d={edgePath(points)}>
      <title>{`${to} waits for ${from}`}</title>
    </path>
  )
}

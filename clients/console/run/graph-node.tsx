import { useComputed } from '@preact/signals'
import { Elapsed } from '../parts/moment.tsx'
import { lookOf } from '../parts/state-mark.tsx'
import { changeQuery, hrefOf, route } from '../route.ts'
import type { GraphAnswer } from '../run-session.ts'
import { GateCounts, ItemCounts } from './block-counts.tsx'
import type { BlockLive } from './graph-lives.ts'
import { nodeWords } from './graph-node-words.ts'
import type { GraphScene } from './graph-scene.ts'
import './graph-node.css'

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

function Tries({ live: { attempt, untried, epoch }, max }: { readonly live: BlockLive; readonly max: number }) {
  const tries = attempt - untried
  if (attempt <= 1 && epoch === 0) return null
  return (
    <span>
      {attempt > 1 && `try ${tries}/${max}`}
      {epoch > 0 && ` ⟲${epoch}`}
    </span>
  )
}

function NodeTime({ live, scene }: { readonly live: BlockLive; readonly scene: GraphScene }) {
  const { started_at, ended_at } = live
  if (started_at === undefined) return null
  return (
    <span class="node-time">
      <Elapsed from={started_at} to={ended_at ?? scene.until.value} />
    </span>
  )
}

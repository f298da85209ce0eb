import './graph.css'
import { useComputed } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api.ts'
import { sentBackWords } from '../../parts/format.ts'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Elapsed } from '../../parts/time-view.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { changeQuery, hrefOf, route } from '../../route.ts'
import { ReplayBar } from '../controls/replay-bar.tsx'
import type { GraphAnswer, RunSession, TabProps } from '../session/run-session.ts'
import { GraphCanvas } from './graph-canvas.tsx'
import { type GraphLayout, type GraphShape, layoutGraph } from './graph-layout.ts'
import { GateCounts, ItemCounts } from './graph-node.tsx'
import { type GraphScene, useGraphScene } from './graph-scene.ts'

/** The blocks of a run as a picture, or as a table: what each is doing now, or was at the moment shown. */
export function GraphTab({ session }: TabProps) {
  const { value, problem, reload } = useAnswer(`graph ${session.runId}`, () => askGraph(session.runId))
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="soft">Asking for the graph.</p>
  if (value.nodes.length === 0) return <Empty>This run has no blocks: its stages are in another part of it.</Empty>
  return <Graph graph={value} session={session} />
}

function Graph({ graph, session }: { readonly graph: GraphAnswer; readonly session: RunSession }) {
  const scene = useGraphScene(graph, session)
  const isNarrow = useNarrow()
  const shown = route.value.query.as ?? (isNarrow ? 'table' : 'picture')
  return (
    <div class="stack">
      <ReplayBar session={session} />
      <fieldset class="choice">
        <legend class="visually-hidden">Show the blocks as</legend>
        {SHAPES.map(([name, label]) => (
          <button key={name} type="button" aria-pressed={shown === name} onClick={() => changeQuery({ as: name })}>
            {label}
          </button>
        ))}
      </fieldset>
      {shown === 'table' ? <GraphTable scene={scene} /> : <GraphPicture scene={scene} />}
    </div>
  )
}

const SHAPES = [
  ['picture', 'Picture'],
  ['table', 'Table'],
] as const

async function askGraph(run_id: string): Promise<GraphAnswer> {
  const answer = await answerOf(api.GET('/api/dag/runs/{run_id}/graph', { params: { path: { run_id } } }))
  // The route can draw it too, as text: not without being asked to.
  return answer as GraphAnswer
}

/** A picture of blocks needs some room; the reader may still ask for it. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const change = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', change)
    return () => NARROW.removeEventListener('change', change)
  }, [])
  return isNarrow
}

const NARROW = matchMedia('(max-width: 700px)')

/** The picture, as soon as it is laid out, and what its lines mean. */
function GraphPicture({ scene }: { readonly scene: GraphScene }) {
  const layout = useLayout(scene.graph)
  return (
    <>
      {layout === undefined ? (
        <p class="graph-window graph-waits soft" role="status">
          Laying out {scene.graph.nodes.length} blocks.
        </p>
      ) : (
        <GraphCanvas layout={layout} scene={scene} />
      )}
      <GraphLegend graph={scene.graph} />
    </>
  )
}

/** Once a document: states change nothing of it. */
function useLayout(graph: GraphAnswer): GraphLayout | undefined {
  const [layout, setLayout] = useState<GraphLayout>()
  useEffect(() => {
    let isGone = false
    const shape = { ids: graph.nodes.map(({ id }) => id), edges: graph.edges.map(({ from, to }) => ({ from, to })) }
    void layOutGraph(shape).then((placed) => {
      if (!isGone) setLayout(placed)
    })
    return () => {
      isGone = true
    }
  }, [graph])
  return layout
}

function GraphLegend({ graph: { bounces, nodes } }: { readonly graph: GraphAnswer }) {
  return (
    <ul class="graph-legend small soft" aria-label="What the picture means">
      <li>
        <Line kind="is-critical" /> critical path: the chain that determines the end
      </li>
      <li>
        <Line kind="" /> waits for
      </li>
      {bounces.length > 0 && (
        <li>
          <Line kind="bounce" /> sent back by a gate
        </li>
      )}
      {nodes.some(({ pre_gates, post_gates }) => pre_gates.length + post_gates.length > 0) && (
        <li>gates: ✓ passed, ✕ failed, ≈ waived</li>
      )}
      <li>
        <kbd>←</kbd> <kbd>→</kbd> along edges, <kbd>↑</kbd> <kbd>↓</kbd> in a column, <kbd>Enter</kbd> opens a block
      </li>
    </ul>
  )
}

function Line({ kind }: { readonly kind: string }) {
  return (
    <svg width="30" height="8" aria-hidden="true">
      <path class={`edge ${kind}`} d="M1,4H29" />
    </svg>
  )
}

/** The layout of a document: a small one at once, a large one by a worker, so that the page goes on. */
async function layOutGraph(shape: GraphShape): Promise<GraphLayout> {
  if (shape.ids.length <= AT_ONCE) return layoutGraph(shape)
  try {
    return await inWorker(shape)
  } catch {
    // A browser that starts no workers waits a moment instead.
    return layoutGraph(shape)
  }
}

/** Blocks that are laid out in less than 20 ms. */
const AT_ONCE = 60

function inWorker(shape: GraphShape): Promise<GraphLayout> {
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  return new Promise<GraphLayout>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<GraphLayout>) => resolve(data))
    worker.addEventListener('error', ({ message }) => reject(new Error(`The layout worker failed: ${message}`)))
    worker.postMessage(shape)
  }).finally(() => worker.terminate())
}

/** The same as the picture in words: for readers, and where there is no room for a picture. */
function GraphTable({ scene }: { readonly scene: GraphScene }) {
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
        {live.epoch > 0 && <div class="small soft">{sentBackWords(live.epoch)}</div>}
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

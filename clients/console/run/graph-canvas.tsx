import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useKeys } from '../place/keys.ts'
import { route } from '../route.ts'
import { dragBackground } from './graph-drag.ts'
import { GraphEdges } from './graph-edges.tsx'
import { blockByKey } from './graph-keys.ts'
import { type GraphLayout, NODE_HEIGHT, NODE_WIDTH } from './graph-layout.ts'
import { GraphNode } from './graph-node.tsx'
import type { GraphScene } from './graph-scene.ts'
import { openGraphView } from './graph-view.ts'

interface CanvasProps {
  readonly layout: GraphLayout
  readonly scene: GraphScene
}

/** The picture behind its window: wheel and buttons zoom, dragging moves it, the focused block is brought into sight. */
export function GraphCanvas({ layout, scene }: CanvasProps) {
  const window = useRef<HTMLFieldSetElement>(null)
  const plane = useRef<HTMLDivElement>(null)
  const view = useMemo(() => openGraphView(layout), [layout])
  useEffect(() => {
    if (window.current === null || plane.current === null) return
    return view.attach(window.current, plane.current)
  }, [view])
  const { block } = route.value.query
  useEffect(() => {
    const chosen = layout.nodes.find(({ id }) => id === block)
    if (chosen !== undefined) view.reveal({ ...chosen, width: NODE_WIDTH, height: NODE_HEIGHT })
  }, [block, layout, view])
  const step = (event: KeyboardEvent) => stepAlong(event, layout)
  const reveal = ({ target }: FocusEvent) => {
    const id = target instanceof HTMLElement && target.matches(':focus-visible') ? target.dataset.block : undefined
    const node = layout.nodes.find((one) => one.id === id)
    if (node !== undefined) view.reveal({ ...node, width: NODE_WIDTH, height: NODE_HEIGHT })
  }
  const nodes = new Map(scene.graph.nodes.map((node) => [node.id, node]))
  return (
    <div class="graph-frame">
      <GraphTools zoom={view.zoom} fit={view.fit} />
      <fieldset
        ref={window}
        class="graph-window"
        style={{ maxHeight: `${Math.max(LEAST_HEIGHT, layout.height + 40)}px` }}
        onWheel={view.wheel}
        onPointerDown={(event) => dragBackground(event, view.move)}
        onKeyDown={step}
        onFocusIn={reveal}
      >
        <legend class="visually-hidden">Blocks of {scene.graph.dag}, each after what it waits for</legend>
        <div ref={plane} class="graph-plane" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
          <GraphEdges layout={layout} scene={scene} />
          {layout.nodes.map(({ id, x, y }) => {
            const node = nodes.get(id)
            return node === undefined ? null : <GraphNode key={id} node={node} x={x} y={y} scene={scene} />
          })}
        </div>
      </fieldset>
    </div>
  )
}

function GraphTools({ zoom, fit }: { readonly zoom: (factor: number) => void; readonly fit: () => void }) {
  useKeys(
    { key: '+', label: 'Zoom in', run: () => zoom(STEP) },
    { key: '-', label: 'Zoom out', run: () => zoom(1 / STEP) },
    { key: 'f', label: 'Fit the graph', run: fit },
  )
  return (
    <div class="graph-tools">
      <button type="button" onClick={() => zoom(STEP)} aria-label="Zoom in" title="Zoom in (+)">
        +
      </button>
      <button type="button" onClick={() => zoom(1 / STEP)} aria-label="Zoom out" title="Zoom out (-)">
        −
      </button>
      <button type="button" onClick={fit} title="Show all of it (f)">
        Fit
      </button>
    </div>
  )
}

const STEP = 1.3
/** A picture of one block still has room for the buttons, in px. */
const LEAST_HEIGHT = 300

/** The button of the block a key leads to gets the focus; the window moves by itself, not by scrolling. */
function stepAlong(event: KeyboardEvent, layout: GraphLayout): void {
  const { target, key, currentTarget } = event
  if (!(target instanceof HTMLElement) || !(currentTarget instanceof HTMLElement)) return
  const to = blockByKey(layout, target.dataset.block ?? '', key)
  if (to === undefined) return
  event.preventDefault()
  currentTarget.querySelector<HTMLElement>(`[data-block="${CSS.escape(to)}"]`)?.focus({ preventScroll: true })
}

import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useKeys } from '../../parts/keyboard-shortcuts.tsx'
import { route } from '../../route.ts'
import { blockByKey, type GraphLayout, NODE_HEIGHT, NODE_WIDTH, type Point } from './graph-layout.ts'
import { GraphEdges, GraphNode } from './graph-node.tsx'
import type { GraphScene } from './graph-scene.ts'
import { fitViewport, type Size, showBox, type Viewport, zoomAt } from './graph-viewport.ts'

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

/** Which part of the picture the window shows. It moves the element itself: nothing is drawn anew. */
interface GraphView {
  /** Answers what lets go of both again. */
  attach(window: HTMLElement, plane: HTMLElement): () => void
  zoom(factor: number): void
  move(dx: number, dy: number): void
  fit(): void
  /** Brings a box of the picture into the window, and nearer where it is too small to be read. */
  reveal(box: Point & Size): void
  wheel(event: WheelEvent): void
}

/** Below it only state and id of a block can be read. */
const FAR = 0.5
/** Below it only the sign of the state. */
const FARTHER = 0.25
const READABLE = 0.8

function openGraphView(layout: GraphLayout): GraphView {
  let view: Viewport = { scale: 1, x: 0, y: 0 }
  let window: HTMLElement | undefined
  let plane: HTMLElement | undefined
  // Until somebody moves it, it fits its window whatever becomes of that.
  let isFitted = true
  const show = (next: Viewport) => {
    view = next
    if (plane === undefined) return
    plane.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`
    plane.classList.toggle('is-far', view.scale < FAR)
    plane.classList.toggle('is-farther', view.scale < FARTHER)
  }
  const size = (): Size => ({ width: window?.clientWidth ?? 0, height: window?.clientHeight ?? 0 })
  const fitAll = () => {
    isFitted = true
    const next = fitViewport(layout, size())
    if (next !== undefined) show(next)
  }
  const byHand = (next: Viewport) => {
    isFitted = false
    show(next)
  }
  const middle = () => ({ x: size().width / 2, y: size().height / 2 })
  return {
    attach: (frame, moved) => {
      window = frame
      plane = moved
      const watch = new ResizeObserver(() => isFitted && fitAll())
      watch.observe(frame)
      fitAll()
      return () => watch.disconnect()
    },
    zoom: (factor) => byHand(zoomAt(view, factor, middle())),
    move: (dx, dy) => byHand({ ...view, x: view.x + dx, y: view.y + dy }),
    fit: fitAll,
    reveal: (box) => {
      byHand(view.scale < FAR ? centered(box, size()) : showBox(view, box, size()))
    },
    wheel: (event) => {
      event.preventDefault()
      const { left = 0, top = 0 } = window?.getBoundingClientRect() ?? {}
      byHand(zoomAt(view, wheelFactor(event), { x: event.clientX - left, y: event.clientY - top }))
    },
  }
}

function centered({ x, y, width, height }: Point & Size, window: Size): Viewport {
  const scale = READABLE
  return {
    scale,
    x: window.width / 2 - (x + width / 2) * scale,
    y: window.height / 2 - (y + height / 2) * scale,
  }
}

/** A notch of a wheel is about 100 px, a pinch of a touchpad a few, with ctrl. */
function wheelFactor({ deltaY, deltaMode, ctrlKey }: WheelEvent): number {
  const px = deltaMode === WheelEvent.DOM_DELTA_LINE ? deltaY * 33 : deltaY
  return Math.exp(-Math.max(-120, Math.min(120, px)) * (ctrlKey ? 0.01 : 0.002))
}

/** Moves the picture with the pointer that went down on its background, until it goes up. */
function dragBackground(event: PointerEvent, move: (dx: number, dy: number) => void): void {
  const { target, currentTarget, pointerId } = event
  if (event.button !== 0 || !(currentTarget instanceof HTMLElement)) return
  if (target instanceof Element && target.closest('button, a') !== null) return
  let { clientX: x, clientY: y } = event
  const drag = (moved: PointerEvent) => {
    move(moved.clientX - x, moved.clientY - y)
    x = moved.clientX
    y = moved.clientY
  }
  const drop = () => {
    currentTarget.removeEventListener('pointermove', drag)
    currentTarget.removeEventListener('lostpointercapture', drop)
    currentTarget.classList.remove('is-dragged')
  }
  currentTarget.setPointerCapture(pointerId)
  currentTarget.addEventListener('pointermove', drag)
  currentTarget.addEventListener('lostpointercapture', drop)
  currentTarget.classList.add('is-dragged')
}

import type { GraphLayout, Point } from './graph-layout.ts'
import { fitViewport, type Size, showBox, type Viewport, zoomAt } from './graph-viewport.ts'

/** Which part of the picture the window shows. It moves the element itself: nothing is drawn anew. */
export interface GraphView {
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

export function openGraphView(layout: GraphLayout): GraphView {
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

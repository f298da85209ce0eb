import { opensChild } from '../dag/opens-child.ts'
import type { DagGraph } from './graph.ts'
import { layeredLayout } from './layered-layout.ts'
import { bounceLabel, nodeLabel, shown } from './node-label.ts'

/** Pixels. */
const BOX = { width: 200, line: 17, padding: 10 }
const GAP = { x: 70, y: 24 }
const MARGIN = 16
/** A label of 48 characters fits its box at this size of a sans-serif font, or is squeezed into it. */
const WIDE_CHARACTERS = 28

interface Box {
  readonly x: number
  readonly y: number
  readonly height: number
}

/**
 * The graph as one SVG without scripts, links or fonts of its own. Its colours follow the reader's scheme; title and
 * description say in words what it shows, and every node has a title of its own.
 */
export function drawSvg(graph: DagGraph): string {
  const { dag, nodes, edges, bounces } = graph
  const labels = new Map(nodes.map((node) => [node.id, nodeLabel(node)]))
  const { boxes, width, height } = placeBoxes(graph, labels)
  const at = (id: string) => boxes.get(id) ?? { x: 0, y: 0, height: 0 }
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(shown(dag))}</title>`,
    `<desc id="description">${escaped(inWords(graph))}</desc>`,
    STYLE,
    ARROW,
    ...edges.map(({ from, to, join }) => edgeLine(at(from), at(to), join)),
    ...bounces.map((bounce) => bounceLine(at(bounce.from), at(bounce.to), bounceLabel(bounce))),
    ...nodes.map((node) => nodeBox(node, at(node.id), labels.get(node.id) ?? [])),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

const STYLE = `<style>
svg { color: #1f2328; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { color: #e6edf3; } }
rect { fill: currentColor; fill-opacity: 0.06; stroke: currentColor; }
.critical rect { stroke-width: 3; }
.asks rect { stroke-dasharray: 2 2; }
path { fill: none; stroke: currentColor; stroke-opacity: 0.6; }
.bounce { stroke-dasharray: 6 4; }
text { fill: currentColor; }
.small { font-size: 11px; fill-opacity: 0.8; }
</style>`

const ARROW =
  '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8" /></marker></defs>'

function placeBoxes(graph: DagGraph, labels: ReadonlyMap<string, readonly string[]>) {
  const spots = layeredLayout(graph)
  const tallest = Math.max(1, ...[...labels.values()].map((lines) => lines.length))
  const step = tallest * BOX.line + 2 * BOX.padding + GAP.y
  const rows = Math.max(0, ...[...spots.values()].map(({ row }) => row + 1))
  const columns = Math.max(0, ...[...spots.values()].map(({ column }) => column + 1))
  const inColumn = Map.groupBy(spots.values(), ({ column }) => column)
  // Room below for the bounces, which go round.
  const height = 2 * MARGIN + rows * step + graph.bounces.length * BOX.line
  const boxes = new Map<string, Box>()
  for (const [id, { column, row }] of spots) {
    const shift = (rows - (inColumn.get(column)?.length ?? 0)) / 2
    const size = (labels.get(id)?.length ?? 1) * BOX.line + 2 * BOX.padding
    boxes.set(id, { x: MARGIN + column * (BOX.width + GAP.x), y: MARGIN + (row + shift) * step, height: size })
  }
  return { boxes, width: 2 * MARGIN + columns * (BOX.width + GAP.x) - GAP.x, height }
}

function edgeLine(from: Box, to: Box, join: boolean): string {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + from.height / 2, to.x, to.y + to.height / 2]
  const bend = (x2 - x1) / 2
  const line = `<path d="M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}" marker-end="url(#arrow)" />`
  return join ? `${line}<text class="small" x="${x2 - 26}" y="${y2 - 4}">join</text>` : line
}

/** Back below both boxes. */
function bounceLine(from: Box, to: Box, label: string): string {
  const [x1, y1, x2, y2] = [from.x + BOX.width / 2, from.y + from.height, to.x + BOX.width / 2, to.y + to.height]
  const low = Math.max(y1, y2) + GAP.y
  const line = `<path class="bounce" d="M${x1} ${y1} C${x1} ${low} ${x2} ${low} ${x2} ${y2}" marker-end="url(#arrow)" />`
  return `${line}<text class="small" text-anchor="middle" x="${(x1 + x2) / 2}" y="${low + 8}">${escaped(label)}</text>`
}

function nodeBox(node: DagGraph['nodes'][number], { x, y, height }: Box, lines: readonly string[]): string {
  const classes = [node.mode, ...(node.critical ? ['critical'] : []), ...(node.approval ? ['asks'] : [])]
  const frame = (by: number) =>
    `<rect x="${x - by}" y="${y - by}" width="${BOX.width + 2 * by}" height="${height + 2 * by}" rx="${node.mode === 'ai' ? 10 : 2}" />`
  // A child run is a frame in a frame, a foreach a stack.
  const double = opensChild(node.mode) ? frame(4) : node.foreach ? frame(-3) : ''
  const text = lines.map((line, i) => {
    const squeeze =
      [...line].length > WIDE_CHARACTERS
        ? ` textLength="${BOX.width - 2 * BOX.padding}" lengthAdjust="spacingAndGlyphs"`
        : ''
    const size = i === 0 ? '' : ' class="small"'
    return `<text${size} x="${x + BOX.padding}" y="${y + BOX.padding + (i + 0.75) * BOX.line}"${squeeze}>${escaped(line)}</text>`
  })
  return `<g class="${classes.join(' ')}"><title>${escaped(lines.join(', '))}</title>${frame(0)}${double}${text.join('')}</g>`
}

function inWords({ nodes, edges, bounces, critical_path }: DagGraph): string {
  const blocks = nodes.map(({ id }) => {
    const before = edges.filter(({ to }) => to === id).map(({ from }) => from)
    return before.length === 0 ? `${id} starts at once.` : `${id} waits for ${before.join(', ')}.`
  })
  const back = bounces.map(({ from, to, when_gate }) => `${from} goes back to ${to} when ${shown(when_gate)} fails.`)
  return [...blocks, ...back, `Critical path: ${critical_path.blocks.join(', ')}.`].join(' ')
}

function escaped(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

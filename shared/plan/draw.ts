import { opensChild } from '../dag/dag.ts'
import type { DagGraph } from './graph-schema.ts'

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
    `<title id="title">${svgText(oneLine(dag))}</title>`,
    `<desc id="description">${svgText(inWords(graph))}</desc>`,
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
  return `${line}<text class="small" text-anchor="middle" x="${(x1 + x2) / 2}" y="${low + 8}">${svgText(label)}</text>`
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
    return `<text${size} x="${x + BOX.padding}" y="${y + BOX.padding + (i + 0.75) * BOX.line}"${squeeze}>${svgText(line)}</text>`
  })
  return `<g class="${classes.join(' ')}"><title>${svgText(lines.join(', '))}</title>${frame(0)}${double}${text.join('')}</g>`
}

function inWords({ nodes, edges, bounces, critical_path }: DagGraph): string {
  const blocks = nodes.map(({ id }) => {
    const before = edges.filter(({ to }) => to === id).map(({ from }) => from)
    return before.length === 0 ? `${id} starts at once.` : `${id} waits for ${before.join(', ')}.`
  })
  const back = bounces.map(({ from, to, when_gate }) => `${from} goes back to ${to} when ${oneLine(when_gate)} fails.`)
  return [...blocks, ...back, `Critical path: ${critical_path.blocks.join(', ')}.`].join(' ')
}

function svgText(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Where a node stands: column is its layer, row its place in it. */
interface GridSpot {
  readonly column: number
  readonly row: number
}

const SWEEPS = 8

/**
 * A layered drawing: each layer is a column, ordered by the middle of its neighbours in sweeps to and fro, which takes
 * most crossings out. Good for what people read (some hundred blocks); larger ones are drawn all the same.
 */
export function layeredLayout({ nodes, edges }: DagGraph): ReadonlyMap<string, GridSpot> {
  const columns: string[][] = []
  for (const { id, layer } of nodes) {
    while (columns.length <= layer) columns.push([])
    columns[layer]?.push(id)
  }
  const before = Map.groupBy(edges, ({ to }) => to)
  const after = Map.groupBy(edges, ({ from }) => from)
  const rows = new Map<string, number>()
  for (const column of columns) numberRows(column, rows)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forth = sweep % 2 === 0
    for (const column of forth ? columns : columns.toReversed()) {
      const near = (id: string) =>
        forth ? (before.get(id) ?? []).map(({ from }) => from) : (after.get(id) ?? []).map(({ to }) => to)
      sortByMiddle(column, near, rows)
    }
  }
  return new Map(columns.flatMap((ids, column) => ids.map((id, row) => [id, { column, row }] as const)))
}

function sortByMiddle(column: string[], near: (id: string) => readonly string[], rows: Map<string, number>): void {
  const middles = new Map(column.map((id) => [id, middleOf(near(id), rows) ?? rows.get(id) ?? 0]))
  column.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0))
  numberRows(column, rows)
}

function middleOf(ids: readonly string[], rows: ReadonlyMap<string, number>): number | undefined {
  if (ids.length === 0) return undefined
  return ids.reduce((sum, id) => sum + (rows.get(id) ?? 0), 0) / ids.length
}

/** Rows are counted from the middle of a column, so that columns of different heights compare. */
function numberRows(column: readonly string[], rows: Map<string, number>): void {
  column.forEach((id, row) => {
    rows.set(id, row - (column.length - 1) / 2)
  })
}

/** The graph for Graphviz. Colours are left to the reader's background: shapes and lines say what things are. */
export function drawDot({ dag, nodes, edges, bounces }: DagGraph): string {
  const lines = [
    `digraph ${dotString(oneLine(dag))} {`,
    '  rankdir=LR',
    '  node [shape=box, fontname="sans-serif"]',
    '  edge [fontname="sans-serif", fontsize=10]',
    ...nodes.map((node) => `  ${dotString(node.id)} [label=${dotLabel(nodeLabel(node))}${dotStyle(node)}]`),
    ...edges.map(({ from, to, join }) => `  ${dotString(from)} -> ${dotString(to)}${join ? ' [label="join"]' : ''}`),
    ...bounces.map(
      (bounce) =>
        `  ${dotString(bounce.from)} -> ${dotString(bounce.to)} [style=dashed, constraint=false, label=${dotLabel([bounceLabel(bounce)])}]`,
    ),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

function dotStyle({ mode, foreach, critical }: DagGraph['nodes'][number]): string {
  const shape = mode === 'approval' ? 'hexagon' : opensChild(mode) ? 'component' : foreach ? 'box3d' : undefined
  const styles = [...(mode === 'ai' ? ['rounded'] : []), ...(critical ? ['bold'] : [])]
  return `${shape === undefined ? '' : `, shape=${shape}`}${styles.length === 0 ? '' : `, style=${dotString(styles.join(','))}`}`
}

/** In a quoted string only `"` and `\` mean something; `\n` between lines is DOT's own. */
function dotString(text: string): string {
  return `"${dotText(text)}"`
}

function dotLabel(lines: readonly string[]): string {
  return `"${lines.map(dotText).join('\\n')}"`
}

function dotText(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}

/** The graph as a Mermaid flowchart: nodes are n0, n1, .. so that no id meets a word of the language. */
export function drawMermaid({ dag, nodes, edges, bounces }: DagGraph): string {
  const nameOf = new Map(nodes.map(({ id }, index) => [id, `n${index}`]))
  const critical = nodes.flatMap((node, index) => (node.critical ? [`n${index}`] : []))
  const lines = [
    'flowchart LR',
    `  accTitle: ${mermaidText(dag)}`,
    ...nodes.map((node, index) => `  n${index}${mermaidShape(node, nodeLabel(node).map(mermaidText).join('<br/>'))}`),
    ...edges.map(({ from, to, join }) => `  ${nameOf.get(from)} -->${join ? '|join|' : ''} ${nameOf.get(to)}`),
    ...bounces.map(
      (bounce) => `  ${nameOf.get(bounce.from)} -.->|"${mermaidText(bounceLabel(bounce))}"| ${nameOf.get(bounce.to)}`,
    ),
    '  classDef critical stroke-width:3px',
    ...(critical.length === 0 ? [] : [`  class ${critical.join(',')} critical`]),
  ]
  return `${lines.join('\n')}\n`
}

function mermaidShape({ mode, foreach }: DagGraph['nodes'][number], label: string): string {
  if (mode === 'approval') return `{{"${label}"}}`
  if (opensChild(mode)) return `[["${label}"]]`
  if (foreach) return `[/"${label}"/]`
  return mode === 'ai' ? `("${label}")` : `["${label}"]`
}

/** Mermaid reads `#35;` as the character 35; whatever is not a plain word is written so. */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} ._,·…-]/gu, (character) => `#${character.codePointAt(0)};`)
}

type Node = DagGraph['nodes'][number] & { readonly state?: string; readonly attempt?: number }

/** What stands in a node, a line each: its id, its name if it says more, what it is, what it is doing. */
function nodeLabel(node: Node): readonly string[] {
  const { id, name, mode, child, state, attempt = 0 } = node
  const work = child === undefined ? mode : `${mode} ${child}`
  const marks = marksOf(node)
  return [
    oneLine(id),
    ...(name === id ? [] : [oneLine(name)]),
    oneLine(marks.length === 0 ? work : `${work} · ${marks.join(' · ')}`),
    ...(state === undefined ? [] : [oneLine(attempt > 1 ? `${state}, try ${attempt}` : state)]),
  ]
}

/** What a bounce says on its way back. */
function bounceLabel({ when_gate, max_bounces }: DagGraph['bounces'][number]): string {
  return oneLine(`${when_gate} failed, at most ${max_bounces} times`)
}

function marksOf({ approval, mode, foreach, when, cached, pre_gates, post_gates }: Node): readonly string[] {
  const gates = pre_gates.length + post_gates.length
  return [
    ...(approval && mode !== 'approval' ? ['asks a person'] : []),
    ...(foreach ? ['foreach'] : []),
    ...(when ? ['conditional'] : []),
    ...(cached ? ['cached'] : []),
    ...(gates === 0 ? [] : [gates === 1 ? '1 gate' : `${gates} gates`]),
  ]
}

const MOST_CHARACTERS = 48

/** Text of a document without what could act on whoever shows it: controls, line ends, bidi marks; cut to a line. */
function oneLine(text: string): string {
  const plain = text.toWellFormed().replace(UNPRINTABLE, ' ').replace(/\s+/g, ' ').trim()
  const points = [...plain]
  return points.length <= MOST_CHARACTERS ? plain : `${points.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

const UNPRINTABLE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

import { opensChild } from '../dag/opens-child.ts'
import type { DagGraph } from './graph.ts'
import { bounceLabel, nodeLabel } from './node-label.ts'

/** The graph as a Mermaid flowchart: nodes are n0, n1, .. so that no id meets a word of the language. */
export function drawMermaid({ dag, nodes, edges, bounces }: DagGraph): string {
  const nameOf = new Map(nodes.map(({ id }, index) => [id, `n${index}`]))
  const critical = nodes.flatMap((node, index) => (node.critical ? [`n${index}`] : []))
  const lines = [
    'flowchart LR',
    `  accTitle: ${escaped(dag)}`,
    ...nodes.map((node, index) => `  n${index}${shapeOf(node, nodeLabel(node).map(escaped).join('<br/>'))}`),
    ...edges.map(({ from, to, join }) => `  ${nameOf.get(from)} -->${join ? '|join|' : ''} ${nameOf.get(to)}`),
    ...bounces.map(
      (bounce) => `  ${nameOf.get(bounce.from)} -.->|"${escaped(bounceLabel(bounce))}"| ${nameOf.get(bounce.to)}`,
    ),
    '  classDef critical stroke-width:3px',
    ...(critical.length === 0 ? [] : [`  class ${critical.join(',')} critical`]),
  ]
  return `${lines.join('\n')}\n`
}

function shapeOf({ mode, foreach }: DagGraph['nodes'][number], label: string): string {
  if (mode === 'approval') return `{{"${label}"}}`
  if (opensChild(mode)) return `[["${label}"]]`
  if (foreach) return `[/"${label}"/]`
  return mode === 'ai' ? `("${label}")` : `["${label}"]`
}

/** Mermaid reads `#35;` as the character 35; whatever is not a plain word is written so. */
function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N} ._,·…-]/gu, (character) => `#${character.codePointAt(0)};`)
}

import { opensChild } from '../dag/opens-child.ts'
import type { DagGraph } from './graph.ts'
import { bounceLabel, nodeLabel, shown } from './node-label.ts'

/** The graph for Graphviz. Colours are left to the reader's background: shapes and lines say what things are. */
export function drawDot({ dag, nodes, edges, bounces }: DagGraph): string {
  const lines = [
    `digraph ${quoted(shown(dag))} {`,
    '  rankdir=LR',
    '  node [shape=box, fontname="sans-serif"]',
    '  edge [fontname="sans-serif", fontsize=10]',
    ...nodes.map((node) => `  ${quoted(node.id)} [label=${label(nodeLabel(node))}${styleOf(node)}]`),
    ...edges.map(({ from, to, join }) => `  ${quoted(from)} -> ${quoted(to)}${join ? ' [label="join"]' : ''}`),
    ...bounces.map(
      (bounce) =>
        `  ${quoted(bounce.from)} -> ${quoted(bounce.to)} [style=dashed, constraint=false, label=${label([bounceLabel(bounce)])}]`,
    ),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

function styleOf({ mode, foreach, critical }: DagGraph['nodes'][number]): string {
  const shape = mode === 'approval' ? 'hexagon' : opensChild(mode) ? 'component' : foreach ? 'box3d' : undefined
  const styles = [...(mode === 'ai' ? ['rounded'] : []), ...(critical ? ['bold'] : [])]
  return `${shape === undefined ? '' : `, shape=${shape}`}${styles.length === 0 ? '' : `, style=${quoted(styles.join(','))}`}`
}

/** In a quoted string only `"` and `\` mean something; `\n` between lines is DOT's own. */
function quoted(text: string): string {
  return `"${escaped(text)}"`
}

function label(lines: readonly string[]): string {
  return `"${lines.map(escaped).join('\\n')}"`
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}

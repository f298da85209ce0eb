import { useComputed } from '@preact/signals'
import type { GraphLayout } from './graph-layout.ts'
import { bouncePath, edgePath } from './graph-path.ts'
import type { GraphScene } from './graph-scene.ts'

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

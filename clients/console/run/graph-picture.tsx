import { useEffect, useState } from 'preact/hooks'
import type { GraphAnswer } from '../run-session.ts'
import { GraphCanvas } from './graph-canvas.tsx'
import type { GraphLayout } from './graph-layout.ts'
import { placeGraph } from './graph-place.ts'
import type { GraphScene } from './graph-scene.ts'

/** The picture, as soon as it is laid out, and what its lines mean. */
export function GraphPicture({ scene }: { readonly scene: GraphScene }) {
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
    void placeGraph(shape).then((placed) => {
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

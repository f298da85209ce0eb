/** A graph by block indexes; edges are [from, to]. */
export interface Shape {
  readonly name: string
  readonly n: number
  readonly edges: readonly (readonly [number, number])[]
}

/**
 * The shapes of the overhead bench: nothing parallel, everything parallel, layers of five where each block waits for
 * the whole layer before, and layers of twenty where each waits for two (the hardest: a join for every block).
 */
export function shapesOf(n: number): readonly Shape[] {
  return [chain(n), fanOut(n), layered(n, 5), woven(n, 20)]
}

/** What bench:engines runs: a diamond, a chain, a fan with a join, and the woven one. */
export const ENGINE_SHAPES: readonly Shape[] = [
  { ...joined(8, true), name: 'diamond' },
  chain(100),
  { ...joined(200, false), name: 'fan' },
  { ...woven(1_000, 20), name: 'woven' },
]

/** The blocks each block waits for. */
export function sourcesOf({ n, edges }: Shape): readonly (readonly number[])[] {
  const sources: number[][] = range(n).map(() => [])
  for (const [from, to] of edges) sources[to]?.push(from)
  return sources
}

/** The blocks in layers: each one behind the last of those it waits for. */
export function layersOf(shape: Shape): readonly (readonly number[])[] {
  const depths: number[] = []
  const layers: number[][] = []
  // Edges of these shapes go from lower numbers to higher ones.
  for (const [block, sources] of sourcesOf(shape).entries()) {
    const depth = 1 + Math.max(-1, ...sources.map((source) => depths[source] ?? 0))
    depths.push(depth)
    layers[depth] = [...(layers[depth] ?? []), block]
  }
  return layers
}

/** So many blocks side by side, one that waits for them all, and one before them or none. */
function joined(width: number, opened: boolean): Omit<Shape, 'name'> {
  const first = opened ? 1 : 0
  const last = first + width
  const edges = range(width).flatMap((i): [number, number][] => [
    ...(opened ? [[0, first + i] as [number, number]] : []),
    [first + i, last],
  ])
  return { n: last + 1, edges }
}

function chain(n: number): Shape {
  return { name: 'chain', n, edges: range(n - 1).map((i) => [i, i + 1]) }
}

function fanOut(n: number): Shape {
  return { name: 'fan-out', n, edges: range(n - 1).map((i) => [0, i + 1]) }
}

function layered(n: number, width: number): Shape {
  const edges = range(n - width).flatMap((i): [number, number][] => {
    const next = (Math.floor(i / width) + 1) * width
    return range(width).map((column) => [i, next + column])
  })
  return { name: `layered, ${width} wide`, n, edges }
}

/** Each block waits for two of the layer before: its own column and the one beside it. */
function woven(n: number, width: number): Shape {
  const edges = range(n - width).flatMap((i): [number, number][] => {
    const layer = Math.floor(i / width) * width
    const beside = layer + ((i - layer + 1) % width)
    return [
      [i, i + width],
      [beside, i + width],
    ]
  })
  return { name: `woven, ${width} wide`, n, edges }
}

function range(n: number): readonly number[] {
  return Array.from({ length: n }, (_, i) => i)
}

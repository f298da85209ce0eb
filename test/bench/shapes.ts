/** A graph by block indexes; edges are [from, to]. */
export interface Shape {
  readonly name: string
  readonly n: number
  readonly edges: readonly (readonly [number, number])[]
}

/** The three shapes of the overhead bench: nothing parallel, everything parallel, and layers of twenty. */
export function shapesOf(n: number): readonly Shape[] {
  return [chain(n), fanOut(n), layered(n, 20)]
}

function chain(n: number): Shape {
  return { name: 'chain', n, edges: range(n - 1).map((i) => [i, i + 1]) }
}

function fanOut(n: number): Shape {
  return { name: 'fan-out', n, edges: range(n - 1).map((i) => [0, i + 1]) }
}

/** Each block of a layer waits for two of the layer before: its own column and the next one. */
function layered(n: number, width: number): Shape {
  const edges = range(n - width).flatMap((i): [number, number][] => {
    const layer = Math.floor(i / width) * width
    const next = layer + ((i - layer + 1) % width)
    const to = i + width
    return [
      [i, to],
      [next, to],
    ]
  })
  return { name: `layered ${width} wide`, n, edges }
}

function range(n: number): readonly number[] {
  return Array.from({ length: n }, (_, i) => i)
}

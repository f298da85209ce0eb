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

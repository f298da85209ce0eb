/** What a vector is near to. */
export interface Near {
  /** Its place in the list. */
  readonly at: number
  /** -1 to 1; 0 where one of the two says nothing. */
  readonly cosine: number
}

/** The vectors by how near they are to one, nearest first; ties in the order they came. All are of one length. */
export function rankByCosine(wanted: readonly number[], vectors: readonly (readonly number[])[]): readonly Near[] {
  const near = vectors.map((vector, at) => ({ at, cosine: cosine(wanted, vector) }))
  return near.toSorted((a, b) => b.cosine - a.cosine || a.at - b.at)
}

/** Scaled before they are multiplied, so that no square leaves the range of numbers. */
function cosine(one: readonly number[], other: readonly number[]): number {
  const [oneMost, otherMost] = [largest(one), largest(other)]
  if (oneMost === 0 || otherMost === 0) return 0
  let product = 0
  let oneSquares = 0
  let otherSquares = 0
  for (let i = 0; i < one.length; i += 1) {
    const a = (one[i] ?? 0) / oneMost
    const b = (other[i] ?? 0) / otherMost
    product += a * b
    oneSquares += a * a
    otherSquares += b * b
  }
  return Math.min(1, Math.max(-1, product / Math.sqrt(oneSquares * otherSquares)))
}

function largest(vector: readonly number[]): number {
  return vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0)
}

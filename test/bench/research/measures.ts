/** Ranks that count. */
const TOP = 10

/** Normalised discounted cumulative gain, gain 2^grade - 1 (Järvelin and Kekäläinen 2002; Burges 2005). */
export function ndcg(found: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const gain = (grades: readonly number[]) =>
    grades.slice(0, TOP).reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)
  const ideal = gain([...relevant.values()].toSorted((a, b) => b - a))
  return gain(found.map((id) => relevant.get(id) ?? 0)) / ideal
}

export function recall(found: readonly string[], relevant: ReadonlyMap<string, number>): number {
  return found.slice(0, TOP).filter((id) => relevant.has(id)).length / relevant.size
}

const ROUNDS = 20_000

/**
 * How likely a mean difference as large as this one is where there is none: each query's difference with its sign drawn
 * anew (paired randomisation: Smucker, Allan and Carterette, CIKM 2007), from a fixed seed.
 */
export function pairedTest(ours: readonly number[], theirs: readonly number[]): number {
  const differences = ours.map((value, at) => value - (theirs[at] ?? 0))
  const seen = Math.abs(differences.reduce((sum, difference) => sum + difference, 0))
  let state = 1
  let asLarge = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    let sum = 0
    for (const difference of differences) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      sum += state < 2 ** 31 ? difference : -difference
    }
    if (Math.abs(sum) >= seen - 1e-12) asLarge += 1
  }
  return (asLarge + 1) / (ROUNDS + 1)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

import type { Without } from './scenario.ts'
import { type Order, type Outcome, simulate } from './simulate.ts'

type Kind = 'faults' | 'acts' | 'blocks'
type Names = ReadonlySet<string | number>

/** Looks at most so often; a seed takes some tenths of a second. */
const MOST_LOOKS = 400

/**
 * Takes out of a failing seed what it fails without: faults, what people do, blocks; many at once first, then one at a
 * time. It must go on failing by the same invariant.
 */
export async function shrink(
  order: Order,
  failed: Outcome,
): Promise<{ readonly without: Without; readonly outcome: Outcome }> {
  const invariant = failed.violations[0]?.split(':')[0]
  let best = {
    without: order.without ?? { faults: new Set<string>(), acts: new Set<number>(), blocks: new Set<string>() },
    outcome: failed,
  }
  let looks = 0
  const fails = async (kind: Kind, names: readonly (string | number)[]): Promise<boolean> => {
    looks += 1
    const without = { ...best.without, [kind]: new Set([...(best.without[kind] as Names), ...names]) } as Without
    const outcome = await simulate({ ...order, without }).catch(() => undefined)
    if (outcome?.violations[0]?.split(':')[0] !== invariant || outcome === undefined) return false
    best = { without, outcome }
    return true
  }
  /** Tries to do without each slice of so many names. */
  const inSlices = async (kind: Kind, size: number): Promise<void> => {
    let at = 0
    for (let names = namesOf(kind, best.outcome); at < names.length && looks < MOST_LOOKS; ) {
      if (await fails(kind, names.slice(at, at + size))) names = namesOf(kind, best.outcome)
      else at += size
    }
  }
  for (const kind of ['faults', 'acts', 'blocks'] as const) {
    let size = namesOf(kind, best.outcome).length
    for (; size >= 1; size = Math.floor(size / 2)) await inSlices(kind, size)
  }
  return best
}

function namesOf(kind: Kind, { faults, scenario }: Outcome): readonly (string | number)[] {
  if (kind === 'faults') return [...new Set(faults.map(({ name }) => name))]
  if (kind === 'acts') return scenario.acts.map(({ id }) => id)
  return scenario.runs.flatMap(({ blocks }, i) => blocks.map(({ id }) => `${i}.${id}`))
}

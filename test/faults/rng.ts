/** A stream of numbers in [0, 1). */
export type Random = () => number

/** Numbers from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    return mixed(state)
  }
}

/**
 * One number in [0, 1) of a seed and a name. Decisions that are named stay as they are when others before them are
 * taken out, which is what makes a failing seed shrink.
 */
export function hashed(seed: number, name: string): number {
  let state = (seed ^ 0x811c9dc5) >>> 0
  for (let i = 0; i < name.length; i += 1) state = Math.imul(state ^ name.charCodeAt(i), 0x01000193) >>> 0
  return mixed(mixed32(state))
}

export function pickFrom<T>(list: readonly T[], dice: number): T | undefined {
  return list[Math.min(list.length - 1, Math.floor(dice * list.length))]
}

function mixed(state: number): number {
  return mixed32(state) / 4_294_967_296
}

function mixed32(state: number): number {
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return (t ^ (t >>> 14)) >>> 0
}

/** A set of ports with two 32-bit sums of its members' hashes, kept up to date: equal sets have equal sums. */
export interface PortSet {
  readonly members: Set<number>
  low: number
  high: number
}

/** Puts a port in, or takes it out if it is there; answers whether it is in now. */
export function toggle(set: PortSet, port: number): boolean {
  set.low ^= mix(port + 1, 0x85ebca6b)
  set.high ^= mix(port + 1, 0xc2b2ae35)
  if (set.members.delete(port)) return false
  set.members.add(port)
  return true
}

/** 53 bits of the sums, for a Map: different sets may share a key, so compare with `sameMembers` too. */
export function keyOf(set: PortSet): number {
  return (set.low >>> 0) * 0x200000 + (set.high >>> 11)
}

export function sameMembers(a: PortSet, b: PortSet): boolean {
  if (a.members.size !== b.members.size || keyOf(a) !== keyOf(b)) return false
  for (const port of a.members) if (!b.members.has(port)) return false
  return true
}

/** The finaliser of MurmurHash3 with a seed: spreads small numbers over 32 bits. */
function mix(value: number, seed: number): number {
  let h = Math.imul(value, 0x9e3779b1) ^ seed
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

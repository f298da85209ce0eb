/**
 * A set of ports, oldest first, with a 32-bit sum of its members' hashes kept up to date: equal sets have equal sums.
 * Most sets hold a few ports, for which a list is several times faster than a Set; only large ones become one.
 */
export interface PortSet {
  members: number[] | Set<number>
  size: number
  sum: number
}

/** Members up to which a set is a list. */
const LISTED = 24

export function noPorts(): PortSet {
  return { members: [], size: 0, sum: 0 }
}

/** Puts a port in, or takes it out if it is there. */
export function toggle(set: PortSet, port: number): void {
  set.sum ^= mix(port + 1)
  const { members } = set
  if (members instanceof Set) {
    if (!members.delete(port)) members.add(port)
    set.size = members.size
    return
  }
  const at = members.indexOf(port)
  if (at >= 0) members.splice(at, 1)
  else members.push(port)
  set.size = members.length
  if (members.length > LISTED) set.members = new Set(members)
}

export function sameMembers(a: PortSet, b: PortSet): boolean {
  if (a.size !== b.size || a.sum !== b.sum) return false
  const { members } = b
  const isIn = members instanceof Set ? (port: number) => members.has(port) : (port: number) => members.includes(port)
  for (const port of a.members) if (!isIn(port)) return false
  return true
}

/** The finaliser of MurmurHash3: spreads small numbers over 32 bits. */
function mix(value: number): number {
  let h = Math.imul(value, 0x9e3779b1) ^ 0x85ebca6b
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

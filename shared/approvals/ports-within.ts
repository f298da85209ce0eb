import type { ApprovalItem } from '../runs/run-items.ts'

/** One larger than this is named, not shown: as in GET run. */
const MAX_SHOWN_BYTES = 65_536

/** Of each question the ports whose values are shown, first come first served, while all of them fit into `room` bytes. */
export function portsWithin(
  items: readonly Pick<ApprovalItem, 'shown'>[],
  room: number,
): readonly ReadonlySet<string>[] {
  let left = room
  return items.map(({ shown }) => {
    const ports = Object.entries(shown).flatMap(([port, { bytes }]) => {
      if (bytes > Math.min(MAX_SHOWN_BYTES, left)) return []
      left -= bytes
      return [port]
    })
    return new Set(ports)
  })
}

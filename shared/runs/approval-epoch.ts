/** The epoch an approval id names; 0 for what is none. */
export function approvalEpoch(id: string): number {
  return Number(/_(\d+)(?:_a\d+)?$/.exec(id)?.[1] ?? 0)
}

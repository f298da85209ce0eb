import type { BlockLive } from './graph-lives.ts'

/** How the gates of the newest attempt ended; nothing before the first. */
export function GateCounts({ passed, failed, waived }: Pick<BlockLive, 'passed' | 'failed' | 'waived'>) {
  const counts = [
    [passed, '✓', 'passed'],
    [failed, '✕', 'failed'],
    [waived, '≈', 'waived'],
  ] as const
  if (passed + failed + waived === 0) return null
  return (
    <span class="counts">
      <span class="visually-hidden">gates: </span>
      {counts.map(([count, sign, word]) =>
        count === 0 ? null : (
          <span key={word}>
            <span aria-hidden="true">
              {sign}
              {count}
            </span>
            <span class="visually-hidden">
              {count} {word},{' '}
            </span>
          </span>
        ),
      )}
    </span>
  )
}

/** How far a foreach block is; nothing of another. */
export function ItemCounts({
  item_count,
  items_done,
  items_failed,
}: Pick<BlockLive, 'item_count' | 'items_done' | 'items_failed'>) {
  if (item_count === undefined) return null
  const failed = items_failed === 0 ? '' : `, ${items_failed} failed`
  return (
    <span>
      {items_done}/{item_count} items{failed}
    </span>
  )
}

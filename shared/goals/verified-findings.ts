import type { Evidence, PlacedMarker } from './evidence.ts'

/** Lines before a finding in which its statistics count. */
export const LOOK_BACK_LINES = 10

export interface JudgedFinding {
  readonly finding: PlacedMarker
  /** The markers that count as its own, the nearest first. */
  readonly before: readonly PlacedMarker[]
  readonly ci: PlacedMarker | undefined
  readonly effect_size: PlacedMarker | undefined
  /** Both are there and say something. */
  readonly verified: boolean
}

/** Every [FINDING] with the [STAT:ci] and [STAT:effect_size] that stand before it in the same text, the nearest ones. */
export function judgeFindings({ markers }: Evidence): readonly JudgedFinding[] {
  return markers.flatMap((finding, index) => {
    if (finding.type !== 'FINDING') return []
    const before = markersBefore(markers, index)
    const ci = before.find((marker) => isStatistic(marker, 'ci'))
    const effect_size = before.find((marker) => isStatistic(marker, 'effect_size'))
    return [{ finding, before, ci, effect_size, verified: ci !== undefined && effect_size !== undefined }]
  })
}

/** Nearest first, within the lines that count; text of another block or attempt is none of them. */
function markersBefore(markers: readonly PlacedMarker[], index: number): readonly PlacedMarker[] {
  const finding = markers[index]
  // A line has one marker at most, so there are no more than the lines.
  const near = markers.slice(Math.max(0, index - LOOK_BACK_LINES), index).toReversed()
  return near.filter(({ text, line }) => text === finding?.text && finding.line - line <= LOOK_BACK_LINES)
}

function isStatistic({ type, subtype, content }: PlacedMarker, name: string): boolean {
  return type === 'STAT' && subtype === name && content !== ''
}

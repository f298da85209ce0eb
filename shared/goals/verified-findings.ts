import { isVisible } from '../gates/code-points.ts'
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
export function judgeFindings({ markers, relayed }: Evidence): readonly JudgedFinding[] {
  const byPlace = new Map([...markers, ...relayed].map((marker) => [placeOf(marker.text, marker.line), marker]))
  return markers.flatMap((finding) => {
    if (finding.type !== 'FINDING') return []
    const before = markersBefore(byPlace, finding)
    const ci = before.find((marker) => isStatistic(marker, 'ci'))
    const effect_size = before.find((marker) => isStatistic(marker, 'effect_size'))
    return [{ finding, before, ci, effect_size, verified: ci !== undefined && effect_size !== undefined }]
  })
}

/** A line has one marker at most. */
function placeOf(text: number, line: number): string {
  return `${text}:${line}`
}

/** Nearest first, within the lines that count; text of another block or attempt is none of them. */
function markersBefore(
  byPlace: ReadonlyMap<string, PlacedMarker>,
  { text, line }: PlacedMarker,
): readonly PlacedMarker[] {
  const lines = Array.from({ length: LOOK_BACK_LINES }, (_, back) => line - 1 - back)
  return lines.flatMap((at) => byPlace.get(placeOf(text, at)) ?? [])
}

function isStatistic({ type, subtype, content }: PlacedMarker, name: string): boolean {
  return type === 'STAT' && subtype === name && isVisible(content)
}

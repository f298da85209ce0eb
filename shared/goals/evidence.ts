import type { Json } from '../text/json.ts'
import { isVisible } from '../text/prose.ts'
import { type Marker, MOST_MARKERS, parseMarkers } from './marker.ts'

/** Who said or wrote it; absent where evidence came as a plain text. */
export interface EvidencePosition {
  readonly block?: string
  readonly attempt?: number
  readonly seq?: number
}

/** The marker text of one attempt of a block. */
export interface EvidenceText extends EvidencePosition {
  readonly text: string
  /** Lines, from 1, that stand in what its block was given by blocks that speak: they count where they were said first. */
  readonly relayed?: readonly number[]
  /** Lines that stand in what its block was given by others: what was read counts nowhere. */
  readonly read?: readonly number[]
}

/** An object that exists: `name` is its path in the run. Whoever makes this list has looked. */
export interface EvidenceArtifact extends EvidencePosition {
  readonly name: string
  readonly bytes?: number
  readonly sha256?: string
}

/** A marker and where it stands: `text` is the index of its text. */
export type LocatedMarker = Marker & EvidencePosition & { readonly text: number }

/** What the gates judge: markers in the order in which they were said, and what exists. */
export interface Evidence {
  readonly markers: readonly LocatedMarker[]
  /** Markers that a text says again: a finding beside them may rest on them, and nothing else. */
  readonly relayed: readonly LocatedMarker[]
  readonly artifacts: readonly EvidenceArtifact[]
  /** Whose markers are more than are read: blocks, or undefined for texts of nobody known. */
  readonly cut: readonly (string | undefined)[]
}

/**
 * Reads the markers of a run's texts, of each block the first 10,000 of all its texts together. Texts that all know their
 * seq are put into its order; others stay as given.
 */
export function readEvidence(texts: readonly EvidenceText[], artifacts: readonly EvidenceArtifact[] = []): Evidence {
  const markers: LocatedMarker[] = []
  const again: LocatedMarker[] = []
  const left = new Map<string | undefined, number>()
  const cut = new Set<string | undefined>()
  for (const [index, { text, relayed, read, ...place }] of inOrder(texts).entries()) {
    const [said, merelyRead] = [new Set(relayed), new Set(read)]
    const most = left.get(place.block) ?? MOST_MARKERS
    const found = parseMarkers(text, most + 1)
    left.set(place.block, Math.max(0, most - found.length))
    if (found.length > most) cut.add(place.block)
    for (const marker of found.slice(0, most)) {
      const placed = { ...marker, ...place, text: index }
      if (said.has(marker.line)) again.push(placed)
      else if (!merelyRead.has(marker.line)) markers.push(placed)
    }
  }
  return { markers, relayed: again, artifacts, cut: [...cut] }
}

function inOrder(texts: readonly EvidenceText[]): readonly EvidenceText[] {
  const known = texts.every(({ seq }) => seq !== undefined)
  return known ? texts.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)) : texts
}

/**
 * Whether a value says nothing at all: no text in it that a reader could see, no number, no yes or no, however deep. A text
 * that is JSON (`{"text": ""}`) is what it holds; names of members say nothing of their own.
 */
export function saysNothing(value: Json): boolean {
  const open: Json[] = [value]
  while (open.length > 0) {
    const members = membersOf(open.pop() ?? null)
    if (members === undefined) return false
    for (const member of members) open.push(member)
  }
  return true
}

/** What is left to look at of a value that says nothing itself; undefined: it does. */
function membersOf(value: Json): readonly Json[] | undefined {
  if (typeof value === 'object') return value === null ? [] : Object.values(value)
  if (typeof value !== 'string') return undefined
  if (!isVisible(value)) return []
  const held = jsonIn(value)
  return held === undefined ? undefined : [held]
}

/** undefined: it is a text of its own. */
function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Lines before a finding in which its statistics count. */
export const LOOK_BACK_LINES = 10

export interface JudgedFinding {
  readonly finding: LocatedMarker
  /** The markers that count as its own, the nearest first. */
  readonly before: readonly LocatedMarker[]
  readonly ci: LocatedMarker | undefined
  readonly effect_size: LocatedMarker | undefined
  /** Both are there and say something. */
  readonly verified: boolean
}

/** Every [FINDING] with the [STAT:ci] and [STAT:effect_size] that stand before it in the same text, the nearest ones. */
export function judgeFindings({ markers, relayed }: Evidence): readonly JudgedFinding[] {
  const byPlace = new Map([...markers, ...relayed].map((marker) => [positionKey(marker.text, marker.line), marker]))
  return markers.flatMap((finding) => {
    if (finding.type !== 'FINDING') return []
    const before = markersBefore(byPlace, finding)
    const ci = before.find((marker) => isStatistic(marker, 'ci'))
    const effect_size = before.find((marker) => isStatistic(marker, 'effect_size'))
    return [{ finding, before, ci, effect_size, verified: ci !== undefined && effect_size !== undefined }]
  })
}

/** A line has one marker at most. */
function positionKey(text: number, line: number): string {
  return `${text}:${line}`
}

/** Nearest first, within the lines that count; text of another block or attempt is none of them. */
function markersBefore(
  byPlace: ReadonlyMap<string, LocatedMarker>,
  { text, line }: LocatedMarker,
): readonly LocatedMarker[] {
  const lines = Array.from({ length: LOOK_BACK_LINES }, (_, back) => line - 1 - back)
  return lines.flatMap((at) => byPlace.get(positionKey(text, at)) ?? [])
}

function isStatistic({ type, subtype, content }: LocatedMarker, name: string): boolean {
  return type === 'STAT' && subtype === name && isVisible(content)
}

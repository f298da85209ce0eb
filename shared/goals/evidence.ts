import { type Marker, parseMarkers } from './marker.ts'

/** Who said or wrote it; absent where evidence came as a plain text. */
export interface EvidencePlace {
  readonly block?: string
  readonly attempt?: number
  readonly seq?: number
}

/** The marker text of one attempt of a block. */
export interface EvidenceText extends EvidencePlace {
  readonly text: string
  /** Lines, from 1, that stand in what its block was given by blocks that speak: they count where they were said first. */
  readonly relayed?: readonly number[]
  /** Lines that stand in what its block was given by others: what was read counts nowhere. */
  readonly read?: readonly number[]
}

/** An object that exists: `name` is its path in the run. Whoever makes this list has looked. */
export interface EvidenceArtifact extends EvidencePlace {
  readonly name: string
  readonly bytes?: number
  readonly sha256?: string
}

/** A marker and where it stands: `text` is the index of its text. */
export type PlacedMarker = Marker & EvidencePlace & { readonly text: number }

/** What the gates judge: markers in the order in which they were said, and what exists. */
export interface Evidence {
  readonly markers: readonly PlacedMarker[]
  /** Markers that a text says again: a finding beside them may rest on them, and nothing else. */
  readonly relayed: readonly PlacedMarker[]
  readonly artifacts: readonly EvidenceArtifact[]
}

/** Reads the markers of a run's texts. Texts that all know their seq are put into its order; others stay as given. */
export function readEvidence(texts: readonly EvidenceText[], artifacts: readonly EvidenceArtifact[] = []): Evidence {
  const known = texts.every(({ seq }) => seq !== undefined)
  const ordered = known ? texts.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)) : texts
  const markers: PlacedMarker[] = []
  const again: PlacedMarker[] = []
  for (const [index, { text, relayed, read, ...place }] of ordered.entries()) {
    const [said, merelyRead] = [new Set(relayed), new Set(read)]
    for (const marker of parseMarkers(text)) {
      const placed = { ...marker, ...place, text: index }
      if (said.has(marker.line)) again.push(placed)
      else if (!merelyRead.has(marker.line)) markers.push(placed)
    }
  }
  return { markers, relayed: again, artifacts }
}

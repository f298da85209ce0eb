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
  readonly artifacts: readonly EvidenceArtifact[]
}

/** Reads the markers of a run's texts. Texts that all know their seq are put into its order; others stay as given. */
export function readEvidence(texts: readonly EvidenceText[], artifacts: readonly EvidenceArtifact[] = []): Evidence {
  const known = texts.every(({ seq }) => seq !== undefined)
  const ordered = known ? texts.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)) : texts
  const markers = ordered.flatMap(({ text, ...place }, index) =>
    parseMarkers(text).map((marker) => ({ ...marker, ...place, text: index })),
  )
  return { markers, artifacts }
}

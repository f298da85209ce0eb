import type { EvidencePlace } from '../evidence.ts'
import type { EvidenceSource } from './criterion-kind.ts'

/** The provenance of a marker or artifact, and nothing else of it. */
export function sourceOf(found: EvidencePlace & EvidenceSource): EvidenceSource {
  const { line, block, attempt, seq, bytes, sha256 } = found
  return {
    ...(line !== undefined && { line }),
    ...(block !== undefined && { block }),
    ...(attempt !== undefined && { attempt }),
    ...(seq !== undefined && { seq }),
    ...(bytes !== undefined && { bytes }),
    ...(sha256 !== undefined && { sha256 }),
  }
}

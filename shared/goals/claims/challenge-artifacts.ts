import { sourceOf } from '../criteria/source-of.ts'
import type { Evidence, PlacedMarker } from '../evidence.ts'
import type { JudgedFinding } from '../verified-findings.ts'
import type { Challenge, CheckedRecord } from './challenge.ts'

/** Do the artifacts a finding rests on exist, with the sha256 they are said to have? */
export function challengeArtifacts(
  { finding, before }: JudgedFinding,
  { evidence }: CheckedRecord,
): readonly Challenge[] {
  const named = before.filter(({ type }) => type === 'ARTIFACT').toReversed()
  if (named.length > 0) return named.map((marker) => artifactChallenge(marker, evidence))
  const message = `the finding of line ${finding.line} names no artifact`
  return [{ type: 'artifact', outcome: 'unsupported', message, source: sourceOf(finding) }]
}

/** The same of one `[ARTIFACT] path` line; its path is the first word. */
function artifactChallenge(marker: PlacedMarker, { artifacts }: Evidence): Challenge {
  const path = /^\S*/.exec(marker.content)?.[0] ?? ''
  const stored = artifacts.find(({ name }) => name === path)
  const said = marker.attributes.sha256
  if (stored === undefined) {
    const message = `the artifact ${JSON.stringify(path)} does not exist`
    return { type: 'artifact', outcome: 'refuted', message, source: sourceOf(marker) }
  }
  if (said !== undefined && said !== stored.sha256) {
    const message = `the artifact ${path} has another sha256 than the one named`
    return { type: 'artifact', outcome: 'refuted', message, source: sourceOf(stored) }
  }
  return { type: 'artifact', outcome: 'upheld', message: `the artifact ${path} exists`, source: sourceOf(stored) }
}

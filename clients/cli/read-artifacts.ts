import { readFileSync } from 'node:fs'
import { sha256 } from '../../shared/canonical.ts'
import type { EvidenceArtifact } from '../../shared/goals/evidence.ts'
import { Refused } from './refused.ts'

/** Files a person says a run has written, looked at; one that is not there ends the command with exit code 2. */
export function readArtifacts(paths: readonly string[]): readonly EvidenceArtifact[] {
  return paths.map((path) => {
    try {
      const body = readFileSync(path)
      return { name: path, bytes: body.byteLength, sha256: sha256(body) }
    } catch (cause) {
      const detail = `Cannot read the artifact "${path}": ${cause instanceof Error ? cause.message : cause}. Only what is there is evidence.`
      throw new Refused({ code: 'unreadable_file', detail }, { exitCode: 2, cause })
    }
  })
}

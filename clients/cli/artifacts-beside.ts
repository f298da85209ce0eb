import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../shared/canonical.ts'
import type { EvidenceArtifact } from '../../shared/goals/evidence.ts'
import { fitsGlob } from '../../shared/goals/glob.ts'
import { Refused } from './refused.ts'

/** More files than somebody keeps beside a notebook: it lies in a folder of another kind. */
const MOST_FILES = 20_000

/**
 * Files in a folder and below that fit a glob, by their path from there, looked at. Hidden files and folders,
 * node_modules and links are passed over: what a notebook wrote lies open beside it.
 */
export function artifactsBeside(folder: string, globs: readonly string[]): readonly EvidenceArtifact[] {
  const paths = [...filesBelow(folder, '', { left: MOST_FILES })].toSorted()
  return paths
    .filter((path) => globs.some((glob) => fitsGlob(glob, path)))
    .map((path) => {
      const body = readFileSync(join(folder, path))
      return { name: path, bytes: body.byteLength, sha256: sha256(body) }
    })
}

function* filesBelow(folder: string, under: string, room: { left: number }): Generator<string> {
  for (const entry of readdirSync(join(folder, under), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    room.left -= 1
    if (room.left < 0) throw tooMany(folder)
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(folder, path, room)
    else if (entry.isFile()) yield path
  }
}

function tooMany(folder: string): Refused {
  const detail = `Cannot look for artifacts in "${folder}": it has more than ${MOST_FILES} files and folders. Name them: --artifacts FILE ...`
  return new Refused({ code: 'too_many_files', detail }, { exitCode: 2 })
}

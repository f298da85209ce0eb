import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refused } from './refused.ts'

/** Writes a file with the folders above it. Without `replace` one that is there is never written over. */
export function writeNewFile(path: string, text: string, replace = false): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: replace ? 'w' : 'wx' })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw fileThere(path, cause)
    const detail = `Cannot write "${path}": ${cause instanceof Error ? cause.message : String(cause)}.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}

function fileThere(path: string, cause: unknown): Refused {
  const detail = `Cannot write "${path}": it is there already. Choose another name, or say --force to write over it.`
  return new Refused({ code: 'file_there', detail }, { cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

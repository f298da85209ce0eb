import { closeSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refused } from './refused.ts'

/** Text of a file a person named; a missing or unreadable one ends the command with exit code 2. */
export function readFile(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Refused({ code: 'unreadable_file', detail: unreadable(path, what, error) }, { exitCode: 2, cause: error })
  }
}

/** The same, with undefined where there is no such file. */
export function readFileIfAny(path: string, what: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new Refused({ code: 'unreadable_file', detail: unreadable(path, what, error) }, { exitCode: 2, cause: error })
  }
}

/** The path of a file that is read in pieces later on: its first byte was read now. */
export function readablePath(path: string, what: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      readSync(file, Buffer.alloc(1))
    } finally {
      closeSync(file)
    }
    return path
  } catch (error) {
    throw new Refused({ code: 'unreadable_file', detail: unreadable(path, what, error) }, { exitCode: 2, cause: error })
  }
}

const SEEN: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission to read it',
}

function unreadable(path: string, what: string, error: unknown): string {
  return `Cannot read ${what} "${path}": ${SEEN[codeOf(error)] ?? String(error)}. Paths are relative to ${process.cwd()}.`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

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

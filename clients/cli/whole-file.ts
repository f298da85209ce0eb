import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refused } from './refused.ts'

/** Text of a file that is going to be written again: no byte of it may be lost, so it must be UTF-8. */
export function readWholeFile(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (cause) {
    const seen = cause instanceof TypeError ? 'it is no UTF-8 text' : (cause as Error).message
    throw new Refused({ code: 'unreadable_file', detail: `Cannot read "${path}": ${seen}.` }, { exitCode: 2, cause })
  }
}

/** Whole or not at all: a new file beside it, of the same mode, takes its place, or that of what a link leads to. */
export function writeWholeFile(named: string, text: string): void {
  const path = realpathSync(named)
  const next = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    writeFileSync(next, text, { mode: statSync(path).mode, flag: 'wx', flush: true })
    renameSync(next, path)
  } catch (cause) {
    rmSync(next, { force: true })
    const detail = `Cannot write "${path}": ${(cause as Error).message}. It is as it was.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}

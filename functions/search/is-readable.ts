import { rmSync, writeFileSync } from 'node:fs'
import { Fault } from '../../shared/errors.ts'
import { openIndexToRead } from './open-index.ts'

/** Whether readers can open this snapshot: it is an index of this version. `file` is written and removed. */
export function isReadable(snapshot: Uint8Array, file: string): boolean {
  writeFileSync(file, snapshot)
  try {
    const db = openIndexToRead(file)
    db?.close()
    return db !== undefined
  } catch (cause) {
    if (cause instanceof Fault) return false
    throw cause
  } finally {
    rmSync(file, { force: true })
  }
}

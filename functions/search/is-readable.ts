import { rmSync, writeFileSync } from 'node:fs'
import { openIndexToRead } from './open-index.ts'

/** Whether readers can open this snapshot: it is whole, and of this version. `file` is written and removed. */
export function isReadable(snapshot: Uint8Array, file: string): boolean {
  try {
    writeFileSync(file, snapshot)
    const db = openIndexToRead(file)
    db?.close()
    return db !== undefined
  } finally {
    rmSync(file, { force: true })
  }
}

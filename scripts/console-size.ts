import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Bytes over the wire, all files together: what a first look at the console may cost. */
export const CONSOLE_LIMIT_BYTES = 300_000

export interface ConsoleSize {
  readonly bytes: number
  readonly gzip_bytes: number
  /** Largest first. */
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly gzip_bytes: number }[]
}

/** What a built console weighs, as it is and compressed with gzip at its best. */
export function consoleSize(dir: string): ConsoleSize {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const bytes = readFileSync(join(parentPath, name))
      return { name, bytes: bytes.byteLength, gzip_bytes: gzipSync(bytes, { level: 9 }).byteLength }
    })
    .toSorted((a, b) => b.gzip_bytes - a.gzip_bytes)
  const sum = (of: 'bytes' | 'gzip_bytes') => files.reduce((total, file) => total + file[of], 0)
  return { bytes: sum('bytes'), gzip_bytes: sum('gzip_bytes'), files }
}

import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Fault } from '../../shared/errors.ts'
import {
  hashOfObjectRef,
  hashOfOwnObjectRef,
  type ObjectStore,
  objectFault,
  objectKey,
} from '../../shared/ports/objects.ts'
import type { Durability } from '../../shared/settings/settings.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { namesToDisk, toDisk } from './to-disk.ts'

/**
 * Object store in a folder: `<folder>/<tenant>/objects/<aa>/<sha256>`, the keys S3 has too. The local place keeps here what
 * is too large for a row of its database (stored-objects.ts). Files appear whole (temp file, then rename) and are never
 * changed; calls are synchronous inside, since a thread hop costs more than the file. Not fsynced unless `durability` is full: after a power cut a torn file shows as object_corrupt,
 * never as data.
 */
export function openObjects(folder: string, durability: Durability = 'normal'): ObjectStore {
  /** Files that this process waited for: what is put again and again, a document at each start, is there. */
  const onDisk = new Set<string>()
  return {
    put: async (tenant, body) => {
      const hash = sha256(body)
      const path = join(folder, objectKey(tenant, hash))
      writing(path, () => {
        if (!holds(path, body)) writeWhole(path, body, durability)
        else touch(path, onDisk.has(path) ? 'normal' : durability)
        if (onDisk.size >= MOST_KNOWN) onDisk.clear()
        if (durability === 'full') onDisk.add(path)
      })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    get: async (tenant, ref) => {
      const hash = hashOfObjectRef(tenant, ref)
      const body = read(join(folder, objectKey(tenant, hash)), ref)
      if (sha256(body) !== hash) throw objectFault('corrupt', ref)
      return body
    },
    has: async (tenant, ref) => {
      const hash = hashOfOwnObjectRef(tenant, ref)
      return hash !== undefined && existsSync(join(folder, objectKey(tenant, hash)))
    },
    erase: async (tenant, ref, before) => {
      const path = join(folder, objectKey(tenant, hashOfObjectRef(tenant, ref)))
      const seen = statSync(path, { throwIfNoEntry: false })
      if (seen !== undefined && seen.mtimeMs >= before) return false
      writing(path, () => rmSync(path, { force: true }))
      onDisk.delete(path)
      return true
    },
  }
}

const MOST_KNOWN = 10_000

/** Compares the bytes, not the size: a put of the same content repairs a damaged file. */
function holds(path: string, body: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(body)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false
    throw cause
  }
}

function touch(path: string, durability: Durability): void {
  const now = new Date()
  utimesSync(path, now, now)
  // Who wrote it may have waited for nothing.
  if (durability === 'full') toDisk(path)
}

function writeWhole(path: string, body: Uint8Array, durability: Durability): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const made = writeNew(temporary, body)
    if (durability === 'full') toDisk(temporary)
    renameSync(temporary, path)
    if (durability === 'full') namesToDisk(path, made)
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw cause
  }
}

/** Answers the first folder that had to be made for it. */
function writeNew(path: string, body: Uint8Array): string | undefined {
  try {
    writeFileSync(path, body, { flag: 'wx', mode: 0o600 })
    return undefined
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
    const made = mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, body, { flag: 'wx', mode: 0o600 })
    return made
  }
}

function writing(path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    throw unavailable(`store object "${path}"`, cause)
  }
}

function read(path: string, ref: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw codeOf(cause) === 'ENOENT' ? objectFault('missing', ref) : unavailable(`read object ${ref}`, cause)
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

function unavailable(doing: string, cause: unknown): Fault {
  const seen = cause instanceof Error ? cause.message : String(cause)
  const message = `Cannot ${doing}: ${seen}. Check the disk, its free space and the rights on the folder.`
  return new Fault('Unavailable', 'object_store_unavailable', message, { cause })
}

/**
 * Removes every file below the objects' folder that was last written before that time (ms) and that nobody `keeps`;
 * answers how many. A put of the same content writes again; it is synchronous too, so it comes before the look at a file
 * or after its end.
 */
export async function removeOldObjects(
  folder: string,
  before: number,
  keeps: (sha256: string) => boolean,
): Promise<number> {
  let removed = 0
  for (const dir of await foldersOf(folder)) {
    for (const name of readdirSync(dir)) removed += removeOldFile(dir, name, before, keeps)
    // One folder a turn: others work in between.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return removed
}

/** `<tenant>/objects/<aa>` */
async function foldersOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

function removeOldFile(dir: string, name: string, before: number, keeps: (sha256: string) => boolean): number {
  const path = join(dir, name)
  const seen = statSync(path)
  if (!seen.isFile() || seen.mtimeMs >= before || keeps(name)) return 0
  rmSync(path)
  return 1
}

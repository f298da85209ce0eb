import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import { objectFault } from '../../shared/object-fault.ts'
import { hashOfRef, objectKey, ownHash } from '../../shared/object-ref.ts'
import type { ObjectStore } from '../../shared/world.ts'

/**
 * Object store in a folder: `<folder>/<tenant>/objects/<aa>/<sha256>`, the keys S3 has too. Files appear whole (temp
 * file, then rename) and are never changed; calls are synchronous inside, since bodies are small and a thread hop costs
 * more than the file. Not fsynced: after a power cut a torn file shows as object_corrupt, never as data.
 */
export function openObjects(folder: string): ObjectStore {
  return {
    put: async (tenant, body) => {
      const hash = sha256(body)
      const path = join(folder, objectKey(tenant, hash))
      writing(path, () => {
        if (holds(path, body)) touch(path)
        else writeWhole(path, body)
      })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    get: async (tenant, ref) => {
      const hash = hashOfRef(tenant, ref)
      const body = read(join(folder, objectKey(tenant, hash)), ref)
      if (sha256(body) !== hash) throw objectFault('corrupt', ref)
      return body
    },
    has: async (tenant, ref) => {
      const hash = ownHash(tenant, ref)
      return hash !== undefined && existsSync(join(folder, objectKey(tenant, hash)))
    },
  }
}

/** Compares the bytes, not the size: a put of the same content repairs a damaged file. */
function holds(path: string, body: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(body)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false
    throw cause
  }
}

function touch(path: string): void {
  const now = new Date()
  utimesSync(path, now, now)
}

function writeWhole(path: string, body: Uint8Array): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeNew(temporary, body)
    renameSync(temporary, path)
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw cause
  }
}

function writeNew(path: string, body: Uint8Array): void {
  try {
    writeFileSync(path, body, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, body, { flag: 'wx', mode: 0o600 })
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

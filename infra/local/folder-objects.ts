import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { ObjectStore } from '../../shared/world.ts'

const TENANT = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
const TENANT_NAME = new RegExp(`^${TENANT}$`)
const REF = new RegExp(`^objstore://(${TENANT})/([0-9a-f]{64})$`)

/**
 * Object store in a folder: `<folder>/<tenant>/objects/<aa>/<sha256>`, the keys S3 has too. Files appear whole (temp
 * file, then rename) and are never changed; calls are synchronous inside, since bodies are small and a thread hop costs
 * more than the file. Not fsynced: after a power cut a torn file shows as object_corrupt, never as data.
 */
export function openObjects(folder: string): ObjectStore {
  return {
    put: async (tenant, body) => {
      const hash = sha256(body)
      const path = pathOf(folder, requireTenant(tenant), hash)
      writing(path, () => {
        if (holds(path, body)) touch(path)
        else writeWhole(path, body)
      })
      return { ref: `objstore://${tenant}/${hash}`, sha256: hash, bytes: body.byteLength }
    },
    get: async (tenant, ref) => {
      const [, owner, hash] = REF.exec(ref) ?? []
      if (owner === undefined || hash === undefined) throw badRef(ref)
      if (owner !== tenant) throw missing(ref)
      const body = read(pathOf(folder, owner, hash), ref)
      if (sha256(body) !== hash) throw corrupt(ref)
      return body
    },
  }
}

function pathOf(folder: string, tenant: string, hash: string): string {
  return join(folder, tenant, 'objects', hash.slice(0, 2), hash)
}

function requireTenant(tenant: string): string {
  if (TENANT_NAME.test(tenant)) return tenant
  const message = `Cannot store an object for tenant ${JSON.stringify(tenant)}: a tenant has 1 to 64 letters, digits, dots, dashes or underscores and starts with a letter or digit.`
  throw new Fault('Bug', 'bad_tenant', message)
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
    writeFileSync(path, body, { flag: 'wx' })
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, body, { flag: 'wx' })
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
    throw codeOf(cause) === 'ENOENT' ? missing(ref) : unavailable(`read object ${ref}`, cause)
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}

function badRef(ref: string): Fault {
  const message = `Cannot read object ${JSON.stringify(ref.slice(0, 120))}: a ref is objstore://<tenant>/<64 hex digits of sha256>.`
  return new Fault('InvalidInput', 'bad_object_ref', message)
}

/** The same words for a ref of another tenant: it must not tell whether that object exists. */
function missing(ref: string): Fault {
  const message = `Cannot read object ${ref}: there is none of that name. It may have expired, or the ref is mistyped.`
  return new Fault('NotFound', 'object_missing', message, { facts: { ref } })
}

function corrupt(ref: string): Fault {
  const message = `Cannot read object ${ref}: its content does not have that sha256, so it was damaged after it was stored. Store the content again.`
  return new Fault('Bug', 'object_corrupt', message, { facts: { ref } })
}

function unavailable(doing: string, cause: unknown): Fault {
  const seen = cause instanceof Error ? cause.message : String(cause)
  const message = `Cannot ${doing}: ${seen}. Check the disk, its free space and the rights on the folder.`
  return new Fault('Unavailable', 'object_store_unavailable', message, { cause })
}

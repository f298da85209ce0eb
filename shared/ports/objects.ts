import { Fault } from '../errors.ts'

const TENANT = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}'
const TENANT_NAME = new RegExp(`^${TENANT}$`)
export type ObjectFolder = 'objects' | 'index'

const REF = new RegExp(`^objstore://(${TENANT})/([0-9a-f]{64})$`)

/**
 * Where the object of this hash lies, in S3 and below the local folder alike: `<tenant>/objects/<aa>/<sha256>`.
 * Snapshots of the search index lie in a folder of their own, since they expire within days.
 * Fault Bug bad_tenant: a tenant comes from our own credentials, never from a request.
 */
export function objectKey(tenant: string, hash: string, folder: ObjectFolder = 'objects'): string {
  if (TENANT_NAME.test(tenant)) return `${tenant}/${folder}/${hash.slice(0, 2)}/${hash}`
  const message = `Cannot store an object for tenant ${JSON.stringify(tenant)}: a tenant has 1 to 64 letters, digits, dots, dashes or underscores and starts with a letter or digit.`
  throw new Fault('Bug', 'bad_tenant', message)
}

/**
 * The hash in `objstore://<tenant>/<sha256>`. Fault InvalidInput bad_object_ref; NotFound object_missing for a ref of
 * another tenant, in the same words as for one that is not there: it must not tell whether that object exists.
 */
export function hashOfObjectRef(tenant: string, ref: string): string {
  const hash = hashOfOwnObjectRef(tenant, ref)
  if (hash === undefined) throw objectFault('missing', ref)
  return hash
}

/** As hashOfRef(), but undefined for a ref of another tenant. */
export function hashOfOwnObjectRef(tenant: string, ref: string): string | undefined {
  const [, owner, hash] = REF.exec(ref) ?? []
  if (owner !== undefined) return owner === tenant ? hash : undefined
  const message = `Cannot read object ${JSON.stringify(ref.slice(0, 120))}: a ref is objstore://<tenant>/<64 hex digits of sha256>.`
  throw new Fault('InvalidInput', 'bad_object_ref', message)
}

/** What an object store answers when there is none of that ref, or not the bytes that were stored. */
export function objectFault(seen: 'missing' | 'corrupt', ref: string): Fault {
  if (seen === 'missing') {
    const message = `Cannot read object ${ref}: there is none of that name. It may have expired, or the ref is mistyped.`
    return new Fault('NotFound', 'object_missing', message, { facts: { ref } })
  }
  const message = `Cannot read object ${ref}: its content does not have that sha256, so it was damaged after it was stored. Store the content again.`
  return new Fault('Bug', 'object_corrupt', message, { facts: { ref } })
}

/** Bytes of one upload at most: a search looks at the first 4 MiB, a person reads the rest. */
export const MOST_UPLOAD_BYTES = 67_108_864

/** Where one body may be sent, for a while: with this method, exactly these headers, and only this content. */
interface UploadTicket {
  /** Of another host, or a path of the API itself. */
  readonly url: string
  readonly method: 'PUT'
  readonly headers: Readonly<Record<string, string>>
  /** ISO. */
  readonly expires_at: string
}

/** Bodies that are too large for a request of the API: they go past it to where objects are. */
export interface Uploads {
  open(tenant: string, body: { readonly sha256: string; readonly size: number }): Promise<UploadTicket>
}

/** Content-addressed bodies: ref `objstore://<tenant>/<sha256>`. Suite: test/conformance/object-store-suite.ts. */
export interface ObjectStore {
  /** Writes (again: its age restarts) and answers the ref. */
  put(
    tenant: string,
    body: Uint8Array,
  ): Promise<{ readonly ref: string; readonly sha256: string; readonly bytes: number }>
  /** Verified against the hash; Fault NotFound object_missing, Bug object_corrupt. The ref's tenant must be `tenant`. */
  get(tenant: string, ref: string): Promise<Uint8Array>
  /** Whether there is such an object of this tenant; its body is not read. Fault InvalidInput bad_object_ref. */
  has(tenant: string, ref: string): Promise<boolean>
  /**
   * Removes it for good, with what a put before it left, unless it was put at `before` (ms since 1970) or later: then somebody
   * may be about to name it, and false is answered. What is not there is removed.
   */
  erase(tenant: string, ref: string, before: number): Promise<boolean>
}

/** Files people hand to a tenant's runs. On AWS object refs only; locally real paths below inputs_dir, at most 10 MiB. */
export interface Inputs {
  read(tenant: string, path: string): Promise<Uint8Array>
}

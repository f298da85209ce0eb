import { Fault } from './errors.ts'
import { objectFault } from './object-fault.ts'

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
export function hashOfRef(tenant: string, ref: string): string {
  const hash = ownHash(tenant, ref)
  if (hash === undefined) throw objectFault('missing', ref)
  return hash
}

/** As hashOfRef(), but undefined for a ref of another tenant. */
export function ownHash(tenant: string, ref: string): string | undefined {
  const [, owner, hash] = REF.exec(ref) ?? []
  if (owner !== undefined) return owner === tenant ? hash : undefined
  const message = `Cannot read object ${JSON.stringify(ref.slice(0, 120))}: a ref is objstore://<tenant>/<64 hex digits of sha256>.`
  throw new Fault('InvalidInput', 'bad_object_ref', message)
}

import { base32 } from '../base32.ts'
import { canonicalJson, sha256 } from '../canonical.ts'

const RUN_ID_CHARS = 26

/** `run_` + 26 characters of Crockford base 32, lower case, from 17 random bytes (130 bits are used). */
export function newRunId(random: Uint8Array): string {
  return `run_${base32(random, RUN_ID_CHARS)}`
}

/** A run that follows from another one, whoever asks for it: always the same of this tenant, kind and key. */
export function runIdOfKey(tenant: string, kind: string, key: string): string {
  return hashed(`${tenant}|${kind}|${key}`)
}

/**
 * The run of an Idempotency-Key: the same key of the same caller (`user:ana`) on the same route is always the same run,
 * another caller's is another one. Names and keys may hold any sign, so it is their list that is hashed.
 */
export function runIdOfCall(tenant: string, caller: string, route: string, key: string): string {
  return hashed(canonicalJson([tenant, caller, route, key]))
}

function hashed(text: string): string {
  return `run_${base32(Buffer.from(sha256(text), 'hex'), RUN_ID_CHARS)}`
}

/** `apr_<26 of the run id>_<block index, base 36>_<epoch>`. */
export function approvalId(runId: string, block: number, epoch: number): string {
  return `apr_${runId.slice('run_'.length)}_${block.toString(36)}_${epoch}`
}

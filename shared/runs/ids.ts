import { base32 } from '../base32.ts'
import { sha256 } from '../canonical.ts'

const RUN_ID_CHARS = 26

/** `run_` + 26 characters of Crockford base 32, lower case, from 17 random bytes (130 bits are used). */
export function newRunId(random: Uint8Array): string {
  return `run_${base32(random, RUN_ID_CHARS)}`
}

/** The same key on the same route of the same tenant is always the same run (decisions, "Ids, hashes, names"). */
export function runIdOfKey(tenant: string, route: string, key: string): string {
  return `run_${base32(Buffer.from(sha256(`${tenant}|${route}|${key}`), 'hex'), RUN_ID_CHARS)}`
}

/** `apr_<26 of the run id>_<block index, base 36>_<epoch>`. */
export function approvalId(runId: string, block: number, epoch: number): string {
  return `apr_${runId.slice('run_'.length)}_${block.toString(36)}_${epoch}`
}
